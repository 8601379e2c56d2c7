"""One test or timing at a time on a GPU, among all processes of the host."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from engine.devices.base import Device, Gpu

HOLDER = """
import asyncio, sys
from engine.devices.base import Gpu

async def hold():
    async with Gpu(name="x", uuid=sys.argv[1]).exclusive():
        print("held", flush=True)
        sys.stdin.readline()

asyncio.run(hold())
"""


@pytest.fixture
def device():
    device = Gpu(name="x", uuid=f"test-{uuid.uuid4()}")
    yield device
    Path(f"/tmp/beaver-tui-gpu-{device.uuid}.lock").unlink()


def hold_elsewhere(device: Device) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, device.uuid], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


async def waits(device: Device) -> bool:
    try:
        async with asyncio.timeout(0.2), device.exclusive():
            return False
    except TimeoutError:
        return True


async def test_another_process_waits_and_a_cancelled_wait_takes_nothing(device: Device):
    holder = hold_elsewhere(device)
    assert await waits(device)
    holder.communicate("\n")
    assert not await waits(device)
    assert not await waits(device)


async def test_a_killed_holder_frees_the_device(device: Device):
    holder = hold_elsewhere(device)
    holder.kill()
    holder.communicate()
    assert not await waits(device)


async def test_tasks_of_one_process_take_turns(device: Device):
    inside = 0

    async def use() -> None:
        nonlocal inside
        async with device.exclusive():
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(use() for _ in range(5)))


async def test_no_device_needs_no_lock():
    async with Device(name="no GPU").exclusive():
        pass
