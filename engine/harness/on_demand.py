"""What a person may ask of a candidate beside the loop: does it build, what does the sanitizer say, how fast is it.

None of it costs an iteration. Every function emits the events of its steps with iteration 0, output as it streams included,
and kills what runs when it is cancelled. Raises InfraError when the machine, or a checker, cannot do it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from engine import events as ev
from engine.errors import InfraError
from engine.figures import percent, times, within
from engine.harness import backends
from engine.harness.examination import Examination, Job
from engine.harness.examine import Harness
from engine.harness.step import Emit, SaveLog, StepRunner, ignore
from engine.protocol import Protocol
from engine.task import Task
from engine.verdict.profile_table import profile_line

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
"""Of compute-sanitizer, in the order in which they are run."""


async def preview(
    harness: Harness, task: Task, code: bytes, *, emit: Emit = ignore, save_log: SaveLog = ignore
) -> ev.Built:
    """Compile only. Needs no device."""
    watch = _Watch(emit)
    async with _examining(harness, Job(task, code, 0, 0), watch, save_log) as examination:
        async with examination.workspace() as workspace:
            await examination.build(workspace)
        return watch.built[-1]


async def sanitize(
    harness: Harness,
    task: Task,
    code: bytes,
    *,
    seed: int,
    tools: tuple[str, ...] = TOOLS,
    emit: Emit = ignore,
    save_log: SaveLog = ignore,
) -> list[ev.Sanitized]:
    """The test under each tool, on the inputs that ``seed`` makes. Empty when the candidate does not build; its build is in
    the events."""
    _check_runs(harness)
    watch = _Watch(emit)
    job = Job(task, code, 0, seed)
    async with _examining(harness, job, watch, save_log) as examination, examination.workspace() as workspace:
        program = examination.sanitizer(workspace)
        if program is None:
            raise InfraError(
                f"{harness.toolkit.root}: compute-sanitizer is not there; install the CUDA toolkit's package of that name",
                kind="sanitizer",
                retryable=False,
            )
        built, command = await examination.build_with_lines(workspace)
        watch(ev.Built(iteration=0, step=built.record(command.text), rewrites=list(command.rewrites)))
        if built.exit_code == 0 and await examination.ready(workspace):
            for tool in tools:
                await examination.feed(workspace)  # anew: the last tool's run has filled the outputs
                await examination.sanitize(program, tool, workspace)
    return watch.sanitized


async def time(
    harness: Harness,
    task: Task,
    code: bytes,
    protocol: Protocol,
    *,
    seed: int,
    emit: Emit = ignore,
    save_log: SaveLog = ignore,
) -> ev.Timed:
    """Candidate and reference in turns, as often as ``protocol`` says. Unmeasured, with the reason as its note, where there is
    nothing to measure; outputs of a timed run are judged as in the loop."""
    _check_runs(harness)
    if not harness.device.times_count:  # nobody waits for a build to be told so
        return ev.Timed(iteration=0, note=f"{harness.device.name}: its times say nothing about a GPU")
    watch = _Watch(emit)
    job = Job(task, code, 0, seed, gate=protocol.gate, launches=protocol.launches)
    note = "the task says nothing about timing"
    async with _examining(harness, job, watch, save_log) as examination, examination.workspace() as workspace:
        built = await examination.build(workspace)
        if built.exit_code != 0:
            note = "the candidate does not build"
        elif not await examination.ready(workspace):
            note = f"{harness.device.name} cannot run it"
        else:
            await examination.time(workspace, await examination.feed(workspace))
    return watch.timed[-1] if watch.timed else ev.Timed(iteration=0, note=note)


async def profile(
    harness: Harness, task: Task, code: bytes, *, seed: int, emit: Emit = ignore, save_log: SaveLog = ignore
) -> ev.Profiled:
    """The test once more under the profiler, on the inputs that ``seed`` makes. Without figures its note says why."""
    _check_runs(harness)
    watch = _Watch(emit)
    note = ""
    job = Job(task, code, 0, seed)
    async with _examining(harness, job, watch, save_log) as examination, examination.workspace() as workspace:
        built = await examination.build(workspace)
        if built.exit_code != 0:
            note = "the candidate does not build"
        elif not await examination.ready(workspace):
            note = f"{harness.device.name} cannot run it"
        else:
            await examination.feed(workspace)
            await examination.profile(workspace)
    return watch.profiled[-1] if watch.profiled else ev.Profiled(iteration=0, note=note)


def built_line(built: ev.Built) -> str:
    """One line about a preview."""
    step = built.step
    if step.exit_code == 0:
        return f"builds, {step.seconds:.1f} s"
    return f"does not build: {'out of time' if step.timed_out else f'exit {step.exit_code}'}"


def sanitized_line(reports: list[ev.Sanitized]) -> str:
    """One line about all tools: "memcheck: clean, racecheck: found something"; a tool that found nothing ends as the program does."""
    said = {0: "clean", backends.SANITIZER_EXIT: "found something", None: "did not end"}
    lines = [
        f"{each.tool}: {said.get(each.exit_code, f'clean, the test ends with {each.exit_code}')}" for each in reports
    ]
    return ", ".join(lines) or "does not build"


def timed_line(timed: ev.Timed) -> str:
    """One line about a measurement."""
    if timed.speedup is None:
        return f"unmeasured: {timed.note}"
    ends = f" (95 % {within(timed.interval)})" if timed.interval else ""
    spread = "" if timed.cv is None else f", cv {percent(timed.cv)}"
    undecided = ", undecided" if any(flag.startswith("undecided") for flag in timed.flags) else ""
    return f"{times(timed.speedup)} of the reference{ends}{spread}, gate {timed.gate}{undecided}"


def profiled_line(profiled: ev.Profiled) -> str:
    """One line about a profile: the kernel that took longest, how near it is to what limits it, and what its warps wait for."""
    return profile_line(profiled) if profiled.figures else f"no profile: {profiled.note}"


@dataclass
class _Watch:
    """Passes events on, and keeps the results among them."""

    emit: Emit
    built: list[ev.Built] = field(default_factory=list)
    sanitized: list[ev.Sanitized] = field(default_factory=list)
    timed: list[ev.Timed] = field(default_factory=list)
    profiled: list[ev.Profiled] = field(default_factory=list)

    def __call__(self, event: ev.Event) -> None:
        match event:
            case ev.Built():
                self.built.append(event)
            case ev.Sanitized():
                self.sanitized.append(event)
            case ev.Timed():
                self.timed.append(event)
            case ev.Profiled():
                self.profiled.append(event)
        self.emit(event)


@asynccontextmanager
async def _examining(harness: Harness, job: Job, emit: Emit, save_log: SaveLog) -> AsyncIterator[Examination]:
    try:
        yield harness.examination(job, StepRunner(harness.stand, job.iteration, emit, save_log))
    except OSError as error:
        raise InfraError(f"{job.task.id}: {error}", kind="disk") from error


def _check_runs(harness: Harness) -> None:
    if harness.device.missing:
        raise InfraError(harness.device.missing, kind="device", retryable=False)
