"""Builds that are made once: for who examines the same program again and again, each time in a fresh workspace."""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engine.harness.aside import in_thread
from engine.harness.backends import Command
from engine.harness.objects import KeptObjects
from engine.harness.process import Ended
from engine.harness.step import StepRunner
from engine.harness.workspace import PREFIX, Workspace, hold, remove_tree

_Key = tuple[str, str, tuple[str, ...], str]


@dataclass(frozen=True)
class _Kept:
    ended: Ended
    files: Path


class Builds:
    """Runs builds; with ``keep``, what a build left in its workspace is copied aside, and the next workspace of the same task,
    code and command gets the copy instead of a build of its own.

    Never kept: a build that was killed at a limit (another try may end), and one that changed what it must not change (every
    examination has to see that).
    """

    def __init__(self, scratch: Path | None, *, keep: bool) -> None:
        self._scratch, self._keep = scratch, keep
        self._objects = KeptObjects(scratch)
        self._folder: Path | None = None
        self._held = -1
        self._numbers = itertools.count()
        self._kept: dict[_Key, _Kept] = {}
        self._locks: dict[_Key, asyncio.Lock] = {}
        self._beside = max(1, len(os.sched_getaffinity(0)) // 4)

    def take_place_beside(self) -> bool:
        """Whether a build may run that is perhaps not needed: one for every four processors at a time. To be given back."""
        self._beside -= 1
        if self._beside >= 0:
            return True
        self._beside += 1
        return False

    def leave_place_beside(self) -> None:
        """Give it back."""
        self._beside += 1

    async def make(self, steps: StepRunner, workspace: Workspace, step: str, command: Command, wall: float) -> Ended:
        """The end of the build, and its results in ``workspace``, which holds a candidate that has not been built yet."""
        if not self._keep:
            return await self._make(steps, workspace, step, command, wall)
        solution = workspace.fingerprint((workspace.task.spec.solution_file,))[workspace.task.spec.solution_file]
        key = (workspace.task.digest, command.text, command.flags, solution)
        async with self._locks.setdefault(key, asyncio.Lock()):
            kept = self._kept.get(key)
            if kept is not None:
                await asyncio.to_thread(workspace.fill, kept.files)
                return kept.ended
            before = len(steps.tampered)
            ended = await self._make(steps, workspace, step, command, wall)
            if not ended.killed and len(steps.tampered) == before:
                files = self._room() / str(next(self._numbers))
                await asyncio.to_thread(workspace.copy, files)
                self._kept[key] = _Kept(ended, files)
            return ended

    async def _make(self, steps: StepRunner, workspace: Workspace, step: str, command: Command, wall: float) -> Ended:
        # programs that are timed are left alone: nobody shall have to ask whether it is the same program
        if not steps.stand.device.times_count:
            objects = await self._objects.of(steps, workspace.task, command, wall)
            if objects is not None:
                await in_thread(workspace.add, objects.files)
                return await steps.build(workspace, step, objects.command, wall, replaceable=frozenset(objects.files))
        return await steps.build(workspace, step, command, wall)

    def _room(self) -> Path:
        if self._folder is None:
            # ours alone: no candidate's uid may look into another's build
            self._folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}builds-", dir=self._scratch))
            self._held = hold(self._folder)
        return self._folder

    def close(self) -> None:
        """Remove the copies."""
        self._kept.clear()
        if self._folder is not None:
            remove_tree(self._folder)
            os.close(self._held)
            self._folder = None
