"""What speed does to a score: the curve over thresholds, repair by degeneration, and how far the times can be trusted.

Nothing is measured here: stored speedups are scored again (paper 4.1, figure 4, appendix G; protocol 20 and 31).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.analysis.frame import PASSED, Floats, Frame
from engine.analysis.grids import GATES
from engine.analysis.metrics import pass_at_k
from engine.analysis.rates import Figure, Rate, Tally, each
from engine.analysis.scoring import DEFAULT, Scored, Scoring, score

THRESHOLDS: Final = GATES
"""A1's values (paper 3.4)."""

CV_FLAG: Final = 0.03
"""Above this coefficient of variation a speedup is flagged; it is reported, never enforced (appendix G)."""


def p_sweep(
    frame: Frame, thresholds: Sequence[float] = THRESHOLDS, scoring: Scoring = DEFAULT
) -> list[tuple[float, Tally]]:
    """pass@k at every threshold, re-scored offline (Table 8). A candidate without a speedup passes p=0 only. Raises AnalysisError
    for a threshold above that of an in-loop gate; ``allowed_thresholds`` gives those that are not."""
    return [
        (p, pass_at_k(score(frame, Scoring(gate=p, k=scoring.k, asymmetric=scoring.asymmetric)))) for p in thresholds
    ]


def allowed_thresholds(frame: Frame, thresholds: Sequence[float] = THRESHOLDS) -> list[float]:
    """The thresholds that these rows can be scored at: with an in-loop gate at p0 those up to p0 (protocol 20)."""
    limits = [protocol.gate for protocol in frame.settings if protocol.gate_mode == "inloop"]
    return [p for p in thresholds if all(p <= limit for limit in limits)]


@dataclass(frozen=True)
class Degeneration:
    """Figure 4, left, of the tasks solved at p=0. ``first`` and ``later`` are median speedups of the passes at iteration 1 and at a
    later one; ``rate`` is the share of the later passes whose speedup is below 1.0. Passes without a speedup are in
    ``unmeasured`` and in none of these."""

    first: Figure
    later: Figure
    rate: Rate
    unmeasured: int


def degeneration(scored: Scored) -> Degeneration:
    """Of the trajectories of ``scored``, whatever its threshold: a task is solved at p=0 by its first correct iteration within
    the budget. Repeated attempts have no later iteration and are left out."""
    speedup, number = first_correct(scored)
    measured = ~np.isnan(speedup)
    first, later = measured & (number == 1), measured & (number > 1)
    slow = float((speedup[later] < 1.0).sum())
    return Degeneration(
        _median(speedup[first], "no measured pass at iteration 1"),
        _median(speedup[later], "no measured pass after iteration 1"),
        Rate(slow, float(later.sum()), "measured passes after iteration 1", "no measured pass after iteration 1"),
        int((~measured & (number > 0)).sum()),
    )


def first_correct(scored: Scored) -> tuple[Floats, Floats]:
    """By trajectory: speedup and number of its first correct iteration within the budget; NaN and 0 where there is none."""
    rows, table = scored.frame.iterations, scored.frame.trajectories
    correct = (rows.category == PASSED) & scored.within & ~scored.repeated[rows.trajectory]
    places = np.flatnonzero(correct)[::-1]  # the first one is written last
    speedup, number = np.full(len(table), np.nan), np.zeros(len(table))
    speedup[rows.trajectory[places]] = rows.speedup[places]
    number[rows.trajectory[places]] = rows.number[places]
    return speedup, number


def _median(values: Floats, why: str) -> Figure:
    return Figure(float(np.median(values)), len(values)) if len(values) else Figure(None, 0, why)


def degenerated(scored: Scored) -> Tally:
    """The degeneration rate as a tally, for groups and intervals."""
    speedup, number = first_correct(scored)
    later = ~np.isnan(speedup) & (number > 1)
    rows = np.flatnonzero(later)
    return Tally(
        "degeneration rate",
        "measured passes after iteration 1",
        rows,
        (speedup[rows] < 1.0).astype(np.float64),
        each(len(rows)),
        "no measured pass after iteration 1",
    )


@dataclass(frozen=True)
class Timings:
    """How good the times are. ``flagged``: measured passes whose coefficient of variation is above CV_FLAG, of those that have
    one. ``unmeasured``: correct iterations without a speedup, of all correct ones; they fail every p > 0."""

    flagged: Rate
    median_cv: Figure
    p90_cv: Figure
    unmeasured: Rate


def timings(frame: Frame) -> Timings:
    """Over all correct iterations, as appendix G counts cells."""
    correct = frame.iterations.category == PASSED
    cv, speedup = frame.iterations.cv[correct], frame.iterations.speedup[correct]
    known = cv[~np.isnan(cv)]
    flagged = Rate(float((known > CV_FLAG).sum()), float(len(known)), "measured passes", "nothing was timed twice")
    p90 = float(np.quantile(known, 0.9)) if len(known) else None
    missing = Rate(float(np.isnan(speedup).sum()), float(correct.sum()), "correct iterations", "nothing passed")
    why = "" if len(known) else "nothing was timed twice"
    return Timings(flagged, _median(known, why), Figure(p90, len(known), why), missing)
