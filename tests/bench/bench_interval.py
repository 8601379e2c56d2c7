"""How often the interval of a speedup holds the true one, beside the plain percentile interval: figures of docs/timing.md.

python -P tests/bench/bench_interval.py [SESSIONS]
"""

from __future__ import annotations

import sys

import numpy as np

from engine.harness import ratio

TRUE = 2.0
DRIFT, NOISE = 0.01, 0.02
"""Standard deviations: what both launches of a pair share, and each one's own."""

KINDS = ("normal", "skewed", "with outliers")


def noise(kind: str, random: np.random.Generator, count: int) -> np.ndarray:
    own = NOISE * random.standard_normal(count)
    if kind == "skewed":
        return np.exp(2.5 * own - 3.125 * NOISE**2) - 1
    if kind == "with outliers":  # one launch in ten takes 10 % longer
        return own + 0.1 * (random.random(count) < 0.1) - 0.01
    return own


def main(sessions: int) -> None:
    random = np.random.default_rng(1)
    ratio.RESAMPLES = 2000
    print("noise           launches  widened   plain  half width")
    for kind in KINDS:
        for count in (5, 10, 20):
            widened = plain = 0
            width = 0.0
            for _ in range(sessions):
                drift = 1 + DRIFT * random.standard_normal(count)
                reference = TRUE * drift * (1 + noise(kind, random, count))
                candidate = drift * (1 + noise(kind, random, count))
                low, high = ratio.interval(list(reference), list(candidate))
                widened += low <= TRUE <= high
                width += (high - low) / 2 / TRUE
                drawn = random.integers(0, count, (2000, count))
                low, high = np.percentile(reference[drawn].mean(1) / candidate[drawn].mean(1), (2.5, 97.5))
                plain += low <= TRUE <= high
            shares = f"{widened / sessions:8.3f}{plain / sessions:8.3f}{width / sessions:11.4f}"
            print(f"{kind:16}{count:8}{shares}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
