"""C++ drivers linked with the sources of the CPU device's runtime, for tests of what no CUDA program can see."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine.devices.cpu.cache import PACKAGE, cache_folder, digest, made_whole, sources
from engine.devices.cpu.library import CXX_COMPILER, STAND_IN, compiler_version
from engine.devices.toolkit import Toolkit

RUNTIME = PACKAGE / "runtime"
BELOW_THE_API = (
    *("access", "initcheck", "memory", "names", "options", "report", "tools", "window"),
    *("race_reports", "racecheck", "synccheck", "error_table"),
    *("barrier", "block", "budget", "device_calls", "ends", "fiber", "grid", "helpers", "matrix", "matrix_memory"),
    *("residency", "signals", "standstill", "warp", "worker"),
)
"""Units that know nothing of API calls: memory, tools and execution. The others take three times as long to compile."""
FLAGS = ("-std=c++17", "-O1", "-g1", "-Wall", "-Wextra", "-fno-strict-aliasing", "-pthread")


def _compile(source: Path, output: Path, toolkit: Toolkit) -> Path:
    """One object, kept by content: a session compiles only what has changed."""
    headers = [part for name, content in sources("runtime/*.h*") for part in (name, content)]
    key = digest([source.name, source.read_bytes(), *headers, *FLAGS, compiler_version(CXX_COMPILER), toolkit.version])
    kept = cache_folder() / f"test-{source.stem}-{key}"
    if not kept.is_dir():
        with made_whole(kept) as folder:
            include = [f"-I{RUNTIME}", f"-isystem{toolkit.include_folder}"]
            subprocess.run(
                [CXX_COMPILER, *FLAGS, *include, "-c", "-o", str(folder / "object.o"), str(source)], check=True
            )
    output.symlink_to(kept / "object.o")
    return output


def build_driver(source: Path, folder: Path, toolkit: Toolkit) -> Path:
    """The driver, linked with what it needs of the units below the API."""
    objects = folder / "objects"
    objects.mkdir(parents=True)
    units = [RUNTIME / f"{name}.cpp" for name in BELOW_THE_API]
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        made = list(pool.map(lambda unit: _compile(unit, objects / f"{unit.stem}.o", toolkit), [*units, source]))
    archive, program = folder / "runtime.a", folder / source.stem
    subprocess.run(["ar", "rcs", str(archive), *(str(path) for path in made[:-1])], check=True)
    subprocess.run([CXX_COMPILER, *FLAGS, "-o", str(program), str(made[-1]), str(archive), "-ldl"], check=True)
    return program


def build_stand_in(folder: Path) -> Path:
    """The compute-sanitizer stand-in."""
    program = folder / "compute-sanitizer"
    subprocess.run([CXX_COMPILER, *FLAGS, "-o", str(program), str(RUNTIME / STAND_IN)], check=True)
    return program
