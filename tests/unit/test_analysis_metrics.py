"""Every metric of D.3 against its definition, read off one trajectory at a time."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis.build import TrajectoryRecord, frame_from
from engine.analysis.frame import CATEGORIES, RunFacts
from engine.analysis.metrics import (
    compile_rate,
    cost_to_fix,
    debug_rate,
    fix_rate_by_bucket,
    fix_rate_by_category,
    identity_gap,
    iterations_to_fix,
    pass_at_1,
    pass_at_k,
    seconds_to_fix,
    tokens_to_fix,
    truncated_rate,
    unbiased,
)
from engine.analysis.rates import AnalysisError, Rate, groups_by, rates_by, setting_label
from engine.analysis.scoring import Scored, Scoring, score
from engine.analysis.sources import same_model, with_sources
from engine.analysis.transitions import (
    progression_rate,
    transition_counts,
    transition_matrix,
    unique_by_task,
    unique_pooled,
)
from engine.protocol import GateMode, Protocol, Sampling
from engine.verdict import is_progression
from tests.support.trajectories import attempt, panels, played

GATES = st.sampled_from([0.0, 0.7, 1.0])

few = settings(max_examples=60, deadline=None)


def verdicts(row: TrajectoryRecord, gate: float, asymmetric: bool = True) -> list[bool]:
    """Whether each iteration passes, without the one that a self-sourced trajectory drops."""
    own = asymmetric and row.fixer == "gpt-5.4" and row.source == "GPT-5.4"
    kept = row.iterations[: row.protocol.k - own]
    return [item.category == "passed" and (gate == 0 or item.speedup >= gate) for item in kept]


def near(rate: Rate, numerator: float, denominator: float) -> bool:
    return rate.denominator == denominator and math.isclose(rate.numerator, numerator, abs_tol=1e-9)


@few
@given(panels(), GATES, st.booleans())
def test_scores_are_what_d3_defines(rows: list[TrajectoryRecord], gate: float, asymmetric: bool) -> None:
    scored = score(frame_from(rows), Scoring(gate=gate, asymmetric=asymmetric))
    outcomes = [verdicts(row, gate, asymmetric) for row in rows]
    failed = [passes for passes in outcomes if not passes[0]]
    assert near(pass_at_1(scored).total(), sum(passes[0] for passes in outcomes), len(rows))
    assert near(pass_at_k(scored).total(), sum(any(passes) for passes in outcomes), len(rows))
    assert near(debug_rate(scored).total(), sum(any(passes) for passes in failed), len(failed))
    gap = identity_gap(pass_at_1(scored).total(), pass_at_k(scored).total(), debug_rate(scored).total())
    assert gap == pytest.approx(0, abs=1e-12)


@few
@given(panels(), GATES)
def test_fix_rates_are_of_the_category_of_iteration_1_and_of_the_start_bucket(
    rows: list[TrajectoryRecord], gate: float
) -> None:
    frame = frame_from(rows)
    scored = score(frame, Scoring(gate=gate))
    by_category = fix_rate_by_category(scored)
    assert "passed" not in by_category and len(by_category) == 8  # seven failures, and unclassified
    for name, tally in by_category.items():
        chosen = [row for row in rows if row.iterations[0].category == name]
        assert near(tally.total(), sum(any(verdicts(row, gate)) for row in chosen), len(chosen))
    for name, tally in fix_rate_by_bucket(frame, Scoring(gate=gate)).items():
        chosen = [row for row in rows if row.bucket == name]
        assert near(tally.total(), sum(any(verdicts(row, 0.0)) for row in chosen), len(chosen))


@few
@given(panels())
def test_what_a_fix_took_is_summed_up_to_the_first_pass(rows: list[TrajectoryRecord]) -> None:
    scored = score(frame_from(rows), Scoring(gate=0.0))
    fixed = [(row, verdicts(row, 0.0).index(True) + 1) for row in rows if any(verdicts(row, 0.0))]
    assert near(iterations_to_fix(scored).total(), sum(number for _, number in fixed), len(fixed))
    seconds = [sum(item.seconds for item in row.iterations[:number]) for row, number in fixed]
    assert near(seconds_to_fix(scored).total(), sum(seconds), len(fixed))
    tokens = [sum(item.tokens for item in row.iterations[:number]) for row, number in fixed]
    told = [total for total in tokens if not math.isnan(total)]
    assert near(tokens_to_fix(scored).total(), sum(told), len(told))
    assert cost_to_fix(scored).total().value is None


@few
@given(panels())
def test_first_candidates_that_compile_and_replies_that_were_cut_off(rows: list[TrajectoryRecord]) -> None:
    frame = frame_from(rows)
    broken = ("environment_dependency", "integration", "buildability")
    compiled = sum(row.iterations[0].category not in broken for row in rows)
    assert near(compile_rate(score(frame)).total(), compiled, len(rows))
    every = [item for row in rows for item in row.iterations]
    assert near(truncated_rate(frame).total(), sum(item.truncated for item in every), len(every))


@few
@given(panels(), GATES)
def test_transitions_climb_or_do_not(rows: list[TrajectoryRecord], gate: float) -> None:
    frame = frame_from(rows)
    pairs = [(one.category, other.category) for row in rows for one, other in itertools.pairwise(row.iterations)]
    counts = transition_counts(frame)
    for (a, before), (b, after) in itertools.product(enumerate(CATEGORIES[:8]), repeat=2):
        assert counts[a, b] == pairs.count((before, after))
    assert counts[7].sum() == 0
    failed = [row for row in rows if not verdicts(row, gate, False)[0]]
    climbed = [
        any(is_progression(one.category, other.category) for one, other in itertools.pairwise(row.iterations))
        for row in failed
    ]
    assert near(progression_rate(score(frame, Scoring(gate, asymmetric=False))).total(), sum(climbed), len(failed))


@few
@given(panels())
def test_approaches_are_different_programs(rows: list[TrajectoryRecord]) -> None:
    frame = frame_from(rows)
    shas = [item.solution for row in rows for item in row.iterations]
    assert near(unique_pooled(frame), len(set(shas) - {None}), len(shas))
    own = [len({item.solution for item in row.iterations} - {None}) / len(row.iterations) for row in rows]
    assert near(unique_by_task(frame).total(), sum(own), len(rows))


def test_a_row_of_the_transition_matrix_sums_to_one_and_an_empty_one_says_so() -> None:
    frame = frame_from([played("a", "f", [attempt("timeout"), attempt("functional_correctness"), attempt("passed")])])
    matrix = transition_matrix(frame)
    row = {name: rate.value for name, rate in zip(CATEGORIES, matrix[CATEGORIES.index("timeout")], strict=False)}
    assert row["functional_correctness"] == 1 and sum(value or 0 for value in row.values()) == 1
    assert matrix[7][0].value is None and "no such pair" in str(matrix[7][0])


def estimated(n: int, c: int, k: int) -> float:
    """The estimator of one task's draws."""
    return float(unbiased(np.array([n]), np.array([c]), np.array([k]))[0])


