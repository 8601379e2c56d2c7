"""How sure a share is, by one formula: Wilson's score interval. Without numpy, so that a screen may ask for it too."""

from __future__ import annotations

import math
from typing import Final

Z_95: Final = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: two-sided 95 %."""


def wilson_interval(hits: float, trials: float, z: float = Z_95) -> tuple[float, float]:
    """The interval without continuity correction (E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", JASA 22, 1927, 209-212), with p = hits / trials and z the normal quantile of the level:

        (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n)

    It stays within 0 and 1, and says something at 0 and at n of n, where the normal interval has no width. Without any trial
    everything is possible. It takes trials as independent.
    """
    if trials <= 0:
        return 0.0, 1.0
    share, square = hits / trials, z * z / trials
    middle = share + square / 2
    half = z * math.sqrt(max(share * (1 - share) / trials + square / (4 * trials), 0.0))
    # at the ends of the scale the formula is exact but for rounding
    low = 0.0 if hits <= 0 else max(0.0, (middle - half) / (1 + square))
    high = 1.0 if hits >= trials else min(1.0, (middle + half) / (1 + square))
    return low, high
