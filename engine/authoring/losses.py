"""What the accepted fixes of a run gave up: the lens over every stored candidate that passed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.authoring.patch import corpus_of, task_of, trajectories
from engine.rundir import Cell, RunDirectory
from engine.task import Task
from engine.verdict.degeneration import Finding, lens, score
from engine.verdict.structure import Structure, structure

Baseline = Literal["broken start", "reference"]
SLOWER = 0.9
"""A speedup below which a fix is said to be slower than the reference: timings of equal programs differ by a few per cent."""


@dataclass(frozen=True)
class Judged:
    """One fix that passed. ``speedup`` is the reference's time over its own, None when it was not timed."""

    cell: Cell
    iteration: int
    speedup: float | None
    baseline: Baseline
    findings: tuple[Finding, ...]

    @property
    def score(self) -> float:
        """The degeneration score, 0 to below 1."""
        return score(self.findings)


def judged(run: RunDirectory) -> Iterator[Judged]:
    """Every fix that passed, in the plan's order, against the broken start; where that one is the slow one (perf_broken), or
    where the fix kept all of it and is slower than the reference, against that. Computed from the stored solutions: nothing of it is in the journals. Raises RunError when the corpus of the run
    cannot be read or has changed."""
    tasks = corpus_of(run)
    known: dict[str, dict[Baseline, Structure]] = {}
    for cell, trajectory in trajectories(run):
        for iteration in trajectory.finished:
            candidate = iteration.candidate
            if not iteration.passed or candidate is None or candidate.solution is None:
                continue
            task = task_of(run, tasks, trajectory)
            if task.id not in known:
                known[task.id] = _baselines(task)
            after = structure(run.store(cell).get("solutions", candidate.solution), _suffix(task))
            speedup = iteration.timed.speedup if iteration.timed is not None else None
            name, findings = _against(known[task.id], after, speedup)
            yield Judged(cell, iteration.number, speedup, name, findings)


def _against(
    baselines: dict[Baseline, Structure], after: Structure, speedup: float | None
) -> tuple[Baseline, tuple[Finding, ...]]:
    """The findings, and against what. A start may have nothing to lose: a fix that kept all of it and is slower than the reference
    is compared with that."""
    findings: tuple[Finding, ...] = ()
    if "broken start" in baselines:
        findings = lens(baselines["broken start"], after)
    slow = speedup is not None and speedup < SLOWER
    if "reference" in baselines and ("broken start" not in baselines or (slow and not findings)):
        return "reference", lens(baselines["reference"], after)
    return "broken start", findings


def _baselines(task: Task) -> dict[Baseline, Structure]:
    found: dict[Baseline, Structure] = {}
    if task.reference is not None:
        found["reference"] = structure(task.reference.read_bytes(), _suffix(task))
    if task.spec.start_bucket != "perf_broken" or task.reference is None:
        found["broken start"] = structure(task.broken, _suffix(task))
    return found


def _suffix(task: Task) -> str:
    return Path(task.spec.solution_file).suffix
