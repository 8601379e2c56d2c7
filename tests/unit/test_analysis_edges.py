"""Runs that have nothing, everything or only half of what a number needs: an answer or a clear refusal, and never NaN."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from engine.analysis.build import PAPER, TrajectoryRecord, frame_from
from engine.analysis.family import family
from engine.analysis.frame import Coverage, Frame
from engine.analysis.intervals import bootstrap, wilson
from engine.analysis.metrics import identity_gap
from engine.analysis.performance import allowed_thresholds, degeneration, p_sweep, timings
from engine.analysis.rates import AnalysisError, Groups, groups_by, rates_by
from engine.analysis.scan import frame_of
from engine.analysis.scoring import Scoring, score
from engine.analysis.stability import compared, stability
from engine.analysis.stagnation import sensitivity
from engine.analysis.tiers import pass_by_tier, tiers
from engine.analysis.transitions import transition_matrix, unique_pooled
from engine.protocol import Feedback, Protocol, Sampling
from engine.rundir import RunDirectory
from tests.support.trajectories import attempt, panels, played


def row(
    task: str, *categories: str, fixer: str = "f", protocol: Protocol = PAPER, speedup: float = math.nan
) -> TrajectoryRecord:
    return played(task, fixer, [attempt(name, speedup=speedup) for name in categories], protocol)


FAILS = ("timeout", "buildability", "functional_correctness", "out_of_memory", "timeout")

CASES = {
    "empty": [],
    "all pass at once": [row(str(task), "passed", speedup=1.0) for task in range(4)],
    "all fail": [row(str(task), *FAILS) for task in range(4)],
    "one task": [row("only", "timeout", "passed", speedup=0.8)],
    "nothing measured": [row(str(task), "timeout", "passed") for task in range(3)],
    "repeated sampling": [
        played("t", "f", [attempt("passed")], Protocol(sampling=Sampling.REPEATED), attempt=number) for number in range(1, 6)
    ],
    "mixed protocols": [
        row("a", "passed"),
        row("a", *FAILS, protocol=Protocol(history=1)),
        row("a", "timeout", protocol=Protocol(sampling=Sampling.REPEATED)),
        row("a", "passed", protocol=Protocol(feedback=Feedback.L0, k=3)),
    ],
}  # fmt: skip


def numbers(result: object) -> Iterator[float]:
    """Every number that a result would print: values of rates, figures and intervals, through lists, tuples and dictionaries."""
    if isinstance(result, float):
        yield result
    elif isinstance(result, dict):
        yield from (number for value in result.values() for number in numbers(value))
    elif isinstance(result, list | tuple):
        yield from (number for value in result for number in numbers(value))
    elif is_dataclass(result) and not isinstance(result, type):
        yield from (number for item in fields(result) for number in numbers(getattr(result, item.name)))
        value = getattr(result, "value", None)
        yield from numbers(value)


def everything(frame: Frame) -> Iterator[object]:
    """All there is to know about a Frame, as it would be printed."""
    groups = groups_by(frame)
    for gate in (0.0, 0.7):
        scored = score(frame, Scoring(gate=gate))
        tallies = list(family(scored).values())
        rates = [rates_by(tally, groups) for tally in tallies]
        yield rates
        yield [wilson(rate) for of_tally in rates for rate in of_tally if rate.of == "tasks"]
        yield bootstrap(frame, tallies, groups, resamples=20)
        yield degeneration(scored)
        by_name = dict(zip(family(scored), rates, strict=True))
        for trio in zip(by_name["pass@1"], by_name["pass@k"], by_name["debug_rate@k"], strict=True):
            yield identity_gap(*trio)
    yield timings(frame)
    yield transition_matrix(frame)
    yield unique_pooled(frame)
    for _, tally in p_sweep(frame, allowed_thresholds(frame)):
        yield rates_by(tally, groups)
    for item in sensitivity(frame):
        yield rates_by(item.stagnation, groups)
    yield from _rankings(frame, groups)


def _rankings(frame: Frame, groups: Groups) -> Iterator[object]:
    labels = list(dict.fromkeys(key[0] for key in groups.keys))
    if labels:
        solved = family(score(frame, Scoring(gate=0.0)))["pass@k"]
        yield compared(frame, solved, groups, labels)
        yield stability(frame, solved, groups, labels[0], labels, resamples=20)


@pytest.mark.parametrize("name", list(CASES))
def test_no_number_is_ever_nan(name: str) -> None:
    found = list(numbers(list(everything(frame_from(CASES[name])))))
    assert found or name == "empty"
    assert not any(math.isnan(number) for number in found)


@settings(max_examples=25, deadline=None)
@given(panels())
def test_no_number_is_nan_whatever_was_played(rows: list[TrajectoryRecord]) -> None:
    assert not any(math.isnan(number) for number in numbers(list(everything(frame_from(rows)))))


def values(name: str, gate: float = 0.0) -> dict[str, float | None]:
    frame = frame_from(CASES[name])
    return {key: tally.total().value for key, tally in family(score(frame, Scoring(gate=gate))).items()}


def test_an_empty_run_has_no_value_and_every_reason() -> None:
    frame = frame_from([], coverage=Coverage(planned=3))
    assert groups_by(frame).keys == ()
    for tally in family(score(frame)).values():
        assert tally.total().value is None and "n/a (" in str(tally.total())


def test_where_everything_passes_at_once_nothing_is_debugged_and_nothing_stagnates() -> None:
    found = values("all pass at once")
    assert (found["pass@1"], found["pass@k"], found["debug_rate@k"]) == (1, 1, None)
    assert (found["stagnation"], found["stagnation_failing"], found["progression_rate"]) == (0, None, None)


def test_where_everything_fails_nothing_has_a_price() -> None:
    found = values("all fail")
    assert (found["pass@k"], found["debug_rate@k"], found["iterations_to_fix"], found["tokens_to_fix"]) == (
        0,
        0,
        None,
        None,
    )
    assert found["stagnation_failing"] == 1  # four transitions: an oscillation


def test_one_task_has_a_rate_and_an_interval_that_knows_no_other() -> None:
    frame = frame_from(CASES["one task"])
    tally = family(score(frame, Scoring(gate=0.0)))["pass@k"]
    ((interval,),) = bootstrap(frame, [tally], groups_by(frame))
    assert (interval.low, interval.high) == (1, 1)
    wide = wilson(tally.total())
    assert wide.low is not None and wide.low < 0.21  # one trial says little: Wilson's interval shows it


def test_what_was_not_measured_fails_the_threshold_and_is_counted() -> None:
    assert values("nothing measured")["pass@k"] == 1
    assert values("nothing measured", gate=0.7)["pass@k"] == 0
    assert timings(frame_from(CASES["nothing measured"])).unmeasured.value == 1


def test_protocols_are_never_mixed_in_one_number() -> None:
    frame = frame_from(CASES["mixed protocols"])
    groups = groups_by(frame)
    assert [key[0] for key in groups.keys] == ["default", "history=1", "sampling=repeated", "k=3, feedback=L0"]
    rates = rates_by(family(score(frame, Scoring(gate=0.0)))["pass@k"], groups)
    assert [rate.value for rate in rates] == [1, 0, None, 1]  # one repeated attempt of five is too few
    with pytest.raises(AnalysisError, match="one setting"):
        tiers(score(frame))


def test_a_budget_that_one_of_the_settings_does_not_have_is_refused() -> None:
    frame = frame_from(CASES["mixed protocols"])
    with pytest.raises(AnalysisError, match="k=4"):
        score(frame, Scoring(k=4))
    assert score(frame, Scoring(k=3)).budget.tolist() == [3, 3, 3, 3]


def test_runs_of_several_schema_versions_are_read_as_far_as_they_can_be(tmp_path: Path) -> None:
    stored = RunDirectory(Path(__file__).parents[1] / "fixtures" / "h200" / "run")
    newer = tmp_path / "newer"
    newer.mkdir()
    for name in ("run.json", "plan.jsonl"):
        (newer / name).write_bytes((stored.path / name).read_bytes())
    run = RunDirectory(newer)
    cell = run.plan[0]
    run.journal(cell).parent.mkdir(parents=True)
    run.journal(cell).write_bytes(b'{"type":"trajectory_opened","schema_version":2}\n')
    frame = frame_of([stored, run])
    assert len(frame.trajectories) == 44 and len(set(frame.trajectories.run.tolist())) == 1
    assert frame.coverage.reasons == {"missing": 43, "damaged": 1}
    assert "schema version 2" in next(gap.detail for gap in frame.coverage.gaps if gap.why == "damaged")


def test_tiers_of_a_panel_of_three() -> None:
    passes = {"all": "fgh", "two": "fg", "one": "f", "none": ""}
    rows = [
        row(task, "passed" if fixer in names else "timeout", fixer=fixer)
        for task, names in passes.items()
        for fixer in "fgh"
    ]
    slow = [row("late", *FAILS[:2], "passed", fixer=fixer) for fixer in "fgh"]
    scored = score(frame_from([*rows, *slow, row("elsewhere", "passed")]), Scoring(gate=0.0))
    tiering = tiers(scored)
    assert tiering.tier == {"all": "L1", "late": "L2", "two": "L3", "one": "L4", "none": "L5"}
    assert tiering.outside == ("elsewhere",) and tiering.sizes == dict.fromkeys(("L1", "L2", "L3", "L4", "L5"), 1)
    assert {name: rate.value for name, rate in pass_by_tier(scored, tiering, "g").items()} == {
        "L1": 1,
        "L2": 1,
        "L3": 1,
        "L4": 0,
        "L5": 0,
    }
    assert tiers(scored, ["f"]).sizes == {"L1": 4, "L2": 1, "L3": 0, "L4": 0, "L5": 1}
    assert pass_by_tier(scored, tiers(scored, ["f"]), "g")["L3"].value is None
    with pytest.raises(AnalysisError, match="x: no trajectory of this fixer"):
        tiers(scored, ["x"])


def test_a_frame_of_no_task_in_common_still_has_scores() -> None:
    frame = frame_from([row("a", "passed"), row("b", "timeout", fixer="g")])
    rates = rates_by(family(score(frame, Scoring(gate=0.0)))["pass@k"], groups_by(frame))
    assert [rate.value for rate in rates] == [1, 0]
    assert np.isfinite([rate.denominator for rate in rates]).all()
