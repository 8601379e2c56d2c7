"""One candidate under examination: every step that can be done with it, each reported as it ends.

Builds, and whatever a checker does, happen outside the GPU's lock; only programs that use the GPU hold it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine import events as ev
from engine.baselines import Baseline
from engine.devices.ceilings import Unmeasured
from engine.evidence import Evidence, SanitizerEvidence, StepEvidence
from engine.harness import backends
from engine.harness.aside import aside, in_thread
from engine.harness.beside import SecondBuild, with_lines
from engine.harness.builds import Builds
from engine.harness.checker import Checker
from engine.harness.measure import TIMED_FACTOR, Measurement
from engine.harness.preflight import preflight
from engine.harness.process import Ended
from engine.harness.profiler import profile
from engine.harness.reference import References
from engine.harness.roofline import bounded
from engine.harness.seal import opened
from engine.harness.selftimed import alone
from engine.harness.step import StepRunner
from engine.harness.timedbuild import timed_build
from engine.harness.timing import summarize
from engine.harness.workspace import Workspace
from engine.task import Task
from engine.verdict import Category, classify

_LOOK_CLOSER = (Category.FUNCTIONAL_CORRECTNESS, Category.ILLEGAL_MEMORY_ACCESS, Category.PASSED)
"""Where memcheck can say more: a wrong result may be an address fault, a fault gets its line, a pass is checked once."""

_NOT_SANITIZED = ("kernelbench", "defpy")
"""PyTorch keeps the memory of freed tensors, in which memcheck sees nothing, and all of PyTorch would be watched for minutes."""


@dataclass(frozen=True)
class Job:
    """One candidate to examine. ``seed`` decides the checker's inputs; ``gate`` and ``launches`` come from the protocol; without
    launches nothing is timed."""

    task: Task
    code: bytes
    iteration: int
    seed: int
    gate: float = 0.7
    launches: int = 10
    hazards: bool = True
    """Look for races when a wrong result changes from run to run (feedback L3 and above)."""
    sanitize: bool = True
    """Let memcheck look where it can say more (where the harness has it)."""
    profile: bool = False
    """Profile what ran to its end, right or wrong (feedback L4)."""
    outputs: Path | None = None
    """A folder that does not exist yet, for a copy of what the checker judged first."""
    baseline: Baseline | None = None
    """The reference's time, measured earlier: it is not launched then."""


