"""The programs of the conformance suite: where they are, how they are built and run, and what they print.

Standard library only: a bare machine with a GPU records with it.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
FLAGS = ("-std=c++17", "-lineinfo", "-I", str(HERE))
BUILD_SECONDS = 600
CASE_SECONDS = 60


@dataclass(frozen=True)
class Program:
    """``name`` is the stem of its one source, or the folder that holds several. ``flags``: what its source asks for with
    "// nvcc: ..."."""

    name: str
    sources: tuple[Path, ...]
    flags: tuple[str, ...]


def _program(name: str, sources: Sequence[Path]) -> Program:
    asked = [re.search(r"^// nvcc: (.*)$", source.read_text(), re.MULTILINE) for source in sources]
    return Program(name, tuple(sources), tuple(flag for match in asked if match for flag in match[1].split()))


def programs() -> list[Program]:
    """One a .cu file, and one a folder with a main.cu."""
    single = [_program(source.stem, [source]) for source in HERE.glob("*.cu")]
    several = [_program(main.parent.name, sorted(main.parent.glob("*.cu"))) for main in HERE.glob("*/main.cu")]
    return sorted([*single, *several], key=lambda program: program.name)


def fault_programs() -> list[Program]:
    return [_program(source.stem, [source]) for source in sorted((HERE / "faults").glob("*.cu"))]


class BuildError(Exception):
    """The compiler's words."""


def build(program: Program, output: Path, nvcc: str, flags: Sequence[str], env: Mapping[str, str] | None = None) -> str:
    """Compiles and links; returns what the compiler had to say. Raises BuildError."""
    command = [nvcc, *FLAGS, *program.flags, *flags, "-o", str(output), *map(str, program.sources)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, env=env, timeout=BUILD_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(str(error)) from error
    if ended.returncode != 0:
        raise BuildError(ended.stdout + ended.stderr)
    return ended.stdout + ended.stderr


def case_names(executable: Path, env: Mapping[str, str] | None = None) -> list[str]:
    ended = subprocess.run([str(executable)], capture_output=True, text=True, env=env, timeout=CASE_SECONDS, check=True)
    return ended.stdout.split()


@dataclass(frozen=True)
class Run:
    """``ended``: empty for exit code 0; otherwise "exit code 1", "signal 11" or "hangs"."""

    output: str
    errors: str
    ended: str


def run(command: Sequence[str], env: Mapping[str, str] | None = None, seconds: float = CASE_SECONDS) -> Run:
    """Runs in a process group of its own, which is killed when the time is up: tools start children."""
    process = subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=seconds)
        code = process.returncode
        ended = "" if code == 0 else f"signal {-code}" if code < 0 else f"exit code {code}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        ended = "hangs"
    return Run(output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"), ended)


def run_case(executable: Path, case: str, env: Mapping[str, str] | None = None, seconds: float = CASE_SECONDS) -> str:
    """What one case printed, with a last line of its own when it did not end well."""
    ended = run([str(executable), case], env, seconds)
    text = ended.output if ended.output.startswith("[") else f"[{case}]\n{ended.output}"
    return text + (f"{ended.ended}\n" if ended.ended else "")


@dataclass(frozen=True)
class Case:
    """``tolerance`` as the source declares it; empty for none. ``lines`` without the heading."""

    program: str
    name: str
    tolerance: str
    lines: tuple[str, ...]


_HEADING = re.compile(r"^\[(\w+)\](?: (.+))?$", re.MULTILINE)


def parse(program: str, text: str) -> Iterator[Case]:
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        yield Case(program, heading[1], heading[2] or "", tuple(text[heading.end() : end].strip("\n").splitlines()))


def recorded(folder: Path = RECORDED) -> list[Case]:
    """All that was recorded on a GPU, in the order of the files."""
    return [case for path in sorted(folder.glob("*.txt")) for case in parse(path.stem, path.read_text())]


@dataclass(frozen=True)
class Fault:
    """A row of faults/faults.toml, which says what the fields mean. ``line`` is where the source says "FAULT <name>"; 0: no line."""

    name: str
    program: str
    error: str
    here: str
    tool: tuple[str, ...]
    says: str
    function: str
    line: int


def faults() -> list[Fault]:
    table = tomllib.loads((HERE / "faults/faults.toml").read_text())
    return [
        Fault(
            name=name,
            program=row["program"],
            error=row["error"],
            here=row.get("here", row["error"]),
            tool=tuple(row.get("tool", "").split()),
            says=row.get("says", ""),
            function=row.get("function", ""),
            line=_marked_line(HERE / "faults" / f"{row['program']}.cu", name),
        )
        for name, row in table.items()
    ]


def _marked_line(source: Path, name: str) -> int:
    marked = re.compile(rf"// FAULT {name}$")
    numbers = [number for number, line in enumerate(source.read_text().splitlines(), 1) if marked.search(line)]
    return numbers[0] if numbers else 0


def printed_error(result: Run) -> str:
    """What a faulty program reported: the name of the first error that it printed, or how it ended."""
    if result.ended == "hangs" or result.ended.startswith("signal"):
        return result.ended
    found = re.search(r": (?!0 )\d+ (\w+)$|^unexpected (\w+)", result.output, re.MULTILINE)
    return found[1] or found[2] if found else "cudaSuccess"


def complaints(result: Run) -> list[str]:
    """The first lines of a faulty program's stderr, without the folder that it was built from."""
    return result.errors.replace(f"{HERE / 'faults'}/", "").splitlines()[:4]
