"""Thresholds re-scored, repair by degeneration and the quality of times, on trajectories of known speeds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from engine.analysis.build import TrajectoryRecord, frame_from
from engine.analysis.performance import THRESHOLDS, allowed_thresholds, degenerated, degeneration, p_sweep, timings
from engine.analysis.rates import AnalysisError
from engine.analysis.scoring import Scoring, score
from engine.protocol import GateMode, Protocol
from tests.support.trajectories import attempt, panels, played


def fixed(task: str, at: int, speedup: float) -> TrajectoryRecord:
    """Passes at iteration ``at`` with this speedup."""
    return played(task, "f", [*(attempt("timeout") for _ in range(at - 1)), attempt("passed", speedup=speedup)])


ROWS = [
    fixed("a", 1, 1.5),
    fixed("b", 1, 0.8),
    fixed("c", 2, 0.4),
    fixed("d", 3, 1.2),
    fixed("e", 2, math.nan),
    fixed("f", 2, 0.9),
]


def test_a_stricter_threshold_can_only_lower_the_score() -> None:
    found = {p: tally.total().numerator for p, tally in p_sweep(frame_from(ROWS))}
    assert found == {0.0: 6, 0.1: 5, 0.3: 5, 0.5: 4, 0.7: 4, 0.9: 3, 1.0: 2, 1.5: 1}


@settings(max_examples=60, deadline=None)
@given(panels())
def test_every_point_of_the_curve_is_a_score_of_its_own(rows: list[TrajectoryRecord]) -> None:
    frame = frame_from(rows)
    curve = p_sweep(frame)
    assert [p for p, _ in curve] == list(THRESHOLDS)
    values = [tally.total().numerator for _, tally in curve]
    assert values == sorted(values, reverse=True)
    for p, tally in curve:
        passing = [
            any(item.category == "passed" and (p == 0 or item.speedup >= p) for item in row.iterations[: 5 - own(row)])
            for row in rows
        ]
        assert tally.total().numerator == sum(passing)


def own(row: TrajectoryRecord) -> bool:
    return row.fixer == "gpt-5.4" and row.source == "GPT-5.4"


def test_degeneration_compares_first_passes_with_later_ones() -> None:
    found = degeneration(score(frame_from(ROWS)))
    assert found.first.value == pytest.approx(1.15) and found.first.count == 2
    assert found.later.value == pytest.approx(0.9) and found.later.count == 3
    assert (found.rate.numerator, found.rate.denominator, found.unmeasured) == (2, 3, 1)
    assert degenerated(score(frame_from(ROWS))).total() == found.rate


def test_degeneration_is_of_tasks_solved_at_p_0_whatever_the_score_asks() -> None:
    assert degeneration(score(frame_from(ROWS), Scoring(gate=1.5))) == degeneration(score(frame_from(ROWS)))


def test_without_a_later_pass_there_is_no_degeneration_rate() -> None:
    found = degeneration(score(frame_from(ROWS[:2])))
    assert found.rate.value is None and found.later.value is None and "after iteration 1" in found.later.why


def test_times_that_scatter_are_flagged_and_kept() -> None:
    values = [0.005, 0.008, 0.031, 0.09, math.nan]
    rows = [
        played(str(cv), "f", [attempt("passed", speedup=1.0 if cv == cv else math.nan)._replace(cv=cv)])
        for cv in values
    ]
    found = timings(frame_from([*rows, played("z", "f", [attempt("timeout")])]))
    assert (found.flagged.numerator, found.flagged.denominator) == (2, 4)
    assert (found.unmeasured.numerator, found.unmeasured.denominator) == (1, 5)
    assert found.median_cv.value == pytest.approx(0.0195) and found.p90_cv.value == pytest.approx(0.0723)


def test_nothing_timed_gives_no_quality_and_counts_what_is_missing() -> None:
    found = timings(frame_from([played("a", "f", [attempt("passed")])]))
    assert found.flagged.value is found.median_cv.value is found.p90_cv.value is None
    assert found.unmeasured.value == 1


def test_an_inloop_run_is_swept_up_to_its_own_threshold() -> None:
    frame = frame_from(
        [played("a", "f", [attempt("passed", speedup=0.6)], Protocol(gate=0.5, gate_mode=GateMode.INLOOP))]
    )
    assert allowed_thresholds(frame) == [0.0, 0.1, 0.3, 0.5]
    assert [tally.total().value for _, tally in p_sweep(frame, allowed_thresholds(frame))] == [1, 1, 1, 1]
    with pytest.raises(AnalysisError, match="score it at 0.5 or below"):
        p_sweep(frame)