def exact(n: int, c: int, k: int) -> Fraction:
    """The share of the k-subsets of n draws that hold a right one, by listing them."""
    subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
    return Fraction(sum(any(subset) for subset in subsets), len(subsets))


@pytest.mark.parametrize("n", range(1, 9))
def test_the_unbiased_estimator_is_the_share_of_subsets_with_a_right_draw(n: int) -> None:
    for c, k in itertools.product(range(n + 1), range(1, n + 1)):
        assert estimated(n, c, k) == pytest.approx(float(exact(n, c, k)), abs=1e-12)


def humaneval(n: int, c: int, k: int) -> float:
    """Chen et al. 2021, figure 3: the numerically stable script of the HumanEval paper."""
    if n - c < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


@few
@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_the_unbiased_estimator_is_humanevals(draw: tuple[int, int, int]) -> None:
    assert estimated(*draw) == pytest.approx(humaneval(*draw), abs=1e-9)


def test_worked_values_of_the_unbiased_estimator() -> None:
    assert estimated(200, 0, 100) == 0 and estimated(200, 101, 100) == 1
    assert estimated(10, 3, 1) == pytest.approx(0.3)
    assert estimated(10, 3, 5) == pytest.approx(1 - 21 / 252)  # C(7, 5) / C(10, 5)


REPEATED = Protocol(sampling=Sampling.REPEATED)


def draws(outcomes: str, task: str = "t", **more: object) -> list[TrajectoryRecord]:
    """Attempts of repeated sampling: + passed, - did not."""
    names = {"+": "passed", "-": "timeout"}
    return [
        played(task, "gpt-5.4", [attempt(names[mark])], REPEATED, attempt=number, **more)
        for number, mark in enumerate(outcomes, 1)
    ]


def chances(rows: list[TrajectoryRecord], **scoring: object) -> tuple[float | None, float | None]:
    scored = score(frame_from(rows), Scoring(gate=0.0, **scoring))  # type: ignore[arg-type]
    return pass_at_1(scored).total().value, pass_at_k(scored).total().value


def test_k_attempts_give_the_empirical_score_and_more_the_unbiased_one() -> None:
    assert chances(draws("----+")) == (0.2, 1.0)
    assert chances(draws("+---------")) == pytest.approx((0.1, 0.5))
    assert chances(draws("----+", "t") + draws("-----", "u")) == (0.1, 0.5)
    assert chances(draws("----+"), k=1) == pytest.approx((0.2, 0.2))


def test_a_self_sourced_task_keeps_attempts_1_to_4() -> None:
    assert chances(draws("----+", source="gpt-5.4")) == (0, 0)
    assert chances(draws("----+", source="gpt-5.4"), asymmetric=False) == (0.2, 1)
    assert chances(draws("+---------", source="gpt-5.4")) == pytest.approx((0.1, 0.4))


