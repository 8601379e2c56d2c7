"""A cell's trajectory as its journal tells it, if the journal is this cell's and tells a whole story.

A line that was lost or brought from elsewhere still decodes: what it does to the story is told here, before any reader
works with half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine import events as ev
from engine.errors import RunError
from engine.journal import read_journal
from engine.rundir import Cell, RunDirectory
from engine.trajectory import Trajectory, fold

ALWAYS = ("reply", "candidate", "verdict")
"""What every closed iteration has; the fields of Iteration."""


def read_cell(run: RunDirectory, cell: Cell) -> Trajectory | None:
    """A cell's trajectory, None when it was not begun. Raises RunError when its journal is damaged or another cell's."""
    path = run.journal(cell)
    if not path.exists():
        return None
    return told(path, cell, read_journal(path))


def told(path: Path, cell: Cell, events: Sequence[ev.Event]) -> Trajectory:
    """The trajectory that ``events``, the whole of the journal at ``path``, tell of ``cell``. Raises RunError."""
    if not events:
        return Trajectory()
    _check_opening(path, cell, events)
    _check_order(path, events)
    trajectory = fold(events)
    for iteration in trajectory.finished:
        for name in ALWAYS:
            if getattr(iteration, name) is None:
                raise RunError(f"{path}: iteration {iteration.number} has no {name}; lines are missing")
    closed = trajectory.closed
    if closed is not None and closed.iterations != len(trajectory.finished):
        raise RunError(
            f"{path}: closed after {closed.iterations} iterations, and holds {len(trajectory.finished)}; lines are missing"
        )
    return trajectory


def _check_opening(path: Path, cell: Cell, events: Sequence[ev.Event]) -> None:
    opened = events[0]
    if not isinstance(opened, ev.TrajectoryOpened):
        raise RunError(f"{path}:1: does not begin with trajectory_opened; its first line is missing")
    owner = Cell(opened.task, opened.fixer, opened.attempt)
    if owner != cell:
        raise RunError(f"{path}: the journal of {owner}, in the folder of {cell}; it was moved by hand")
    if sum(isinstance(event, ev.TrajectoryOpened) for event in events) > 1:
        raise RunError(f"{path}: opened twice; two journals were put together")


def _check_order(path: Path, events: Sequence[ev.Event]) -> None:
    """Iterations follow each other, each begun after the one before was closed."""
    current, closed = 1, False
    for number, event in enumerate(events, 1):
        if not isinstance(event, ev.IterationEvent):
            continue
        if closed and event.iteration == current + 1:
            current, closed = current + 1, False
        if event.iteration != current or closed:
            raise RunError(
                f"{path}:{number}: iteration {event.iteration} where {current} "
                f"{'is over' if closed else 'is open'}; lines are missing or doubled"
            )
        closed = isinstance(event, ev.IterationClosed)
