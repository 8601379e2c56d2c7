"""The four stagnation signals over many trajectories at once: engine.verdict.stagnation's definitions on columns (D.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.analysis.frame import SIGNALS, Bools, Ints
from engine.verdict import Signal
from engine.verdict.stagnation import NO_PROGRESS_C, OSCILLATION_M, OSCILLATION_N

Bits = npt.NDArray[np.uint8]

BIT = {Signal(name): np.uint8(1 << bit) for bit, name in enumerate(SIGNALS)}


def signal_bits(
    begins: Bools,
    solution: Ints,
    category: Ints,
    signature: Ints,
    *,
    oscillation_m: int = OSCILLATION_M,
    oscillation_n: int = OSCILLATION_N,
    no_progress_c: int = NO_PROGRESS_C,
) -> Bits:
    """For every row the signals that hold after it, as bits of SIGNALS. Rows of one trajectory follow each other and ``begins``
    is true at its first. ``solution`` -1 is a reply without a file: a duplicate of nothing. Raises ValueError for
    thresholds out of range."""
    thresholds = threshold_bits(
        begins,
        category,
        signature,
        oscillation_m=oscillation_m,
        oscillation_n=oscillation_n,
        no_progress_c=no_progress_c,
    )
    return code_bits(begins, solution) | thresholds


def code_bits(begins: Bools, solution: Ints) -> Bits:
    """The two signals that compare programs, duplicate_code and code_cycle; they have no threshold."""
    bits = np.zeros(len(begins), np.uint8)
    start = _starts(begins)
    rows = np.arange(len(begins), dtype=np.int32)
    for lag in range(1, int((rows - start).max(initial=0)) + 1):
        same = (solution[lag:] == solution[:-lag]) & (solution[lag:] >= 0) & (rows[:-lag] >= start[lag:])
        bits[lag:][same] |= BIT[Signal.CODE_CYCLE]
        if lag == 1:
            bits[lag:][same] |= BIT[Signal.DUPLICATE_CODE]
    return bits


def threshold_bits(
    begins: Bools,
    category: Ints,
    signature: Ints,
    *,
    oscillation_m: int = OSCILLATION_M,
    oscillation_n: int = OSCILLATION_N,
    no_progress_c: int = NO_PROGRESS_C,
) -> Bits:
    """The two signals that have thresholds, category_oscillation and no_progress. Raises ValueError for some out of range."""
    if oscillation_m < 1 or oscillation_n < 1 or no_progress_c < 2:
        raise ValueError("oscillation_m and oscillation_n must be at least 1, no_progress_c at least 2")
    bits = np.zeros(len(begins), np.uint8)
    if not len(begins):
        return bits
    start, rows = _starts(begins), np.arange(len(begins), dtype=np.int32)
    changed = np.zeros(len(begins), bool)
    changed[1:] = ~begins[1:] & (category[1:] != category[:-1])
    bits[_oscillates(changed, start, oscillation_m, oscillation_n)] |= BIT[Signal.CATEGORY_OSCILLATION]
    differs = begins | changed
    differs[1:] |= signature[1:] != signature[:-1]
    since = rows - np.maximum.accumulate(np.where(differs, rows, 0)) + 1
    bits[since >= no_progress_c] |= BIT[Signal.NO_PROGRESS]
    return bits


def _starts(begins: Bools) -> Ints:
    """By row, the position of the first row of its trajectory."""
    return np.maximum.accumulate(np.where(begins, np.arange(len(begins), dtype=np.int32), 0))


def _oscillates(changed: Bools, start: Ints, m: int, n: int) -> Bools:
    """At least m transitions among the last n iterations of the row's own trajectory."""
    total = np.concatenate(([0], np.cumsum(changed, dtype=np.int32)))
    rows = np.arange(len(changed), dtype=np.int32)
    begin = np.maximum(start, rows - n + 1)
    return np.asarray(total[rows + 1] - total[begin] >= m)
