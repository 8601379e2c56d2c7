"""What the fixes of the recorded run on an H200 gave up, computed from what is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.authoring.losses import Judged, judged
from engine.rundir import RunDirectory

RUN = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


@pytest.fixture(scope="module")
def fixes() -> list[Judged]:
    return list(judged(RunDirectory(RUN)))


def test_every_degenerate_fix_of_the_recorded_run_is_named_and_no_good_one(fixes: list[Judged]):
    named = {(fix.cell.fixer, bool(fix.findings)) for fix in fixes}
    assert named == {("scripted:good", False), ("scripted:degenerate", True)}
    assert len(fixes) == 24


def test_the_measured_speedups_agree_with_the_lens(fixes: list[Judged]):
    slow = [fix.speedup for fix in fixes if fix.findings and fix.speedup is not None]
    kept = [fix.speedup for fix in fixes if not fix.findings and fix.speedup is not None]
    assert max(slow) < 0.3 < 0.7 < min(kept)


def test_the_baseline_is_the_reference_where_the_start_has_nothing_to_lose(fixes: list[Judged]):
    against = {fix.cell.task for fix in fixes if fix.findings and fix.baseline == "reference"}
    # Two starts that are slow, and one of naive kernels that ran out of memory.
    assert against == {"gemm_rect", "spmv_csr", "attention_window"}
