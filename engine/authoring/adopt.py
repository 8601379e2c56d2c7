"""A user's failing program becomes a task: its files are copied, it is run several times, and its failure is what is written.

Refused, with the reason: a program that passes, one that fails differently from run to run, and commands that fail by
themselves, which no change of the editable file could mend.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine import events as ev
from engine.authoring.collect import collect
from engine.authoring.draft import Wish, editable, write_draft, write_spec
from engine.authoring.probe import fails_whatever_it_holds
from engine.corpora.native import read_native
from engine.devices.cpu.device import NAME
from engine.errors import BeaverError, ConfigError
from engine.evidence import Evidence, StepEvidence
from engine.harness.error_log import error_log
from engine.harness.examine import Harness, Job
from engine.harness.preflight import machine_lacks
from engine.task import Task
from engine.text import slug
from engine.verdict import Verdict, classify, outcome_bucket
from engine.verify import Effort
from engine.verify.judge import SLOW, said
from engine.verify.observe import plain_outcome

Say = Callable[[str], None]

_COMMAND_FAULTS = re.compile(
    r"^(?:/bin/)?(?:ba)?sh: (?:line )?\d+: .*(?:not found|No such file or directory|Permission denied|[Ss]yntax error).*"
    r"|^make(?:\[\d+\])?: \*\*\* No (?:rule to make target|targets specified).*"
    r"|^make(?:\[\d+\])?: \S+: No such file or directory.*"
    r"|^nvcc fatal\s*: (?!Unsupported gpu arch).*"
    r"|^(?:cc1plus|cc1|gcc|g\+\+|clang|clang\+\+|c\+\+)[\w.-]*: (?:fatal )?error: .*(?:No such file or directory|no input files|unrecognized|not found).*"
    r"|^CMake Error: .*(?:does not exist|does not appear to contain CMakeLists|not a directory|not a CMake build directory).*"
    r"|^\S*python3?(?:\.\d+)?: can't open file .*",
    re.MULTILINE,
)
"""What shells, make, compilers and interpreters say of a command that they cannot carry out."""

_NO_PROGRAM = (126, 127)
"""Exit codes by which a shell says that there was nothing to run."""


class Refused(BeaverError):
    """The program is no task, for the reason in the message."""


@dataclass(frozen=True)
class Run:
    """One run of the program: what was observed, and what it means."""

    evidence: Evidence
    verdict: Verdict
    timed: ev.Timed | None

    def __str__(self) -> str:
        return said(self.verdict.category, self.verdict.signature)


@dataclass(frozen=True)
class Adopted:
    """A task that was made, and what it was seen to do."""

    folder: Path
    task: Task
    category: str
    bucket: str
    evidence_line: str


async def adopt(wish: Wish, harness: Harness, out: Path, repeats: int = 3, say: Say = lambda text: None) -> Adopted:
    """Write ``<out>/<id>/``. Raises Refused or ConfigError, and leaves nothing behind then.

    ``harness`` should keep its builds; ``say`` is told what was taken and how the runs go.
    """
    with tempfile.TemporaryDirectory(prefix="beaver-making-") as scratch:
        folder = Path(scratch) / "task"
        target, broken = _drafted(wish, out, folder, say)
        task = read_native(folder)
        runs = []
        for number in range(1, repeats + 1):
            runs.append(await _run(harness, task, broken, sanitize=number == 1))
            say(f"run {number}: {runs[-1]}")
        _refuse(task, runs)
        found = runs[0]
        if (build := found.evidence.build) is not None and await fails_whatever_it_holds(harness, task, build):
            raise _fails_itself("--build", task, found.verdict.line)
        if task.reference is not None:
            await _accepts_reference(harness, task)
        if found.verdict.passed:
            found = await _slow(harness, task, broken)
        bucket = "perf_broken" if found.verdict.passed else outcome_bucket(found.verdict.category)
        _finish(folder, task, found, bucket)
        read_native(folder)
        try:
            shutil.copytree(folder, target)
        except FileExistsError:  # made meanwhile, by another init
            raise _taken(target) from None
    return Adopted(target, read_native(target), found.verdict.category, bucket, found.verdict.line)


def _drafted(wish: Wish, out: Path, folder: Path, say: Say) -> tuple[Path, bytes]:
    """Write the draft into ``folder``; returns where the task will lie, and the broken start."""
    broken = editable(wish)
    target = out / slug(wish.id)
    if target.exists():
        raise _taken(target)
    collected = collect(wish.folder, wish.exclude, without=out.resolve())
    if wish.file not in collected.files:
        raise ConfigError(f"--file {wish.file}: belongs to what is left out of a task; nothing to edit")
    say(collected.describe())
    write_draft(wish, collected, broken, folder)
    return target, broken


def _taken(target: Path) -> ConfigError:
    return ConfigError(f"{target}: is there already; choose another --name, or remove it")


async def _run(harness: Harness, task: Task, code: bytes, launches: int = 0, *, sanitize: bool = False) -> Run:
    events: list[ev.Event] = []
    job = Job(task=task, code=code, iteration=1, seed=1, launches=launches, sanitize=sanitize, hazards=sanitize)
    evidence = (await harness.examine(job, events.append, lambda step, text: None)).evidence
    timed = next((event for event in events if isinstance(event, ev.Timed)), None)
    return Run(evidence, classify(evidence), timed)


def _refuse(task: Task, runs: list[Run]) -> None:
    """Everything that keeps a program from being a task, the clearest reason first."""
    for run in runs:
        if (lack := machine_lacks(run.evidence.preflight)) is not None:
            raise Refused(f"{task.id}: cannot be run on this machine: {lack}")
        test = run.evidence.test
        if test is not None and test.not_run is not None:
            raise Refused(f"{task.id}: it builds, and cannot be run here: {test.not_run}")
        if test is not None and (lack := _lack_of_cpu_device(test)) is not None:
            raise Refused(f"{task.id}: cannot be run on this device: {lack}")
        for name, step in (("--build", run.evidence.build), ("--test", test)):
            if name == "--build" and step is not None and _fails_silently(step):
                raise _fails_itself(name, task, f"exit code {step.exit_code}, and not a word")
            if step is not None and (fault := command_fault(step, task.spec.solution_file)) is not None:
                raise _fails_itself(name, task, fault)
    outcomes = list(dict.fromkeys(plain_outcome(run.evidence) for run in runs))
    if len(outcomes) > 1:
        ends = "; ".join(f"run {number}: {run}" for number, run in enumerate(runs, 1))
        raise Refused(f"{task.id}: not reproducible, it ended differently in {len(runs)} runs: {ends}")
    if runs[0].verdict.passed and (task.spec.timing_parser is None or task.reference is None):
        raise Refused(
            f"{task.id}: passes already, there is nothing to repair. If its result is wrong, say how a right one looks with "
            "--pass-regex; if it is too slow, give --timing-regex and a faster --reference (perf_broken)"
        )


def _fails_itself(option: str, task: Task, fault: str) -> Refused:
    return Refused(f"{option}: the command itself fails, whatever {task.spec.solution_file} holds: {fault}")


def _fails_silently(build: StepEvidence) -> bool:
    """Whether a build failed without a word: compilers have something to say of what they refuse."""
    return bool(build.exit_code) and not build.timed_out and not f"{build.stdout}{build.stderr}".strip()


def _lack_of_cpu_device(test: StepEvidence) -> str | None:
    """What the CPU device said that it cannot do: no failure of the program."""
    said_by_device = (
        line.partition(f"{NAME}: ")[2] for line in test.stderr.splitlines() if line.startswith(f"{NAME}: ")
    )
    return next((line for line in said_by_device if line.endswith("needs a GPU")), None) if not test.ok else None


def command_fault(step: StepEvidence, solution: str) -> str | None:
    """Why a step failed for its command's sake, None when it did not. A complaint that names the editable file is about that
    file: a header that it includes and nobody has is for a fixer to mend."""
    if step.ok:
        return None
    text = f"{step.stderr}\n{step.stdout}"
    for match in _COMMAND_FAULTS.finditer(text):
        if Path(solution).name not in match[0]:
            return match[0].strip()
    if step.exit_code in _NO_PROGRAM:
        return next((line for line in reversed(text.splitlines()) if line.strip()), f"exit code {step.exit_code}")
    return None


async def _accepts_reference(harness: Harness, task: Task) -> None:
    assert task.reference is not None
    run = await _run(harness, task, task.reference.read_bytes())
    if not run.verdict.passed:
        raise Refused(f"--reference: does not pass the test itself: {run}")


async def _slow(harness: Harness, task: Task, code: bytes) -> Run:
    """A program that passes and was said to be slow, timed against its reference."""
    if not harness.device.times_count:
        raise Refused(
            f"{task.id}: passes already, and how slow it is can only be measured on a GPU ({harness.device.name})"
        )
    run = await _run(harness, task, code, Effort().launches)
    timed = run.timed
    if timed is None or timed.speedup is None:
        raise Refused(f"--timing-regex: no time was found: {timed.note if timed else 'nothing was timed'}")
    if timed.speedup >= SLOW:
        raise Refused(
            f"{task.id}: passes already, at {timed.speedup:.2f} of the reference's speed; a perf_broken task is below {SLOW}"
        )
    return run


def _finish(folder: Path, task: Task, found: Run, bucket: str) -> None:
    """What the runs told."""
    (folder / "error.log").write_text(error_log(task, found.evidence, found.timed))
    fields = json.loads((folder / "input.json").read_text())
    fields |= {"start_bucket": bucket, "category": found.verdict.category}
    write_spec(folder, fields)
