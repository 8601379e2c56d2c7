"""Counting categories: how often each was met, which followed which, and how sure a share of passes is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from engine.analysis.wilson import wilson_interval

Path = Sequence[str]
"""The categories of a trajectory's iterations, in order."""


@dataclass(frozen=True)
class Rate:
    """A fixer's passes so far: ``passed`` of the ``over`` units that have come to an end, and a 95 % interval of the share."""

    fixer: str
    passed: int
    over: int

    @property
    def low(self) -> float:
        return wilson_interval(self.passed, self.over)[0]

    @property
    def high(self) -> float:
        return wilson_interval(self.passed, self.over)[1]


def histogram(paths: Iterable[Path]) -> Counter[str]:
    """How many iterations ended in each category."""
    return Counter(chain.from_iterable(paths))


def transitions(paths: Iterable[Path]) -> Counter[tuple[str, str]]:
    """How often an iteration of the first category was followed by one of the second. A category that stays is counted too: it
    is the diagonal."""
    return Counter(chain.from_iterable(pairwise(path) for path in paths))
