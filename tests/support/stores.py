"""Stores of runs as large as one likes, made of the recorded trajectories: the same events under other numbers."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine import events as ev
from engine.journal import encode, read_journal
from engine.rundir import Cell, RunDirectory

RECORDED = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


def make_store(folder: Path, *, runs: int, cells: int, iterations: int) -> list[RunDirectory]:
    """``runs`` runs of ``cells`` trajectories below a folder, each trajectory closed after ``iterations`` iterations."""
    recorded = RunDirectory(RECORDED)
    first_rounds = [_round(recorded, cell) for cell in recorded.plan]
    made = []
    for number in range(runs):
        plan = [Cell(f"task-{index}", "fixer") for index in range(cells)]
        created = f"2026-01-{1 + number % 28:02}T00:00:{number % 60:02}.000Z"
        record = msgspec.structs.replace(recorded.record, name=f"run-{number}", created=created)
        run = RunDirectory.create(record, plan, folder / f"run-{number}")
        for index, cell in enumerate(plan):
            opened, events = first_rounds[(number + index) % len(first_rounds)]
            lines = [encode(msgspec.structs.replace(opened, task=cell.task, fixer=cell.fixer))]
            for iteration in range(1, iterations + 1):
                lines += [encode(msgspec.structs.replace(event, iteration=iteration)) for event in events]
            lines.append(encode(ev.TrajectoryClosed(stop_reason="max_iterations", passed=False, iterations=iterations)))
            journal = run.journal(cell)
            journal.parent.mkdir(parents=True)
            journal.write_bytes(b"".join(lines))
        made.append(run)
    return made


def _round(run: RunDirectory, cell: Cell) -> tuple[ev.TrajectoryOpened, list[ev.IterationEvent]]:
    """The opening of a recorded trajectory, and all events of its first iteration."""
    events = read_journal(run.journal(cell))
    assert isinstance(events[0], ev.TrajectoryOpened)
    return events[0], [event for event in events if isinstance(event, ev.IterationEvent) and event.iteration == 1]
