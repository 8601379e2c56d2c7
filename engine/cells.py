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

_TELLS: dict[type[ev.Event], str] = {
    ev.ReplyReceived: "reply",
    ev.CandidateMade: "candidate",
    ev.VerdictReached: "verdict",
}


def read_cell(run: RunDirectory, cell: Cell) -> Trajectory | None:
    """A cell's trajectory, None when it was not begun. Raises RunError when its journal is damaged or another cell's."""
    path = run.journal(cell)
    if not path.exists():
        return None
    return told(path, cell, read_journal(path))


def told(path: Path, cell: Cell, events: Sequence[ev.Event]) -> Trajectory:
    """The trajectory that ``events``, the whole of the journal at ``path``, tell of ``cell``. Raises RunError."""
    check = StoryCheck(path, cell)
    for event in events:
        check.take(event)
    return fold(events)


class StoryCheck:
    """Whether the events of the journal at ``path`` tell a whole story of ``cell`` so far, one after the other as they come."""

    def __init__(self, path: Path, cell: Cell) -> None:
        self._path, self._cell = path, cell
        self._line = self._closed = 0
        self._current, self._over = 1, False
        self._told: set[str] = set()
        """Of ALWAYS, what the current iteration has."""

    def take(self, event: ev.Event) -> None:
        """Raises RunError where the story breaks."""
        self._line += 1
        if self._line == 1 or isinstance(event, ev.TrajectoryOpened):
            self._check_opening(event)
        elif isinstance(event, ev.IterationEvent):
            self._check_order(event)
        elif isinstance(event, ev.TrajectoryClosed) and event.iterations != self._closed:
            raise RunError(
                f"{self._path}: closed after {event.iterations} iterations, and holds {self._closed}; lines are missing"
            )

    def _check_opening(self, event: ev.Event) -> None:
        if not isinstance(event, ev.TrajectoryOpened):
            raise RunError(f"{self._path}:1: does not begin with trajectory_opened; its first line is missing")
        owner = Cell(event.task, event.fixer, event.attempt)
        if owner != self._cell:
            raise RunError(f"{self._path}: the journal of {owner}, in the folder of {self._cell}; it was moved by hand")
        if self._line > 1:
            raise RunError(f"{self._path}: opened twice; two journals were put together")

    def _check_order(self, event: ev.IterationEvent) -> None:
        """Iterations follow each other, each begun after the one before was closed."""
        if self._over and event.iteration == self._current + 1:
            self._current, self._over, self._told = self._current + 1, False, set()
        if event.iteration != self._current or self._over:
            raise RunError(
                f"{self._path}:{self._line}: iteration {event.iteration} where {self._current} "
                f"{'is over' if self._over else 'is open'}; lines are missing or doubled"
            )
        if isinstance(event, ev.CandidateMade | ev.InfraFailed):
            self._told.discard("verdict")  # it is examined anew, as the fold has it
        if (name := _TELLS.get(type(event))) is not None:
            self._told.add(name)
        if isinstance(event, ev.IterationClosed):
            self._over, self._closed = True, self._closed + 1
            for name in ALWAYS:
                if name not in self._told:
                    raise RunError(f"{self._path}: iteration {event.iteration} has no {name}; lines are missing")
