"""References built once: a task's own solution, ready to be timed beside any candidate."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.harness.backends import build_command
from engine.harness.step import StepRunner
from engine.harness.workspace import Workspace
from engine.task import Task


class References:
    """Workspaces of built references by task, kept until ``close``. Building needs no GPU; whoever runs one holds the GPU."""

    def __init__(self, owner: int | None, scratch: Path | None) -> None:
        self._owner, self._scratch = owner, scratch
        self._built: dict[str, Workspace | None] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, task: Task, runner: StepRunner, wall: float) -> Workspace | None:
        """The task's built reference, None when it does not build. Its ``out`` folder exists."""
        assert task.reference is not None
        async with self._locks.setdefault(task.digest, asyncio.Lock()):
            if task.digest not in self._built:
                workspace = Workspace(task, task.reference.read_bytes(), self._owner, self._scratch)
                try:
                    ended = await runner.build(
                        workspace, "reference-build", build_command(task, runner.stand.device).text, wall
                    )
                except BaseException:
                    workspace.close()
                    raise
                if ended.exit_code != 0:
                    workspace.close()
                self._built[task.digest] = workspace if ended.exit_code == 0 else None
            return self._built[task.digest]

    def close(self) -> None:
        """Remove the workspaces."""
        for workspace in self._built.values():
            if workspace is not None:
                workspace.close()
        self._built.clear()
