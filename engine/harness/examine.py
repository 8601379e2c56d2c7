"""Candidate to evidence: preflight, build, test, sanitize, time, each in the sandbox, each reported as it ends."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import events as ev
from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.errors import InfraError
from engine.evidence import Evidence, SanitizerEvidence, StepEvidence
from engine.harness import backends
from engine.harness.checker import Checker
from engine.harness.limits import Limits
from engine.harness.preflight import preflight
from engine.harness.process import Ended, run_step
from engine.harness.sandbox import Box, Sandbox
from engine.harness.timing import interleave, summarize
from engine.harness.workspace import Workspace
from engine.task import Task
from engine.text import plain_text
from engine.verdict import Category
from engine.verdict.classify import classify

Emit = Callable[[ev.Event], None]
SaveLog = Callable[[str, str], None]
"""Keeps the whole log of a step: (step, text)."""

_MOUNTED_FILES = 256
"""Above this many files the workspace is protected by comparing it, not by a mount for each file."""

_SANITIZER_EXIT = 99
_LAUNCH_BLOCKING = {"CUDA_LAUNCH_BLOCKING": "1"}


@dataclass(frozen=True)
class Job:
    """One candidate to examine. ``seed`` decides the checker's inputs; ``gate`` and ``launches`` come from the protocol."""

    task: Task
    code: bytes
    iteration: int
    seed: int
    gate: float = 0.7
    launches: int = 10


@dataclass
class Harness:
    """What a machine offers for judging candidates. One harness serves any number of concurrent jobs.

    Raises InfraError when the machine or a checker fails; whatever a candidate does ends as evidence.
    """

    device: Device
    sandbox: Sandbox
    toolkit: Toolkit
    scratch: Path | None = None
    limits: Limits = field(default_factory=Limits)
    sanitize: bool = True

    async def examine(self, job: Job, emit: Emit, save_log: SaveLog) -> Evidence:
        """All that can be observed about the candidate, with an event for every step."""
        return await _Examination(self, job, emit, save_log).run()


