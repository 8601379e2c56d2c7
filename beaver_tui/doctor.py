"""What this machine offers, and what is missing: one line for each thing that a run may need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_BINARY_TOOLS = ("cuobjdump", "nvdisasm", "ncu")


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
    yield from _toolkit()
    yield from _devices()
    yield _sandbox()


def _toolkit() -> Iterator[Finding]:
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
    yield Finding(
        "sanitizer", f"{sanitizer}" if sanitizer else "no compute-sanitizer for GPUs; the CPU device brings its own"
    )
    absent = [name for name in _BINARY_TOOLS if toolkit.program(name) is None]
    if absent:
        yield Finding("tools", f"not found: {', '.join(absent)}")


def _devices() -> Iterator[Finding]:
    from engine.devices import cuda
    from engine.devices.cpu.device import CpuDevice
    from engine.errors import ConfigError

    gpus, reason = cuda.query()
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
