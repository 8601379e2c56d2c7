"""One command of a task in the sandbox: streamed, logged whole, and compared before and after for what it must not change."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import events as ev
from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.errors import InfraError
from engine.harness import backends
from engine.harness.aside import FAST, aside
from engine.harness.backends import Command
from engine.harness.capture import HEAD_BYTES
from engine.harness.limits import Limits
from engine.harness.parentclock import Talk
from engine.harness.process import Ended, run_step
from engine.harness.pythons import task_python
from engine.harness.sandbox import Box, Sandbox
from engine.harness.uids import unprivileged_uid
from engine.harness.workspace import Workspace
from engine.task import Task
from engine.text import plain_text

Emit = Callable[[ev.Event], None]
SaveLog = Callable[[str, str], None]
"""Keeps the whole log of a step: (step, text). Called in a thread when the log is large."""

_MOUNTED_FILES = 256
"""Above this many files the workspace is protected by comparing it, not by a mount for each file."""


@dataclass(frozen=True)
class Stand:
    """What a machine offers for building and running: the same for every candidate."""

    device: Device
    sandbox: Sandbox
    toolkit: Toolkit
    limits: Limits

    def workspace(self, task: Task, code: bytes, scratch: Path | None) -> Workspace:
        """A fresh workspace, owned by whoever its processes will be."""
        owner = unprivileged_uid() if self.sandbox.drops_uid else None
        workspace = Workspace(task, code, owner, scratch)
        try:
            self.device.equip(self.toolkit, workspace.device)
        except BaseException:
            workspace.close()
            raise
        return workspace


def ignore(*_: object) -> None:
    """For steps that nobody watches."""


@dataclass
class StepRunner:
    """Runs the steps of one examination. ``tampered`` collects what they changed and must not; ``spent`` the seconds that
    were not the harness's own: in child processes, and waiting for the device."""

    stand: Stand
    iteration: int = 0
    emit: Emit = ignore
    save_log: SaveLog = ignore
    tampered: list[str] = field(default_factory=list)
    spent: float = 0.0

    async def note(self, step: str, command: str, ended: Ended) -> None:
        """Keep a step's whole log and its time."""
        self.spent += ended.seconds
        await aside(ended.printed, self._save, step, command, ended)

    def _save(self, step: str, command: str, ended: Ended) -> None:
        self.save_log(step, f"$ {command}\n{ended.stdout.text()}{ended.stderr.text()}")

    async def build(
        self,
        workspace: Workspace,
        step: str,
        command: Command,
        wall: float,
        *,
        replaceable: frozenset[str] = frozenset(),
    ) -> Ended:
        """A build: no device in sight, new files may appear, existing ones may not change, but for ``replaceable``: what a build
        left that was made before."""
        files = tuple(name for name in workspace.files() if name not in replaceable)
        variables = self.stand.device.build_environment(self.stand.toolkit, workspace.device)
        box = self._box(workspace, files, variables | command.environment)
        return await self._run(workspace, step, command.text, wall, box, files)

    async def run(
        self,
        workspace: Workspace,
        step: str,
        command: str,
        wall: float,
        extra: dict[str, str] | None = None,
        talk: Talk | None = None,
        *,
        shown: tuple[Path, ...] = (),
        writable: tuple[str, ...] = (),
    ) -> Ended:
        """A program: with the device. A driver that has a checker may write into ``out`` only. ``talk`` gets its standard input
        and hears what it prints. A tool around it may need more: ``shown`` are folders of this machine, ``writable`` folders of
        the workspace."""
        files = workspace.files()
        device = self.stand.device
        variables = device.environment(self.stand.toolkit, workspace.device, wall)
        box = self._box(workspace, files, variables | (extra or {}))
        box = replace(box, nodes=device.nodes, visible=(*box.visible, *shown))
        if workspace.task.spec.check is not None:
            box = replace(box, readonly=(), frozen=True, writable=("out", *writable))
        return await self._run(workspace, step, command, wall, box, files, talk)

    def _box(self, workspace: Workspace, files: tuple[str, ...], variables: dict[str, str]) -> Box:
        programs = workspace.device / "bin"
        python = task_python(workspace.task)
        first = (*([programs] if programs.is_dir() else []), *python.first)
        return Box(
            workspace=workspace.path,
            uid=workspace.owner,
            environment=backends.environment(self.stand.toolkit, first) | variables,
            readonly=files if len(files) <= _MOUNTED_FILES else (),
            visible=(*backends.visible_folders(self.stand.toolkit), *python.folders, workspace.device),
            hide=(workspace.task.folder,),
        )

    async def _run(
        self,
        workspace: Workspace,
        step: str,
        command: str,
        wall: float,
        box: Box,
        files: tuple[str, ...],
        talk: Talk | None = None,
    ) -> Ended:
        before = await aside(workspace.size(files) // FAST, workspace.fingerprint, files)
        limits = replace(self.stand.limits, wall=wall)

        streamed = Counter[str]()

        def stream(name: str, chunk: bytes) -> None:
            if streamed[name] >= HEAD_BYTES:
                return  # a flood: whoever watches sees its beginning, and the log both ends
            streamed[name] += len(chunk)
            text = plain_text(chunk.decode("utf-8", "replace"))
            self.emit(ev.OutputArrived(iteration=self.iteration, step=step, stream=name, text=text))

        launch = self.stand.sandbox.launch(command, box, limits)
        ended = await run_step(launch, limits, stream, disk=workspace.path, talk=talk)
        await self.note(step, command, ended)
        after = await aside(workspace.size(files) // FAST, workspace.fingerprint, files)
        changed = sorted(name for name in files if after[name] != before[name] and not name.startswith("out/"))
        if changed:
            self.tampered.append(f"tampered: {', '.join(changed[:5])} changed during the {step}")
        if ended.disk_killed:
            free = shutil.disk_usage(workspace.path).free
            if free < limits.file_size:
                raise InfraError(f"disk: only {free >> 20} MiB are free in {workspace.root}", kind="disk")
        return ended
