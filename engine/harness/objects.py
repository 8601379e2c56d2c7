"""Object files of a task's own sources: compiled once, kept by content, linked with every candidate.

A test's driver is the same for every candidate, and compiling it takes as long as compiling the candidate. It is compiled in a
workspace that holds no candidate, with the task's own command; what needs the candidate, or says anything, is not kept. So a
candidate can have no part in an object, and a log lacks nothing but what was silent.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from engine.devices.cpu.cache import digest, made_whole, user_cache
from engine.devices.cpu.library import CXX_COMPILER, compiler_version
from engine.harness.aside import in_thread
from engine.harness.backends import Command
from engine.harness.capture import Capture
from engine.harness.step import Stand, StepRunner
from engine.harness.workspace import Workspace
from engine.task import Task

_NVCC = re.compile(r"nvcc [^;|&<>\\`'\n]+")
_MAKE = re.compile(r"make [\w./ =:,+-]+")
_MAKE_SAYS = re.compile(r"make(\[\d+\])?: ")
_SOURCE = re.compile(r"(?<=\s)[\w./+*-]+\.(?:cu|cpp|cc|cxx|c)(?=\s|$)")
_OUTPUT = re.compile(r"\s(?:-o|--output-file)[ =]\S+")
_OTHERWISE = re.compile(
    r"\s-{1,2}(?:c|compile|x|dc|dw|dlink|rdc|relocatable-device-code|device-[cwl]\w*|lib|run|E|M\w*|ptx|cubin|fatbin|optix-ir|ltoir"
    r"|dlto|shared|keep\S*|save-temps|objtemp|odir|output-directory|t|threads|time|dryrun|include|pre-include)(?=[ =]|$)"
)
"""Options of nvcc with which a source is more, or other, than an object of its own."""


@dataclass(frozen=True)
class Objects:
    """``folder`` holds them, each where a workspace has it; ``command`` is the build that uses them."""

    folder: Path
    command: Command


@dataclass(frozen=True)
class Plan:
    """``compiling`` makes the objects in a workspace without candidate: ``names``, or, for make, what appears. ``again`` prints
    what make would make once more. ``command`` is the build that uses them."""

    compiling: Command
    command: Command
    names: tuple[str, ...] = ()
    again: Command | None = None


def plan_of(task: Task, command: Command) -> Plan | None:
    """None where ``command`` compiles nothing that is the task's own alone, or in a way that is not looked through."""
    return _of_nvcc(task, command) or _of_make(command)


class KeptObjects:
    """Kept in the user's cache, for every process: what is in it was compiled by this toolkit from these very files."""

    def __init__(self, scratch: Path | None) -> None:
        self._scratch = scratch
        self._locks: dict[str, asyncio.Lock] = {}
        self._none: set[str] = set()

    async def of(self, steps: StepRunner, task: Task, command: Command, wall: float) -> Objects | None:
        """None where there are none, or not within ``wall`` seconds."""
        plan = plan_of(task, command)
        if plan is None:
            return None
        key = _key(steps.stand, task, command)
        async with self._locks.setdefault(key, asyncio.Lock()):
            folder = user_cache() / "objects" / key
            if key not in self._none and not folder.is_dir() and not await self._make(steps, task, plan, folder, wall):
                self._none.add(key)
        return None if key in self._none else Objects(folder, plan.command)

    async def _make(self, steps: StepRunner, task: Task, plan: Plan, folder: Path, wall: float) -> bool:
        own = StepRunner(steps.stand)
        workspace = await in_thread(steps.stand.workspace, task, b"", self._scratch)
        try:
            workspace.solution.unlink()
            names = await _compile(own, workspace, plan, wall)
            if not names or own.tampered:
                return False
            await in_thread(_keep, workspace, names, folder)
            return True
        finally:
            steps.spent += own.spent
            await asyncio.shield(in_thread(workspace.close))


async def _compile(own: StepRunner, workspace: Workspace, plan: Plan, wall: float) -> list[str]:
    """The objects that appear, none where something is said that a candidate's build would have to say, too."""
    before = set(workspace.files())
    ended = await own.build(workspace, "objects", plan.compiling, wall)
    made = sorted(name for name in set(workspace.files()) - before if name.endswith(".o"))
    if plan.again is None:
        silent = ended.exit_code == 0 and not ended.printed and made == sorted(plan.names)
    else:  # make prints its recipes, and that it lacks the candidate
        again = await own.build(workspace, "objects", plan.again, wall)
        silent = not _beside_make(ended.stderr) and not _beside_make(again.stdout)
    return made if silent else []


def _beside_make(printed: Capture) -> list[str]:
    return [line for line in printed.text().splitlines() if not _MAKE_SAYS.match(line)]


def _keep(workspace: Workspace, names: Sequence[str], folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with made_whole(folder) as whole:
        for name in names:
            (whole / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(workspace.path / name, whole / name)


def _key(stand: Stand, task: Task, command: Command) -> str:
    tools = (str(stand.toolkit.nvcc), stand.toolkit.version, compiler_version(CXX_COMPILER), stand.sandbox.name)
    return digest([*tools, task.digest, command.text, *command.flags])


def _of_nvcc(task: Task, command: Command) -> Plan | None:
    """One call of nvcc that compiles and links: the task's own sources give way to their objects."""
    text = command.text
    if not _NVCC.fullmatch(text) or not _OUTPUT.search(text) or _OTHERWISE.search(text):
        return None
    names: list[str] = []

    def objects(match: re.Match[str]) -> str:
        sources = _matching(task, match[0])
        if not sources:
            return match[0]
        names.extend(sources)
        return " ".join(map(_object, sources))

    linking = _SOURCE.sub(objects, text)
    made = [_object(name) for name in names]
    if not names or len(set(made)) < len(made) or set(made) & set(task.harness_files):
        return None
    compiling = f"{_SOURCE.sub('', _OUTPUT.sub('', text))} -c {' '.join(names)}"
    return Plan(replace(command, text=compiling), replace(command, text=linking), tuple(made))


def _of_make(command: Command) -> Plan | None:
    """make takes an object that is there and newer than what it depends on. -k: as far as it comes without the candidate."""
    if not _MAKE.fullmatch(command.text):
        return None
    without, again = (replace(command, text=f"MAKEFLAGS={flags} {command.text}") for flags in ("-k", "-kn"))
    return Plan(without, command, again=again)


def _matching(task: Task, pattern: str) -> list[str]:
    """The task's own files that a word of a command names, as a shell reads it; none where the candidate is among them."""
    depth = len(PurePosixPath(pattern).parts)
    names = [*task.harness_files, task.spec.solution_file]
    found = sorted(
        name for name in names if len(PurePosixPath(name).parts) == depth and PurePosixPath(name).match(pattern)
    )
    return [] if task.spec.solution_file in found else found


def _object(source: str) -> str:
    """Where nvcc -c puts it."""
    return f"{PurePosixPath(source).stem}.o"
