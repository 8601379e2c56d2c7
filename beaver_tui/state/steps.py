"""The steps of a trajectory as rows of a timeline: the broken start, then one row an iteration, finished or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from beaver_tui.state.lines import one_line, readable
from engine.events import Timed
from engine.task import Task
from engine.trajectory import Iteration, Trajectory

START = "start"
CLOSED = "closed"
FAULT = "fault"
"""The machine or the model's service failed."""
LEFT_OPEN = "left open"
"""Begun, and nobody goes on with it: a phase of views only, see Session.shown_rows."""


@dataclass(frozen=True)
class StepRow:
    """One row. ``number`` 0 is the broken start; ``category`` and ``gate`` are empty while unknown; ``added`` and ``removed`` are
    lines against the step before; ``seconds`` is the wall-clock time of the build, the test, the sanitizers and the timing;
    ``note`` is the line of evidence, or the fault. Every text is one harmless line."""

    number: int
    phase: str
    category: str = ""
    added: int = 0
    removed: int = 0
    seconds: float = 0.0
    speedup: float | None = None
    gate: str = ""
    signals: tuple[str, ...] = ()
    passed: bool = False
    note: str = ""

    @property
    def over(self) -> bool:
        """Nothing more happens in this step."""
        return self.phase in (START, CLOSED)


def step_rows(trajectory: Trajectory, task: Task | None) -> list[StepRow]:
    """All steps that were begun, the broken start first. Without its task the start has neither category nor note."""
    return [_start(task), *(step_row(trajectory, iteration) for iteration in begun_iterations(trajectory))]


def left_open(rows: list[StepRow]) -> list[StepRow]:
    """The rows of a trajectory that nobody goes on with: a last step that was begun is not said to be testing still."""
    if not rows or rows[-1].over or rows[-1].phase == FAULT:
        return rows
    return [*rows[:-1], replace(rows[-1], phase=LEFT_OPEN)]


def begun_iterations(trajectory: Trajectory) -> list[Iteration]:
    """The iterations that are steps. One that was asked for in vain, because its fixer had no more answers, is none."""
    asked_in_vain = (
        trajectory.closed is not None and trajectory.pending is not None and trajectory.pending.reply is None
    )
    return trajectory.iterations[:-1] if asked_in_vain else trajectory.iterations


def step_row(trajectory: Trajectory, iteration: Iteration) -> StepRow:
    """The row of one iteration of the trajectory."""
    candidate, verdict = iteration.candidate, iteration.verdict
    phase = phase_of(trajectory, iteration)
    return StepRow(
        number=iteration.number,
        phase=phase,
        category=one_line(verdict.category) if verdict is not None else "",
        added=candidate.added if candidate is not None else 0,
        removed=candidate.removed if candidate is not None else 0,
        seconds=examined_seconds(iteration),
        speedup=iteration.timed.speedup if iteration.timed is not None else None,
        gate=gate_of(iteration),
        signals=tuple(one_line(name) for name in iteration.signals),
        passed=iteration.passed,
        note=_note(iteration, phase),
    )


def phase_of(trajectory: Trajectory, iteration: Iteration) -> str:
    """What the iteration's events say is going on. Between a request and its reply, and while a process runs, nothing is stored:
    a live view knows more (see Session.rows)."""
    if iteration.closed is not None:
        return CLOSED
    if iteration.infra and iteration.infra[-1].final and not _resumed(trajectory, iteration.infra[-1].at):
        return FAULT
    if iteration.reply is None:
        return "asking"
    return _examination_phase(iteration)


def _examination_phase(iteration: Iteration) -> str:
    found = iteration.preflight.findings if iteration.preflight is not None else []
    if iteration.verdict is not None or found:
        return "judging"
    if iteration.built is None:
        return "building"
    if iteration.built.step.exit_code != 0:
        return "judging"
    tested = iteration.tested
    if tested is None:
        return "testing"
    if tested.step.not_run or iteration.timed is not None:
        return "judging"
    if not iteration.sanitized:
        return "sanitizing"
    works = tested.step.exit_code == 0 and (tested.check is None or tested.check.passed)
    return "timing" if works else "judging"


def _resumed(trajectory: Trajectory, since: str) -> bool:
    return any(control.action == "resume" and control.at >= since for control in trajectory.controls)


def examined_seconds(iteration: Iteration) -> float:
    """Wall-clock seconds of all that was run for a candidate; the wait for its reply is no part of them."""
    seconds = iteration.built.step.seconds if iteration.built is not None else 0.0
    if iteration.tested is not None:
        seconds += iteration.tested.step.seconds
        seconds += iteration.tested.blocking.seconds if iteration.tested.blocking is not None else 0.0
    seconds += sum(report.seconds for report in iteration.sanitized.values())
    return seconds + (iteration.timed.seconds if iteration.timed is not None else 0.0)


def gate_of(iteration: Iteration, timed: Timed | None = None) -> str:
    """pass, fail or unmeasured where the performance gate was looked at, in the loop or after it; empty elsewhere. ``timed``: a
    measurement that takes the place of the iteration's own."""
    if (timed := timed or iteration.timed) is not None:
        return one_line(timed.gate)
    if iteration.verdict is not None and iteration.verdict.gate != "off":
        return one_line(iteration.verdict.gate)
    return ""


def _note(iteration: Iteration, phase: str) -> str:
    """The one line that says most of this iteration."""
    if phase == FAULT:
        fault = iteration.infra[-1]
        return one_line(f"{fault.kind}: {fault.message}")
    if iteration.verdict is not None and iteration.verdict.line:
        return readable(one_line(iteration.verdict.line))
    if iteration.candidate is not None and iteration.candidate.problem:
        return one_line(iteration.candidate.problem)
    if iteration.preflight is not None and iteration.preflight.findings:
        return one_line(iteration.preflight.findings[0])
    if iteration.tested is not None and iteration.tested.step.not_run:
        return one_line(iteration.tested.step.not_run)
    if iteration.timed is not None and iteration.timed.note:
        return one_line(iteration.timed.note)
    return ""


def _start(task: Task | None) -> StepRow:
    if task is None:
        return StepRow(0, START)
    lines = (one_line(line) for line in task.error_log.splitlines())
    return StepRow(0, START, category=task.spec.category or "", note=readable(next(filter(None, lines), "")))
