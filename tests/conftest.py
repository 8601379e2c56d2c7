"""Shared fixtures: real tools, tiny real tasks. Nothing here stands in for something that runs on this machine."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from engine.devices.base import Device, Gpu
from engine.devices.cuda import discover
from engine.devices.toolkit import Toolkit, find_toolkit
from engine.harness.examine import Harness
from engine.harness.sandbox import Sandbox, choose_sandbox
from tests.support.tasks import write_task


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """GPU tests skip where there is no GPU; they are never faked."""
    if discover():
        return
    skip = pytest.mark.skip(reason="needs an NVIDIA GPU")
    for item in items:
        if "gpu" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def toolkit() -> Toolkit:
    return find_toolkit()


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return choose_sandbox()


@pytest.fixture
def host_device() -> Device:
    """A device on which tests are run. The tasks that use it are host programs: they call no CUDA."""
    return Gpu(name="host programs", uuid="host-programs", sm=90)


@pytest.fixture
def harness(toolkit: Toolkit, sandbox: Sandbox, host_device: Device):
    with closing(Harness(device=host_device, sandbox=sandbox, toolkit=toolkit, sanitize=False)) as made:
        yield made


@pytest.fixture
def make_task(tmp_path: Path):
    """Writes a small task folder and reads it back."""

    def make(name: str = "sum", **changes: object):
        return write_task(tmp_path / "corpus", name, **changes)

    return make
