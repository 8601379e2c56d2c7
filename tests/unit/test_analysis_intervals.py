"""Wilson's interval, the bootstrap by task and paired comparisons: published values, and draws counted by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis.build import TrajectoryRecord, frame_from
from engine.analysis.frame import Frame
from engine.analysis.intervals import bootstrap, percentile_interval, resampled, task_weights, wilson
from engine.analysis.metrics import debug_rate, pass_at_1, pass_at_k
from engine.analysis.paired import compare, mcnemar
from engine.analysis.rates import Rate, groups_by
from engine.analysis.scoring import Scoring, score
from tests.support.trajectories import attempt, panels, played

NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
"""Newcombe 1998, "Two-sided confidence intervals for the single proportion: comparison of seven methods", Table I, method 3."""


@pytest.mark.parametrize(("hits", "trials", "low", "high"), NEWCOMBE)
def test_published_values_of_wilsons_interval(hits: int, trials: int, low: float, high: float) -> None:
    found = wilson(Rate(hits, trials))
    assert (round(found.low or 0, 4), round(found.high or 0, 4)) == (low, high)


def test_wilson_of_nothing_is_nothing() -> None:
    found = wilson(Rate(0, 0, "failing tasks", "no task failed"))
    assert (found.low, found.high, found.why) == (None, None, "no task failed")


def row(task: str, passes: bool, fixer: str = "f") -> TrajectoryRecord:
    return played(task, fixer, [attempt("passed" if passes else "timeout")])


few = settings(max_examples=40, deadline=None)


@few
@given(panels())
def test_a_resample_is_the_rate_of_the_rows_of_its_tasks(rows: list[TrajectoryRecord]) -> None:
    frame = frame_from(rows)
    scored, groups = score(frame, Scoring(gate=0.0)), groups_by(frame)
    tallies = [pass_at_k(scored), debug_rate(scored)]
    values = resampled(frame, tallies, groups, resamples=7)
    weights = np.concatenate(list(task_weights(np.unique(frame.trajectories.task), len(frame.names["task"]), 7)))
    for tally, of_tally in zip(tallies, values, strict=True):
        for drawn, of_draw in zip(weights, of_tally, strict=True):
            times = drawn[frame.trajectories.task[tally.rows]]
            for group, value in enumerate(of_draw):
                mine = groups.index[tally.rows] == group
                base = (times * tally.base)[mine].sum()
                assert (
                    math.isnan(value) if base == 0 else value == pytest.approx((times * tally.hits)[mine].sum() / base)
                )


def test_draws_are_of_the_tasks_that_are_there_and_as_many() -> None:
    weights = np.concatenate(list(task_weights(np.array([1, 3, 4]), 6, resamples=200)))
    assert weights.shape == (200, 6) and (weights.sum(axis=1) == 3).all()
    assert not weights[:, [0, 2, 5]].any()
    assert weights[:, [1, 3, 4]].mean(axis=0) == pytest.approx([1, 1, 1], abs=0.2)


def test_the_same_seed_gives_the_same_interval() -> None:
    frame = frame_from([row(str(number), number % 3 == 0) for number in range(30)])
    groups, tallies = groups_by(frame), [pass_at_1(score(frame, Scoring(gate=0.0)))]
    assert bootstrap(frame, tallies, groups) == bootstrap(frame, tallies, groups)
    assert (resampled(frame, tallies, groups, seed=1) != resampled(frame, tallies, groups)).any()


def test_trajectories_of_one_task_are_alike_and_narrow_nothing() -> None:
    """Ten copies of every trajectory are no new tasks: the bootstrap knows it, Wilson's interval does not."""
    once = [row(str(number), number % 2 == 0) for number in range(40)]
    widths = []
    for rows in (once, once * 10):
        frame = frame_from(rows)
        tally = pass_at_1(score(frame, Scoring(gate=0.0)))
        ((interval,),) = bootstrap(frame, [tally], groups_by(frame))
        widths.append((interval.high or 0) - (interval.low or 0))
        plain = wilson(tally.total())
        assert (plain.high or 0) - (plain.low or 0) == pytest.approx(0.295 if rows is once else 0.098, abs=0.01)
    assert widths[1] == pytest.approx(widths[0], abs=1e-12)
    assert widths[0] == pytest.approx(2 * 1.96 * math.sqrt(0.25 / 40), abs=0.05)