class Examination:
    """The steps on one candidate. ``run`` takes all that make sense; the others are for who wants one of them.

    ``sanitize``: let memcheck look where it can say more. Events go through ``steps``.
    """

    def __init__(
        self,
        job: Job,
        steps: StepRunner,
        builds: Builds,
        references: References,
        scratch: Path | None,
        *,
        sanitize: bool,
    ) -> None:
        self._job, self._steps, self._builds, self._references = job, steps, builds, references
        self._scratch = scratch
        self._sanitizes = sanitize and job.sanitize and job.task.spec.backend not in _NOT_SANITIZED
        self._task, self._spec, self._device = job.task, job.task.spec, steps.stand.device
        self._toolkit = steps.stand.toolkit
        self._budgets = self._spec.budgets(self._device.kind)
        test = backends.test_command(job.task, self._device)
        self._test, self._test_rewrites = test.text, test.rewrites
        self._checker: Checker | None = None
        self._evidence = Evidence(
            id=job.task.id, solution_file=self._spec.solution_file, harness_files=sorted(job.task.harness_files)
        )

    async def run(self) -> Evidence:
        evidence = self._evidence
        evidence.preflight = preflight(self._task, self._job.code, self._device, self._toolkit)
        self._emit_findings()
        if evidence.preflight:
            return evidence
        async with self.workspace() as workspace, self._second_build() as second:
            looks_closer = self._sanitizes and not self._device.missing and self.sanitizer(workspace) is not None
            if looks_closer:
                second.begin()
            await self.build(workspace)
            if self._goes_on() and evidence.build is not None and evidence.build.ok:
                if self._device.missing:
                    self._skip_test()
                elif await self.ready(workspace):
                    if looks_closer:
                        await second.take_over(workspace)
                    await self._judge(workspace, second if looks_closer else None)
        return evidence

    def _second_build(self) -> SecondBuild:
        command = backends.build_command(self._task, self._device)
        return SecondBuild(self._steps, self._builds, self._fresh, command, self._budgets.build)

    async def _judge(self, workspace: Workspace, second: SecondBuild | None) -> None:
        await self._run_test(workspace)
        category = await self._look_closer(workspace, second)
        if category == Category.ILLEGAL_MEMORY_ACCESS and not self._has_report():
            await self._attribute(workspace)
        elif category == Category.PASSED:
            await self.time(workspace, self._checker)
        if self._job.profile and await self._ended():
            await self.profile(workspace)
        self._goes_on()

    def _goes_on(self) -> bool:
        """Turn what the steps tampered with into findings; False when there are any."""
        new = [finding for finding in self._steps.tampered if finding not in self._evidence.preflight]
        if new:
            self._evidence.preflight = [*self._evidence.preflight, *new]
            self._emit_findings()
        return not self._evidence.preflight

    def _emit_findings(self) -> None:
        self._steps.emit(ev.PreflightDone(iteration=self._job.iteration, findings=list(self._evidence.preflight)))

    @asynccontextmanager
    async def workspace(self) -> AsyncIterator[Workspace]:
        """A fresh one with the candidate in it, removed at the end."""
        workspace = self._fresh()
        try:
            yield workspace
        finally:
            # in a thread: a candidate may have left thousands of files; shielded: a second cancellation must not leave them
            await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, workspace.close))

    def _fresh(self) -> Workspace:
        return self._steps.stand.workspace(self._task, self._job.code, self._scratch)

    @asynccontextmanager
    async def _gpu(self) -> AsyncIterator[None]:
        """The device for ourselves; waiting for it is not the harness's own time."""
        began = time.monotonic()
        async with self._device.exclusive():
            self._steps.spent += time.monotonic() - began
            yield

    async def build(self, workspace: Workspace) -> Ended:
        command = backends.build_command(self._task, self._device)
        ended = await self._builds.make(self._steps, workspace, "build", command, self._budgets.build)
        self._evidence.build = await aside(ended.printed, ended.evidence)
        # without a GPU the architecture is our guess: an instruction that it lacks is not the candidate's fault
        self._evidence.build.arch_rewritten = bool(command.rewrites) and self._device.kind != "cuda"
        record = await aside(ended.printed, ended.record, command.text)
        rewrites = list(dict.fromkeys((*command.rewrites, *self._test_rewrites)))
        self._steps.emit(ev.Built(iteration=self._job.iteration, step=record, rewrites=rewrites))
        return ended

    async def build_with_lines(self, workspace: Workspace) -> tuple[Ended, backends.Command]:
        """A build of its own for the sanitizer, and its command: line tables never reach a program that is timed."""
        command = with_lines(backends.build_command(self._task, self._device))
        ended = await self._builds.make(self._steps, workspace, "sanitizer-build", command, self._budgets.build)
        return ended, command

    async def ready(self, workspace: Workspace) -> bool:
        """What the device must do between a build and a run; what it cannot do is this machine's lack, not a fault."""
        began = time.monotonic()
        lacks = await self._device.prepare(workspace.path, workspace.device)
        self._steps.spent += time.monotonic() - began
        if lacks:
            self._evidence.preflight = [*self._evidence.preflight, *(f"requires: {lack}" for lack in lacks)]
            self._emit_findings()
        return not lacks

    def _skip_test(self) -> None:
        missing = self._device.missing
        self._evidence.test = StepEvidence(not_run=missing)
        self._emit_tested(ev.StepRecord(command=self._test, not_run=missing))

    async def _run_test(self, workspace: Workspace) -> None:
        self._checker = await self.feed(workspace)
        async with self._gpu():
            ended = await self._steps.run(workspace, "test", self._test, self._budgets.test)
        evidence = self._evidence
        evidence.test = await aside(ended.printed, ended.evidence)
        if evidence.test.ok:
            if self._checker is not None:
                evidence.check = await self._checker.compare()
                if self._job.outputs is not None:
                    await in_thread(shutil.copytree, workspace.checker / "out", self._job.outputs)
            elif self._spec.pass_evidence is not None:
                pattern, said = self._spec.pass_evidence, evidence.test.stdout
                shown = await aside(len(said), re.search, pattern, said, re.MULTILINE) is not None
                sealed = self._spec.backend == "kernelbench"  # its judge seals a pass
                evidence.pass_evidence = shown and (not sealed or await aside(len(said), opened, said))
        self._tested = await aside(ended.printed, ended.record, self._test)
        self._emit_tested(self._tested)

    async def feed(self, workspace: Workspace) -> Checker | None:
        """Give the candidate its inputs, where the task has a checker that makes them."""
        if self._spec.check is None:
            return None
        checker = Checker(workspace, self._job.seed, self._steps)
        await checker.generate()
        return checker

    def _emit_tested(self, step: ev.StepRecord, blocking: ev.StepRecord | None = None) -> None:
        graded = "A" if self._spec.check is not None else "B" if self._spec.pass_evidence is not None else "C"
        self._steps.emit(
            ev.Tested(
                iteration=self._job.iteration,
                step=step,
                check=self._evidence.check,
                pass_evidence=self._evidence.pass_evidence,
                evidence_grade=graded,
                seed=self._job.seed if self._checker is not None else None,
                blocking=blocking,
            )
        )

    async def _category(self) -> str:
        return (await aside(self._evidence.characters, classify, self._evidence)).category

    def _has_report(self) -> bool:
        return self._evidence.sanitizer is not None and self._evidence.sanitizer.exit_code == backends.SANITIZER_EXIT

    async def _attribute(self, workspace: Workspace) -> None:
        """Rerun a program that died of an address fault with blocking launches: the error then names its own launch."""
        blocking = {"CUDA_LAUNCH_BLOCKING": "1"}
        async with self._gpu():
            ended = await self._steps.run(workspace, "blocking", self._test, self._budgets.test, extra=blocking)
        self._emit_tested(self._tested, ended.record(f"CUDA_LAUNCH_BLOCKING=1 {self._test}"))

    async def _look_closer(self, tested: Workspace, second: SecondBuild | None) -> str:
        """Run memcheck where it can say more, and racecheck where two runs on the same inputs disagree; returns the category,
        which a report may change."""
        category = await self._category()
        if second is None or category not in _LOOK_CLOSER:
            return category
        workspace = await second.result()
        if workspace is None or not await self.ready(workspace):
            return category
        program = self.sanitizer(workspace)
        assert program is not None  # as it was when the second build was wanted
        if self._checker is not None:
            await self._checker.feed(workspace)
        await self.sanitize(program, "memcheck", workspace)
        wrong = await self._category() == Category.FUNCTIONAL_CORRECTNESS
        if wrong and self._job.hazards and await self._unsteady(tested):
            await self.sanitize(program, "racecheck", workspace)
        return await self._category()

    def sanitizer(self, workspace: Workspace) -> Path | None:
        """compute-sanitizer for what is built in ``workspace``, None where there is none."""
        return self._device.sanitizer(self._toolkit, workspace.device)

    async def sanitize(self, program: Path, tool: str, workspace: Workspace) -> None:
        """The test under one ``tool`` of ``program``, in a workspace that was built with lines and fed."""
        command = backends.sanitizer_command(program, tool, self._test)
        async with self._gpu():
            ended = await self._steps.run(workspace, tool, command, self._budgets.sanitizer)
        output = await aside(ended.printed, lambda: ended.stdout.text() + ended.stderr.text())
        self._evidence.sanitizer = SanitizerEvidence(
            tool=tool, exit_code=ended.exit_code, output=output, seconds=ended.seconds
        )
        self._steps.emit(
            ev.Sanitized(
                iteration=self._job.iteration,
                tool=tool,
                exit_code=ended.exit_code,
                output=ended.stdout.excerpt(),
                seconds=round(ended.seconds, 4),
            )
        )

    async def _unsteady(self, workspace: Workspace) -> bool:
        """Whether the same binary gives another result on the same inputs."""
        if self._checker is None:
            return False
        outputs = tuple(name for name in workspace.files() if name.startswith("out/"))
        first = await in_thread(workspace.fingerprint, outputs)
        workspace.folder("out")
        async with self._gpu():
            await self._steps.run(workspace, "again", self._test, self._budgets.test)
        return await in_thread(workspace.fingerprint, outputs) != first

    async def _ended(self) -> bool:
        """Whether the program got to its end, with a result that was right or wrong."""
        test = self._evidence.test
        ended = test is not None and test.signal is None and not (test.timed_out or test.memory_killed)
        return ended and await self._category() in (Category.FUNCTIONAL_CORRECTNESS, Category.PASSED)

    async def profile(self, workspace: Workspace) -> None:
        """The test once more, under the profiler, where there is one."""
        async with self._gpu():
            profiled = await profile(self._steps, workspace, self._job.code, self._test, self._budgets.sanitizer)
        self._steps.emit(profiled)

    async def time(self, workspace: Workspace, checker: Checker | None) -> None:
        """Time a candidate that passes; outputs of a timed run that are wrong take the pass back."""
        command = backends.time_command(self._task, self._device)
        parser, own = self._spec.timing_parser, self._spec.reference_parser
        if (
            parser is None
            or command is None
            or not (self._task.reference or own or self._job.baseline)
            or not self._job.launches
        ):
            return
        if not self._device.times_count:
            note = f"{self._device.name}: its times say nothing about a GPU"
            self._steps.emit(summarize(self._job.iteration, [], [], self._job.gate, note, 0.0))
            return
        build = timed_build(self._task, self._device)
        if not build.rewrites:
            self._steps.emit(await self._timed(workspace, checker, command, parser))
            return
        async with self.workspace() as place:
            if await build.make(self._steps, place, self._budgets.build) and await self.ready(place):
                timed = await self._timed(place, await self.feed(place), command, parser)
            else:
                note = "it does not build without flags for debuggers"
                timed = summarize(self._job.iteration, [], [], self._job.gate, note, 0.0)
        self._steps.emit(msgspec.structs.replace(timed, rewrites=list(build.rewrites)))

    async def _timed(self, workspace: Workspace, checker: Checker | None, command: str, parser: str) -> ev.Timed:
        """The times of what is built in ``workspace``."""
        own = self._spec.reference_parser
        gate, wall = self._job.gate, TIMED_FACTOR * self._budgets.test
        if own is not None:  # a test that is launched as it is has its repetitions inside
            launches = self._job.launches if self._spec.time_cmd else 1
            async with self._gpu():
                return await alone(self._steps, workspace, command, (parser, own), wall, launches, gate)
        measurement = Measurement(self._steps, command, parser, wall)
        if bounded(self._spec):
            with contextlib.suppress(Unmeasured, OSError):  # said where they are wanted
                await self._device.build_ceilings(self._toolkit)
        if (baseline := self._job.baseline) is not None:
            async with self._gpu():
                timed = await measurement.against(baseline, workspace, checker, self._job.launches, gate)
        else:
            reference = await self._references.get(self._task, self._budgets.build)
            async with self._gpu():
                timed = await measurement.compare(reference, workspace, checker, self._job.launches, gate)
        if measurement.wrong is not None:
            ended, result = measurement.wrong
            self._evidence.check = result
            self._emit_tested(ended.record(command))
        return timed
