"""The three shapes that are slow on a CPU: a warp-shuffle reduction, a matrix product by mma.sync, barriers of a grid.

    python -P tests/bench/bench_cpu_device.py [RUNS]

Prints the wall time of each program, its start included, its result checked by itself: median and range. Exit code 1 when a
median is above its bound.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine.devices.cpu.device import CpuDevice
from engine.devices.toolkit import find_toolkit

SHAPES = Path(__file__).parent / "shapes"
BOUNDS = {"shuffle_reduction": 3.0, "mma_gemm": 6.0, "grid_sync": 3.0}
"""Seconds on two cores."""


def main(runs: int) -> int:
    device, toolkit = CpuDevice.of_this_machine(), find_toolkit()
    device.make_ready(toolkit, print)
    slow = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder, place = Path(scratch) / "device", Path(scratch) / "built"
        place.mkdir()
        device.equip(toolkit, folder)
        for name, bound in BOUNDS.items():
            command = [str(toolkit.nvcc), "-O2", "-arch=sm_90", *device.build_flags("-arch=sm_90")]
            build = os.environ | device.build_environment(toolkit, folder)
            subprocess.run([*command, "-o", str(place / name), str(SHAPES / f"{name}.cu")], env=build, check=True)
            asyncio.run(device.prepare(place, folder))
            environment = os.environ | device.environment(toolkit, folder, 60)
            seconds = []
            for _ in range(runs):
                began = time.monotonic()
                subprocess.run([str(place / name)], env=environment, check=True, stdout=subprocess.DEVNULL)
                seconds.append(time.monotonic() - began)
            median = statistics.median(seconds)
            slow += median > bound
            print(f"{name:20} {median:6.2f} s  {min(seconds):.2f}-{max(seconds):.2f}  bound {bound:g} s", flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