class _Examination:
    def __init__(self, harness: Harness, job: Job, emit: Emit, save_log: SaveLog) -> None:
        self._harness, self._job, self._emit, self._save_log = harness, job, emit, save_log
        self._task, self._device = job.task, harness.device
        self._checker: Checker | None = None
        self._budgets = job.task.spec.budgets(harness.device.kind)
        self._evidence = Evidence(
            id=job.task.id,
            solution_file=job.task.spec.solution_file,
            harness_files=sorted(job.task.harness_files),
        )

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
            began = time.monotonic()
            async with self._device.exclusive():
                self._evidence.waited += time.monotonic() - began
                await self._test(workspace)
                await self._look_closer()
                if self._passed():
                    await self._time(workspace)
        return self._evidence

    def _workspace(self, code: bytes | None = None) -> Workspace:
        return Workspace(
            self._task, self._job.code if code is None else code, self._harness.sandbox.uid, self._harness.scratch
        )

    async def _build(self, workspace: Workspace) -> bool:
        command = backends.build_command(self._task, self._device)
        ended = await self._step(workspace, "build", command.text, self._budgets.build)
        self._evidence.build = ended.evidence()
        # without a device the architecture is our guess: an instruction that it lacks is not the candidate's fault
        self._evidence.build.arch_rewritten = bool(command.rewrites) and self._device.kind == "none"
        self._emit(
            ev.Built(iteration=self._job.iteration, step=ended.record(command.text), rewrites=list(command.rewrites))
        )
        return self._evidence.build.ok and not self._evidence.preflight

    def _skip_test(self) -> None:
        missing = self._device.missing
        self._evidence.test = StepEvidence(not_run=missing)
        step = ev.StepRecord(command=backends.test_command(self._task), not_run=missing)
        self._emit(ev.Tested(iteration=self._job.iteration, step=step, evidence_grade=self._grade()))

    async def _test(self, workspace: Workspace) -> None:
        command = backends.test_command(self._task)
        spec = self._task.spec
        checker = self._checker = Checker(workspace, self._job.seed) if spec.check is not None else None
        if checker is not None:
            await checker.generate()
        ended = await self._step(workspace, "test", command, self._budgets.test)
        evidence = self._evidence
        evidence.test = ended.evidence()
        if evidence.test.ok:
            if checker is not None:
                evidence.check = await checker.compare()
            elif spec.pass_evidence is not None:
                evidence.pass_evidence = re.search(spec.pass_evidence, evidence.test.stdout, re.MULTILINE) is not None
        self._emit(
            ev.Tested(
                iteration=self._job.iteration,
                step=ended.record(command),
                check=evidence.check,
                pass_evidence=evidence.pass_evidence,
                evidence_grade=self._grade(),
                seed=self._job.seed if checker is not None else None,
                blocking=await self._attribute(workspace, command),
            )
        )

    def _grade(self) -> str:
        spec = self._task.spec
        return "A" if spec.check is not None else "B" if spec.pass_evidence is not None else "C"

    def _passed(self) -> bool:
        return classify(self._evidence).category == Category.PASSED

    async def _attribute(self, workspace: Workspace, command: str) -> ev.StepRecord | None:
        """Rerun a program that died of a CUDA error with blocking launches: the error then names its own launch."""
        if classify(self._evidence).category != Category.ILLEGAL_MEMORY_ACCESS:
            return None
        ended = await self._step(workspace, "blocking", command, self._budgets.test, extra=_LAUNCH_BLOCKING)
        return ended.record(f"CUDA_LAUNCH_BLOCKING=1 {command}")

    async def _look_closer(self) -> None:
        """Run memcheck where it can say more: on a wrong result, on an address fault (for kernel, line and thread), and once
        on a candidate that passes. It gets a build of its own with line tables."""
        wanted = (Category.FUNCTIONAL_CORRECTNESS, Category.ILLEGAL_MEMORY_ACCESS, Category.PASSED)
        tool = self._harness.toolkit.program("compute-sanitizer") if self._harness.sanitize else None
        if tool is None or classify(self._evidence).category not in wanted:
            return
        with self._workspace() as workspace:
            command = backends.build_command(self._task, self._device).text
            lines = {"NVCC_APPEND_FLAGS": "-lineinfo"}
            built = await self._step(workspace, "sanitizer-build", command, self._budgets.build, extra=lines)
            if built.exit_code != 0:
                return
            if self._task.spec.check is not None:
                await Checker(workspace, self._job.seed).generate()
            test = backends.test_command(self._task)
            command = f"{tool} --tool memcheck --error-exitcode {_SANITIZER_EXIT} --print-limit 10 {test}"
            ended = await self._step(workspace, "sanitizer", command, self._budgets.sanitizer)
        output = ended.stdout.text() + ended.stderr.text()
        self._evidence.sanitizer = SanitizerEvidence(exit_code=ended.exit_code, output=output, seconds=ended.seconds)
        self._emit(
            ev.Sanitized(
                iteration=self._job.iteration,
                tool="memcheck",
                exit_code=ended.exit_code,
                output=ended.stdout.excerpt(),
                seconds=round(ended.seconds, 4),
            )
        )

    async def _time(self, workspace: Workspace) -> None:
        """Reference and candidate in turns. The reference is built and fed like a candidate, in a workspace of its own. What
        the candidate's last timed run left is judged too: a result kept from an earlier call is no result."""
        spec, job = self._task.spec, self._job
        command = spec.check.time if spec.check is not None else spec.test_cmd
        if spec.timing_parser is None or command is None or self._task.reference is None:
            return
        began = time.monotonic()
        runs: list[Ended] = []
        with self._workspace(self._task.reference.read_bytes()) as other:
            build = backends.build_command(self._task, self._device).text
            built = await self._step(other, "reference-build", build, self._budgets.build)
            if built.exit_code != 0:
                note = "the reference does not build"
                self._emit(summarize(job.iteration, [], [], job.gate, note, time.monotonic() - began))
                return
            if self._checker is not None:
                other.folder("in", workspace.checker / "in")

            async def measure(place: Workspace) -> str:
                if self._checker is not None:
                    place.folder("out")
                ended = await self._step(place, "time", command, self._budgets.test)
                runs.append(ended)
                return ended.stdout.text() if ended.exit_code == 0 else ""

            reference, candidate, note = await interleave(
                spec.timing_parser, lambda: measure(other), lambda: measure(workspace), job.launches
            )
        if self._checker is not None and not note:
            note = await self._check_timed(self._checker, runs[-1], command)
        self._emit(summarize(job.iteration, reference, candidate, job.gate, note, time.monotonic() - began))

    async def _check_timed(self, checker: Checker, ended: Ended, command: str) -> str:
        """Judge the outputs of a timed run; a wrong one takes back the pass."""
        result = await checker.compare()
        if result.passed:
            return ""
        result.message = f"after the timed calls: {result.message}"
        self._evidence.check = result
        self._emit(
            ev.Tested(
                iteration=self._job.iteration,
                step=ended.record(command),
                check=result,
                evidence_grade=self._grade(),
                seed=self._job.seed,
            )
        )
        return "the timed calls left a wrong result"

    async def _step(
        self, workspace: Workspace, step: str, command: str, wall: float, extra: dict[str, str] | None = None
    ) -> Ended:
        """Run one command in the sandbox. Everything that exists when it starts must be unchanged when it ends."""
        building = step.endswith("build")
        files = workspace.files()
        before = workspace.fingerprint(files)
        frozen = not building and self._task.spec.check is not None
        box = Box(
            workspace=workspace.path,
            environment=backends.environment(self._harness.toolkit, None if building else self._device) | (extra or {}),
            readonly=() if frozen or len(files) > _MOUNTED_FILES else files,
            frozen=frozen,
            writable=("out",) if frozen else (),
            visible=backends.visible_folders(self._harness.toolkit),
            gpu=not building and self._device.kind == "cuda",
        )
        limits = replace(self._harness.limits, wall=wall)

        def stream(name: str, chunk: bytes) -> None:
            text = plain_text(chunk.decode("utf-8", "replace"))
            self._emit(ev.OutputArrived(iteration=self._job.iteration, step=step, stream=name, text=text))

        ended = await run_step(self._harness.sandbox.launch(command, box, limits), limits, stream, disk=workspace.path)
        self._evidence.waited += ended.seconds
        self._save_log(step, f"$ {command}\n{ended.stdout.text()}{ended.stderr.text()}")
        after = workspace.fingerprint(files)
        changed = sorted(name for name in files if after[name] != before[name] and not name.startswith("out/"))
        if changed:
            self._evidence.preflight.append(f"tampered: {', '.join(changed[:5])} changed during the {step}")
        if ended.disk_killed:
            free = shutil.disk_usage(workspace.path).free
            if free < self._harness.limits.file_size:
                raise InfraError(f"disk: only {free >> 20} MiB are free in {workspace.root}", kind="disk")
        return ended
