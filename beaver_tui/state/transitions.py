"""Counting categories: how often each was met, which followed which, and how sure a share of passes is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

Path = Sequence[str]
"""The categories of a trajectory's iterations, in order."""

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: two-sided 95 %."""


@dataclass(frozen=True)
class Rate:
    """A fixer's passes so far: ``passed`` of the ``over`` units that have come to an end, and a 95 % interval of the share."""

    fixer: str
    passed: int
    over: int

    @property
    def low(self) -> float:
        return wilson(self.passed, self.over)[0]

    @property
    def high(self) -> float:
        return wilson(self.passed, self.over)[1]


def histogram(paths: Iterable[Path]) -> Counter[str]:
    """How many iterations ended in each category."""
    return Counter(chain.from_iterable(paths))


def transitions(paths: Iterable[Path]) -> Counter[tuple[str, str]]:
    """How often an iteration of the first category was followed by one of the second. A category that stays is counted too: it
    is the diagonal."""
    return Counter(chain.from_iterable(pairwise(path) for path in paths))


def wilson(passed: int, total: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's score interval of a share (E. B. Wilson, JASA 22, 1927, 209-212): with p = passed / total,

        (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)

    It stays within 0 and 1, and says something at 0 and at n of n, where the normal interval has no width. Without any trial
    everything is possible.
    """
    if not total:
        return 0.0, 1.0
    share, square = passed / total, z * z / total
    middle = share + square / 2
    half = z * math.sqrt(share * (1 - share) / total + square / (4 * total))
    # at the ends of the scale the formula is exact but for rounding
    low = 0.0 if passed == 0 else (middle - half) / (1 + square)
    high = 1.0 if passed == total else (middle + half) / (1 + square)
    return low, high
