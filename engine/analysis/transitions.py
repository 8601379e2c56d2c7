"""Where iterations lead: from category to category, upwards in severity or not, and to how many different programs (D.3)."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from engine.analysis.frame import CATEGORIES, Bools, Frame, Ints
from engine.analysis.rates import Rate, Tally, each, everyone, tally_of
from engine.analysis.scoring import Scored, any_of
from engine.analysis.stagnation import iterative
from engine.verdict.categories import SEVERITY

EIGHT: Final = 8
"""Categories of the transition matrix; ``unclassified`` is none of them."""

_SEVERITY = np.array([SEVERITY.get(name, -1) for name in CATEGORIES], np.int8)


def _followers(frame: Frame) -> tuple[Ints, Ints]:
    """Positions of the iterations j and j+1 of every pair within one trajectory of iterative repair."""
    rows = frame.iterations
    if len(rows) < 2:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    same = rows.trajectory[1:] == rows.trajectory[:-1]
    before = np.flatnonzero(same & iterative(frame)[rows.trajectory[1:]])
    return before, before + 1


def transition_counts(frame: Frame) -> npt.NDArray[np.int64]:
    """8x8: how often category b came right after category a, rows a and columns b in Table 4's order. The row of ``passed`` is
    empty by construction: a pass ends a trajectory (with a gate in the loop a correct candidate that is too slow goes on)."""
    before, after = _followers(frame)
    a, b = frame.iterations.category[before], frame.iterations.category[after]
    known = (a < EIGHT) & (b < EIGHT)
    pairs = np.bincount(a[known].astype(np.int64) * EIGHT + b[known], minlength=EIGHT * EIGHT)
    return pairs.reshape(EIGHT, EIGHT)


def transition_matrix(frame: Frame) -> list[list[Rate]]:
    """M[a][b] = Pr(cat(i, j+1) = b | cat(i, j) = a), pooled over all pairs of iterations (D.3). A row without a pair has no
    values."""
    counts = transition_counts(frame)
    return [
        [
            Rate(float(counts[a, b]), float(counts[a].sum()), f"pairs that begin with {CATEGORIES[a]}", "no such pair")
            for b in range(EIGHT)
        ]
        for a in range(EIGHT)
    ]


def climbs(frame: Frame) -> Bools:
    """By iteration: whether it got further in D.3's order of severity than the iteration before it in the same trajectory."""
    before, after = _followers(frame)
    found = np.zeros(len(frame.iterations), bool)
    a, b = _SEVERITY[frame.iterations.category[before]], _SEVERITY[frame.iterations.category[after]]
    found[after] = (a >= 0) & (b > a)
    return found


def progression_rate(scored: Scored) -> Tally:
    """progression_rate (D.3, protocol 29): of the tasks that failed at iteration 1, those with at least one transition up the
    order of severity, within the budget."""
    frame = scored.frame
    failed = ~scored.first_passes & ~scored.repeated
    climbed = any_of(frame, climbs(frame) & scored.within)
    return tally_of(
        "progression_rate", "tasks that failed at iteration 1", climbed, failed, "no task failed at iteration 1"
    )


def unique_pooled(frame: Frame) -> Rate:
    """unique_approach_ratio (D.3): different candidates over all iterations. Replies without a file count as iterations and as
    no approach."""
    solutions = frame.iterations.solution
    known = solutions[solutions >= 0]
    distinct = int((np.bincount(known) > 0).sum()) if len(known) else 0
    return Rate(distinct, len(solutions), "iterations")


def unique_by_task(frame: Frame) -> Tally:
    """The mean over trajectories of each one's own different candidates over its own iterations."""
    table, rows = frame.trajectories, frame.iterations
    distinct = np.zeros(len(table))
    if len(rows):
        span = int(rows.solution.max()) + 2
        keys = np.sort(rows.trajectory.astype(np.int64) * span + rows.solution + 1)
        new = np.concatenate(([True], keys[1:] != keys[:-1])) & (keys % span > 0)
        distinct = np.bincount(keys[new] // span, minlength=len(table)).astype(np.float64)
    ratio = distinct / np.maximum(table.length, 1)
    return Tally("unique_approach_ratio, per task", "trajectories", everyone(len(table)), ratio, each(len(table)))
