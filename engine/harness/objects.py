"""Object files of a task's own sources: compiled once, kept by content, linked with every candidate.

A test's driver is the same for every candidate, and compiling it takes as long as compiling the candidate. It is compiled in a
workspace that holds no candidate, with the task's own command; what needs the candidate, or says anything, is not kept. So a
candidate can have no part in an object, and a log lacks nothing but what was silent.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from engine.devices.cpu.cache import digest, user_cache
from engine.devices.cpu.library import CXX_COMPILER, compiler_version
from engine.harness.aside import in_thread
from engine.harness.backends import Command, environment
from engine.harness.capture import Capture
from engine.harness.process import Ended
from engine.harness.step import Stand, StepRunner
from engine.harness.workspace import Workspace
from engine.task import Task

_NVCC = re.compile(r"nvcc [^;|&<>\\`'\n]+")
_MAKE = re.compile(r"make [\w./ =:,+-]+")
_MAKE_SAYS = re.compile(r"make(?:\[\d+\])?: (?!\*\*\* (?!No rule to make target))")
"""What make says by itself, but for a recipe that failed: such a recipe may leave half an object, which make takes for a made one."""
_SOURCE = re.compile(r"(?<=\s)[\w./+*-]+\.(?:cu|cpp|cc|cxx|c)(?=\s|$)")
_OUTPUT = re.compile(r"\s(?:-o|--output-file)[ =]\S+")
_BESIDE_NVCC = "$(dirname $(which nvcc))"
"""The one thing that a command may ask a shell: where the toolkit's folders are."""
_NOT_PLAIN = re.compile(
    r"\s-{1,2}(?:c|compile|x|xcu|cuda|lto|dlto|ltoir|optf|options-file|dc|dw|dlink|rdc|relocatable-device-code|device-[cwl]\w*|lib"
    r"|run|E|M\w*|ptx|cubin|fatbin|optix-ir|shared|keep\S*|save-temps|objtemp|odir|output-directory|t|threads|time|dryrun"
    r"|include|pre-include)(?=[ =]|$)"
)
"""Options of nvcc with which a source is more, or other, than an object of its own."""


@dataclass(frozen=True)
class Objects:
    """``files`` by their place in a workspace; ``command`` is the build that uses them."""

    files: Mapping[str, bytes]
    command: Command


@dataclass(frozen=True)
class Plan:
    """``compiling`` makes the objects in a workspace without candidate: ``names``, or, for make, what appears. ``asking`` prints
    what make would do, and does nothing. ``command`` is the build that uses them."""

    compiling: Command
    command: Command
    names: tuple[str, ...] = ()
    asking: Command | None = None


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
        archive = user_cache() / "objects" / f"{key}.zip"
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key in self._none:
                return None
            files = await in_thread(_read, archive)
            if not files:
                files = await self._make(steps, task, plan, wall)
                if not files:
                    self._none.add(key)
                    return None
                await in_thread(_keep, files, archive)
        return Objects(files, plan.command)

    async def _make(self, steps: StepRunner, task: Task, plan: Plan, wall: float) -> dict[str, bytes]:
        own = StepRunner(steps.stand)
        try:
            with steps.stand.workspace(task, b"", self._scratch) as workspace:
                workspace.solution.unlink()
                names = await _compile(own, workspace, plan, wall)
                return {} if own.tampered else {name: (workspace.path / name).read_bytes() for name in names}
        finally:
            steps.spent += own.spent


async def _compile(own: StepRunner, workspace: Workspace, plan: Plan, wall: float) -> list[str]:
    """The objects that appear, none where something is said that a candidate's build would have to say, too."""

    async def told(command: Command) -> Ended:
        return await own.build(workspace, "objects", command, wall)

    before = set(workspace.files())
    expected = await told(plan.asking) if plan.asking is not None else None
    ended = await told(plan.compiling)
    made = sorted(name for name in set(workspace.files()) - before if name.endswith(".o"))
    if ended.killed:
        return []  # the last object may be half a file
    if plan.asking is None or expected is None:
        usable = ended.exit_code == 0 and not ended.printed and made == sorted(plan.names)
    else:  # make prints its recipes, and that it lacks the candidate
        again = await told(plan.asking)
        usable = not _beside_make(ended.stderr) and _beside_make(ended.stdout) == _beside_make(expected.stdout)
        usable = usable and not _beside_make(again.stdout)
    return made if usable else []


def _beside_make(printed: Capture) -> list[str]:
    return [line for line in printed.text().splitlines() if not _MAKE_SAYS.match(line)]


def _read(archive: Path) -> dict[str, bytes]:
    """Empty where it is missing or damaged."""
    try:
        with zipfile.ZipFile(archive) as stored:
            return {name: stored.read(name) for name in stored.namelist()}
    except (OSError, zipfile.BadZipFile):
        return {}


def _keep(files: Mapping[str, bytes], archive: Path) -> None:
    """In one step, and in one file: no half of it can be deleted. A cache that cannot be written keeps nothing."""
    with contextlib.suppress(OSError):
        archive.parent.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.NamedTemporaryFile(dir=archive.parent, prefix=".making-", delete=False) as made,
            zipfile.ZipFile(made, "w") as stored,
        ):
            for name, content in files.items():
                stored.writestr(name, content)
        Path(made.name).replace(archive)


def _key(stand: Stand, task: Task, command: Command) -> str:
    tools = (stand.device.kind, str(stand.toolkit.nvcc), stand.toolkit.version, compiler_version(CXX_COMPILER))
    around = sorted(environment(stand.toolkit).items())
    return digest([*tools, stand.sandbox.name, *map(str, around), task.digest, command.text, *command.flags])


def _of_nvcc(task: Task, command: Command) -> Plan | None:
    """One call of nvcc that compiles and links: the task's own sources give way to their objects."""
    text = command.text
    plain = _NVCC.fullmatch(text) and _OUTPUT.search(text) and not _NOT_PLAIN.search(text)
    if not plain or "$" in text.replace(_BESIDE_NVCC, ""):
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
    without, asking = (replace(command, text=f"MAKEFLAGS={flags} {command.text}") for flags in ("-k", "-kn"))
    return Plan(without, command, asking=asking)


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
