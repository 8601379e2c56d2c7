"""Stored evidence, judged by the rules of today: what a newer classifier would say of an old run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine import events as ev
from engine.evidence import Evidence, SanitizerEvidence, StepEvidence
from engine.rundir import Cell
from engine.task import Task
from engine.trajectory import Iteration, Trajectory
from engine.verdict import classify

TELLING_TOOLS = ("memcheck", "racecheck")
"""Of whose reports the last one is evidence, in the order in which an examination asks them."""


@dataclass(frozen=True)
class Changed:
    """An iteration that is judged differently. Texts are from outside."""

    cell: Cell
    iteration: int
    was: tuple[str, str]
    """Category and signature."""
    now: tuple[str, str]


@dataclass(frozen=True)
class Judged:
    """What judging again came to. ``cut`` counts iterations whose journal holds no more than the head and the tail of a log."""

    iterations: int
    changed: tuple[Changed, ...]
    cut: int


def classify_again(
    trajectories: Iterable[tuple[Cell, Trajectory]],
    tasks: Mapping[str, Task],
    *,
    ambiguous_unclassified: bool | None = None,
) -> Judged:
    """Judge every closed iteration of ``trajectories`` from its stored events. ``tasks`` tell which files are the harness's, where
    they are known. None for ``ambiguous_unclassified`` is what each run was played with."""
    iterations = cut = 0
    changed: list[Changed] = []
    for cell, trajectory in trajectories:
        opened = trajectory.opened
        assert opened is not None
        strict = opened.protocol.ambiguous_unclassified if ambiguous_unclassified is None else ambiguous_unclassified
        for iteration in trajectory.finished:
            iterations += 1
            stored = iteration.verdict
            assert stored is not None
            evidence = evidence_of(iteration, tasks.get(cell.task), opened.device)
            cut += any(excerpt.tail for excerpt in _excerpts(iteration))
            verdict = classify(evidence, ambiguous_unclassified=strict)
            signature = (
                stored.signature if verdict.passed and stored.gate in ("fail", "unmeasured") else verdict.signature
            )
            was, now = (stored.category, stored.signature), (verdict.category, signature)
            if was != now:
                changed.append(Changed(cell, iteration.number, was, now))
    return Judged(iterations, tuple(changed), cut)


def evidence_of(iteration: Iteration, task: Task | None, device: str) -> Evidence:
    """What the harness observed, as far as the journal tells it. ``device`` is the trajectory's, as events name it."""
    built, tested = iteration.built, iteration.tested
    evidence = Evidence(
        preflight=list(iteration.preflight.findings) if iteration.preflight else [],
        build=_step(built.step) if built else None,
        test=_step(tested.step) if tested else None,
        check=tested.check if tested else None,
        pass_evidence=tested.pass_evidence if tested else None,
        sanitizer=_report(iteration),
    )
    if evidence.build is not None and built is not None:
        # without a GPU the architecture was the harness's guess
        evidence.build.arch_rewritten = bool(built.rewrites) and not device.startswith("cuda")
    if task is not None:
        evidence.solution_file = task.spec.solution_file
        evidence.harness_files = sorted(task.harness_files)
    return evidence


def _step(record: ev.StepRecord) -> StepEvidence:
    return StepEvidence(
        exit_code=record.exit_code,
        signal=record.signal,
        timed_out=record.timed_out,
        memory_killed=record.memory_killed,
        stdout=record.stdout.text,
        stderr=record.stderr.text,
        seconds=record.seconds,
        not_run=record.not_run,
    )


def _report(iteration: Iteration) -> SanitizerEvidence | None:
    reports = [iteration.sanitized[tool] for tool in TELLING_TOOLS if tool in iteration.sanitized]
    if not reports:
        return None
    last = reports[-1]
    return SanitizerEvidence(tool=last.tool, exit_code=last.exit_code, output=last.output.text, seconds=last.seconds)


def _excerpts(iteration: Iteration) -> Iterator[ev.Excerpt]:
    for step in (iteration.built, iteration.tested):
        if step is not None:
            yield from (step.step.stdout, step.step.stderr)
    yield from (report.output for report in iteration.sanitized.values())
