"""Play the cells of a plan: some at a time, each into its own journal, resumable at any point."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from engine import events as ev
from engine.errors import RunError
from engine.fixers.base import Fixer, Recorded
from engine.journal import Journal
from engine.loop import Examiner, Setting, repair
from engine.manifest import write_manifest
from engine.protocol import Protocol, Sampling
from engine.rundir import Cell, RunDirectory
from engine.task import Task
from engine.trajectory import Trajectory, fold

Listener = Callable[[Cell, ev.Event], None]

_SYNCED = (ev.ReplyReceived, ev.IterationClosed, ev.TrajectoryClosed)
"""After these the journal is fsynced: a reply is paid for, an iteration is a result."""


def plan_cells(
    tasks: Iterable[Task], fixers: Iterable[Fixer], protocol: Protocol, attempts: int | None = None
) -> list[Cell]:
    """All cells of a run, by task, then fixer, then attempt. Repeated sampling draws at least K attempts; a recorded fixer
    without an answer for a task promises nothing for it."""
    count = attempts or 1
    if protocol.sampling is Sampling.REPEATED:
        count = max(attempts or 0, protocol.k)
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
    journals that resume. ``listener`` sees every event of every cell, in order."""

    run: RunDirectory
    tasks: dict[str, Task]
    fixers: dict[str, Fixer]
    harness: Examiner
    jobs: int = 1
    listener: Listener = lambda cell, event: None
    stopping: bool = False
    faults: list[tuple[Cell, ev.InfraFailed]] = field(default_factory=list)
    began: bool = False

    def stop(self) -> None:
        """Begin no further step."""
        self.stopping = True

    async def play(self) -> None:
        """Play every cell that is not finished, then write the manifest. In two phases (paper C.3) every cell gets its
        first iteration before any gets its second; the rows are the same."""
        self.began = True
        try:
            if self.run.record.two_phase:
                await self._play_all(self.run.plan, stop_after=1)
            await self._play_all(self.run.plan, stop_after=None)
        except BaseException:
            with suppress(OSError):  # what interrupted us may be a full disk; the manifest can be rebuilt at any time
                write_manifest(self.run)
            raise
        finally:
            for fixer in self.fixers.values():
                await fixer.close()
        write_manifest(self.run)

    async def _play_all(self, cells: list[Cell], stop_after: int | None) -> None:
        waiting = deque(cells)

        async def work() -> None:
            while waiting and not self.stopping:
                await self._play_cell(waiting.popleft(), stop_after)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.jobs, len(cells))):
                    group.create_task(work())
        except BaseExceptionGroup as faults:
            first = faults.exceptions[0]  # the others were cancelled because of it, or met the same full disk
            if isinstance(first, OSError):
                raise RunError(f"{self.run.path}: cannot be written: {first.strerror}") from first
            raise first from None

    async def _play_cell(self, cell: Cell, stop_after: int | None) -> None:
        with Journal(self.run.journal(cell)) as journal:
            past = fold(journal.events)
            if past.closed is not None or (stop_after and len(past.finished) >= stop_after):
                return
            if journal.torn_bytes:
                note = ev.Controlled(action="repaired", detail=f"cut {journal.torn_bytes} bytes of a torn line")
                journal.append(note)
                self.listener(cell, note)
            await self._write(cell, journal, past, stop_after)

    async def _write(self, cell: Cell, journal: Journal, past: Trajectory, stop_after: int | None) -> None:
        setting = Setting(
            task=self.tasks[cell.task],
            fixer=self.fixers[cell.fixer],
            protocol=self.run.record.protocol,
            attempt=cell.attempt,
            run=self.run.record.name,
            seed=self.run.record.seed,
        )
        events = repair(setting, self.harness, self.run.store(cell), past, stop_after)
        async with aclosing(events) as stream:
            async for event in stream:
                journal.append(event)
                if isinstance(event, _SYNCED):
                    journal.sync()
                if isinstance(event, ev.InfraFailed) and event.final:
                    self.faults.append((cell, event))
                self.listener(cell, event)
                if self.stopping and event.durable:
                    return
