"""The CPU device: CUDA programs, built by the real nvcc, run against our own libcudart with kernels translated from their PTX.

It shows faults as a GPU of compute capability 9.0 does and is good at naming them; it says nothing about a GPU's speed.
docs/cpu-device.md tells how it works.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from engine.devices.base import Device, Kind
from engine.devices.cpu.fatbin import SM
from engine.devices.cpu.kernels import TRANSLATION_SECONDS, place_kernels, programs
from engine.devices.cpu.library import library, library_folder, unusable
from engine.devices.toolkit import Toolkit
from engine.errors import ConfigError

NAME = "beaver-tui CPU device"
MEMORY = 8 << 30
"""Bytes of device memory at most; never more than half of the machine's."""

_ALWAYS = ("-cudart", "shared", "-lineinfo", "--no-compress")
_EMBEDS_PTX = re.compile(r"-arch[= ]|--gpu-architecture[= ]|(?<!gen)(?<!generate-)code=\S*compute_")
"""Of a task's commands: -gencode=arch=compute_90,code=sm_90 embeds none."""
_ARCHITECTURE_SPECIFIC = re.compile(rf"\bcompute_{SM}a\b")

_GPU_LIBRARIES = re.compile(
    r"(?:lib)?(cublas|cublasLt|cufft|cufftw|cusparse|cusolver|cusolverMg|curand|cudnn\w*|cutensor|nccl|nvrtc|cuda|nvidia-ml|npp\w*)"
    r"(?:\.so.*)?"
)
"""Libraries whose kernels are machine code for GPUs, or which talk to the driver."""


@dataclass(frozen=True)
class CpuDevice(Device):
    """``memory`` is what programs may allocate on it, in bytes.

    ``translation_seconds`` is what the translation of one program may take by the clock, the compilation of its kernels included.
    """

    translation_seconds: float = TRANSLATION_SECONDS

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
        if _EMBEDS_PTX.search(commands):
            return _ALWAYS
        sm = f"{SM}a" if _ARCHITECTURE_SPECIFIC.search(commands) else SM  # ptxas takes wgmma for sm_90a alone
        return (*_ALWAYS, "-gencode", f"arch=compute_{sm},code=[compute_{sm},sm_{sm}]")

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
        for program in await asyncio.to_thread(programs, built):
            for name in program.needs:
                if (reason := self.missing_library(name)) is not None:
                    lacks[f"{name}: {reason}"] = None
            if not lacks:
                await place_kernels(program, folder / "kernels", self.translation_seconds)
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
