"""How uncertain a rate is: Wilson's interval, and the bootstrap that draws tasks.

Tasks are what a corpus samples: trajectories of one task are alike, so whole tasks are drawn with replacement, the same ones for
every metric, fixer and setting. That keeps comparisons paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.analysis.frame import Floats, Frame, Ints
from engine.analysis.rates import Groups, Rate, Tally
from engine.analysis.wilson import wilson_interval

LEVEL: Final = 0.95
RESAMPLES: Final = 1000
SEED: Final = 20260529
"""Of the resampling: the same rows give the same interval."""

_CELLS: Final = 8_000_000
"""Draws that are held at once: 32 MB of weights."""

Weights = npt.NDArray[np.float32]
"""Counts of draws: exact, and half the memory and time of doubles where a million iterations are resampled."""


@dataclass(frozen=True)
class Interval:
    """From ``low`` to ``high``, None where there is nothing to say; ``missing`` resamples had no value and are in neither."""

    low: float | None
    high: float | None
    level: float = LEVEL
    method: str = ""
    missing: int = 0
    why: str = ""


def wilson(rate: Rate, level: float = LEVEL) -> Interval:
    """Wilson's score interval. It takes trials as independent: for several trajectories of a task prefer the bootstrap."""
    if rate.denominator <= 0:
        return Interval(None, None, level, "wilson", why=rate.why or f"no {rate.of}")
    low, high = wilson_interval(rate.numerator, rate.denominator, normal_quantile((1 + level) / 2))
    return Interval(low, high, level, "wilson")


def normal_quantile(probability: float) -> float:
    from scipy.special import ndtri  # 0.2 s, and not every reader of a rate wants intervals

    return float(ndtri(probability))


def task_sums(frame: Frame, tally: Tally, groups: Groups) -> tuple[Floats, Floats]:
    """Numerator and denominator by task and group: arrays of shape (tasks, groups)."""
    tasks, count = len(frame.names["task"]), len(groups.keys)
    cell = frame.trajectories.task[tally.rows].astype(np.int64) * count + groups.index[tally.rows]
    hits, base = (np.bincount(cell, part, minlength=tasks * count) for part in (tally.hits, tally.base))
    return hits.reshape(tasks, count).astype(np.float64), base.reshape(tasks, count).astype(np.float64)


def task_weights(tasks: Ints, size: int, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[Weights]:
    """How often each of ``size`` tasks is drawn, resample by resample, some at a time: arrays of shape (some, size) whose rows sum
    to len(tasks). Only ``tasks`` are drawn, each as likely as any other."""
    random = np.random.default_rng(seed)
    some = max(1, _CELLS // max(size, 1))
    for begin in range(0, resamples, some):
        rows = min(some, resamples - begin)
        drawn = tasks[random.integers(0, len(tasks), (rows, len(tasks)))]
        cells = drawn + np.arange(rows)[:, None] * size
        yield np.bincount(cells.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float32)


def resampled(
    frame: Frame, tallies: Sequence[Tally], groups: Groups, resamples: int = RESAMPLES, seed: int = SEED
) -> Floats:
    """Every tally's rate in every group under every resample of the Frame's tasks: shape (tallies, resamples, groups). NaN where
    a resample has no denominator; nothing prints it, ``percentile_interval`` counts it."""
    tasks, size = np.unique(frame.trajectories.task), len(frame.names["task"])
    found = np.full((len(tallies), resamples, len(groups.keys)), np.nan)
    if not len(tasks):
        return found
    begin = 0
    for weights in task_weights(tasks, size, resamples, seed):
        end = begin + len(weights)
        bases: dict[float, tuple[Floats, Weights]] = {}
        for tally, values in zip(tallies, found, strict=True):
            hits, base = task_sums(frame, tally, groups)
            total = float(base.sum())
            if total not in bases or not np.array_equal(bases[total][0], base):
                bases[total] = base, weights @ base.astype(np.float32)  # many metrics divide by the same
            drawn = bases[total][1]
            np.divide(
                weights @ hits.astype(np.float32), drawn, out=values[begin:end], where=drawn > 0, dtype=np.float64
            )
        begin = end
    return found


def percentile_interval(values: Floats, level: float = LEVEL) -> Interval:
    """The middle ``level`` of resampled values (Efron's percentile interval); those that are NaN are counted as missing."""
    return _middle(values[:, None], level)[0]


def _middle(values: Floats, level: float) -> list[Interval]:
    """``percentile_interval`` of every column at once."""
    ordered = np.sort(values, axis=0)  # NaN comes last
    known = len(values) - np.isnan(values).sum(axis=0)
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        place = share * np.maximum(known - 1, 0)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(known - 1, 0))
        low, high = (np.take_along_axis(ordered, rows[None, :], axis=0)[0] for rows in (below, above))
        ends.append(low + (high - low) * (place - below))
    return [
        Interval(float(low), float(high), level, "bootstrap by task", len(values) - int(count))
        if count
        else Interval(None, None, level, "bootstrap by task", len(values), "no resample has a value")
        for low, high, count in zip(*ends, known, strict=True)
    ]


def bootstrap(
    frame: Frame,
    tallies: Sequence[Tally],
    groups: Groups,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> list[list[Interval]]:
    """Percentile intervals of every tally (first index) in every group (second), from ``resamples`` draws of tasks."""
    return [_middle(values, level) for values in resampled(frame, tallies, groups, resamples, seed)]
