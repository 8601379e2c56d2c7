"""The replies of a stored run, as a replay fixer."""

from __future__ import annotations

from pathlib import Path

from engine.cells import read_cell
from engine.errors import ConfigError
from engine.fixers.base import Reply
from engine.fixers.replay import ReplayFixer
from engine.rundir import RunDirectory
from engine.store import Store
from engine.trajectory import Trajectory


def replay_fixer(name: str, path: Path) -> ReplayFixer:
    """Replays the only fixer of the run at ``path``, or the one that ``path::fixer`` names."""
    text, _, wanted = str(path).partition("::")
    run = RunDirectory(Path(text))
    fixers = sorted({cell.fixer for cell in run.plan})
    if not wanted and len(fixers) == 1:
        wanted = fixers[0]
    if wanted not in fixers:
        raise ConfigError(
            f"--fixer replay:{text}: the run has the fixers {', '.join(fixers)}; name one: replay:{text}::{fixers[0]}"
        )
    replies: dict[tuple[str, int], list[Reply]] = {}
    for cell in run.plan:
        trajectory = read_cell(run, cell) if cell.fixer == wanted else None
        if trajectory is not None:
            replies[cell.task, cell.attempt] = _replies(run.store(cell), trajectory)
    return ReplayFixer(name, replies)


def _replies(store: Store, trajectory: Trajectory) -> list[Reply]:
    """What was answered. Tokens, cost and seconds were paid for in the stored run, and cost nothing now."""
    found = []
    for iteration in trajectory.iterations:
        reply = iteration.reply
        if reply is not None:
            text = store.get("responses", reply.response).decode("utf-8", "surrogateescape")
            found.append(
                Reply(text=text, whole_file=reply.whole_file, model=reply.model, finish_reason=reply.finish_reason)
            )
    return found
