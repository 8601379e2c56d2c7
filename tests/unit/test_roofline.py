"""The least time of a call, and what is refused below it."""

from __future__ import annotations

import msgspec
import pytest

from engine.devices.ceilings import Ceilings
from engine.harness.roofline import bound, bounded, off, refusal
from engine.task import TaskSpec

H200 = Ceilings(l2_bytes=50 << 20, dram=4e12, l2=8e12, fp32=60e12, tensor=600e12, launch=2e-6)
FP32, TENSOR = b"y[i] = fmaf(a, b, c);", b"wmma::mma_sync(c, a, b, c);"


def spec(**fields: float) -> TaskSpec:
    base = {"task_id": "t", "backend": "nvcc", "solution_file": "s.cu", "build_cmd": "nvcc", "test_cmd": "./t"}
    return msgspec.convert(base | fields, type=TaskSpec)


def test_what_fits_into_l2_is_held_to_l2_and_the_rest_to_memory():
    small = bound(spec(min_bytes=40e6), H200, FP32)
    assert small.ms == pytest.approx(1000 * 0.8 * 40e6 / 8e12)
    large = bound(spec(min_bytes=1e9), H200, FP32)
    inside = 50 << 20
    assert large.ms == pytest.approx(1000 * 0.8 * (inside / 8e12 + (1e9 - inside) / 4e12))


def test_a_source_without_tensor_cores_is_held_to_fp32():
    work = spec(min_flops=6e12)
    assert bound(work, H200, FP32).ms == pytest.approx(80.0)
    assert bound(work, H200, TENSOR).ms == pytest.approx(1000 * 0.8 * 6e12 / (4 * 600e12))
    assert bound(work, H200, b"__half2 x; x = __hfma2(x, x, x);").ms < 80.0


def test_nothing_is_faster_than_half_an_empty_launch():
    least = bound(spec(min_bytes=64.0), H200, FP32)
    assert (least.ms, least.words) == (pytest.approx(1e-3), "an empty kernel's launch")


def test_a_time_below_the_bound_is_refused_and_one_above_is_not():
    least = bound(spec(min_flops=6e12), H200, FP32)
    assert refusal([90.0, 85.0], least) == ""
    assert refusal([90.0, 12.0], least).startswith(
        "implausible: 12 ms, and this GPU needs at least 80 ms for 6e+12 operations"
    )


def test_what_is_not_checked_is_said():
    assert not bounded(spec())
    assert off(spec(), "") == "roofline: check off (the task states no min_bytes or min_flops)"
    assert off(spec(min_bytes=8.0), "no GPU") == "roofline: check off (no GPU)"
    assert off(spec(min_bytes=8.0), "") == ""
