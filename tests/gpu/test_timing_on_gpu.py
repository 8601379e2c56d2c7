"""A timing session on a real GPU: its state is stored, its ceilings are plausible, and a reference is as fast as itself."""

from __future__ import annotations

from contextlib import closing

import pytest

from engine.corpora import builtin_folder, load_corpus
from engine.devices.choose import choose_device
from engine.devices.toolkit import Toolkit
from engine.harness import on_demand
from engine.harness.examine import Harness
from engine.harness.sandbox import Sandbox
from engine.protocol import Protocol

pytestmark = pytest.mark.gpu


@pytest.fixture
def gpu(toolkit: Toolkit, sandbox: Sandbox):
    with closing(Harness(device=choose_device("cuda"), sandbox=sandbox, toolkit=toolkit, sanitize=False)) as made:
        yield made


async def test_a_reference_is_as_fast_as_itself_and_its_gpu_is_seen_working(gpu: Harness):
    task = load_corpus(builtin_folder()).tasks["gemm_rect"]
    assert task.reference is not None
    timed = await on_demand.time(gpu, task, task.reference.read_bytes(), Protocol(launches=5), seed=3)
    assert timed.source == "events", timed.note
    assert timed.speedup == pytest.approx(1.0, abs=0.05)
    assert len(timed.interval) == 2
    for launch in timed.launches:
        assert launch.sm_mhz is not None
        assert launch.sm_mhz > 500
        assert len(launch.batches_ms) == len(launch.wall_ms) == 3
        for own, wall in zip(launch.batches_ms, launch.wall_ms, strict=True):
            assert own * launch.calls > 80.0, "batches differ in their number of calls"
            assert abs(wall - own) <= 0.1 * own + 2.5 / launch.calls
    assert not any(flag.startswith("roofline") for flag in timed.flags)


async def test_ceilings_are_those_of_a_gpu_and_are_kept(gpu: Harness, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    async with gpu.device.exclusive():
        first = await gpu.device.ceilings(gpu.toolkit)
        again = await gpu.device.ceilings(gpu.toolkit)
    assert first == again, "the second is read, not measured"
    assert 1e11 < first.dram < first.l2
    assert 1e12 < first.fp32 < first.tensor
    assert 2e-7 < first.launch < 1e-4
    assert first.l2_bytes > 1 << 20
