"""Candidate to evidence: preflight, build, test, sanitize, time, each in the sandbox, each reported as it ends.

Builds, and whatever a checker does, happen outside the GPU's lock; only programs that use the GPU hold it.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engine import events as ev
from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.evidence import Evidence, SanitizerEvidence, StepEvidence
from engine.harness import backends
from engine.harness.checker import Checker
from engine.harness.limits import Limits
from engine.harness.preflight import preflight
from engine.harness.process import Ended
from engine.harness.reference import References
from engine.harness.sandbox import Sandbox
from engine.harness.step import Emit, SaveLog, Stand, StepRunner
from engine.harness.timing import interleave, summarize
from engine.harness.workspace import Workspace
from engine.task import Task
from engine.verdict import Category, classify

_SANITIZER_EXIT = 99

_LOOK_CLOSER = (Category.FUNCTIONAL_CORRECTNESS, Category.ILLEGAL_MEMORY_ACCESS, Category.PASSED)
"""Where memcheck can say more: a wrong result may be an address fault, a fault gets its line, a pass is checked once."""


@dataclass(frozen=True)
class Job:
    """One candidate to examine. ``seed`` decides the checker's inputs; ``gate`` and ``launches`` come from the protocol."""

    task: Task
    code: bytes
    iteration: int
    seed: int
    gate: float = 0.7
    launches: int = 10
    hazards: bool = True
    """Look for races when a wrong result changes from run to run (feedback L3 and above)."""


@dataclass(frozen=True)
class Place:
    """Where candidates are judged: ``kind`` picks a task's budgets, ``label`` and ``sandbox`` are what events record."""

    kind: str
    label: str
    sandbox: str


@dataclass
class Harness:
    """What a machine offers for judging candidates. One harness serves any number of concurrent jobs; ``close`` it.

    Raises InfraError when the machine or a checker fails; whatever a candidate does ends as evidence.
    """

    device: Device
    sandbox: Sandbox
    toolkit: Toolkit
    scratch: Path | None = None
    limits: Limits = field(default_factory=Limits)
    sanitize: bool = True

    def __post_init__(self) -> None:
        self.references = References(self.sandbox.uid, self.scratch)

    @property
    def place(self) -> Place:
        return Place(self.device.kind, self.device.label, self.sandbox.name)

    async def examine(self, job: Job, emit: Emit, save_log: SaveLog) -> Evidence:
        """All that can be observed about the candidate, with an event for every step."""
        return await _Examination(self, job, emit, save_log).run()

    def close(self) -> None:
        """Remove what was kept between candidates."""
        self.references.close()


