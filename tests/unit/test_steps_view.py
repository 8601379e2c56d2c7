"""What a timeline says of a step while it is under way, and of how far a trajectory got."""

from __future__ import annotations

import pytest

from beaver_tui.state.facts import best_step
from beaver_tui.state.steps import StepRow, step_rows
from engine import events as ev
from engine.protocol import Protocol
from engine.trajectory import fold

OPENED = ev.TrajectoryOpened(
    run="r", task="t", fixer="f", attempt=1, protocol=Protocol(), device="cpu", sandbox="none", broken="0" * 64
)
ASKED = ev.RequestBuilt(iteration=1, prompt="p", feedback="L3")
REPLIED = ev.ReplyReceived(iteration=1, response="r", seconds=60.0)
MADE = ev.CandidateMade(iteration=1, solution="s", added=3, removed=1)
READY = ev.PreflightDone(iteration=1)
BUILT = ev.Built(iteration=1, step=ev.StepRecord(exit_code=0, seconds=2.0))
TESTED = ev.Tested(iteration=1, step=ev.StepRecord(exit_code=0, seconds=0.5))
CRASHED = ev.Tested(iteration=1, step=ev.StepRecord(signal=6), blocking=ev.StepRecord(signal=6, seconds=0.25))
CHECKED = ev.Sanitized(iteration=1, tool="memcheck", exit_code=0, seconds=1.0)
TIMED = ev.Timed(iteration=1, speedup=1.25, gate="pass", seconds=4.0)
JUDGED = ev.VerdictReached(
    iteration=1, category="passed", outcome_bucket="passed", rule="passed", signature="", stage="test"
)
CLOSED = ev.IterationClosed(iteration=1, passed=True)
FAULT = ev.InfraFailed(iteration=1, kind="server", message="503\x1b[2J", final=True, at="2026-01-01T00:00:01.000Z")
RESUMED = ev.Controlled(action="resume", at="2026-01-01T00:00:02.000Z")


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        ([ASKED], "asking"),
        ([ASKED, REPLIED], "building"),
        ([ASKED, REPLIED, MADE], "building"),
        ([ASKED, REPLIED, MADE, READY, BUILT], "testing"),
        ([ASKED, REPLIED, MADE, READY, BUILT, TESTED], "sanitizing"),
        ([ASKED, REPLIED, MADE, READY, BUILT, TESTED, CHECKED], "timing"),
        ([ASKED, REPLIED, MADE, READY, BUILT, CRASHED, CHECKED], "judging"),
        ([ASKED, REPLIED, MADE, READY, BUILT, TESTED, CHECKED, TIMED], "judging"),
        ([ASKED, REPLIED, MADE, READY, BUILT, TESTED, CHECKED, TIMED, JUDGED], "judging"),
        ([ASKED, REPLIED, MADE, READY, BUILT, TESTED, CHECKED, TIMED, JUDGED, CLOSED], "closed"),
        ([ASKED, REPLIED, MADE, ev.PreflightDone(iteration=1, findings=["anti_cheat: cublas"])], "judging"),
        ([ASKED, FAULT], "fault"),
        ([ASKED, FAULT, RESUMED], "asking"),
        ([ASKED, REPLIED, MADE, FAULT, RESUMED], "building"),
    ],
)
def test_the_phase_is_told_by_the_events(events: list[ev.Event], phase: str):
    row = step_rows(fold([OPENED, *events]), None)[-1]
    assert row.phase == phase
    assert row.over == (phase == "closed")


def test_a_closed_row_has_all_the_figures():
    row = step_rows(fold([OPENED, ASKED, REPLIED, MADE, READY, BUILT, CRASHED, CHECKED, TIMED, JUDGED, CLOSED]), None)[
        1
    ]
    assert (row.added, row.removed, row.speedup, row.gate, row.passed) == (3, 1, 1.25, "pass", True)
    assert row.seconds == 2.0 + 0.25 + 1.0 + 4.0, "a reply's time is not the harness's"


def test_a_fault_is_the_note_of_its_row():
    assert step_rows(fold([OPENED, ASKED, FAULT]), None)[1].note == "server: 503"


def test_a_request_that_was_never_answered_is_no_step():
    over = ev.TrajectoryClosed(stop_reason="no_more_answers", passed=False, iterations=0)
    assert [row.number for row in step_rows(fold([OPENED, ASKED, over]), None)] == [0]


def row(number: int, category: str, speedup: float | None = None) -> StepRow:
    return StepRow(number, "closed", category=category, speedup=speedup)


@pytest.mark.parametrize(
    ("rows", "best"),
    [
        ([], None),
        ([row(1, "")], None),
        ([row(1, "unclassified")], None),
        ([row(0, "passed"), row(1, "timeout")], 1),
        ([row(1, "functional_correctness"), row(2, "buildability")], 1),
        ([row(1, "timeout"), row(2, "illegal_memory_access")], 1),
        ([row(1, "passed", 0.5), row(2, "passed", 1.5), row(3, "passed")], 2),
    ],
)
def test_the_best_step_got_farthest_and_is_fastest_there(rows: list[StepRow], best: int | None):
    found = best_step(rows)
    assert (found[0] if found is not None else None) == best
