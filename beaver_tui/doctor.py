"""What this machine offers, and what is missing: one line for each thing that a run may need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.devices.base import Device
    from engine.devices.toolkit import Toolkit

TOOLS = (
    ("g++", "nvcc, whose host compiler it is, and the CPU device", True),
    ("gcc", "the CPU device's kernels", False),
    ("make", "tasks that are built with make", False),
    ("prlimit", "the limits of every program that is run (util-linux)", True),
)
"""Programs that runs start, what needs them, and whether that is everything. The sandbox's own and those of the CUDA toolkit are
looked for elsewhere."""

_PATIENCE = 60
"""Seconds that the profiler's trial may take: a run that holds the GPU must not hold doctor."""


@dataclass(frozen=True)
class Finding:
    """``missing``: without it nothing can be run."""

    subject: str
    text: str
    missing: bool = False

    def __str__(self) -> str:
        return f"{self.subject:10} {'missing: ' if self.missing else ''}{self.text}"


def findings() -> Iterator[Finding]:
    """Everything that was looked for, in the order in which a run needs it."""
    from engine.devices import cuda

    gpus, reason = cuda.query()
    yield from _toolkit(with_gpu=bool(gpus))
    yield from tools()
    yield from _devices(gpus, reason)
    yield _sandbox()
    yield _profiler(gpus)


def _toolkit(*, with_gpu: bool) -> Iterator[Finding]:
    from engine.devices.toolkit import PLACES, find_toolkit
    from engine.errors import ConfigError

    try:
        toolkit = find_toolkit()
    except ConfigError as error:
        yield Finding("toolkit", str(error), missing=True)
        return
    yield Finding(
        "toolkit", f"CUDA {toolkit.version}, from {toolkit.found}: {toolkit.nvcc} (looked at {', '.join(PLACES)})"
    )
    sanitizer = toolkit.program("compute-sanitizer")
    if with_gpu and sanitizer is None:
        yield Finding("sanitizer", "no compute-sanitizer: programs on the GPU are run without memcheck and racecheck")
    else:
        yield Finding("sanitizer", str(sanitizer) if with_gpu else "the CPU device brings its own compute-sanitizer")


def tools() -> Iterator[Finding]:
    """The programs of TOOLS that are missing; all of them in one line when none is."""
    import shutil

    absent = [tool for tool in TOOLS if shutil.which(tool[0]) is None]
    for name, needed_by, vital in absent:
        yield Finding("tools", f"{name}, for {needed_by}" if vital else f"no {name}, for {needed_by}", missing=vital)
    if not absent:
        yield Finding("tools", ", ".join(name for name, *_ in TOOLS))


def _devices(gpus: Sequence[Device], reason: str) -> Iterator[Finding]:
    from engine.devices.cpu.device import CpuDevice
    from engine.errors import ConfigError

    for gpu in gpus:
        yield Finding("device", f"{gpu.label}, {gpu.memory >> 30} GiB, driver {gpu.driver}, {gpu.uuid}")
    if not gpus:
        yield Finding("device", f"no GPU ({reason})")
    try:
        cpu = CpuDevice.of_this_machine()
        yield Finding(
            "device", f"{cpu.label}, {cpu.memory / (1 << 30):.3g} GiB{'' if gpus else '; --device auto takes it'}"
        )
    except ConfigError as error:
        yield Finding("device", str(error), missing=not gpus)


def _sandbox() -> Finding:
    from engine.errors import ConfigError
    from engine.harness.sandbox import choose_sandbox

    try:
        return Finding("sandbox", choose_sandbox().name)
    except ConfigError as error:
        return Finding("sandbox", str(error), missing=True)


def _profiler(gpus: Sequence[Device]) -> Finding:
    """What feedback L4 needs: Nsight Compute, the right to read counters, and a kernel that was really profiled."""
    from engine.devices.toolkit import find_toolkit
    from engine.errors import BeaverError, ConfigError
    from engine.harness.profiler import counters_restricted, find_ncu
    from engine.harness.profiler_check import ncu_version

    try:
        toolkit = find_toolkit()
    except ConfigError:
        return _without_profiler("no toolkit")
    program = find_ncu(toolkit)
    if program is None:
        return _without_profiler("Nsight Compute (ncu) was not found")
    found = f"ncu {ncu_version(program)}, {program}"
    if not gpus:
        restricted = "; the driver keeps its counters for administrators" if counters_restricted() else ""
        return _without_profiler(f"{found}, but no GPU{restricted}")
    try:
        return _tried_profiler(gpus[0], toolkit, found)
    except BeaverError as error:
        return _without_profiler(f"{found}; {error}")


def _tried_profiler(gpu: Device, toolkit: Toolkit, found: str) -> Finding:
    import asyncio

    from engine.harness.profiler_check import Tried, try_profiler
    from engine.harness.sandbox import choose_sandbox

    async def attempt() -> Tried:
        async with asyncio.timeout(_PATIENCE):
            return await try_profiler(gpu, toolkit, choose_sandbox())

    try:
        tried = asyncio.run(attempt())
    except TimeoutError:
        tried = Tried(f"nothing was profiled within {_PATIENCE} s; a run may hold the GPU")
    if tried.problem:
        return _without_profiler(f"{found}; {tried.problem}")
    return Finding("profiler", f"{found}; a kernel was profiled in the sandbox in {tried.seconds:.1f} s")


def _without_profiler(reason: str) -> Finding:
    """Never missing in the sense of a run: the level has a fallback."""
    return Finding("profiler", f"feedback L4 falls back to L3: {reason}")
