"""Candidate to evidence: what a machine offers for it, and the whole examination of one candidate."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.errors import InfraError
from engine.evidence import Evidence
from engine.harness.builds import Builds
from engine.harness.examination import Examination
from engine.harness.examination import Job as Job
from engine.harness.limits import Limits
from engine.harness.reference import References
from engine.harness.sandbox import Sandbox
from engine.harness.step import Emit, SaveLog, Stand, StepRunner
from engine.harness.workspace import remove_abandoned


@dataclass(frozen=True)
class Place:
    """Where candidates are judged: ``kind`` picks a task's budgets, ``label`` and ``sandbox`` are what events record."""

    kind: str
    label: str
    sandbox: str


@dataclass(frozen=True)
class Examined:
    """``own_seconds`` is what the harness itself used: not its child processes, not the wait for the device."""

    evidence: Evidence
    own_seconds: float


@dataclass
class Harness:
    """What a machine offers for judging candidates. One harness serves any number of concurrent jobs; ``close`` it, or use it
    as a context manager.

    Raises InfraError when the machine or a checker fails; whatever a candidate does ends as evidence.
    """

    device: Device
    sandbox: Sandbox
    toolkit: Toolkit
    scratch: Path | None = None
    limits: Limits = field(default_factory=Limits)
    sanitize: bool = True
    keep_builds: bool = False
    """Build a program once for all its examinations, and keep what was built until ``close``."""

    def __post_init__(self) -> None:
        remove_abandoned(self.scratch)
        self._builds = Builds(self.scratch, keep=self.keep_builds)
        self._references = References(self.stand, self.scratch)

    @property
    def stand(self) -> Stand:
        """What it offers to every candidate, for who needs a workspace without an examination."""
        return Stand(self.device, self.sandbox, self.toolkit, self.limits)

    @property
    def place(self) -> Place:
        return Place(self.device.kind, self.device.label, self.sandbox.name)

    async def examine(self, job: Job, emit: Emit, save_log: SaveLog) -> Examined:
        """All that can be observed about the candidate, with an event for every step."""
        began = time.monotonic()
        steps = StepRunner(self.stand, job.iteration, emit, save_log)
        try:
            evidence = await self.examination(job, steps).run()
        except OSError as error:
            raise InfraError(f"{job.task.id}: {error}", kind="disk") from error
        return Examined(evidence, max(0.0, time.monotonic() - began - steps.spent))

    def examination(self, job: Job, steps: StepRunner) -> Examination:
        """An examination that has not begun, for who wants other steps than all."""
        return Examination(job, steps, self._builds, self._references, self.scratch, sanitize=self.sanitize)

    def close(self) -> None:
        """Remove what was kept between candidates."""
        self._references.close()
        self._builds.close()

    def __enter__(self) -> Harness:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