def test_a_certain_rate_has_a_certain_interval_and_a_resample_without_a_base_is_counted() -> None:
    frame = frame_from([row("a", True, "f"), row("b", False, "g")])
    ((always, never),) = bootstrap(frame, [pass_at_1(score(frame, Scoring(gate=0.0)))], groups_by(frame))
    assert (always.low, always.high, never.low, never.high) == (1, 1, 0, 0)
    for interval in (always, never):
        assert 150 < interval.missing < 350  # a task is in neither of two draws a quarter of the time


def test_an_interval_of_nothing_says_so() -> None:
    found = percentile_interval(np.array([math.nan, math.nan]))
    assert (found.low, found.high, found.missing, found.why) == (None, None, 2, "no resample has a value")
    frame = frame_from([])
    assert bootstrap(frame, [], groups_by(frame)) == []


def test_worked_values_of_mcnemars_test() -> None:
    assert mcnemar(1, 5).exact_p == pytest.approx(2 * (1 + 6) / 2**6)
    assert mcnemar(121, 59).exact_p < 0.001  # as Wikipedia's first example says of these counts


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_exact_test_is_the_binomials_two_tails(b: int, c: int) -> None:
    total = b + c
    tail = sum(Fraction(comb(total, k), 2**total) for k in range(min(b, c) + 1))
    assert mcnemar(b, c).exact_p == pytest.approx(float(min(Fraction(1), 2 * tail)), abs=1e-9)
    assert mcnemar(b, c).exact_p == pytest.approx(mcnemar(c, b).exact_p)


def test_nothing_discordant_is_nothing_to_test() -> None:
    assert mcnemar(0, 0).exact_p == 1
    with pytest.raises(ValueError, match="0 or more"):
        mcnemar(-1, 2)


def two(first: str, second: str) -> Frame:
    """Fixers f and g on tasks 0, 1, ...: + passed, - did not, a blank is a cell that is missing."""
    rows = [
        row(str(task), mark == "+", fixer)
        for fixer, marks in (("f", first), ("g", second))
        for task, mark in enumerate(marks)
        if mark != " "
    ]
    return frame_from(rows)


def test_two_fixers_are_compared_on_the_tasks_that_both_played() -> None:
    frame = two("++++-- +", "+--+-+++")
    tally = pass_at_k(score(frame, Scoring(gate=0.0)))
    found = compare(frame, tally, frame.of("fixer", "f"), frame.of("fixer", "g"))
    assert (found.tasks, found.left_out) == (7, 1)
    assert (found.first, found.second) == (pytest.approx(5 / 7), pytest.approx(4 / 7))
    assert found.mcnemar is not None and (found.mcnemar.only_first, found.mcnemar.only_second) == (2, 1)
    assert found.difference == pytest.approx(1 / 7)
    low, high = found.interval.low, found.interval.high
    assert low is not None and high is not None and low < 1 / 7 < high


def test_a_fixer_compared_with_itself_differs_by_nothing() -> None:
    frame = two("++--", "")
    mine = frame.of("fixer", "f")
    found = compare(frame, pass_at_k(score(frame, Scoring(gate=0.0))), mine, mine)
    assert (found.difference, found.interval.low, found.interval.high) == (0, 0, 0)


def test_pairing_is_narrower_than_two_intervals_when_fixers_agree() -> None:
    frame = two("+-" * 30 + "++", "+-" * 30 + "--")
    tally = pass_at_k(score(frame, Scoring(gate=0.0)))
    found = compare(frame, tally, frame.of("fixer", "f"), frame.of("fixer", "g"))
    assert (found.interval.high or 0) - (found.interval.low or 0) < 0.1
    ((one, other),) = bootstrap(frame, [tally], groups_by(frame))
    assert (one.high or 0) - (one.low or 0) > 0.2 and (other.high or 0) - (other.low or 0) > 0.2


def test_without_a_common_task_nothing_is_compared() -> None:
    frame = two("+ ", " +")
    found = compare(frame, pass_at_k(score(frame)), frame.of("fixer", "f"), frame.of("fixer", "g"))
    assert found.difference is None and found.mcnemar is None and found.left_out == 2 and found.why


def test_attempts_that_give_shares_have_no_mcnemar() -> None:
    frame = frame_from([row("a", True), row("a", False), row("a", True, "g")])
    found = compare(frame, pass_at_k(score(frame, Scoring(gate=0.0))), frame.of("fixer", "f"), frame.of("fixer", "g"))
    assert found.mcnemar is None and found.difference == pytest.approx(-0.5)
