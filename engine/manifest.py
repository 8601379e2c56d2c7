"""manifest.jsonl: one row per iteration, derived from the journals and never edited. Field names are a public interface."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from engine.cells import read_cell
from engine.errors import RunError
from engine.protocol import Sampling
from engine.rundir import MANIFEST, RunDirectory
from engine.stopping import RESUBMITTED, raised_signals
from engine.store import RunUnwritable, write_whole
from engine.trajectory import Iteration, Trajectory
from engine.verdict import Step

Row = dict[str, Any]


def rows(trajectory: Trajectory, earlier: list[Step] | None = None) -> Iterator[Row]:
    """The closed iterations of one trajectory. ``earlier`` are the steps of a repeated sampling's earlier attempts: their
    signals go across attempts, are recorded here, and never stop anything (protocol 21)."""
    opened = trajectory.opened
    assert opened is not None
    finished = trajectory.finished
    for iteration in finished:
        names = list(iteration.signals)
        if earlier is not None:
            raised = raised_signals([*earlier, iteration.step], opened.protocol)
            names = [*(name for name in names if name == RESUBMITTED), *raised]
        last = iteration is finished[-1] and trajectory.closed is not None
        yield {
            "run": opened.run,
            "task": opened.task,
            "fixer": opened.fixer,
            "model": iteration.reply.model if iteration.reply else "",
            "attempt": opened.attempt,
            "iteration": iteration.number,
            **_verdict(iteration),
            "start_bucket": opened.start_bucket,
            "passed": iteration.passed,
            **_timing(iteration),
            "evidence_grade": iteration.tested.evidence_grade if iteration.tested else None,
            **_content(iteration),
            "signals": names,
            "stop_reason": trajectory.closed.stop_reason if last and trajectory.closed else None,
            "interactive": opened.interactive,
            "device": opened.device,
            **_costs(iteration),
            "started": iteration.started,
        }


def _verdict(iteration: Iteration) -> Row:
    verdict = iteration.verdict
    assert verdict is not None
    return {
        "category": verdict.category,
        "outcome_bucket": verdict.outcome_bucket,
        "rule": verdict.rule,
        "signature": verdict.signature,
        "stage": verdict.stage,
        "rivals": verdict.rivals,
        "hazards": verdict.hazards,
    }


def _timing(iteration: Iteration) -> Row:
    timed = iteration.timed
    return {
        "speedup": timed.speedup if timed else None,
        "reference_mean_ms": timed.reference_mean_ms if timed else None,
        "cv": timed.cv if timed else None,
        "gate": timed.gate if timed else "unmeasured",
    }


def _content(iteration: Iteration) -> Row:
    reply, candidate, request = iteration.reply, iteration.candidate, iteration.request
    return {
        "solution": candidate.solution if candidate else None,
        "response": reply.response if reply else None,
        "prompt": request.prompt if request else None,
        "finish_reason": reply.finish_reason if reply else None,
        "truncated": bool(candidate and candidate.truncated),
        "added": candidate.added if candidate else 0,
        "removed": candidate.removed if candidate else 0,
    }


def _costs(iteration: Iteration) -> Row:
    reply = iteration.reply
    return {
        "tokens_in": reply.tokens_in if reply else None,
        "tokens_out": reply.tokens_out if reply else None,
        "cost": reply.cost if reply else None,
        "seconds": {
            "model": reply.seconds if reply else 0.0,
            "build": iteration.built.step.seconds if iteration.built else 0.0,
            "test": iteration.tested.step.seconds if iteration.tested else 0.0,
            "sanitizer": round(sum((report.seconds for report in iteration.sanitized.values()), 0.0), 4),
            "timing": iteration.timed.seconds if iteration.timed else 0.0,
        },
    }


def run_rows(run: RunDirectory, damaged: list[RunError] | None = None) -> Iterator[Row]:
    """All rows of a run, in the order of its plan. What is wrong with a cell's journal is added to ``damaged``, and the cell
    has no rows then; without such a list it is raised."""
    repeated: dict[tuple[str, str], list[Step]] = {}
    for cell in run.plan:
        try:
            trajectory = read_cell(run, cell)
        except RunError as error:
            if damaged is None:
                raise
            damaged.append(error)
            continue
        if trajectory is None or trajectory.opened is None:
            continue
        if trajectory.opened.protocol.sampling is Sampling.REPEATED:
            earlier = repeated.setdefault((cell.task, cell.fixer), [])
            yield from rows(trajectory, earlier)
            earlier += trajectory.steps
        else:
            yield from rows(trajectory)


def write_manifest(run: RunDirectory, damaged: list[RunError] | None = None) -> Path:
    """Rebuild manifest.jsonl; ``damaged`` as for ``run_rows``."""
    path = run.path / MANIFEST
    content = b"".join(msgspec.json.encode(row) + b"\n" for row in run_rows(run, damaged))
    try:
        write_whole(path, content)
    except OSError as error:
        raise RunUnwritable(path, error) from error
    return path
