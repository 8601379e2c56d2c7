"""Play the cells of a plan: some at a time, each into its own journal, resumable at any point."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from engine import events as ev
from engine.cells import told
from engine.errors import BeaverError
from engine.fixers.base import Fixer, Interrupted, Recorded, Waiting
from engine.journal import Journal
from engine.loop import Examiner, Setting, repair
from engine.manifest import write_manifest
from engine.protocol import Protocol, Sampling
from engine.rundir import Cell, RunDirectory
from engine.store import RunUnwritable
from engine.sweep.cached_baselines import baselines_of
from engine.sweep.example_pool import chosen_of
from engine.sweep.start_logs import StartLogs
from engine.task import Task
from engine.trajectory import Trajectory

Listener = Callable[[Cell | None, ev.Event], None]
"""Called with every event and its cell; None for an event of the run itself."""

CELL_FAULT = "cell"
"""Kind of a fault that a cell has of its own, such as a damaged journal: nothing that time mends."""

_SYNCED = (ev.ReplyReceived, ev.IterationClosed, ev.TrajectoryClosed)
"""After these the journal is fsynced: a reply is paid for, an iteration is a result."""


def plan_cells(
    tasks: Iterable[Task], fixers: Iterable[Fixer], protocol: Protocol, attempts: int | None = None
) -> list[Cell]:
    """All cells of a run, by task, then fixer, then attempt. Repeated sampling draws at least K attempts; a recorded fixer
    without an answer for a task promises nothing for it."""
    count = 1 if attempts is None else attempts
    if protocol.sampling is Sampling.REPEATED:
        count = max(count, protocol.k)
    panel = list(fixers)
    return [
        Cell(task.id, fixer.name, attempt)
        for task in tasks
        for fixer in panel
        if not isinstance(fixer, Recorded) or fixer.covers(task)
        for attempt in range(1, count + 1)
    ]


@dataclass
class Sweep:
    """A run being played. ``stop`` ends it after the steps that are running; cancelling ends it at once; both leave
    journals that resume. ``listener`` sees every event of every cell, in order; what it raises ends the sweep.

    An error of one cell (a damaged journal, a missing file) is a fault of that cell, and the others go on; only a run that
    cannot be written any more (RunUnwritable) ends them all.
    """

    run: RunDirectory
    tasks: dict[str, Task]
    fixers: dict[str, Fixer]
    harness: Examiner
    jobs: int = 1
    listener: Listener = lambda cell, event: None
    stopping: bool = False
    faults: list[tuple[Cell, ev.InfraFailed]] = field(default_factory=list)
    broken: set[Cell] = field(default_factory=set)
    """Cells that could not be played for an error of their own."""
    _open: dict[Cell, Journal] = field(default_factory=dict)
    """Journals of the trajectories that are played now, from their opening on."""
    _notes: dict[Cell, list[ev.Controlled]] = field(default_factory=dict)
    """What is to be written once the cell's journal is open."""

    def __post_init__(self) -> None:
        self._start_logs = StartLogs(self.run.path, self.harness, self.run.record.seed)
        self._chosen = chosen_of(self.run)
        self._baselines = baselines_of(self.run)

    def stop(self) -> None:
        """Begin no further step, and wait for nobody: neither for a person nor for a service that asks for patience."""
        self.stopping = True
        for fixer in self.fixers.values():
            if isinstance(fixer, Waiting):
                fixer.interrupt()

    def note(self, cell: Cell, event: ev.Controlled) -> None:
        """Write down that somebody intervened: at once when the cell is being played, else when its journal is next open.
        Call it in the event loop that plays the sweep: all lines of a journal come from one writer."""
        if (journal := self._open.get(cell)) is None:
            self._notes.setdefault(cell, []).append(event)
        else:
            journal.append(event)
            self.listener(cell, event)

    async def play(self) -> None:
        """Play every cell that is not finished, then write the manifest. In two phases (paper C.3) every cell gets its
        first iteration before any gets its second; the rows are the same."""
        try:
            place = self.harness.place
            self.listener(
                None,
                ev.RunOpened(
                    run=str(self.run.path), cells=len(self.run.plan), device=place.label, sandbox=place.sandbox
                ),
            )
            if self.run.record.two_phase:
                await self._play_all(stop_after=1)
            await self._play_all(stop_after=None)
        except BaseException:
            with suppress(RunUnwritable):  # what ended us may be a full disk; the manifest can be rebuilt at any time
                write_manifest(self.run, damaged=[])
            raise
        finally:
            for fixer in self.fixers.values():
                await fixer.close()
        write_manifest(self.run, damaged=[])

    async def _play_all(self, stop_after: int | None) -> None:
        waiting = deque(cell for cell in self.run.plan if cell not in self.broken)

        async def work() -> None:
            while waiting and not self.stopping:
                await self._play_cell(waiting.popleft(), stop_after)

        workers = min(self.jobs, len(waiting))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            first = errors.exceptions[0]  # the others were cancelled because of it, or met the same full disk
            if isinstance(first, _ListenerError):
                raise first.error from None
            raise first from None

    async def _play_cell(self, cell: Cell, stop_after: int | None) -> None:
        number = 1
        try:
            with Journal(self.run.journal(cell)) as journal:
                past = told(journal.path, cell, journal.events)
                number = len(past.finished) + 1
                if past.closed is not None or (stop_after is not None and len(past.finished) >= stop_after):
                    return
                if journal.torn_bytes:
                    note = ev.Controlled(action="repaired", detail=f"cut {journal.torn_bytes} bytes of a torn line")
                    journal.append(note)
                    self._tell(cell, note)
                await self._write(cell, journal, past, stop_after)
        except Interrupted:
            return  # what it waited for is asked for again when the run goes on
        except RunUnwritable:
            raise
        except (BeaverError, OSError) as error:
            # told and counted, not journaled: the journal itself may be what is wrong
            self.broken.add(cell)
            fault = ev.InfraFailed(iteration=number, kind=CELL_FAULT, message=str(error), final=True)
            self.faults.append((cell, fault))
            self._tell(cell, fault)

    async def _write(self, cell: Cell, journal: Journal, past: Trajectory, stop_after: int | None) -> None:
        setting = Setting(
            task=await self._start_logs.complete(self.tasks[cell.task]),
            fixer=self.fixers[cell.fixer],
            protocol=self.run.record.protocol,
            attempt=cell.attempt,
            run=self.run.record.name,
            seed=self.run.record.seed,
            interactive=self.run.record.interactive,
            examples=self._chosen.of(cell.task),
            baseline=self._baselines.get(cell.task),
        )
        if past.opened is not None:
            self._begin_notes(cell, journal)
        try:
            async with aclosing(repair(setting, self.harness, self.run.store(cell), past, stop_after)) as stream:
                async for event in stream:
                    journal.append(event)
                    if isinstance(event, _SYNCED):
                        journal.sync()
                    if isinstance(event, ev.InfraFailed) and event.final:
                        self.faults.append((cell, event))
                    self._tell(cell, event)
                    if isinstance(event, ev.TrajectoryOpened):
                        self._begin_notes(cell, journal)
                    if self.stopping and event.durable:
                        return
        finally:
            self._open.pop(cell, None)

    def _begin_notes(self, cell: Cell, journal: Journal) -> None:
        """From here on the journal, which has its first line, takes notes."""
        self._open[cell] = journal
        for event in self._notes.pop(cell, []):
            journal.append(event)
            self._tell(cell, event)

    def _tell(self, cell: Cell, event: ev.Event) -> None:
        """Whatever the listener raises is neither the cell's fault nor the disk's: it passes both handlers unseen."""
        try:
            self.listener(cell, event)
        except Exception as error:
            raise _ListenerError(error) from error


class _ListenerError(Exception):
    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
