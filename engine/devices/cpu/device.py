"""The CPU device: CUDA programs, built by the real nvcc, run against our own libcudart with kernels translated from their PTX.

It shows faults as a GPU of compute capability 9.0 does and is good at naming them; it says nothing about a GPU's speed.
docs/cpu-device.md tells how it works.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from engine.devices.base import Device, Kind
from engine.devices.cpu.cache import PACKAGE, cache_folder, digest
from engine.devices.cpu.emit.flags import host_extensions
from engine.devices.cpu.fatbin import SM, FatbinError, images, is_cuda_program, needed
from engine.devices.cpu.library import (
    compiler_version,
    library,
    library_folder,
    translator_sources,
    unusable,
)
from engine.devices.toolkit import Toolkit
from engine.errors import ConfigError, InfraError

NAME = "beaver-tui CPU device"
MEMORY = 8 << 30
"""Bytes of device memory at most; never more than half of the machine's."""

_ALWAYS = ("-cudart", "shared", "-lineinfo", "--no-compress")
_WITH_PTX = (*_ALWAYS, "-gencode", f"arch=compute_{SM},code=[compute_{SM},sm_{SM}]")
_EMBEDS_PTX = re.compile(r"-arch[= ]|--gpu-architecture[= ]|code=\S*compute_")

_GPU_LIBRARIES = re.compile(
    r"(?:lib)?(cublas|cublasLt|cufft|cufftw|cusparse|cusolver|cusolverMg|curand|cudnn\w*|cutensor|nccl|nvrtc|cuda|nvidia-ml|npp\w*)"
    r"(?:\.so.*)?"
)
"""Libraries whose kernels are machine code for GPUs, or which talk to the driver."""

_TRANSLATION_CPU = 300
"""Seconds of CPU time that one program's translation may take, compilation of each object included."""


@dataclass(frozen=True)
class CpuDevice(Device):
    """``memory`` is what programs may allocate on it, in bytes."""

    kind: ClassVar[Kind] = "cpu"
    times_count: ClassVar[bool] = False

    @classmethod
    def of_this_machine(cls) -> CpuDevice:
        """Raises ConfigError where it cannot run."""
        if reason := unusable():
            raise ConfigError(reason)
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return cls(name=NAME, sm=SM, memory=min(MEMORY, physical // 2))

    def missing_library(self, name: str) -> str | None:
        match = _GPU_LIBRARIES.fullmatch(name)
        return f"{match[1]} needs a GPU: its kernels are machine code" if match else None

    def build_flags(self, commands: str) -> tuple[str, ...]:
        """A shared libcudart that ours can stand in for, line tables, and PTX that can be read. A task's own architecture is kept:
        its errors stay real."""
        return _ALWAYS if _EMBEDS_PTX.search(commands) else _WITH_PTX

    def make_ready(self, toolkit: Toolkit, say: Callable[[str], None]) -> None:
        if not library_folder(toolkit).is_dir():
            say("compiling the CPU device's runtime with g++: once, about half a minute")
        library(toolkit)

    def equip(self, toolkit: Toolkit, folder: Path) -> None:
        shutil.copytree(library(toolkit), folder, symlinks=True, dirs_exist_ok=True)
        (folder / "kernels").mkdir()
        (folder / "kernels").chmod(0o755)

    async def prepare(self, built: Path, folder: Path) -> list[str]:
        lacks: dict[str, None] = {}
        for program in await asyncio.to_thread(_programs, built):
            for name in needed(program):
                if (reason := self.missing_library(name)) is not None:
                    lacks[f"{name}: {reason}"] = None
            if not lacks:
                await _place_kernels(program, folder / "kernels")
        return list(lacks)

    def build_environment(self, toolkit: Toolkit, folder: Path) -> dict[str, str]:
        places = [str(folder / "lib"), *([str(toolkit.link_folder)] if toolkit.link_folder else [])]
        return {"LIBRARY_PATH": ":".join(places)}

    def environment(self, toolkit: Toolkit, folder: Path, seconds: float) -> dict[str, str]:
        return {
            **self.build_environment(toolkit, folder),
            "NVCC_APPEND_FLAGS": " ".join(_ALWAYS),  # for what a test compiles
            "LD_LIBRARY_PATH": str(folder / "lib"),
            "BEAVER_CPU_KERNELS": str(folder / "kernels"),
            "BEAVER_CPU_TRANSLATE": str(folder / "bin/beaver-translate"),
            "BEAVER_CPU_MEMORY": str(self.memory),
            "BEAVER_CPU_BUDGET": f"{max(seconds - 1.0, seconds * 0.8):g}",
        }

    def sanitizer(self, toolkit: Toolkit, folder: Path) -> Path | None:
        return folder / "bin/compute-sanitizer"


def _programs(folder: Path) -> list[Path]:
    """What nvcc linked, anywhere in a workspace. Links are not followed: they may lead anywhere."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not path.is_symlink() and path.is_file() and is_cuda_program(path):
                found.append(path)
    return sorted(found)


@cache
def kernel_cache() -> Path:
    """Translated kernels by key, for this translator, this compiler and this kind of CPU."""
    name = digest([*translator_sources(), compiler_version(), *host_extensions()])
    folder = cache_folder() / f"kernels-{name}"
    folder.mkdir(exist_ok=True)
    return folder


async def _place_kernels(program: Path, folder: Path) -> None:
    """Copies of this program's kernels alone: a candidate must not find another's, least of all the reference's."""
    cached = kernel_cache()
    try:
        keys = [unit.key for unit in await asyncio.to_thread(images, program)]
    except FatbinError:
        return  # whoever launches a kernel of it is told
    if not all((cached / f"{key}.so").exists() or (cached / f"{key}.why").exists() for key in keys):
        await _translate(program, cached)
    for key in keys:
        for name in (f"{key}.so", f"{key}.why"):
            if (cached / name).exists():
                shutil.copyfile(cached / name, folder / name)
                (folder / name).chmod(0o644)


async def _translate(program: Path, into: Path) -> None:
    """In a process of its own with limits: the program is a stranger's."""
    limits = ["prlimit", f"--cpu={_TRANSLATION_CPU}", "--core=0", "--"]
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
    )
    try:
        _, complaint = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        raise
    if process.returncode is not None and process.returncode > 0:
        text = complaint.decode("utf-8", "replace").strip().splitlines()
        raise InfraError(f"translator: {text[-1] if text else f'exit code {process.returncode}'}", kind="cpu_device")
