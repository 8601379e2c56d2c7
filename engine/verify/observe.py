"""One task's programs before the harness: the broken start and the reference several times, what must not pass once."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from engine import events as ev
from engine.candidate import exact_bytes
from engine.devices.cpu.library import CXX_COMPILER, compiler_version
from engine.evidence import Evidence
from engine.extract import extract
from engine.harness.error_log import error_log
from engine.harness.examine import Harness, Job
from engine.harness.preflight import machine_lacks
from engine.loop import derive_seed
from engine.task import Task
from engine.verdict import classify
from engine.verify.rows import Outcome, Seen
from engine.verify.state import State
from engine.verify.wrong_outputs import accepted_forgeries
from engine.verify.wrong_programs import wrong_programs

START, REFERENCE, OUTPUTS = "start", "reference", "outputs"
JUDGED_SCRIPTS = ("good", "degenerate", "cheat")
"""Recorded answers about which verification has an opinion."""

NO_JUDGES = ("_corpus", "analysis", "authoring", "corpora", "fixers", "sweep")
"""The rooms of engine/ that cannot change an outcome: they write and read tasks, of which every file is in the key already, and they
propose, plan and count. Everything else builds, runs or judges a program, or is used by what does."""

_PRINTED = 4000
_ANSWER_LAUNCHES = 3


@dataclass(frozen=True)
class Effort:
    """How much is done for a task. ``launches`` is for timing a slow start; answers get three."""

    repeats: int = 3
    launches: int = 10
    answers: bool = False


@dataclass
class Observed:
    """All outcomes of a task. ``start`` and ``reference`` hold one per repeat, in their order."""

    start: list[Outcome] = field(default_factory=list)
    reference: list[Outcome] = field(default_factory=list)
    forged: dict[str, list[str]] | None = None
    """None where the task has no checker, or its reference gave no outputs."""
    wrong: dict[str, Outcome] = field(default_factory=dict)
    answers: dict[str, Outcome] = field(default_factory=dict)
    """By "<script>/<n>"."""

    @property
    def all(self) -> list[Outcome]:
        return [*self.start, *self.reference, *self.wrong.values(), *self.answers.values()]


class Observer:
    """Shows programs to a harness, and remembers what came of it. ``slots`` bounds the examinations at a time, of all tasks
    together."""

    def __init__(self, harness: Harness, state: State, effort: Effort, slots: asyncio.Semaphore) -> None:
        self._harness, self._state, self._effort, self._slots = harness, state, effort, slots

    async def observe(self, task: Task) -> Observed:
        """Everything about one task. Raises InfraError when the machine or the checker fails."""
        seen = Observed()
        reference = task.reference.read_bytes() if task.reference is not None else None
        first: list[Coroutine[Any, Any, Outcome]] = [self._start(task, 1, sanitize=True)]
        if reference is not None:
            first.append(self._reference(task, reference, 1))
        firsts = await _together(first)
        seen.start, seen.reference = firsts[:1], firsts[1:]
        if lacking(seen) is not None:
            return seen
        # a later repeat needs the sanitizer only where its report decided
        begun = seen.start[0]
        sanitize = begun.category != begun.plain[0]
        repeats = range(2, self._effort.repeats + 1)
        names = [*(f"{START}/{n}" for n in repeats)]
        rest = [self._start(task, n, sanitize=sanitize) for n in repeats]
        if reference is not None and seen.reference[0].passed:
            names += [f"{REFERENCE}/{n}" for n in repeats]
            rest += [self._reference(task, reference, n) for n in repeats]
            for name, code in wrong_programs(task, seen.reference[0].printed).items():
                names.append(f"wrong/{name}")
                rest.append(self._examine(task, f"wrong/{name}", code))
            if task.spec.check is not None:
                names.append(OUTPUTS)
                rest.append(self._forge(task, reference))
        for name, code in _answers(task).items() if self._effort.answers else ():
            names.append(f"answers/{name}")
            rest.append(self._answer(task, f"answers/{name}", code))
        for name, outcome in zip(names, await _together(rest), strict=True):
            kind, _, which = name.partition("/")
            if kind == START:
                seen.start.append(outcome)
            elif kind == REFERENCE:
                seen.reference.append(outcome)
            elif kind == OUTPUTS:
                seen.forged = outcome.forged
            else:
                (seen.wrong if kind == "wrong" else seen.answers)[which] = outcome
        return seen

    async def _start(self, task: Task, repeat: int, *, sanitize: bool) -> Outcome:
        slow = task.spec.start_bucket == "perf_broken" and repeat == 1
        launches = self._effort.launches if slow and self._harness.device.times_count else 0
        return await self._examine(task, START, task.broken, repeat, sanitize=sanitize, launches=launches)

    async def _reference(self, task: Task, code: bytes, repeat: int) -> Outcome:
        return await self._examine(task, REFERENCE, code, repeat, sanitize=repeat == 1)

    async def _answer(self, task: Task, program: str, code: bytes) -> Outcome:
        # speed is judged where it is the task; elsewhere a timed run only shows what a cheat kept from an earlier call
        timed = task.spec.start_bucket == "perf_broken" or program.startswith("answers/cheat/")
        launches = min(_ANSWER_LAUNCHES, self._effort.launches) if timed and self._harness.device.times_count else 0
        return await self._examine(task, program, code, launches=launches)

    async def _examine(
        self, task: Task, program: str, code: bytes, repeat: int = 1, *, sanitize: bool = False, launches: int = 0
    ) -> Outcome:
        key = self._key(task, program, code, repeat, sanitize, launches)
        known = self._state.get(key)
        if known is not None:
            return known
        job = Job(
            task=task,
            code=code,
            iteration=repeat,
            seed=seed_of(task, repeat),
            launches=launches,
            sanitize=sanitize,
            hazards=sanitize,
        )
        events: list[ev.Event] = []
        async with self._slots:
            examined = await self._harness.examine(job, events.append, lambda step, text: None)
        outcome = _outcome(task, program, examined.evidence, events)
        self._state.add(Seen(key=key, task=task.id, program=program, repeat=repeat, outcome=outcome))
        return outcome

    async def _forge(self, task: Task, reference: bytes) -> Outcome:
        key = self._key(task, OUTPUTS, reference, 1)
        known = self._state.get(key)
        if known is not None:
            return known
        seed = seed_of(task, 1)
        with tempfile.TemporaryDirectory(prefix="beaver-outputs-") as scratch:
            outputs = Path(scratch) / "out"
            job = Job(
                task=task,
                code=reference,
                iteration=1,
                seed=seed,
                launches=0,
                sanitize=False,
                hazards=False,
                outputs=outputs,
            )
            async with self._slots:
                await self._harness.examine(job, lambda event: None, lambda step, text: None)
                forged = await accepted_forgeries(self._harness, task, seed, outputs) if outputs.is_dir() else {}
        outcome = Outcome(forged=forged)
        self._state.add(Seen(key=key, task=task.id, program=OUTPUTS, outcome=outcome))
        return outcome

    def _key(self, task: Task, program: str, code: bytes, repeat: int, *more: object) -> str:
        """A digest of what the outcome depends on: not of prompt, error log and label, which may be mended without a run."""
        spec = msgspec.structs.replace(task.spec, category=None, difficulty=None, operation=None, source_model=None)
        harness = self._harness
        files = {**task.harness_files, **{f"checker/{name}": path for name, path in task.checker_files.items()}}
        compiler = compiler_version(CXX_COMPILER)  # nvcc's host compiler, and the CPU device's
        where = (*harness.device.describe().values(), harness.toolkit.version, compiler, harness.sandbox.name, judges())
        total = hashlib.sha256(
            msgspec.json.encode(spec, order="sorted") + repr((program, repeat, more, where)).encode()
        )
        total.update(hashlib.sha256(code).digest())
        for name in sorted(files):
            total.update(name.encode() + b"\0" + hashlib.sha256(files[name].read_bytes()).digest())
        return total.hexdigest()[:32]


@cache
def judges(engine: Path = Path(__file__).parents[1]) -> str:
    """A digest of what builds, runs and judges programs here: another version may see something else."""
    total = hashlib.sha256()
    for path in sorted(engine.rglob("*")):
        inner = path.relative_to(engine)
        if path.is_file() and path.suffix != ".pyc" and inner.parts[0] not in NO_JUDGES:
            total.update(str(inner).encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def lacking(seen: Observed) -> str | None:
    """What this machine lacks to judge the task, as the reference shows it; without a reference, the start."""
    return (seen.reference or seen.start)[0].lacks


def seed_of(task: Task, repeat: int) -> int:
    """Of the checker's inputs: others in every repeat, the same in every call, so that kept outcomes stay comparable."""
    return derive_seed("verify", task.id, 1, repeat)


