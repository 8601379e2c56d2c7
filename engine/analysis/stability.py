"""Rankings of stored runs at several settings, on the tasks that all of them cover, with what resampling the tasks does to them.

A rank that compares different tasks says nothing about the protocol: scores here are of the tasks which every ranked fixer played at
every setting that is compared (protocol 30). How many are left out is part of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis.frame import Bools, Floats, Frame, Ints
from engine.analysis.intervals import (
    LEVEL,
    RESAMPLES,
    SEED,
    Interval,
    Weights,
    percentile_interval,
    task_sums,
    task_weights,
)
from engine.analysis.rates import AnalysisError, Figure, Groups, Tally
from engine.analysis.robustness import kendall, tau_b


@dataclass(frozen=True)
class Compared:
    """Scores as fractions, by setting, then fixer, all over the same ``tasks``; ``left_out`` tasks were played somewhere among them
    and not everywhere. ``missing`` fixers were not measured at all of the settings, and are in none of the scores."""

    scores: dict[str, dict[str, float]]
    tasks: int
    left_out: int
    missing: tuple[str, ...]

    @property
    def fixers(self) -> tuple[str, ...]:
        return tuple(next(iter(self.scores.values()), {}))


def compared(frame: Frame, tally: Tally, groups: Groups, settings: Sequence[str]) -> Compared:
    """The rate of every fixer at every one of ``settings`` (labels), over the common tasks. ``groups`` are ``groups_by(frame)``.
    Raises AnalysisError for a setting that no trajectory has."""
    table = _table(frame, tally, groups, settings)
    rates = _rates(table, table.common.astype(np.float32)[None, :])[0]
    scores = {
        setting: dict(zip(table.fixers, map(float, row), strict=True))
        for setting, row in zip(settings, rates, strict=True)
    }
    return Compared(
        scores if table.common.any() else {setting: {} for setting in settings},
        int(table.common.sum()),
        int((table.somewhere & ~table.common).sum()),
        table.missing,
    )


@dataclass(frozen=True)
class Stability:
    """Kendall's tau-b between two rankings, and its interval under resamples of the common tasks. The paper takes tau as a
    description of its panel (3.3): the interval says what other tasks might have given, not what other fixers would."""

    tau: Figure
    interval: Interval
    scores: Compared


def stability(
    frame: Frame,
    tally: Tally,
    groups: Groups,
    default: str,
    others: Sequence[str],
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Stability:
    """tau between the setting ``default`` and ``others``: one setting is compared as it is, of several each fixer's best counts
    (Table 1: give all settings of the axis, the default too), chosen anew in every resample. Raises AnalysisError as
    ``compared``."""
    settings = list(dict.fromkeys((default, *others)))
    columns = [settings.index(name) for name in others]
    found = compared(frame, tally, groups, settings)
    if not found.tasks or not others:
        why = "no task was played by every fixer at every setting"
        return Stability(Figure(None, len(found.fixers), why), Interval(None, None, why=why), found)
    best = {fixer: max(found.scores[name][fixer] for name in others) for fixer in found.fixers}
    tau = kendall(found.scores[default], best)
    table = _table(frame, tally, groups, settings)
    values = []
    for weights in task_weights(np.flatnonzero(table.common), len(table.common), resamples, seed):
        rates = _rates(table, weights)
        values.append(tau_b(rates[:, 0], rates[:, columns].max(axis=1)))
    return Stability(tau, percentile_interval(np.concatenate(values), LEVEL), found)


@dataclass(frozen=True)
class _Table:
    """Sums by task, setting and fixer, and which tasks every ranked fixer has at every setting."""

    fixers: tuple[str, ...]
    missing: tuple[str, ...]
    hits: Floats
    base: Floats
    common: Bools
    somewhere: Bools


def _table(frame: Frame, tally: Tally, groups: Groups, settings: Sequence[str]) -> _Table:
    if groups.columns != ("setting", "fixer"):
        raise AnalysisError("rankings are of fixers at settings: group by nothing else")
    place = {key: number for number, key in enumerate(groups.keys)}
    for setting in settings:
        if not any(key[0] == setting for key in groups.keys):
            raise AnalysisError(
                f"{setting}: no trajectory was played so; there are {', '.join(sorted({key[0] for key in groups.keys}))}"
            )
    everyone = tuple(dict.fromkeys(key[1] for key in groups.keys if key[0] in settings))
    fixers = tuple(name for name in everyone if all((setting, name) in place for setting in settings))
    chosen: Ints = np.array([place[setting, name] for setting in settings for name in fixers], np.int64)
    hits, base = task_sums(frame, tally, groups)
    shape = (len(hits), len(settings), len(fixers))
    hits, base = hits[:, chosen].reshape(shape), base[:, chosen].reshape(shape)
    played = base > 0
    common = np.asarray(played.all(axis=(1, 2))) & bool(fixers)
    missing = tuple(name for name in everyone if name not in fixers)
    return _Table(fixers, missing, hits, base, common, np.asarray(played.any(axis=(1, 2))))


def _rates(table: _Table, weights: Weights) -> Floats:
    """Rates under every row of task weights: shape (rows, settings, fixers)."""
    shape = table.hits.shape
    totals = [
        (weights @ part.reshape(shape[0], -1)).reshape(len(weights), *shape[1:]) for part in (table.hits, table.base)
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(totals[0] / totals[1])
