"""Error logs that a corpus does not have: captured here before any fixer sees the task, and kept beside the run.

A log of another machine would name faults that this one does not show; a corpus without logs gets those of the machine that plays.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import events as ev
from engine.harness.error_log import error_log
from engine.harness.examine import Job
from engine.loop import Examiner, derive_seed
from engine.store import RunUnwritable, write_whole
from engine.task import Task
from engine.text import slug

FOLDER = "error_logs"
"""In a run: ``<task>/error.log``, as ``verify --write-error-logs`` writes them."""


def captured_log(run: Path, task: str) -> str | None:
    """What a run has captured for a task, None when nothing was."""
    try:
        return (run / FOLDER / slug(task) / "error.log").read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


@dataclass
class StartLogs:
    """Logs of one run's tasks. All trajectories of a task get the same: it is captured once, also when the run is resumed."""

    run: Path
    harness: Examiner
    seed: str
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def complete(self, task: Task) -> Task:
        """The task with the log of its broken start. Raises InfraError when the machine fails meanwhile, and
        RunUnwritable when the log cannot be kept."""
        if task.error_log.strip():
            return task
        async with self._locks.setdefault(task.id, asyncio.Lock()):
            log = await asyncio.to_thread(captured_log, self.run, task.id)
            if log is None:
                log = await self._capture(task)
        return replace(task, error_log=log)

    async def _capture(self, task: Task) -> str:
        slow = task.spec.start_bucket == "perf_broken"  # its log is the measured time
        job = Job(
            task=task,
            code=task.broken,
            iteration=0,
            seed=derive_seed(self.seed, task.id, 1, 0),
            launches=3 if slow else 0,
            hazards=False,
        )
        events: list[ev.Event] = []
        examined = await self.harness.examine(job, events.append, lambda step, text: None)
        timed = next((event for event in events if isinstance(event, ev.Timed)), None)
        log = error_log(task, examined.evidence, timed)
        path = self.run / FOLDER / slug(task.id) / "error.log"
        try:
            await asyncio.to_thread(write_whole, path, log.encode("utf-8", "replace"))
        except OSError as error:
            raise RunUnwritable(path, error) from error
        return log