def test_a_task_with_too_few_attempts_is_left_out_and_counted() -> None:
    tally = pass_at_k(score(frame_from(draws("+-", "t") + draws("-----", "u")), Scoring(gate=0.0)))
    assert tally.left_out == 1 and tally.total() == Rate(0, 1, "tasks")


def test_repeated_sampling_debugs_nothing_and_says_so() -> None:
    scored = score(frame_from(draws("--+--")), Scoring(gate=0.0))
    rate = debug_rate(scored).total()
    assert rate.value is None and "repeated sampling" in str(rate)
    assert iterations_to_fix(scored).total().value is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Kimi-k2.6", "Kimi-k2.5/k2.6", True),
        ("moonshotai/kimi-k2.6", "Kimi-k2.5/k2.6", True),
        ("openai/GPT-5.4", "gpt-5.4", True),
        ("Qwen3.6-27B", "Qwen3.6-Plus", False),
        ("", "", False),
    ],
)
def test_a_source_model_is_known_by_its_names(one: str, other: str, same: bool) -> None:
    assert same_model(one, other) is same


def test_sources_can_be_supplied_and_change_the_budget() -> None:
    late = [
        attempt("timeout"),
        attempt("functional_correctness"),
        attempt("timeout"),
        attempt("timeout"),
        attempt("passed"),
    ]
    frame = frame_from([played("a", "gpt-5.4", late, Protocol(early_stop="observe"))])  # type: ignore[arg-type]
    assert pass_at_k(score(frame, Scoring(gate=0.0))).total().value == 1
    known = with_sources(frame, {"a": "GPT-5.4", "elsewhere": "x"})
    assert pass_at_k(score(known, Scoring(gate=0.0))).total().value == 0
    assert frame.names["source"] == ()


def test_a_smaller_k_is_scored_from_the_same_rows_and_a_larger_one_refused() -> None:
    frame = frame_from([played("a", "f", [attempt("timeout"), attempt("timeout"), attempt("passed")])])
    assert [pass_at_k(score(frame, Scoring(gate=0.0, k=k))).total().value for k in (1, 2, 3)] == [0, 0, 1]
    with pytest.raises(AnalysisError, match="k=6: these runs have 5"):
        score(frame, Scoring(k=6))


def test_an_inloop_gate_can_be_scored_at_its_threshold_or_below_and_not_above() -> None:
    protocol = Protocol(gate=0.5, gate_mode=GateMode.INLOOP)
    frame = frame_from([played("a", "f", [attempt("passed", speedup=0.6)], protocol)])
    assert pass_at_k(score(frame, Scoring(gate=0.5))).total().value == 1
    with pytest.raises(AnalysisError, match="in-loop gate of 0.5"):
        score(frame, Scoring(gate=0.7))


def test_results_are_split_by_setting_and_fixer_and_whatever_else() -> None:
    rows = [
        played("a", "f", [attempt("passed")], bucket="timeout"),
        played("b", "f", [attempt("timeout")]),
        played("a", "f", [attempt("timeout")], Protocol(history=2)),
        played("a", "g", [attempt("passed")]),
    ]
    scored = score(frame_from(rows), Scoring(gate=0.0))
    groups = groups_by(scored.frame, "bucket")
    found = dict(zip(groups.keys, rates_by(pass_at_k(scored), groups), strict=True))
    assert {key: (rate.numerator, rate.denominator) for key, rate in found.items()} == {
        ("default", "f", "timeout"): (1, 1),
        ("default", "f", "unknown"): (0, 1),
        ("default", "g", "unknown"): (1, 1),
        ("history=2", "f", "unknown"): (0, 1),
    }
    with pytest.raises(AnalysisError, match="colour: results can be split by task, fixer"):
        groups_by(scored.frame, "colour")


def test_a_setting_is_called_by_what_differs_from_the_papers() -> None:
    assert setting_label(Protocol(gate=0.3)) == "default"
    assert setting_label(REPEATED) == "sampling=repeated"
    assert setting_label(Protocol(gate_mode=GateMode.INLOOP)) == "gate=0.7, gate_mode=inloop"


def test_each_run_is_scored_at_its_own_threshold_unless_one_is_given() -> None:
    rows = [played("a", "f", [attempt("passed", speedup=0.5)], run=number) for number in (0, 1)]
    frame = frame_from(rows, [RunFacts("one", gate=0.3), RunFacts("two", gate=0.7)])
    assert pass_at_k(score(frame)).hits.tolist() == [1, 0]
    assert pass_at_k(score(frame, Scoring(gate=0.0))).hits.tolist() == [1, 1]


def test_what_was_not_measured_passes_no_threshold_above_zero() -> None:
    scored: Scored = score(frame_from([played("a", "f", [attempt("passed")])]), Scoring(gate=0.1))
    assert not scored.solved.any()
