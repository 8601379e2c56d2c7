"""Kendall's tau along an axis, with what resampling the tasks does to it (paper 3.3, Eq. 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.analysis.frame import Frame
from engine.analysis.intervals import Interval, percentile_interval, resampled
from engine.analysis.metrics import pass_at_k
from engine.analysis.rates import Figure, groups_by, rates_by
from engine.analysis.robustness import kendall, tau_b
from engine.analysis.scoring import Scoring, score
from engine.analysis.stability import stability

BEST = "best"
"""Each fixer's best setting of the axis: what Table 1 compares with the default."""


@dataclass(frozen=True)
class Tau:
    """Between the base and one other setting. ``tasks`` are those that the scores are on, ``left_out`` those that were played
    somewhere and not everywhere."""

    tau: Figure
    interval: Interval
    tasks: int
    left_out: int


def played_taus(frame: Frame, base: str, labels: Mapping[str, str], scoring: Scoring) -> dict[str, Tau]:
    """Of an axis that is played: for every other setting, and for BEST. ``labels`` are the settings' labels in the Frame by their
    name on the axis, ``base`` among them. Scores are on the tasks that every ranked fixer has at the settings compared."""
    tally, groups = pass_at_k(score(frame, scoring)), groups_by(frame)
    wanted = {name: [label] for name, label in labels.items() if name != base}
    wanted[BEST] = list(labels.values())
    found = {}
    for name, others in wanted.items():
        stable = stability(frame, tally, groups, labels[base], others)
        found[name] = Tau(stable.tau, stable.interval, stable.scores.tasks, stable.scores.left_out)
    return found


def scored_taus(frame: Frame, base: float, gates: Mapping[str, float], scoring: Scoring) -> dict[str, Tau]:
    """Of A1 on the rows of one setting: for every gate but ``base``. All gates are scored on the same trajectories."""
    groups = groups_by(frame)
    others = {name: gate for name, gate in gates.items() if gate != base}
    tallies = [
        pass_at_k(score(frame, Scoring(gate=gate, k=scoring.k, asymmetric=scoring.asymmetric)))
        for gate in (base, *others.values())
    ]
    drawn = resampled(frame, tallies, groups)
    scores = [
        {
            key[1]: rate.value
            for key, rate in zip(groups.keys, rates_by(tally, groups), strict=True)
            if rate.value is not None
        }
        for tally in tallies
    ]
    tasks = len(set(frame.trajectories.task.tolist()))
    return {
        name: Tau(kendall(scores[0], scores[place]), percentile_interval(tau_b(drawn[0], drawn[place])), tasks, 0)
        for place, name in enumerate(others, 1)
    }
