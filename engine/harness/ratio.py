"""How certain a ratio of mean times is: a paired bootstrap, and launches that stand apart.

Reference and candidate take turns, so the i-th launches of both saw the same GPU: pairs are drawn, not launches. Ten launches are
few, and the plain percentile interval of so few is too narrow; it is widened as Hesterberg (2015, "What teachers should know about
the bootstrap", section 3.3) does: the percentiles are those that make the interval of a mean as wide as Student's.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

LEVEL = 0.95
RESAMPLES = 10_000
SEED = 20260529
"""The same times give the same interval."""

FEWEST = 5
"""Launches of each that an interval needs: resamples of fewer reach too rarely beyond what was seen (0.77 instead of 0.95 for 3)."""

OUTLIER = 3.5
"""Modified z score beyond which a launch is called an outlier (Iglewicz and Hoaglin 1993)."""

OUTLIER_LEAST = 0.01
"""An outlier also lies this fraction of the median away from it: of launches that agree to a per mille none is one."""

_TO_SIGMA = 0.6745
"""A quarter of a normal distribution lies beyond so many standard deviations: MAD / 0.6745 estimates one."""

_MEAN_TO_SIGMA = 1.2533
"""The same for the mean absolute deviation, which stands in where more than half of the times are equal."""


def interval(reference: Sequence[float], candidate: Sequence[float], level: float = LEVEL) -> list[float]:
    """Low and high end of mean(reference) / mean(candidate), both of n launches in turns. Empty for n below ``FEWEST``."""
    count = len(candidate)
    if count < FEWEST or len(reference) != count:
        return []
    import numpy as np  # 0.06 s, and most readers of times want no interval

    drawn = np.random.default_rng(SEED).integers(0, count, (RESAMPLES, count))
    ratios = np.asarray(reference)[drawn].mean(axis=1) / np.asarray(candidate)[drawn].mean(axis=1)
    tail = 100 * widened_tail(count, level)
    low, high = np.percentile(ratios, (tail, 100 - tail))
    return [float(low), float(high)]


def widened_tail(count: int, level: float = LEVEL) -> float:
    """The part of the resamples beyond each end: smaller than (1 - level) / 2, for ``count`` pairs."""
    from scipy.special import ndtr, stdtrit

    quantile = float(stdtrit(count - 1, (1 + level) / 2))
    return float(ndtr(-((count / (count - 1)) ** 0.5) * quantile))


def outlier_scores(times: Sequence[float]) -> list[float]:
    """The modified z score of each time: 0.6745 (x - median) / MAD. Zeros below three times, or where all are equal."""
    if len(times) < 3:
        return [0.0] * len(times)
    middle = statistics.median(times)
    distances = [abs(time - middle) for time in times]
    spread = statistics.median(distances) / _TO_SIGMA or statistics.fmean(distances) * _MEAN_TO_SIGMA
    return [(time - middle) / spread if spread else 0.0 for time in times]


def outliers(times: Sequence[float]) -> list[tuple[int, float]]:
    """Those that stand apart, as (index, modified z score)."""
    if not times:
        return []
    middle = statistics.median(times)
    return [
        (index, score)
        for index, score in enumerate(outlier_scores(times))
        if abs(score) > OUTLIER and abs(times[index] - middle) > OUTLIER_LEAST * middle
    ]
