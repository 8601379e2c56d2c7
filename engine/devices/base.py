"""A device, as the harness and every report name it: a GPU, the CPU device, or none at all.

What differs between them is asked of the device: what a program sees of it, what a build adds for it, what must happen
between a build and a run, and who must wait for whom.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from engine.devices import ceilings
from engine.devices.ceilings import Ceilings, Unmeasured
from engine.devices.conditions import Conditions, sample
from engine.devices.lock import held
from engine.devices.toolkit import Toolkit

DEFAULT_ARCH = "sm_90"
"""What is built for when no device says otherwise: the paper's Hopper class."""

Kind = Literal["cuda", "cpu", "none"]


@dataclass(frozen=True)
class Device:
    """What every device has; used as it is, a machine without one: programs are built, and ``missing`` says why they are not
    run.

    ``sm`` is the compute capability times ten (90 for sm_90), ``memory`` is in bytes, ``driver`` the driver's version.
    """

    name: str
    uuid: str = ""
    index: int = 0
    sm: int = 0
    memory: int = 0
    driver: str = ""
    missing: str = ""

    kind: ClassVar[Kind] = "none"
    times_count: ClassVar[bool] = True
    """Whether a measured time says something about a GPU."""
    nodes: ClassVar[tuple[str, ...]] = ()
    """What a program's box shows of /dev, as patterns; with them it shows /sys."""

    @property
    def label(self) -> str:
        """How events and reports name it; the first word is the kind."""
        return f"{self.kind} {self.name} (sm_{self.sm})" if self.kind != "none" else "none"

    def describe(self) -> dict[str, str | int]:
        """For a run's record."""
        return {
            "kind": self.kind,
            "name": self.name,
            "uuid": self.uuid,
            "sm": self.sm,
            "memory": self.memory,
            "driver": self.driver,
        }

    @property
    def arch(self) -> str:
        """The target for nvcc's -arch."""
        return f"sm_{self.sm}" if self.sm else DEFAULT_ARCH

    def missing_library(self, name: str) -> str | None:
        """Why programs that link this library (cublas) cannot run here, None when nothing is known against it."""
        return None

    def build_flags(self, commands: str) -> tuple[str, ...]:
        """What nvcc must be given beyond the task's own flags; ``commands`` is the text in which those stand."""
        return ()

    def make_ready(self, toolkit: Toolkit, say: Callable[[str], None]) -> None:
        """Once, before the first workspace; ``say`` is told when it takes long."""

    def equip(self, toolkit: Toolkit, folder: Path) -> None:
        """Put what builds and programs need of this device into ``folder``, which they can read and not change."""

    async def prepare(self, built: Path, folder: Path) -> list[str]:
        """Between a build and its first run: make what lies in ``built`` ready to run. The result says what cannot be."""
        return []

    def build_environment(self, toolkit: Toolkit, folder: Path) -> dict[str, str]:
        """For builds, which see no device; ``folder`` is what ``equip`` filled."""
        return {}

    def environment(self, toolkit: Toolkit, folder: Path, seconds: float) -> dict[str, str]:
        """For programs that run on it, ``seconds`` long at most."""
        return {}

    def sanitizer(self, toolkit: Toolkit, folder: Path) -> Path | None:
        """compute-sanitizer for this device, None where there is none."""
        return None

    def conditions(self) -> Conditions:
        """How the device stands now. Blocks for some milliseconds."""
        return Conditions(missing=f"{self.name} has no clocks to read")

    async def build_ceilings(self, toolkit: Toolkit) -> None:
        """What ``ceilings`` needs and no device is needed for. Raises Unmeasured."""

    async def ceilings(self, toolkit: Toolkit) -> Ceilings:
        """What the device reaches at most; the caller holds it. Raises Unmeasured."""
        raise Unmeasured(f"{self.name} has no measured ceilings")

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Hold the device. A GPU is one test's or timing's at a time, among all processes of this host; the CPU device is
        shared, and so is no device. Builds need no lock."""
        yield


@dataclass(frozen=True)
class Gpu(Device):
    """An NVIDIA GPU that NVML sees."""

    kind: ClassVar[Kind] = "cuda"
    nodes: ClassVar[tuple[str, ...]] = ("nvidia*", "nvidia-caps/*", "dri/renderD*")

    def environment(self, toolkit: Toolkit, folder: Path, seconds: float) -> dict[str, str]:
        return {"CUDA_VISIBLE_DEVICES": self.uuid}

    def sanitizer(self, toolkit: Toolkit, folder: Path) -> Path | None:
        return toolkit.program("compute-sanitizer")

    def conditions(self) -> Conditions:
        return sample(self.uuid)

    async def build_ceilings(self, toolkit: Toolkit) -> None:
        if ceilings.known(self.uuid, self.driver, self.arch, toolkit) is None:
            await ceilings.build(self.uuid, self.driver, self.arch, toolkit)

    async def ceilings(self, toolkit: Toolkit) -> Ceilings:
        found = ceilings.known(self.uuid, self.driver, self.arch, toolkit)
        return found or await ceilings.measure(self.uuid, self.driver, self.arch, toolkit)

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        async with held(Path("/tmp") / f"beaver-tui-gpu-{self.uuid}.lock", "GPU lock"):
            yield
