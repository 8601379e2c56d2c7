"""Two fixers on the same tasks: McNemar's test and the paired bootstrap. Only tasks that both played count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.analysis.frame import Bools, Floats, Frame
from engine.analysis.intervals import RESAMPLES, SEED, Interval, percentile_interval, task_weights
from engine.analysis.rates import Tally


@dataclass(frozen=True)
class McNemar:
    """McNemar 1947, "Note on the sampling error of the difference between correlated proportions". ``only_first`` and
    ``only_second`` are the discordant tasks b and c. ``exact_p`` is the two-sided binomial test of b against c. Without a
    discordant task there is nothing to test: p is 1."""

    only_first: int
    only_second: int
    exact_p: float


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """The test of two discordant counts. Raises ValueError for a negative one."""
    b, c = only_first, only_second
    if b < 0 or c < 0:
        raise ValueError(f"discordant counts are 0 or more, not {b} and {c}")
    return McNemar(b, c, _two_sided(b, c) if b + c else 1.0)


def _two_sided(b: int, c: int) -> float:
    from scipy.stats import binomtest  # the slowest import there is here

    return float(binomtest(min(b, c), b + c, 0.5).pvalue)


@dataclass(frozen=True)
class Comparison:
    """Fixer one minus fixer two over ``tasks`` common tasks. ``first`` and ``second`` are their rates there; ``left_out`` tasks were
    played by one of them only. McNemar's test needs one outcome a task and is None where attempts gave shares."""

    tasks: int
    left_out: int
    first: float | None
    second: float | None
    difference: float | None
    interval: Interval
    mcnemar: McNemar | None
    why: str = ""


def compare(
    frame: Frame, tally: Tally, first: Bools, second: Bools, resamples: int = RESAMPLES, seed: int = SEED
) -> Comparison:
    """Compare the trajectories chosen by ``first`` and ``second`` in one rate, task by task: a task's outcome is its own rate. The
    interval is that of the mean difference under resamples of the common tasks."""
    one, two = _by_task(frame, tally, first), _by_task(frame, tally, second)
    common = ~np.isnan(one) & ~np.isnan(two)
    left_out = int((np.isnan(one) != np.isnan(two)).sum())
    count = int(common.sum())
    if not count:
        why = "no task was played by both"
        return Comparison(0, left_out, None, None, None, Interval(None, None, why=why), None, why)
    a, b = one[common], two[common]
    drawn = task_weights(np.arange(count), count, resamples, seed)
    differences = np.concatenate([weights @ (a - b) / count for weights in drawn])
    whole = bool(np.isin(a, (0.0, 1.0)).all() and np.isin(b, (0.0, 1.0)).all())
    test = mcnemar(int((a > b).sum()), int((a < b).sum())) if whole else None
    return Comparison(
        count, left_out, float(a.mean()), float(b.mean()), float((a - b).mean()), percentile_interval(differences), test
    )


def _by_task(frame: Frame, tally: Tally, chosen: Bools) -> Floats:
    """A rate by task, NaN where the chosen trajectories have none of it."""
    size = len(frame.names["task"])
    kept = chosen[tally.rows]
    task = frame.trajectories.task[tally.rows[kept]]
    hits = np.bincount(task, tally.hits[kept], minlength=size)
    base = np.bincount(task, tally.base[kept], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(base > 0, hits / base, np.nan)
