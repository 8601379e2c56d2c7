"""The verification of a corpus on this machine: every task, some at a time, each ending in a row."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.errors import BeaverError, InfraError, TaskError
from engine.harness.examine import Harness
from engine.store import write_whole
from engine.task import Task
from engine.text import slug
from engine.verify.judge import judge, lint, patch_lines, rejects
from engine.verify.observe import Effort, Observed, Observer
from engine.verify.rows import Row
from engine.verify.state import State

Listener = Callable[[Row], None]

_TRIES = 2
"""Of what failed for the machine's sake."""


@dataclass
class Verification:
    """What is verified, and how. ``harness`` should keep its builds. ``listener`` is told every row as it is made; ``logs`` is
    a folder for the broken starts' error logs as this machine shows them, ``<task>/error.log``.

    One failing task never stops the rest: it becomes a row with the verdict fault.
    """

    harness: Harness
    state: State
    effort: Effort = field(default_factory=Effort)
    jobs: int = 1
    logs: Path | None = None
    listener: Listener = lambda row: None

    async def run(self, tasks: Iterable[Task]) -> list[Row]:
        """The rows, in the order of the tasks; the listener hears of them in the order in which they end."""
        waiting = deque(enumerate(tasks))
        rows: dict[int, Row] = {}
        observer = Observer(self.harness, self.state, self.effort, asyncio.Semaphore(self.jobs))

        async def work() -> None:
            while waiting:
                number, task = waiting.popleft()
                rows[number] = row = await self._row(observer, task)
                self.state.finish(row)
                self.listener(row)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.jobs, len(waiting))):
                group.create_task(work())
        return [rows[number] for number in sorted(rows)]

    async def _row(self, observer: Observer, task: Task) -> Row:
        try:
            seen = await self._observe(observer, task)
            if self.logs is not None and seen.start[0].lacks is None and seen.start[0].error_log:
                write_whole(self.logs / slug(task.id) / "error.log", seen.start[0].error_log.encode(), durable=False)
        except (
            Exception
        ) as error:  # whatever it is, it is this task's, and an hour of the others' results must not go with it
            reason = str(error) if isinstance(error, BeaverError | OSError) else f"{type(error).__name__}: {error}"
            return self._place(Row(task=task.id, verdict="fault", reason=reason, label=task.spec.category))
        return self._place(row_of(task, seen, times_count=self.harness.device.times_count))

    async def _observe(self, observer: Observer, task: Task) -> Observed:
        for _ in range(_TRIES - 1):
            try:
                return await observer.observe(task)
            except InfraError as error:
                if not error.retryable:
                    raise
        return await observer.observe(task)

    def _place(self, row: Row) -> Row:
        device = self.harness.device
        return msgspec.structs.replace(
            row, device=device.label, driver=device.driver, toolkit=self.harness.toolkit.version
        )


def row_of(task: Task, seen: Observed, *, times_count: bool) -> Row:
    """What was seen of a task, judged; without the names of device and toolkit."""
    verdict, reason = judge(task, seen, times_count=times_count)
    start = seen.start[0]
    return Row(
        task=task.id,
        verdict=verdict,
        reason=reason,
        label=task.spec.category,
        category=start.category,
        signature=start.signature,
        line=start.line,
        repeats=len(seen.start),
        reference=next((o.category for o in seen.reference if not o.passed), "passed") if seen.reference else None,
        patch_lines=patch_lines(task),
        rejects=rejects(seen),
        speedup=start.speedup,
        lint=lint(task, seen, times_count=times_count),
        seconds=round(sum(outcome.seconds for outcome in seen.all), 1),
    )


def unreadable(problem: TaskError) -> list[Row]:
    """Rows for what a corpus holds and nobody can read: a fault each."""
    return [
        Row(task=fault.partition(": ")[0], verdict="unreadable", reason=fault.partition(": ")[2] or fault)
        for fault in problem.faults
    ]
