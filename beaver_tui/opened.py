"""What a screen needs of one trajectory: its run, its fold, and where further events come from."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from beaver_tui.state.session import Session
from beaver_tui.state.sources import StoredSource
from engine import events as ev
from engine.authoring.patch import corpus_of
from engine.errors import BeaverError
from engine.rundir import Cell, RunDirectory
from engine.task import Task

if TYPE_CHECKING:
    from beaver_tui.live.live import LiveRun


AT_ONCE = 2_000
"""Events of a live run that are taken at a time: 20 times a second these are far more than any tool prints lines."""


@dataclass
class Opened:
    """One trajectory on show. ``live`` is the run that this process plays, None for one that is stored or written elsewhere.

    ``arrived`` holds events of the live run that no screen has taken yet: whoever shows the trajectory drains it.
    """

    run: RunDirectory
    cell: Cell
    session: Session
    source: StoredSource | None = None
    live: LiveRun | None = None
    arrived: deque[ev.Event] = field(default_factory=deque)
    note: str = ""
    """What could not be had, such as the task of a corpus that has moved."""

    @property
    def going_on(self) -> bool:
        """Whether further events can arrive."""
        if self.live is not None:
            return not self.live.over
        return self.source is not None and self.source.live

    @property
    def problem(self) -> str:
        """What is wrong with the journal that is followed; empty for nothing."""
        return self.source.problem if self.source is not None else ""

    @property
    def live_waits(self) -> bool:
        """Whether the live run waits for the person on this screen, who needs no notice of it."""
        return self.live is not None and self.live.waiting

    def check_task(self) -> None:
        """Forget a task that is another one by now: its start and its category would be lies beside these steps."""
        began = self.session.trajectory.opened
        if self.session.task is not None and began is not None and began.broken != self.session.task.broken_sha:
            self.session.task = None
            self.note = (
                f"{self.cell.task}: the corpus holds another broken start by now; this trajectory's is not shown"
            )

    def reveal(self) -> None:
        """Show the reference beside what is over; never beside what a person may still repair."""
        trajectory = self.session.trajectory
        interactive = trajectory.opened is not None and trajectory.opened.interactive
        self.session.reference_shown = trajectory.closed is not None and not interactive

    def take(self) -> list[ev.Event]:
        """The events that have arrived since the last call; of a flood only so many that a screen does not stand still."""
        events: list[ev.Event] = []
        if self.source is not None:
            events += self.source.read()
        while self.arrived and len(events) < AT_ONCE:
            events.append(self.arrived.popleft())
        return events


def open_stored(run: RunDirectory, cell: Cell) -> Opened:
    """A trajectory of a run on disk, whoever writes it, with what its journal holds now."""
    task, note = _task(run, cell)
    opened = Opened(run, cell, Session(cell, run.store(cell), task=task), StoredSource(run, cell), note=note)
    for event in opened.take():
        opened.session.apply(event)
    opened.session.live = opened.going_on
    opened.check_task()
    opened.reveal()
    opened.session.go(opened.session.last)
    return opened


def open_live(live: LiveRun) -> Opened:
    """A trajectory that this process plays; its journal so far, and then what it tells."""
    task, note = _task(live.run, live.cell)
    session = Session(live.cell, live.run.store(live.cell), task=task)
    opened = Opened(live.run, live.cell, session, None, live, note=note)
    for event in StoredSource(live.run, live.cell).read():
        session.apply(event)
    session.live = True
    live.listener = opened.arrived.append
    return opened


def _task(run: RunDirectory, cell: Cell) -> tuple[Task | None, str]:
    """The task, unless its corpus is gone or has another one under this name."""
    try:
        return tasks_of(run.path)[cell.task], ""
    except BeaverError as error:
        return None, str(error)
    except KeyError:
        return None, f"{cell.task}: no such task in the corpus {run.record.corpus} any more"


@cache
def tasks_of(path: Path) -> Mapping[str, Task]:
    """The tasks of a run's corpus, read once."""
    return corpus_of(RunDirectory(path))
