"""Between a build and a run: the kernels of what was built, translated once and kept, placed where the program looks for them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path

from engine.devices.cpu.cache import PACKAGE, cache_folder, digest
from engine.devices.cpu.emit.flags import C_COMPILER, host_extensions
from engine.devices.cpu.fatbin import FatbinError, images, is_cuda_program, needed
from engine.devices.cpu.library import compiler_version, translator_sources
from engine.devices.cpu.translate import SCRATCH, STOPPED
from engine.errors import InfraError

TRANSLATION_SECONDS = 300.0
"""What the translation of one program may take by the clock, the compilation of its kernels included."""


@dataclass(frozen=True, order=True)
class Program:
    """A file that nvcc linked: the keys of its kernels' units, and the shared libraries that it needs."""

    path: Path
    keys: tuple[str, ...]
    needs: tuple[str, ...]


def programs(folder: Path) -> list[Program]:
    """What nvcc linked, anywhere in a workspace. Links are not followed: they may lead anywhere. A damaged file is left out:
    whoever launches a kernel of it is told."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not path.is_symlink() and path.is_file() and is_cuda_program(path):
                with contextlib.suppress(FatbinError):
                    found.append(Program(path, tuple(unit.key for unit in images(path)), tuple(needed(path))))
    return sorted(found)


@cache
def kernel_cache() -> Path:
    """Translated kernels by key, for this translator, this compiler and this kind of CPU."""
    name = digest([*translator_sources(), compiler_version(C_COMPILER), *host_extensions()])
    folder = cache_folder() / f"kernels-{name}"
    folder.mkdir(exist_ok=True)
    return folder


async def place_kernels(program: Program, folder: Path, seconds: float) -> None:
    """Copies of this program's kernels alone: a candidate must not find another's, least of all the reference's."""
    cached, ended = kernel_cache(), True
    if not all((cached / f"{key}.so").exists() or (cached / f"{key}.why").exists() for key in program.keys):
        ended = await translate_program(program.path, cached, seconds)
    for key in program.keys:
        made = [name for name in (f"{key}.so", f"{key}.why") if (cached / name).exists()]
        for name in made:
            shutil.copyfile(cached / name, folder / name)
            (folder / name).chmod(0o644)
        if not made and not ended:  # said in this workspace alone: the next translation may have more time
            why = f"holds kernels whose translation takes more than {seconds:g} s, or more memory than there is\n"
            (folder / f"{key}.why").write_text(why)
            (folder / f"{key}.why").chmod(0o644)


async def translate_program(program: Path, into: Path, seconds: float) -> bool:
    """Whether the translator came to its end, rather than being stopped after ``seconds`` or killed for what it used.

    It runs in processes of its own, with limits: the program is a stranger's. All of them have ended when this returns, and when
    it is cancelled. Raises InfraError when the translator itself is broken.
    """
    cpu = max(1, ceil(seconds))  # for each process: one that outlives us ends too
    limits = ["prlimit", f"--cpu={cpu}", "--core=0", "--"]
    script = str(PACKAGE / "translate.py")
    process = await asyncio.create_subprocess_exec(
        *limits,
        sys.executable,
        "-I",
        script,
        str(program),
        str(into),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # a group for the compilers that it starts
    )
    try:
        _, complaint = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        return False
    finally:
        if process.returncode != 0:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            _sweep(into, process.pid)
    assert process.returncode is not None
    if process.returncode > 0 and process.returncode != STOPPED:
        text = complaint.decode("utf-8", "replace").strip().splitlines()
        raise InfraError(f"translator: {text[-1] if text else f'exit code {process.returncode}'}", kind="cpu_device")
    return process.returncode == 0


def _sweep(folder: Path, process: int) -> None:
    """Remove what a translator that was stopped had half made."""
    for scratch in folder.glob(f"{SCRATCH}{process}-*"):
        shutil.rmtree(scratch, ignore_errors=True)
