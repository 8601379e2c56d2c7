"""From an executable that nvcc linked to objects of kernels that the CPU runs: PTX -> C -> shared object, kept by content.

Runs as a program, with nothing but the standard library: ``translate.py ELF FOLDER`` writes <key>.so for every unit of ELF into
FOLDER, or <key>.why: a sentence that the runtime says when a kernel of that unit is launched. The harness runs it after a
build; a binary that is born while a test runs has the runtime run it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

if __package__ in (None, ""):  # run by its path: the folder that holds ``engine`` is three above
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from engine.devices.cpu.emit import emit_unit
from engine.devices.cpu.emit.flags import C_COMPILER, c_flags
from engine.devices.cpu.fatbin import Unit, images
from engine.devices.cpu.ptx.parser import parse

SCRATCH = ".translating-"
"""How the names of half-made folders begin; the number of the process that makes them follows."""

HEADERS = Path(__file__).parent / "runtime"


STOPPED = 3
"""Exit code: a compiler was killed for the time or the memory that it used. That says nothing about the program's next translation."""


class TranslationError(Exception):
    """A unit cannot be translated; the text says why."""


class StoppedError(Exception):
    """The compiler was killed."""


def source(unit: Unit) -> str:
    """The C text of a unit. Raises TranslationError."""
    if unit.problem:
        raise TranslationError(unit.problem)
    try:
        return emit_unit([parse(text) for _, text in unit.ptx], unit.registers)
    except (
        Exception
    ) as error:  # PTX that a candidate wrote by hand may be anything, and must not look like a fault of this machine
        words = str(error) if isinstance(error, ValueError) else f"{type(error).__name__} {error}"
        raise TranslationError(f"holds PTX that the CPU device cannot read: {words}") from error


def compile_unit(unit: Unit, target: Path) -> None:
    """Translate a unit into the shared object ``target``, which appears whole or not at all. Raises TranslationError and
    StoppedError."""
    text = source(unit)
    with tempfile.TemporaryDirectory(prefix=f"{SCRATCH}{os.getpid()}-", dir=target.parent) as scratch:
        kernels, output = Path(scratch) / "kernels.c", Path(scratch) / "kernels.so"
        kernels.write_text(text)
        command = [
            C_COMPILER,
            *c_flags(text),
            f"-I{HEADERS}",
            "-shared",
            "-fPIC",
            "-o",
            str(output),
            str(kernels),
            "-lm",
        ]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode < 0 or "terminated program" in ended.stderr:
            raise StoppedError
        if ended.returncode != 0:
            raise TranslationError(f"its kernels do not compile for the CPU:\n{ended.stderr[-2000:]}")
        output.replace(target)


def translate(program: Path, folder: Path) -> None:
    """Write <key>.so or <key>.why for every unit of ``program`` that ``folder`` does not hold yet."""
    for unit in images(program):
        target = folder / f"{unit.key}.so"
        if target.exists():
            continue
        try:
            compile_unit(unit, target)
        except TranslationError as error:
            target.with_suffix(".why").write_text(f"{error}\n")


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: translate.py ELF FOLDER", file=sys.stderr)
        return 2
    try:
        translate(Path(arguments[0]), Path(arguments[1]))
    except StoppedError:
        return STOPPED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
