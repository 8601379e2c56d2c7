"""Swing, tau, ranks and flips: published values, scipy, and stored rows of known order."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis.build import PAPER, TrajectoryRecord, frame_from
from engine.analysis.flips import UNIFORM, Posterior, judged_flips, order_of, posterior
from engine.analysis.frame import Frame
from engine.analysis.metrics import pass_at_k
from engine.analysis.rates import AnalysisError, groups_by
from engine.analysis.robustness import (
    best_setting,
    flips,
    kendall,
    ranking,
    swings,
    tau_b,
)
from engine.analysis.scoring import Scoring, score
from engine.analysis.stability import compared, stability
from engine.protocol import Protocol
from tests.support.trajectories import attempt, played


def scores(*values: float) -> dict[str, float]:
    return dict(zip("abcdefghij", values, strict=False))


PUBLISHED_TAU = [
    # Hollander and Wolfe 1973, "Nonparametric statistical methods", p. 187: canned tuna, T=26 (R, ?cor.test)
    ([44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1], [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8], 16 / 36),
    # scipy.stats.kendalltau's example, with ties: -0.47140452079103173
    ([12, 2, 1, 12, 2], [1, 4, 7, 1, 0], -0.47140452079103173),
]


@pytest.mark.parametrize(("one", "other", "tau"), PUBLISHED_TAU)
def test_published_values_of_tau(one: list[float], other: list[float], tau: float) -> None:
    assert kendall(scores(*one), scores(*other)).value == pytest.approx(tau, abs=1e-12)


few = settings(max_examples=60, deadline=None)


@few
@given(st.integers(2, 8).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n)] * 2)))
def test_tau_b_is_scipys_with_any_ties(pair: tuple[list[int], list[int]]) -> None:
    from scipy.stats import kendalltau

    one, other = pair
    expected = float(kendalltau(one, other).statistic)
    found = float(tau_b(np.array([one], float), np.array([other], float))[0])
    assert found == pytest.approx(expected, abs=1e-12) or (math.isnan(found) and math.isnan(expected))


def test_tau_without_an_order_has_no_value_and_says_why() -> None:
    assert kendall(scores(1, 2), scores(3, 3)).why.startswith("all scores of one setting are equal")
    assert kendall(scores(1), scores(2)).value is None
    assert kendall({"a": 1.0, "b": 2.0}, {"b": 1.0, "c": 2.0}).count == 1


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_tau_tells_the_swaps_of_neighbours(one: list[str], other: list[str]) -> None:
    default, turned = ({name: -place for place, name in enumerate(names)} for names in (one, other))
    assert kendall(default, turned).value == pytest.approx(1 - 2 * len(flips(default, turned)) / 15)


AXIS = {"H1": scores(33.3, 27.7, 16.9), "H4": scores(29.1, 21.6), "H2": scores(30.5, 21.6, 16.4)}


def test_swing_is_over_the_settings_that_a_fixer_was_measured_at() -> None:
    found = {swing.fixer: swing for swing in swings(AXIS)}
    assert (round(found["b"].size, 1), found["b"].highest, found["b"].settings) == (6.1, "H1", 3)
    assert (round(found["c"].size, 1), found["c"].lowest, found["c"].settings) == (0.5, "H2", 2)
    assert [swing.fixer for swing in swings(AXIS)] == ["b", "a", "c"]
    assert swings({"H1": scores(1.0)}) == []
    assert best_setting(AXIS) == scores(33.3, 27.7, 16.9)


def test_a_flip_is_of_two_fixers_that_both_settings_measured() -> None:
    default, other = scores(30, 20, 10, 5), {"a": 30.0, "c": 21.0, "b": 20.0}
    assert [(flip.ahead, flip.behind) for flip in flips(default, other)] == [("b", "c")]
    assert flips(default, scores(1, 1, 1)) == [], "a tie is no flip"
    assert ranking(scores(1, 3, 2)) == ["b", "c", "a"]


def test_the_posterior_of_hariri_et_al_gives_its_authors_worked_values() -> None:
    """The example of the authors' package scorio (its documentation on PyPI, version 0.2): mu 0.575, sigma 0.084275 with a prior
    row of two outcomes a task, 0.5625 and 0.091998 with the uniform prior alone."""
    counts = [[1, 2, 2], [1, 2, 2]]  # of [0, 1, 2, 2, 1] and [1, 1, 0, 2, 2]
    plain = posterior(counts, (0.0, 0.5, 1.0), (1.0, 1.0, 1.0))
    assert (round(plain.mean, 6), round(math.sqrt(plain.variance), 6)) == (0.5625, 0.091998)
    prior = posterior(counts, (0.0, 0.5, 1.0), [[2, 1, 2], [1, 2, 2]])  # 1 + the counts of [0, 2] and [1, 2]
    assert (round(prior.mean, 6), round(math.sqrt(prior.variance), 6)) == (0.575, 0.084275)


def test_one_trial_of_one_task_is_a_beta_distribution() -> None:
    found = posterior([[0, 1]])  # Beta(2, 1): mean 2/3, variance 1/18
    assert (found.mean, found.variance) == (pytest.approx(2 / 3), pytest.approx(1 / 18))


def test_rho_is_the_chance_that_the_order_is_right() -> None:
    one, other = Posterior(0.5, 0.01, 10), Posterior(0.7326381, 0.01, 10)
    found = order_of(one, other)
    assert found.z == pytest.approx(1.645, abs=1e-4) and found.probability == pytest.approx(0.95, abs=1e-3)
    assert order_of(one, Posterior(0.74, 0.01, 10)).resolved and not order_of(one, Posterior(0.73, 0.01, 10)).resolved
    certain = [Posterior(0.5, 0.0, 1), Posterior(0.6, 0.0, 1)]
    assert order_of(*certain).resolved and order_of(certain[0], certain[0]).probability == 0.5


def test_a_flip_is_resolved_when_both_orders_are() -> None:
    sure = {"a": Posterior(0.9, 1e-4, 9), "b": Posterior(0.1, 1e-4, 9)}
    turned = {"a": sure["b"], "b": sure["a"]}
    unsure = {"a": Posterior(0.4, 0.01, 9), "b": Posterior(0.41, 0.01, 9)}
    assert [judged.resolved for judged in judged_flips(sure, turned)] == [True]
    assert [judged.resolved for judged in judged_flips(sure, unsure)] == [False]
    assert judged_flips(sure, sure) == []


@pytest.mark.parametrize("counts", [[], [[1, 2, 3]], [[-1, 2]]])
def test_counts_that_are_none_are_refused(counts: list[list[int]]) -> None:
    with pytest.raises(AnalysisError, match="a posterior needs"):
        posterior(counts, prior=UNIFORM)


OTHER = Protocol(history=2)


def row(task: str, fixer: str, passes: bool, protocol: Protocol = PAPER) -> TrajectoryRecord:
    return played(task, fixer, [attempt("passed" if passes else "timeout")], protocol)


def panel() -> Frame:
    """Tasks 0..9, fixers a > b > c by default and c > b > a with history=2; task 9 lacks one cell, fixer d one setting."""
    rows = []
    for setting, share in ((PAPER, {"a": 9, "b": 6, "c": 3, "d": 5}), (OTHER, {"a": 3, "b": 6, "c": 9})):
        for fixer, passes in share.items():
            rows += [row(str(task), fixer, task < passes, setting) for task in range(10)]
    del rows[19]
    return frame_from(rows)


def test_scores_of_settings_are_over_the_tasks_that_all_have() -> None:
    frame = panel()
    tally = pass_at_k(score(frame, Scoring(gate=0.0)))
    found = compared(frame, tally, groups_by(frame), ["default", "history=2"])
    assert (found.tasks, found.left_out, found.missing) == (9, 1, ("d",))
    assert found.scores["default"] == {"a": 1.0, "b": 6 / 9, "c": 3 / 9}
    assert kendall(found.scores["default"], found.scores["history=2"]).value == -1
    with pytest.raises(AnalysisError, match="history=3: no trajectory was played so"):
        compared(frame, tally, groups_by(frame), ["history=3"])
    with pytest.raises(AnalysisError, match="group by nothing else"):
        compared(frame, tally, groups_by(frame, "task"), ["default"])


def test_tau_of_stored_runs_has_an_interval_from_resampled_tasks() -> None:
    frame = panel()
    tally, groups = pass_at_k(score(frame, Scoring(gate=0.0))), groups_by(frame)
    apart = stability(frame, tally, groups, "default", ["history=2"])
    assert apart.tau.value == -1 and apart.interval.low == -1
    assert apart.interval.high is not None and -1 <= apart.interval.high < 0
    same = stability(frame, tally, groups, "default", ["default"])
    assert same.tau.value == 1 and same.interval.high == 1
    best = stability(frame, tally, groups, "default", ["default", "history=2"])  # a: 9, b: 6, c: 9
    assert best.tau.value == pytest.approx(kendall(scores(9, 6, 3), scores(9, 6, 9)).value)
    assert stability(frame, tally, groups, "default", ["history=2"]) == apart


def test_without_a_common_task_there_is_no_tau() -> None:
    frame = frame_from(
        [row("x", "a", True), row("y", "b", True), row("x", "a", True, OTHER), row("y", "b", True, OTHER)]
    )
    found = stability(frame, pass_at_k(score(frame)), groups_by(frame), "default", ["history=2"])
    assert found.tau.value is None and found.scores.tasks == 0 and "no task" in found.tau.why


def test_every_pair_of_a_ranking_is_a_flip_or_keeps_its_order() -> None:
    one, other = scores(5, 4, 3, 2), scores(2, 5, 3, 4)
    found = {(flip.ahead, flip.behind) for flip in flips(one, other)}
    for ahead, behind in itertools.combinations(ranking(one), 2):
        assert ((ahead, behind) in found) == (other[ahead] < other[behind])