async def _together(waiting: list[Coroutine[Any, Any, Outcome]]) -> list[Outcome]:
    """All outcomes, in their order. When one fails the others still end, and are kept; then the first failure is raised."""
    results = await asyncio.gather(*waiting, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if isinstance(result, Outcome)]


def _answers(task: Task) -> dict[str, bytes]:
    """The recorded answers that are judged, by "<script>/<n>": every cheat, and what good and degenerate come to. Chat replies
    without a usable file are left out."""
    found: dict[str, bytes] = {}
    for script in JUDGED_SCRIPTS:
        folder = task.answers / script if task.answers is not None else None
        if folder is None or not folder.is_dir():
            continue
        paths = sorted((path for path in folder.iterdir() if path.stem.isdigit()), key=lambda path: int(path.stem))
        for path in paths if script == "cheat" else paths[-1:]:
            if path.suffix != ".md":
                found[f"{script}/{path.stem}"] = path.read_bytes()
                continue
            start = task.broken.decode("utf-8", "replace")
            reply = path.read_bytes().decode("utf-8", "surrogateescape")
            source = extract(reply, suffix=Path(task.spec.solution_file).suffix, start=start).source
            if source is not None:
                found[f"{script}/{path.stem}"] = exact_bytes(source)
    return found


def plain_outcome(evidence: Evidence) -> tuple[str, str]:
    """Category and signature without any sanitizer's report: what must not differ between two runs of which one is sanitized."""
    verdict = classify(msgspec.structs.replace(evidence, sanitizer=None))
    return verdict.category, verdict.signature


def _outcome(task: Task, program: str, evidence: Evidence, events: list[ev.Event]) -> Outcome:
    verdict = classify(evidence)
    timed = next((event for event in events if isinstance(event, ev.Timed)), None)
    steps = [step for step in (evidence.build, evidence.test) if step is not None]
    lacks = machine_lacks(evidence.preflight)
    if evidence.test is not None and evidence.test.not_run is not None:
        lacks = evidence.test.not_run
    return Outcome(
        category=verdict.category,
        signature=verdict.signature,
        line=verdict.line,
        stage=verdict.stage,
        plain=plain_outcome(evidence),
        hazards=list(verdict.hazards),
        lacks=lacks,
        speedup=timed.speedup if timed is not None else None,
        note=timed.note if timed is not None else "",
        printed=evidence.test.stdout[:_PRINTED] if program == REFERENCE and evidence.test is not None else "",
        error_log=error_log(task, evidence, timed) if program == START else "",
        seconds=round(sum(step.seconds for step in steps), 3),
    )
