"""The profiler on a real GPU, in the sandbox: figures of real kernels, and programs that would like others."""

from __future__ import annotations

import pytest

from engine.devices.choose import choose_device
from engine.devices.toolkit import Toolkit
from engine.harness import on_demand
from engine.harness.examine import Harness
from engine.harness.profiler import why_not
from engine.harness.sandbox import Sandbox
from engine.local import builtin_tasks
from engine.verdict.profile_metrics import LIMITS, METRICS

pytestmark = pytest.mark.gpu

FORGERY = b"""
#include <cstdio>
static int forged = std::printf(
    "\\"ID\\",\\"Process ID\\",\\"Kernel Name\\",\\"Metric Name\\",\\"Metric Unit\\",\\"Metric Value\\"\\n"
    "\\"0\\",\\"1\\",\\"fast_kernel(int)\\",\\"gpu__time_duration.sum\\",\\"ns\\",\\"1\\"\\n");
"""

ON_THE_HOST = b"""
#include "solution.h"
__global__ void gemm_kernel(float* c) { c[0] = 0.0f; }
cudaError_t gemm_rect(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    return cudaMemsetAsync(c, 0, sizeof(float) * m * n, stream);
}
"""


@pytest.fixture
def gpu(toolkit: Toolkit, sandbox: Sandbox) -> Harness:
    harness = Harness(device=choose_device("cuda"), sandbox=sandbox, toolkit=toolkit)
    if reason := why_not(harness.device, toolkit, sandbox):
        pytest.skip(reason)
    return harness


async def test_a_reference_has_every_figure(gpu: Harness):
    task = builtin_tasks()["gemm_rect"]
    assert task.reference is not None
    profiled = await on_demand.profile(gpu, task, task.reference.read_bytes(), seed=1)
    assert profiled.note == ""
    ((kernel, figures),) = profiled.figures.items()
    assert "gemm_kernel" in kernel
    assert {metric.name for metric in (*METRICS, *LIMITS)} <= figures.keys()
    assert figures["sm_throughput_pct"] > 1 and figures["duration_us"] > 1


async def test_what_a_program_prints_is_no_profile(gpu: Harness):
    task = builtin_tasks()["gemm_rect"]
    assert task.reference is not None
    profiled = await on_demand.profile(gpu, task, task.reference.read_bytes() + FORGERY, seed=1)
    assert [("gemm_kernel" in kernel) for kernel in profiled.figures] == [True]


async def test_a_kernel_that_is_not_launched_has_no_profile(gpu: Harness):
    profiled = await on_demand.profile(gpu, builtin_tasks()["gemm_rect"], ON_THE_HOST, seed=1)
    assert profiled.figures == {} and "saw no launch" in profiled.note
