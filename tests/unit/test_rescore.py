"""Stored trajectories under other thresholds, gates and rules; what is censored is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.analysis.build import IterationRecord, TrajectoryRecord, frame_from
from engine.analysis.classify_again import Changed, Judged, classify_again, evidence_of
from engine.analysis.document import Document, Section, Table
from engine.analysis.formats import TEXTS
from engine.analysis.frame import Coverage, Frame, Gap, RunFacts
from engine.analysis.rates import AnalysisError
from engine.analysis.rescore import by_classifier, by_gate, by_thresholds, sections
from engine.analysis.stagnation import Thresholds
from engine.cells import read_cell
from engine.protocol import EarlyStop, GateMode, Protocol
from engine.rundir import Cell, RunDirectory
from engine.trajectory import Trajectory

H200 = Path(__file__).parents[1] / "fixtures" / "h200" / "run"

PAPER = Protocol()
PASS = IterationRecord("passed", "p", passed=True, speedup=0.8, gate="pass")
STUCK = IterationRecord("timeout", None, "hang")


def stuck(*solutions: str, signals: tuple[str, ...] = ()) -> list[IterationRecord]:
    """Iterations with one bug and different code; the last one raises ``signals``."""
    rows = [STUCK._replace(solution=name) for name in solutions]
    return [*rows[:-1], rows[-1]._replace(signals=signals)]


def frame(*trajectories: list[IterationRecord], protocol: Protocol = PAPER, gate: float = 0.7) -> Frame:
    records = [TrajectoryRecord(f"t{n}", "m", rows, protocol) for n, rows in enumerate(trajectories)]
    return frame_from(records, [RunFacts("run", gate=gate)])


def row(table: Table, number: int = 0) -> dict[str, Any]:
    return {name: cell.value for name, cell in zip(table.columns, table.rows[number], strict=True)}


def test_the_gate_is_scored_again_and_what_was_never_measured_is_counted():
    untimed = PASS._replace(speedup=float("nan"), gate="unmeasured")
    table = by_gate(frame([PASS], [untimed], [STUCK], [STUCK]), (0.0, 0.8, 0.9))
    assert row(table) == {
        "setting": "default",
        "fixer": "m",
        "trajectories": 4,
        "p=0": 0.5,
        "p=0.8": 0.25,
        "p=0.9": 0.0,
        "never measured": 1,
    }


def test_a_run_with_the_gate_in_the_loop_is_scored_up_to_that_gate_and_refused_above():
    played = frame([PASS], protocol=Protocol(gate_mode=GateMode.INLOOP, gate=0.7))
    assert row(by_gate(played, (0.5, 0.7)))["p=0.7"] == 1.0
    with pytest.raises(AnalysisError, match=r"p=0\.9: played with an in-loop gate of 0\.7"):
        by_gate(played, (0.5, 0.9))


def test_looser_thresholds_are_censored_where_a_signal_stopped_the_loop():
    stopped = stuck("a", "b", "c", signals=("no_progress",))
    overall, mix = by_thresholds(frame([PASS], stopped), Thresholds(no_progress_c=4))
    found = row(overall)
    assert (found["stagnation as played"], found["stagnation now"], found["censored"]) == (1.0, 0.0, 1)
    assert (found["pass@k as played"], found["pass@k at least"], found["at most"]) == (0.5, 0.5, 1.0)
    assert row(mix) == {"setting": "default", "fixer": "m", "signal": "no_progress", "as played": 1, "now": 0}


def test_an_observed_run_is_not_censored():
    watched = stuck("a", "b", "c", signals=("no_progress",)) + stuck("d", "e", signals=("no_progress",))
    overall, _ = by_thresholds(
        frame(watched, protocol=Protocol(early_stop=EarlyStop.OBSERVE)), Thresholds(no_progress_c=4)
    )
    assert (row(overall)["stagnation now"], row(overall)["censored"]) == (1.0, 0)


def test_tighter_thresholds_lose_passes_that_came_after_their_stop():
    late = [*stuck("a", "b"), PASS]
    overall, _ = by_thresholds(frame([PASS], late), Thresholds(no_progress_c=2))
    found = row(overall)
    assert (found["pass@k as played"], found["pass@k at least"], found["at most"]) == (1.0, 0.5, 0.5)


def test_without_failures_there_is_no_rate_of_them():
    overall, mix = by_thresholds(frame([PASS]), Thresholds(no_progress_c=2))
    assert overall.rows[0][3].text == "n/a (no task failed)"
    assert mix.rows == ()


def test_nothing_to_score_is_refused_with_the_reasons():
    gap = Gap("run", Cell("t", "m"), "infra")
    with pytest.raises(AnalysisError, match=r"no trajectory is counted \(1 infra\)"):
        sections(frame_from([], coverage=Coverage(1, (gap,))), (0.7,), None, None)


@pytest.fixture(scope="module")
def stored() -> list[tuple[Cell, Trajectory]]:
    run = RunDirectory(H200)
    return [(cell, found) for cell in run.plan if (found := read_cell(run, cell)) is not None]


def test_the_rules_of_today_judge_the_stored_run_as_it_was_judged(stored: list[tuple[Cell, Trajectory]]):
    judged = classify_again(stored, {})
    assert (judged.iterations, judged.changed) == (78, ())
    (table,) = by_classifier(judged)
    assert table.note == "0 of 78 iterations are judged differently."


def test_an_iteration_that_is_judged_differently_is_listed(stored: list[tuple[Cell, Trajectory]]):
    cell, trajectory = next((cell, found) for cell, found in stored if not found.passed)
    was = trajectory.finished[0].verdict
    assert was is not None
    trajectory.iterations[0].verdict = msgspec.structs.replace(was, category="timeout", signature="old")
    try:
        judged = classify_again(stored, {})
    finally:
        trajectory.iterations[0].verdict = was
    (change,) = judged.changed
    assert (change.cell, change.iteration, change.was) == (cell, 1, ("timeout", "old"))
    assert change.now == (was.category, was.signature)
    (table,) = by_classifier(judged)
    assert row(table)["was"] == "timeout [old]"


@pytest.mark.parametrize("form", TEXTS)
def test_hostile_names_and_signatures_are_harmless(form: str):
    hostile = "\x1b[2J<script>|\\input{x}"
    changed = Changed(Cell(hostile, hostile), 1, ("timeout", hostile), ("passed", ""))
    section = Section("Classifier", tuple(by_classifier(Judged(1, (changed,), 0))))
    text = TEXTS[form](Document("Scored again", (section,), {"runs": hostile}))
    assert "\x1b" not in text and "\\u001b" not in text
    assert not (form == "md" and "<script" in text) and not (form == "latex" and "\\input" in text)


def test_a_slow_pass_keeps_the_signature_that_the_gate_gave_it(stored: list[tuple[Cell, Trajectory]]):
    cell, trajectory = next((cell, found) for cell, found in stored if found.passed)
    was = trajectory.finished[-1].verdict
    assert was is not None
    slow = msgspec.structs.replace(was, signature="too_slow", gate="fail")
    trajectory.finished[-1].verdict = slow
    try:
        assert classify_again([(cell, trajectory)], {}).changed == ()
    finally:
        trajectory.finished[-1].verdict = was


def test_evidence_from_events_is_what_the_harness_saw(stored: list[tuple[Cell, Trajectory]]):
    iteration = next(found for _, found in stored if not found.passed).finished[0]
    evidence = evidence_of(iteration, None, "cuda NVIDIA H200 (sm_90)")
    assert iteration.built is not None and evidence.build is not None
    assert evidence.build.exit_code == iteration.built.step.exit_code
    assert evidence.build.stderr == iteration.built.step.stderr.text
