"""C++ drivers linked with the sources of the CPU device's runtime, for tests of what no CUDA program can see."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine.devices.cpu.cache import PACKAGE
from engine.devices.cpu.library import CXX_COMPILER, STAND_IN, object_file
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


def build_driver(source: Path, folder: Path, toolkit: Toolkit) -> Path:
    """The driver, linked with what it needs of the units below the API."""
    units = [RUNTIME / f"{name}.cpp" for name in BELOW_THE_API]
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        *made, driver = pool.map(lambda unit: object_file(unit, toolkit, FLAGS), [*units, source])
    folder.mkdir(exist_ok=True)
    archive, program = folder / "runtime.a", folder / source.stem
    subprocess.run(["ar", "rcs", str(archive), *map(str, made)], check=True)
    subprocess.run([CXX_COMPILER, *FLAGS, "-o", str(program), str(driver), str(archive), "-ldl"], check=True)
    return program


def build_stand_in(folder: Path) -> Path:
    """The compute-sanitizer stand-in."""
    program = folder / "compute-sanitizer"
    subprocess.run([CXX_COMPILER, *FLAGS, "-o", str(program), str(RUNTIME / STAND_IN)], check=True)
    return program
