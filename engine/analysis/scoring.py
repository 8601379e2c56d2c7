"""Which iterations pass, at which threshold and within which budget: what every score starts from.

pass = correctness and speedup >= p (paper 3.4, A1). A fixer that made the broken start itself has one iteration less (Eq. 5), and
the iteration that is dropped leaves every score, not pass@k alone (protocol 27).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.analysis.frame import PASSED, Bools, Floats, Frame, Ints
from engine.analysis.rates import AnalysisError
from engine.analysis.sources import self_sourced
from engine.protocol import GateMode, Sampling


@dataclass(frozen=True)
class Scoring:
    """How to score. ``gate``: the threshold p, None for each run's own; ``k``: the budget, None for each protocol's K."""

    gate: float | None = None
    k: int | None = None
    asymmetric: bool = True


DEFAULT: Final = Scoring()


@dataclass(frozen=True)
class Scored:
    """A Frame under a Scoring. Columns of iterations: ``within`` the budget; ``passes``, within it. Columns of trajectories:
    ``budget``, ``repeated``, and ``first_pass``, the number of the first passing iteration, 0 when there is none."""

    frame: Frame
    scoring: Scoring
    within: Bools
    passes: Bools
    budget: Ints
    repeated: Bools
    self_source: Bools
    first_pass: Ints

    @property
    def first_passes(self) -> Bools:
        """Whether iteration 1 passed, by trajectory."""
        return np.asarray(self.first_pass == 1)

    @property
    def solved(self) -> Bools:
        return np.asarray(self.first_pass > 0)


def score(frame: Frame, scoring: Scoring = DEFAULT) -> Scored:
    """Raises AnalysisError for a k above a protocol's K and for a threshold above that of an in-loop gate (protocol 20): what
    would have come after a stop that the threshold would not have made was never played."""
    table, rows = frame.trajectories, frame.iterations
    for protocol in frame.settings:
        if scoring.k is not None and not 1 <= scoring.k <= protocol.k:
            raise AnalysisError(
                f"k={scoring.k}: these runs have {protocol.k} iterations; choose k from 1 to {protocol.k}"
            )
    self_source = self_sourced(frame) if scoring.asymmetric else np.zeros(len(table), bool)
    budgets = np.array([scoring.k or protocol.k for protocol in frame.settings], np.int32)
    budget = (budgets[table.setting] if len(table) else np.zeros(0, np.int32)) - (
        self_source if scoring.k is None else 0
    )
    repeated = _by_setting(frame, [protocol.sampling is Sampling.REPEATED for protocol in frame.settings]).astype(bool)
    within = repeated[rows.trajectory] | (rows.number <= budget[rows.trajectory])
    passes = within & fast_enough(frame, scoring.gate)
    first = first_number(frame, passes)
    return Scored(frame, scoring, within, passes, budget, repeated, self_source, first)


def _by_setting(frame: Frame, values: Sequence[int]) -> Ints:
    """By trajectory, the value of its setting."""
    return np.array(values, np.int32)[frame.trajectories.setting] if len(frame.trajectories) else np.zeros(0, np.int32)


def fast_enough(frame: Frame, gate: float | None = None) -> Bools:
    """Which iterations are correct with a speedup of at least ``gate`` (None: each run's own threshold). What was not measured
    never passes a threshold above 0. Raises AnalysisError as ``score``."""
    table, rows = frame.trajectories, frame.iterations
    thresholds = np.array([run.gate if gate is None else gate for run in frame.runs], np.float64)
    for number, protocol in enumerate(frame.settings):
        used = thresholds[np.unique(table.run[table.setting == number])]
        if protocol.gate_mode is GateMode.INLOOP and (used > protocol.gate).any():
            raise AnalysisError(
                f"p={used.max():g}: played with an in-loop gate of {protocol.gate:g}, so a trajectory ended where a higher "
                f"threshold would have gone on; score it at {protocol.gate:g} or below"
            )
    if not len(rows):
        return np.zeros(0, bool)
    wanted = thresholds[table.run][rows.trajectory]
    with np.errstate(invalid="ignore"):
        return np.asarray((rows.category == PASSED) & ((wanted <= 0) | (rows.speedup >= wanted)))


def first_number(frame: Frame, chosen: Bools) -> Ints:
    """By trajectory, the number of its first chosen iteration; 0 when none is."""
    if not len(frame.iterations):
        return np.zeros(len(frame.trajectories), np.int32)
    never = np.iinfo(np.int32).max
    first = np.minimum.reduceat(np.where(chosen, frame.iterations.number, never), frame.trajectories.first)
    return np.where(first == never, 0, first).astype(np.int32)


def any_of(frame: Frame, chosen: Bools) -> Bools:
    """By trajectory, whether any of its iterations is chosen."""
    if not len(frame.iterations):
        return np.zeros(len(frame.trajectories), bool)
    return np.asarray(np.logical_or.reduceat(chosen, frame.trajectories.first))


def sum_of(frame: Frame, values: npt.NDArray[np.generic]) -> Floats:
    """By trajectory, the sum over its iterations."""
    if not len(frame.iterations):
        return np.zeros(len(frame.trajectories), np.float64)
    return np.add.reduceat(values.astype(np.float64), frame.trajectories.first)
