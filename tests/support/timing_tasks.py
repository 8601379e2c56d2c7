"""A small task with the corpus's own driver, and a CPU device on which times count: the clocks are real, only their meaning is not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from engine.corpora import builtin_folder
from engine.corpora.native import read_native
from engine.devices.cpu.device import CpuDevice
from engine.task import Task


@dataclass(frozen=True)
class ClockedCpu(CpuDevice):
    """Says of its times that they count, so that a whole timing session runs where there is no GPU."""

    times_count: ClassVar[bool] = True


COUNT = 1 << 16
PASSES = 24

HEADER = """\
#pragma once
#include <cuda_runtime.h>
cudaError_t spread(const float* x, float* y, int n, cudaStream_t stream);
"""

DRIVER = """\
#include "beaver_driver.cuh"
#include "solution.h"

int main(int argc, char** argv) {
    const int n = beaver::read_scalar<int>("n.i32");
    beaver::DeviceBuffer<float> x(beaver::read_vector<float>("x.f32", n));
    beaver::DeviceBuffer<float> y(n);
    beaver::Stream stream;
    const auto call = [&] { return spread(x.data(), y.data(), n, stream); };
    if (beaver::wants_timing(argc, argv)) beaver::measure(stream, [&] { y.poison(); }, call);
    else BEAVER_CHECK(beaver::run(call));
    beaver::write_vector("y.f32", y.download());
    return 0;
}
"""

WORK = f"""\
#include "solution.h"
#include <cstdio>
static cudaError_t work(const float* x, float* y, int n, cudaStream_t stream) {{
    for (int i = 0; i < {PASSES}; ++i)
        if (cudaError_t error = cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream)) return error;
    return cudaSuccess;
}}
"""
"""Host code alone, which compiles in a second: copies are all of the "kernel"."""

HONEST = (
    WORK
    + """\
cudaError_t spread(const float* x, float* y, int n, cudaStream_t stream) { return work(x, y, n, stream); }
"""
)

CHECKER = f"""\
import json, os, sys
import numpy as np

if sys.argv[1] == "generate":
    rng = np.random.default_rng(int(os.environ["BEAVER_SEED"]))
    rng.uniform(1, 2, {COUNT}).astype("<f4").tofile("in/x.f32")
    np.array([{COUNT}], "<i4").tofile("in/n.i32")
else:
    want = np.fromfile("in/x.f32", "<f4")
    got = np.fromfile("out/y.f32", "<f4") if os.path.exists("out/y.f32") else np.array([])
    passed = bool(got.size == want.size and (got == want).all())
    message = "y matches" if passed else "y differs"
    json.dump({{"passed": passed, "output": "y", "message": message}}, open("result.json", "w"))
    sys.exit(0 if passed else 1)
"""

SPEC = {
    "task_id": "spread",
    "backend": "nvcc",
    "solution_file": "solution.cpp",
    "build_cmd": "nvcc -O1 -o driver driver.cpp solution.cpp",
    "check": {
        "generate": "python3 check.py generate",
        "run": "./driver",
        "compare": "python3 check.py compare",
        "time": "./driver time",
    },
    "timing_parser": r"^Kernel time: ([0-9.]+) ms",
    "timeouts": {"cpu": {"build": 120, "test": 10}},
}


def write_timed_task(corpus: Path, passes: int = PASSES) -> Task:
    """``passes`` copies make one call of the reference."""
    honest = HONEST.replace(f"i < {PASSES}", f"i < {passes}")
    folder = corpus / "spread"
    for part in ("testbench", "checker"):
        (folder / part).mkdir(parents=True)
    (folder / "input.json").write_text(json.dumps(SPEC))
    (folder / "prompt.txt").write_text("Write spread: y = x.\n")
    (folder / "broken.cpp").write_text(honest)
    (folder / "reference.cpp").write_text(honest)
    (folder / "error.log").write_text("")
    (folder / "testbench" / "driver.cpp").write_text(DRIVER)
    (folder / "testbench" / "solution.h").write_text(HEADER)
    shared = builtin_folder() / "shared" / "beaver_driver.cuh"
    (folder / "testbench" / "beaver_driver.cuh").write_bytes(shared.read_bytes())
    (folder / "checker" / "check.py").write_text(CHECKER)
    return read_native(folder)
