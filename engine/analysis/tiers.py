"""Difficulty as a panel of fixers shows it: tiers L1 to L5 of D.4, for a panel of any size (protocol 29)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.analysis.metrics import pass_at_k
from engine.analysis.rates import AnalysisError, Rate
from engine.analysis.scoring import Scored

TIERS: Final = ("L1", "L2", "L3", "L4", "L5")


@dataclass(frozen=True)
class Tiering:
    """``tier`` by task id, for the tasks that every fixer of the panel covers; ``outside`` are the others."""

    panel: tuple[str, ...]
    tier: Mapping[str, str]
    outside: tuple[str, ...]

    @property
    def sizes(self) -> dict[str, int]:
        values = list(self.tier.values())
        return {name: values.count(name) for name in TIERS}


def tier_of(solved: int, panel: int, mean_iterations: float) -> str:
    """L1: solved by all of the panel in at most 2 iterations on average; L2: by all, in more; L3: by at least half of it, not
    all; L4: by fewer, at least one; L5: by none. For the paper's six that is 6, 6, 3-5, 1-2, 0 (D.4)."""
    if solved == panel:
        return "L1" if mean_iterations <= 2 else "L2"
    if solved == 0:
        return "L5"
    return "L3" if 2 * solved >= panel else "L4"


def tiers(scored: Scored, panel: Sequence[str] = ()) -> Tiering:
    """The tiers of all tasks by a panel of fixers, by default all in the Frame. One setting of iterative repair; a task that a
    fixer played several times is solved by it when any attempt passed, with the mean iteration of its passes. Raises
    AnalysisError for several settings, repeated sampling, or a fixer that is not there."""
    frame = scored.frame
    names = tuple(panel) or frame.names["fixer"]
    for name in names:
        if not frame.of("fixer", name).any():
            raise AnalysisError(
                f"{name}: no trajectory of this fixer; the panel is taken from {', '.join(frame.names['fixer'])}"
            )
    if len(np.unique(frame.trajectories.setting)) != 1 or scored.repeated.any():
        raise AnalysisError("difficulty tiers need trajectories of one setting of iterative repair")
    shape = (len(names), len(frame.names["task"]))
    played, solved, spent = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for number, name in enumerate(names):
        rows = np.flatnonzero(frame.of("fixer", name))
        tasks = frame.trajectories.task[rows]
        played[number] = np.bincount(tasks, minlength=shape[1])
        solved[number] = np.bincount(tasks, scored.solved[rows], minlength=shape[1])
        spent[number] = np.bincount(tasks, scored.first_pass[rows], minlength=shape[1])
    covered = (played > 0).all(axis=0)
    by_count = (solved > 0).sum(axis=0)
    mean = (spent / np.maximum(solved, 1)).sum(axis=0) / np.maximum(by_count, 1)
    found = {
        frame.names["task"][task]: tier_of(int(by_count[task]), len(names), float(mean[task]))
        for task in np.flatnonzero(covered)
    }
    present = np.flatnonzero((played > 0).any(axis=0) & ~covered)
    return Tiering(names, found, tuple(frame.names["task"][task] for task in present))


def pass_by_tier(scored: Scored, tiering: Tiering, fixer: str) -> dict[str, Rate]:
    """Table 3: pass@k of one fixer, which need not be of the panel, on the tasks of every tier. An empty tier has no value."""
    frame = scored.frame
    tally = pass_at_k(scored)
    mine = frame.of("fixer", fixer)[tally.rows]
    tier = np.array([TIERS.index(tiering.tier[name]) if name in tiering.tier else -1 for name in frame.names["task"]])
    code = tier[frame.trajectories.task[tally.rows]] if len(tally.rows) else np.zeros(0, np.int64)
    return {
        name: Rate(
            float(tally.hits[mine & (code == number)].sum()),
            float(tally.base[mine & (code == number)].sum()),
            f"tasks of {name}",
            "no task of this tier",
        )
        for number, name in enumerate(TIERS)
    }
