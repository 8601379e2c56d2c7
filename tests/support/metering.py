"""Processor seconds of an examination on the CPU device, by step: they mean something on a machine that is busy too."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from engine.devices.cpu.device import CpuDevice
from engine.harness.process import Ended
from engine.harness.step import StepRunner


def processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Meter:
    """Processor seconds of an examination by step: what was used since the step before ended."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._last = processor()

    def step(self, name: str) -> None:
        now = processor()
        self.seconds[name] += now - self._last  # type: ignore[assignment]
        self._last = now


METER = Meter()


class Metered(StepRunner):
    async def note(self, step: str, command: str, ended: Ended) -> None:
        METER.step("checker" if step.startswith("checker") else step)
        await super().note(step, command, ended)


@dataclass(frozen=True)
class MeteredDevice(CpuDevice):
    async def prepare(self, built: Path, folder: Path) -> list[str]:
        lacks = await super().prepare(built, folder)
        METER.step("translation")
        return lacks