class _Examination:
    def __init__(self, harness: Harness, job: Job, emit: Emit, save_log: SaveLog) -> None:
        self._harness, self._job, self._emit = harness, job, emit
        self._task, self._spec, self._device = job.task, job.task.spec, harness.device
        self._budgets = self._spec.budgets(harness.device.kind)
        self._test = backends.test_command(job.task)
        self._checker: Checker | None = None
        self._evidence = Evidence(
            id=job.task.id, solution_file=self._spec.solution_file, harness_files=sorted(job.task.harness_files)
        )
        stand = Stand(harness.device, harness.sandbox, harness.toolkit, harness.limits)
        self._steps = StepRunner(stand, job.iteration, self._evidence, emit, save_log)

    async def run(self) -> Evidence:
        findings = preflight(self._task, self._job.code, self._device, self._harness.toolkit)
        self._emit(ev.PreflightDone(iteration=self._job.iteration, findings=findings))
        self._evidence.preflight = findings
        if findings:
            return self._evidence
        with self._workspace() as workspace:
            if not await self._build(workspace):
                return self._evidence
            if self._device.kind == "none":
                self._skip_test()
                return self._evidence
            await self._run_test(workspace)
            if await self._look_closer(workspace) == Category.PASSED:
                await self._time(workspace)
        return self._evidence

    def _workspace(self) -> Workspace:
        return Workspace(self._task, self._job.code, self._harness.sandbox.uid, self._harness.scratch)

    @asynccontextmanager
    async def _gpu(self) -> AsyncIterator[None]:
        """The device for ourselves; waiting for it is not the harness's own time."""
        began = time.monotonic()
        async with self._device.exclusive():
            self._evidence.waited += time.monotonic() - began
            yield

    async def _build(self, workspace: Workspace) -> bool:
        command = backends.build_command(self._task, self._device)
        ended = await self._steps.build(workspace, "build", command.text, self._budgets.build)
        self._evidence.build = ended.evidence()
        # without a device the architecture is our guess: an instruction that it lacks is not the candidate's fault
        self._evidence.build.arch_rewritten = bool(command.rewrites) and self._device.kind == "none"
        record = ended.record(command.text)
        self._emit(ev.Built(iteration=self._job.iteration, step=record, rewrites=list(command.rewrites)))
        return self._evidence.build.ok and not self._evidence.preflight

    def _skip_test(self) -> None:
        missing = self._device.missing
        self._evidence.test = StepEvidence(not_run=missing)
        self._emit_tested(ev.StepRecord(command=self._test, not_run=missing))

    async def _run_test(self, workspace: Workspace) -> None:
        if self._spec.check is not None:
            self._checker = await self._feed(workspace)
        async with self._gpu():
            ended = await self._steps.run(workspace, "test", self._test, self._budgets.test)
            evidence = self._evidence
            evidence.test = ended.evidence()
            blocking = await self._attribute(workspace)
        if evidence.test.ok:
            if self._checker is not None:
                evidence.check = await self._checker.compare()
            elif self._spec.pass_evidence is not None:
                evidence.pass_evidence = (
                    re.search(self._spec.pass_evidence, evidence.test.stdout, re.MULTILINE) is not None
                )
        self._emit_tested(ended.record(self._test), blocking)

    async def _feed(self, workspace: Workspace) -> Checker:
        checker = Checker(workspace, self._job.seed)
        await checker.generate()
        return checker

    def _emit_tested(self, step: ev.StepRecord, blocking: ev.StepRecord | None = None) -> None:
        graded = "A" if self._spec.check is not None else "B" if self._spec.pass_evidence is not None else "C"
        self._emit(
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

    async def _attribute(self, workspace: Workspace) -> ev.StepRecord | None:
        """Rerun a program that died of an address fault with blocking launches: the error then names its own launch."""
        ended_well = self._evidence.test is not None and self._evidence.test.ok
        if ended_well or self._category() != Category.ILLEGAL_MEMORY_ACCESS:
            return None
        blocking = {"CUDA_LAUNCH_BLOCKING": "1"}
        ended = await self._steps.run(workspace, "blocking", self._test, self._budgets.test, extra=blocking)
        return ended.record(f"CUDA_LAUNCH_BLOCKING=1 {self._test}")

    def _category(self) -> str:
        return classify(self._evidence).category

    async def _look_closer(self, tested: Workspace) -> str:
        """Run memcheck where it can say more, and racecheck where two runs on the same inputs disagree; returns the category,
        which a report may change."""
        category = self._category()
        tool = self._harness.toolkit.program("compute-sanitizer") if self._harness.sanitize else None
        if tool is None or category not in _LOOK_CLOSER:
            return category
        with self._workspace() as workspace:
            build = backends.build_command(self._task, self._device).text
            lines = {"NVCC_APPEND_FLAGS": "-lineinfo"}  # a build of its own: line tables never reach a timed one
            built = await self._steps.build(workspace, "sanitizer-build", build, self._budgets.build, extra=lines)
            if built.exit_code != 0:
                return category
            if self._spec.check is not None:
                await self._feed(workspace)
            await self._sanitize(f"{tool}", "memcheck", workspace)
            wrong = self._category() == Category.FUNCTIONAL_CORRECTNESS
            if wrong and self._job.hazards and await self._unsteady(tested):
                await self._sanitize(f"{tool}", "racecheck", workspace)
        return self._category()

    async def _sanitize(self, program: str, tool: str, workspace: Workspace) -> None:
        command = f"{program} --tool {tool} --error-exitcode {_SANITIZER_EXIT} --print-limit 10 {self._test}"
        async with self._gpu():
            ended = await self._steps.run(workspace, tool, command, self._budgets.sanitizer)
        output = ended.stdout.text() + ended.stderr.text()
        self._evidence.sanitizer = SanitizerEvidence(
            tool=tool, exit_code=ended.exit_code, output=output, seconds=ended.seconds
        )
        self._emit(
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
        first = workspace.fingerprint(outputs)
        workspace.folder("out")
        async with self._gpu():
            await self._steps.run(workspace, "again", self._test, self._budgets.test)
        return workspace.fingerprint(outputs) != first

    async def _time(self, workspace: Workspace) -> None:
        """Reference and candidate in turns. What the candidate's last timed run left is judged too: a result kept from an
        earlier call is no result."""
        command = self._spec.check.time if self._spec.check is not None else self._spec.test_cmd
        if self._spec.timing_parser is None or command is None or self._task.reference is None:
            return
        began = time.monotonic()
        reference_ms: list[float] = []
        candidate_ms: list[float] = []
        other = await self._harness.references.get(self._task, self._steps, self._budgets.build)
        note = "the reference does not build"
        if other is not None:
            runs: list[Ended] = []

            async def measure(place: Workspace) -> str:
                if self._checker is not None:
                    place.folder("out")
                ended = await self._steps.run(place, "time", command, self._budgets.test)
                runs.append(ended)
                return ended.stdout.text() if ended.exit_code == 0 else ""

            async with self._gpu():
                if self._checker is not None:
                    other.folder("in", workspace.checker / "in")
                reference_ms, candidate_ms, note = await interleave(
                    self._spec.timing_parser, lambda: measure(other), lambda: measure(workspace), self._job.launches
                )
            if self._checker is not None and not note:
                note = await self._check_timed(self._checker, runs[-1].record(command))
        seconds = time.monotonic() - began
        self._emit(summarize(self._job.iteration, reference_ms, candidate_ms, self._job.gate, note, seconds))

    async def _check_timed(self, checker: Checker, record: ev.StepRecord) -> str:
        """Judge the outputs of a timed run; a wrong one takes back the pass."""
        result = await checker.compare()
        if result.passed:
            return ""
        result.message = f"after the timed calls: {result.message}"
        self._evidence.check = result
        self._emit_tested(record)
        return "the timed calls left a wrong result"
