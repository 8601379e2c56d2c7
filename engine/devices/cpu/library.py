"""The runtime library of the CPU device, compiled with the host compiler on first use.

The result is a folder that a workspace gets a copy of: ``lib/libcudart.so.13`` (what a CUDA program is linked with),
``bin/compute-sanitizer`` (a stand-in that takes the same flags), ``bin/beaver-translate`` and the translator's own sources, for
binaries that are born while a test runs.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from engine.devices.cpu.cache import PACKAGE, cache_folder, digest, locked, made_whole, sources
from engine.devices.cpu.emit.flags import C_COMPILER, host_extensions
from engine.devices.toolkit import Toolkit
from engine.errors import ConfigError

CXX_COMPILER = "g++"
FLAGS = ("-std=c++17", "-O2", "-fPIC", "-fno-semantic-interposition", "-fno-strict-aliasing", "-pthread")
STAND_IN = "compute_sanitizer.cpp"
"""A program of its own; all other sources make the library."""

TRANSLATE = """#!/bin/sh
exec python3 -I "$(dirname "$0")/../translator/engine/devices/cpu/translate.py" "$@"
"""


def unusable() -> str:
    """Why programs cannot be run on this machine's CPU, empty when they can."""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        return f"the CPU device needs Linux on x86-64, and this is {platform.system()} on {platform.machine()}"
    if shutil.which(CXX_COMPILER) is None or shutil.which(C_COMPILER) is None:
        return f"the CPU device needs the host compiler ({CXX_COMPILER} and {C_COMPILER}): apt-get install g++"
    return ""


@cache
def compiler_version(program: str) -> str:
    """What C_COMPILER or CXX_COMPILER says of itself, for example 13.3.0: they may be of two releases. Empty where it is missing."""
    if shutil.which(program) is None:
        return ""
    return subprocess.run([program, "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()


def cudart_major(toolkit: Toolkit) -> int:
    """13 for libcudart.so.13."""
    header = (toolkit.include_folder / "cuda_runtime_api.h").read_text("utf-8", "replace")
    match = re.search(r"^#define\s+CUDART_VERSION\s+(\d+)", header, re.MULTILINE)
    if match is None:
        raise ConfigError(f"nvcc: {toolkit.root}: its cuda_runtime_api.h names no CUDART_VERSION")
    return int(match[1]) // 1000


_TRANSLATOR = ("*.py", "ptx/*.py", "emit/*.py", "runtime/*.h")


@cache
def translator_sources() -> tuple[str | bytes, ...]:
    """Names and contents of everything that decides what kernels are translated to."""
    return tuple(part for pattern in _TRANSLATOR for pair in sources(pattern) for part in pair)


@cache
def library_folder(toolkit: Toolkit) -> Path:
    """Where this toolkit's library is, or will be."""
    runtime = [part for pair in sources("runtime/*") for part in pair]
    version = compiler_version(CXX_COMPILER)
    parts = [*runtime, *translator_sources(), toolkit.version, version, *FLAGS, *host_extensions()]
    return cache_folder() / f"runtime-{digest(parts)}"


def library(toolkit: Toolkit) -> Path:
    """The folder for this toolkit, compiled when it is not there yet. Blocks. Raises ConfigError when it does not compile."""
    target = library_folder(toolkit)
    if not target.is_dir():
        with locked("runtime"):
            if not target.is_dir():
                with made_whole(target) as folder:
                    _compile(toolkit, folder)
    return target


def _compile(toolkit: Toolkit, folder: Path) -> None:
    major = cudart_major(toolkit)
    for name in ("lib", "bin", "translator/engine/devices/cpu"):
        (folder / name).mkdir(parents=True)
    units = sorted((PACKAGE / "runtime").glob("*.cpp"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = dict(zip(units, pool.map(lambda unit: object_file(unit, toolkit), units), strict=True))
    stand_in = objects.pop(PACKAGE / "runtime" / STAND_IN)
    exports = (PACKAGE / "runtime/libcudart.map.in").read_text().replace("@MAJOR@", str(major))
    (folder / "libcudart.map").write_text(exports)
    soname = f"libcudart.so.{major}"
    link = ["-shared", f"-Wl,--version-script={folder}/libcudart.map", f"-Wl,-soname,{soname}"]
    _run([CXX_COMPILER, *FLAGS, *link, "-o", str(folder / "lib" / soname), *map(str, objects.values()), "-ldl"])
    (folder / "lib/libcudart.so").symlink_to(soname)  # for the linker: NVIDIA's wheels carry none
    _run([CXX_COMPILER, *FLAGS, "-static-libstdc++", "-o", str(folder / "bin/compute-sanitizer"), str(stand_in)])
    (folder / "libcudart.map").unlink()
    _translator(folder)


def object_file(source: Path, toolkit: Toolkit, options: tuple[str, ...] = (*FLAGS, *host_extensions())) -> Path:
    """A source of the runtime as an object, kept by what it is made of: an edit compiles what it touches."""
    flags = (*options, f"-I{PACKAGE}/runtime", f"-isystem{toolkit.include_folder}")
    texts = [path.read_bytes() for path in _with_headers(source)]
    folder = cache_folder() / "objects"
    folder.mkdir(exist_ok=True)
    target = folder / f"{source.stem}-{digest([*texts, toolkit.version, compiler_version(CXX_COMPILER), *flags])}.o"
    if not target.exists():
        output = target.with_suffix(f".{os.getpid()}")
        _run([CXX_COMPILER, *flags, "-c", "-o", str(output), str(source)])
        output.replace(target)
    return target


def _with_headers(source: Path) -> list[Path]:
    """A source and everything of this runtime that it includes, in a fixed order."""
    found = {source: None}
    for path in (waiting := [source]):
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
            header = next(
                (place / name for place in (path.parent, PACKAGE / "runtime") if (place / name).is_file()), None
            )
            if header is not None and header not in found:
                found[header] = None
                waiting.append(header)
    return sorted(found)


def _translator(folder: Path) -> None:
    package = folder / "translator/engine/devices/cpu"
    for pattern in _TRANSLATOR:
        for name, content in sources(pattern):
            (package / name).parent.mkdir(exist_ok=True)
            (package / name).write_bytes(content)
    for place in (package.parent, package.parent.parent):
        (place / "__init__.py").touch()
    script = folder / "bin/beaver-translate"
    script.write_text(TRANSLATE)
    script.chmod(0o755)


def _run(command: list[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise ConfigError(
            f"the CPU device's runtime does not compile here ({CXX_COMPILER} {compiler_version(CXX_COMPILER)}):\n{ended.stderr[-3000:]}"
        )
