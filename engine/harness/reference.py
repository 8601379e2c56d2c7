"""References built once: a task's own solution, ready to be timed beside any candidate."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.harness.step import Stand, StepRunner
from engine.harness.timedbuild import timed_build
from engine.harness.workspace import Workspace
from engine.task import Task


class References:
    """Workspaces of built references by task, kept until ``close``. Building needs no GPU. A workspace serves all candidates
    of its task: only who holds the GPU may feed and run it."""

    def __init__(self, stand: Stand, scratch: Path | None) -> None:
        self._stand, self._scratch = stand, scratch
        self._built: dict[str, Workspace | None] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, task: Task, wall: float) -> Workspace | None:
        """The task's built reference, None when it does not build within ``wall`` seconds (a timeout is tried again)."""
        assert task.reference is not None
        async with self._locks.setdefault(task.digest, asyncio.Lock()):
            if task.digest not in self._built:
                workspace = self._stand.workspace(task, task.reference.read_bytes(), self._scratch)
                try:
                    build = timed_build(task, self._stand.device)
                    build.equip(workspace, self._stand.toolkit)
                    ended = await StepRunner(self._stand).build(workspace, "reference-build", build.command, wall)
                except BaseException:
                    workspace.close()
                    raise
                if ended.exit_code != 0:
                    workspace.close()
                if ended.timed_out:
                    return None
                self._built[task.digest] = workspace if ended.exit_code == 0 else None
            return self._built[task.digest]

    def close(self) -> None:
        """Remove the workspaces."""
        for workspace in self._built.values():
            if workspace is not None:
                workspace.close()
        self._built.clear()
