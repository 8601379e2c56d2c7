"""How trajectories stop getting anywhere: which signal ended them, which would have, and what other thresholds would say.

Rates follow D.3 and Table 6. A trajectory's stagnation is the first iteration that raises a signal before anything passed: where
signals stop the loop that is its stop reason, where they are only observed it is the stop that would have been.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.analysis.frame import SIGNALS, Bools, Frame, Ints
from engine.analysis.rates import Tally, tally_of
from engine.analysis.scoring import any_of, first_number
from engine.analysis.signals import code_bits, threshold_bits
from engine.protocol import EarlyStop, Sampling
from engine.verdict import Signal

_WHY = "repeated sampling is never stopped by a signal (protocol 21)"


@dataclass(frozen=True)
class Thresholds:
    """m transitions in the last n iterations, c equal (category, signature) in a row (F.2)."""

    oscillation_m: int = 3
    oscillation_n: int = 5
    no_progress_c: int = 3

    def __str__(self) -> str:
        return f"{self.oscillation_m}-of-{self.oscillation_n}, c={self.no_progress_c}"


TABLE_7: Final = (
    Thresholds(2, 4),
    Thresholds(),
    Thresholds(4, 6),
    Thresholds(no_progress_c=2),
    Thresholds(no_progress_c=3),
    Thresholds(no_progress_c=4),
)
"""The variants of the paper's Table 7, in its order."""


def stagnated(frame: Frame, bits: Ints | None = None) -> Ints:
    """By trajectory, the position in SIGNALS of the signal that ends it, -1 for none. ``bits``: signals of the iterations, by
    default those that were recorded. A pass outranks every signal, and repeated sampling knows none."""
    rows = frame.iterations
    found = rows.signals if bits is None else bits
    raised = first_number(frame, found > 0)
    passed = first_number(frame, rows.passed)
    stops = (raised > 0) & ((passed == 0) | (raised < passed)) & iterative(frame)
    if not len(rows):
        return np.full(len(frame.trajectories), -1, np.int8)
    at = frame.trajectories.first + np.maximum(raised, 1) - 1
    lowest = np.array([_first_bit(code) for code in range(1 << len(SIGNALS))], np.int8)
    return np.where(stops, lowest[found[at]], -1).astype(np.int8)


def _first_bit(code: int) -> int:
    return next((bit for bit in range(len(SIGNALS)) if code >> bit & 1), -1)


def iterative(frame: Frame) -> Bools:
    """Which trajectories are iterative repair."""
    flags = np.array([protocol.sampling is Sampling.ITERATIVE for protocol in frame.settings], bool)
    return flags[frame.trajectories.setting] if len(frame.trajectories) else np.zeros(0, bool)


def failing(frame: Frame) -> Bools:
    """Trajectories of iterative repair that never passed as they were played (the tasks of Table 6): correctness, and the
    in-loop gate where there is one; a posthoc threshold has no part in why a loop goes on."""
    return ~any_of(frame, frame.iterations.passed) & iterative(frame)


def stagnation_rates(frame: Frame, bits: Ints | None = None) -> dict[str, Tally]:
    """``stagnation`` over all tasks (D.3) and over failing ones (Tables 6 and 12), ``oscillation`` over all tasks (D.3), and each
    signal's share of the failing tasks (Table 6's columns, which sum to the overall rate)."""
    ends = stagnated(frame, bits)
    every, failed = iterative(frame), failing(frame)
    oscillates = ends == SIGNALS.index(Signal.CATEGORY_OSCILLATION)
    tallies = {
        "stagnation": tally_of("stagnation_rate, all tasks", "tasks", ends >= 0, every, _WHY),
        "stagnation_failing": tally_of("stagnation_rate, failing tasks", "failing tasks", ends >= 0, failed, "no task failed"),
        "oscillation": tally_of("oscillation_rate", "tasks", oscillates, every, _WHY),
    }  # fmt: skip
    for code, name in enumerate(SIGNALS):
        tallies[name] = tally_of(f"{name}, failing tasks", "failing tasks", ends == code, failed, "no task failed")
    return tallies


def dominant_signal(shares: Mapping[str, float]) -> str | None:
    """The signal that most failing tasks end with (Table 12), None when there is none; of equals the first in stop order."""
    best = max(SIGNALS, key=lambda name: shares.get(name, 0.0))
    return best if shares.get(best, 0.0) > 0 else None


def rerun(frame: Frame, thresholds: Thresholds) -> Ints:
    """Signals of every stored iteration under other thresholds, as bits of SIGNALS: F.2's check, from what is stored."""
    rows = frame.iterations
    return code_bits(rows.number == 1, rows.solution) | _threshold_bits(frame, thresholds)


def _threshold_bits(frame: Frame, thresholds: Thresholds) -> Ints:
    rows = frame.iterations
    return threshold_bits(
        rows.number == 1,
        rows.category,
        rows.signature,
        oscillation_m=thresholds.oscillation_m,
        oscillation_n=thresholds.oscillation_n,
        no_progress_c=thresholds.no_progress_c,
    )


@dataclass(frozen=True)
class Sensitivity:
    """The overall stagnation of failing tasks under one variant. ``censored`` trajectories were stopped by a signal that these
    thresholds do not raise: had they gone on they might have stagnated later or passed, so the true rate is unknown by as much."""

    thresholds: Thresholds
    stagnation: Tally
    censored: int


def sensitivity(frame: Frame, variants: Sequence[Thresholds] = TABLE_7) -> list[Sensitivity]:
    """Table 7: every variant re-run on the stored iterations. Only runs made with early_stop=observe are free of censoring."""
    stops = np.array([protocol.early_stop is EarlyStop.STOP for protocol in frame.settings], bool)
    budget = np.array([protocol.k for protocol in frame.settings], np.int64)
    table, failed = frame.trajectories, failing(frame)
    stopped = np.zeros(len(table), bool)
    if len(table):
        stopped = failed & stops[table.setting] & (table.length < budget[table.setting]) & (stagnated(frame) >= 0)
    found, codes = [], code_bits(frame.iterations.number == 1, frame.iterations.solution)
    for variant in variants:
        ends = stagnated(frame, codes | _threshold_bits(frame, variant))
        tally = tally_of(str(variant), "failing tasks", ends >= 0, failed, "no task failed")
        found.append(Sensitivity(variant, tally, int((stopped & (ends < 0)).sum())))
    return found
