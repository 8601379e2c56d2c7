"""How fast a step is, beside the pinned one and at every threshold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaver_tui.state.pcurve import PCurve, p_curve
from beaver_tui.state.speedtext import beside, beside_line, curve_lines, timed_lines
from beaver_tui.state.structuretext import verdict_line
from engine import events as ev
from engine.analysis.grids import GATES
from engine.figures import times, within
from engine.harness import on_demand
from engine.protocol import GateMode, Protocol
from engine.trajectory import Iteration

POSTHOC, INLOOP = Protocol(gate=0.7), Protocol(gate=0.7, gate_mode=GateMode.INLOOP)


def played(*steps: tuple[str, float | None]) -> list[Iteration]:
    """Iterations with these categories and speedups; None for one that was not timed."""
    found = []
    for number, (category, speedup) in enumerate(steps, 1):
        verdict = ev.VerdictReached(
            iteration=number, category=category, outcome_bucket="", rule="", signature="", stage="test"
        )
        timed = ev.Timed(iteration=number, speedup=speedup) if speedup is not None else None
        found.append(Iteration(number, verdict=verdict, timed=timed))
    return found


def passing(curve: PCurve) -> dict[float, tuple[int, ...]]:
    return {point.p: point.steps for point in curve.points}


def test_a_correct_step_passes_up_to_its_speedup():
    curve = p_curve(played(("functional_correctness", None), ("passed", 0.7), ("passed", 0.31)), POSTHOC)
    assert passing(curve) == {0.0: (2, 3), 0.1: (2, 3), 0.3: (2, 3), 0.5: (2,), 0.7: (2,), 0.9: (), 1.0: (), 1.5: ()}
    assert curve.best == (2, 0.7)
    assert all(point.known for point in curve.points)


def test_a_correct_step_that_was_not_measured_passes_at_zero_alone():
    curve = p_curve(played(("passed", None), ("timeout", 2.0)), POSTHOC)
    assert passing(curve)[0.0] == (1,)
    assert not any(steps for p, steps in passing(curve).items() if p > 0)
    assert (curve.best, curve.unmeasured) == (None, (1,))
    assert "correct and not measured: step 1; passes at p 0 alone" in curve_lines(curve)


def test_above_an_inloop_gate_nothing_is_known():
    curve = p_curve(played(("passed", 0.4), ("passed", 1.2)), INLOOP)
    assert [point.p for point in curve.points if not point.known] == [0.9, 1.0, 1.5]
    told = curve_lines(curve)
    assert sum("unknown" in line for line in told) == 3
    assert "not played" in told[-1]


def test_the_protocols_own_threshold_is_among_those_of_the_grid():
    curve = p_curve(played(("passed", 0.81)), Protocol(gate=0.8))
    assert [point.p for point in curve.points] == sorted({*GATES, 0.8})
    assert next(line for line in curve_lines(curve) if line.startswith("0.8 ")).endswith(
        "this run's gate, when scoring"
    )


@given(st.lists(st.tuples(st.sampled_from(["passed", "timeout"]), st.none() | st.floats(0, 3)), max_size=6))
def test_the_curve_never_rises(steps: list[tuple[str, float | None]]):
    curve = p_curve(played(*steps), POSTHOC)
    for lower, higher in zip(curve.points, curve.points[1:], strict=False):
        assert set(higher.steps) <= set(lower.steps)


def timed(speedup: float | None, interval: list[float] | None = None, **more: object) -> ev.Timed:
    return ev.Timed(iteration=1, speedup=speedup, interval=interval or [], **more)  # type: ignore[arg-type]


def test_two_steps_are_compared_by_their_speedups_over_the_reference():
    found = beside(timed(1.5, [1.4, 1.6]), timed(0.5, [0.48, 0.52]), "step 1")
    assert found is not None
    assert found.ratio == pytest.approx(3.0)
    low, high = found.interval
    # wider than either, narrower than both ends against each other
    assert 1.4 / 0.52 < low < 3 * 1.4 / 1.5
    assert 3 * 1.6 / 1.5 < high < 1.6 / 0.48


@given(st.floats(0.01, 100), st.floats(0, 0.5), st.floats(0.01, 100), st.floats(0, 0.5))
def test_the_interval_holds_the_ratio(mine: float, width: float, other: float, breadth: float):
    found = beside(
        timed(mine, [mine * (1 - width), mine * (1 + width)]),
        timed(other, [other * (1 - breadth), other * (1 + breadth)]),
        "",
    )
    assert found is not None
    low, high = found.interval
    assert low <= found.ratio * (1 + 1e-9) and found.ratio <= high * (1 + 1e-9)


ANY = st.floats(allow_nan=False, allow_infinity=False)
MEASURED = st.builds(
    lambda speedup, ends, samples: timed(speedup, ends, candidate_ms=samples, reference_ms=samples, cv=speedup),
    st.none() | ANY,
    st.lists(ANY, max_size=3),
    st.lists(ANY, max_size=3),
)


@given(MEASURED, MEASURED)
def test_whatever_a_journal_holds_is_told_in_short_lines(one: ev.Timed, other: ev.Timed):
    found = beside(one, other, "step 1")
    told = [*timed_lines(one), *([beside_line(found)] if found is not None else [])]
    told += [on_demand.timed_line(one), verdict_line("passed", one.speedup, [])]
    assert all(len(line) < 120 for line in told)


def test_without_a_reference_the_mean_times_are_compared():
    found = beside(timed(None, candidate_ms=[1.0, 3.0]), timed(None, candidate_ms=[6.0]), "step 2")
    assert found is not None and (found.ratio, found.interval) == (3.0, ())


@pytest.mark.parametrize("other", [None, timed(None), timed(0.0, candidate_ms=[0.0])])
def test_nothing_to_compare_with_is_no_comparison(other: ev.Timed | None):
    assert beside(timed(1.0, candidate_ms=[0.0]), other, "") is None


def test_a_measurement_tells_all_that_was_kept_of_it():
    launches = [
        ev.TimedLaunch(side="candidate", number=number, ms=1.0, sm_mhz=mhz, celsius=40, reasons=reasons)
        for number, (mhz, reasons) in enumerate([(1980, []), (1755, ["sw_power_cap"])], 1)
    ]
    told = timed_lines(
        timed(
            1.25,
            [1.2, 1.3],
            gate="pass",
            cv=0.011,
            reference_ms=[1.25, 1.25],
            candidate_ms=[1.0, 1.0],
            launches=launches,
            outliers=[ev.Outlier(side="candidate", number=2, ms=1.4, score=4.2)],
            flags=["the clock was \x1b[2Jheld"],
        )
    )
    assert told == [
        "speedup 1.25x  95 % [1.20, 1.30]  gate pass",
        "reference  mean 1.25 ms of 2: 1.25 1.25",
        "candidate  mean 1 ms of 2: 1 1",
        "variation  CV 1.10 % of the candidate's launches",
        "GPU        1755 to 1980 MHz, 40 C, held by sw_power_cap",
        "apart      candidate launch 2: 1.4 ms (score 4.2); it counts all the same",
        "note       the clock was held",
    ]


@pytest.mark.parametrize(
    ("speedup", "words"),
    [(None, ""), (1.314, "1.31x"), (0.0, "0.00x"), (1e308, "1.0e+308x"), (12345.0, "1.2e+04x"), (0.0004, "4.0e-04x")],
)
def test_a_speedup_has_room_in_a_column_whatever_a_journal_says(speedup: float | None, words: str):
    assert times(speedup) == words
    assert len(words) < 10


def test_an_interval_in_words():
    assert (within([0.5, math.pi]), within([])) == ("[0.50, 3.14]", "")
