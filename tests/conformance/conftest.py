"""The suite's programs, built once for the CPU device and made ready to run on it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from engine.devices.cpu.device import CpuDevice
from engine.devices.toolkit import Toolkit
from tests.conformance import suite


@dataclass(frozen=True)
class Ready:
    """An executable, what to run it with on the CPU device, and the stand-in for compute-sanitizer."""

    executable: Path
    environment: dict[str, str]
    sanitizer: Path


Prepare = Callable[[suite.Program], Ready]


@pytest.fixture(scope="session")
def prepare(toolkit: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Prepare:
    """Builds a program with nvcc and translates its kernels; the second time it only looks it up."""
    device, folder = CpuDevice.of_this_machine(), tmp_path_factory.mktemp("cpu") / "device"
    device.make_ready(toolkit, print)
    device.equip(toolkit, folder)

    @cache
    def ready(program: suite.Program) -> Ready:
        place = tmp_path_factory.mktemp(program.name)
        executable = place / program.name
        environment = os.environ | device.build_environment(toolkit, folder)
        suite.build(program, executable, str(toolkit.nvcc), device.build_flags(""), environment)
        assert asyncio.run(device.prepare(place, folder)) == []
        sanitizer = device.sanitizer(toolkit, folder)
        assert sanitizer is not None
        return Ready(executable, os.environ | device.environment(toolkit, folder, suite.CASE_SECONDS), sanitizer)

    return ready
