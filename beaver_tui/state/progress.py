"""How far a run is: every cell's events folded, what is over counted, the time to go estimated."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine import events as ev
from engine.cells import read_cell
from engine.errors import RunError
from engine.rundir import Cell, RunDirectory
from engine.trajectory import Trajectory


class Progress:
    """The numbers that every view of a running batch shows. ``over`` counts cells that have an end."""

    def __init__(self, run: RunDirectory, clock: Callable[[], float] = time.monotonic) -> None:
        self._states: dict[Cell, Trajectory] = {}
        self._clock, self._began = clock, clock()
        self._running: dict[Cell, None] = {}
        self.total = len(run.plan)
        for cell in run.plan:
            trajectory = read_sound_cell(run, cell)
            if trajectory is not None:
                self._states[cell] = trajectory
        self.over = self._over_before = sum(state.closed is not None for state in self._states.values())

    def apply(self, cell: Cell, event: ev.Event) -> Trajectory:
        """Fold one event in; returns the state of its cell after it."""
        state = self._states.setdefault(cell, Trajectory())
        if event.durable:
            state.apply(event)
        self.over += isinstance(event, ev.TrajectoryClosed)
        if isinstance(event, ev.TrajectoryClosed) or (isinstance(event, ev.InfraFailed) and event.final):
            self._running.pop(cell, None)
        else:
            self._running[cell] = None
        return state

    @property
    def running(self) -> str:
        """What is played now, in words: a task's name, or how many."""
        tasks = [cell.task for cell in self._running]
        return f"{len(tasks)} running" if len(tasks) > 1 else "".join(tasks)

    @property
    def eta(self) -> float | None:
        """Seconds to go, at the pace so far; None before the first cell is over and when nothing is left."""
        done = self.over - self._over_before
        if done <= 0 or self.over >= self.total:
            return None
        return (self._clock() - self._began) / done * (self.total - self.over)

    @property
    def to_go(self) -> str:
        """The time to go in words; empty when it is unknown."""
        return "" if self.eta is None else f"about {span(self.eta)} to go"


def read_sound_cell(run: RunDirectory, cell: Cell) -> Trajectory | None:
    """A cell's trajectory; None when it was not begun, or when its journal is damaged, which the sweep tells by itself."""
    try:
        return read_cell(run, cell)
    except RunError:
        return None


def span(seconds: float) -> str:
    """ "2 min 5 s"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
