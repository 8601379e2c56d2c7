"""What a run came to, counted from its journals: the table that ends a batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from beaver_tui.state.progress import read_sound_cell
from engine.rundir import RunDirectory


@dataclass
class FixerSummary:
    """Counts for one fixer. ``solved`` counts cells that passed; ``unfinished`` those without an end, faults
    included; ``waiting_for_device`` those that build and that this machine cannot run."""

    fixer: str
    cells: int = 0
    solved: int = 0
    waiting_for_device: int = 0
    unfinished: int = 0
    faults: int = 0
    iterations: int = 0
    first_categories: Counter[str] = field(default_factory=Counter)
    stop_reasons: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    cost: float | None = None


def summarize_run(run: RunDirectory) -> list[FixerSummary]:
    """One summary per fixer, in the order of the plan."""
    found: dict[str, FixerSummary] = {}
    for cell in run.plan:
        summary = found.setdefault(cell.fixer, FixerSummary(cell.fixer))
        summary.cells += 1
        trajectory = read_sound_cell(run, cell)
        if trajectory is None:
            summary.unfinished += 1
            continue
        summary.solved += trajectory.passed
        summary.unfinished += trajectory.closed is None
        summary.faults += sum(fault.final for fault in trajectory.infra_faults)
        summary.iterations += len(trajectory.finished)
        if trajectory.closed is not None:
            summary.stop_reasons[trajectory.closed.stop_reason] += 1
            summary.waiting_for_device += trajectory.closed.stop_reason == "needs_device"
        for iteration in trajectory.finished:
            assert iteration.verdict is not None
            if iteration.number == 1:
                summary.first_categories[iteration.verdict.category] += 1
            reply = iteration.reply
            if reply is not None:
                summary.tokens += (reply.tokens_in or 0) + (reply.tokens_out or 0)
                if reply.cost is not None:
                    summary.cost = (summary.cost or 0.0) + reply.cost
    return list(found.values())


def counted(counter: Counter[str]) -> str:
    """ "3 passed, 1 timeout", the most frequent first."""
    return ", ".join(f"{count} {name}" for name, count in counter.most_common()) or "-"
