"""How much of a score and of a ranking is the protocol's: swing, Kendall's tau, rankings and their flips (paper 3.4, 4.4).

Scores are plain mappings here, fixer to score, so that the same functions read stored runs and a paper's printed table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.analysis.frame import Floats
from engine.analysis.rates import Figure

Scores = Mapping[str, float]
"""Fixer to score; a fixer that was not measured is not there."""


@dataclass(frozen=True)
class Swing:
    """Eq. 2: the largest score minus the smallest over the settings of one axis that a fixer was measured at. It is a lower bound
    of the protocol's true range (Eq. 3)."""

    fixer: str
    size: float
    lowest: str
    highest: str
    settings: int


def swings(by_setting: Mapping[str, Scores]) -> list[Swing]:
    """The swing of every fixer that was measured at two settings at least, largest first. ``by_setting`` is one axis, all others
    at their defaults; the unit is that of the scores."""
    found = []
    for fixer in dict.fromkeys(name for scores in by_setting.values() for name in scores):
        scores = {setting: values[fixer] for setting, values in by_setting.items() if fixer in values}
        if len(scores) >= 2:
            low, high = min(scores, key=lambda name: scores[name]), max(scores, key=lambda name: scores[name])
            found.append(Swing(fixer, scores[high] - scores[low], low, high, len(scores)))
    return sorted(found, key=lambda swing: -swing.size)


def kendall(one: Scores, other: Scores) -> Figure:
    """Kendall's tau-b (Kendall 1945: corrected for ties) of the fixers that both measured; without ties it is the tau of Eq. 4.
    ``count`` is how many they are; no value for fewer than two, or where all scores of one side are equal."""
    common = [name for name in one if name in other]
    if len(common) < 2:
        return Figure(None, len(common), "fewer than two fixers were measured at both settings")
    value = tau_b(np.array([[one[name] for name in common]]), np.array([[other[name] for name in common]]))[0]
    if np.isnan(value):
        return Figure(None, len(common), "all scores of one setting are equal: there is no order to compare")
    return Figure(float(value), len(common))


def tau_b(one: Floats, other: Floats) -> Floats:
    """Kendall's tau-b of every row: (concordant - discordant) / sqrt((pairs - ties of one) (pairs - ties of other)). Shape
    (rows, fixers) each; NaN where a row is all ties or holds NaN."""
    first, second = np.triu_indices(one.shape[1], 1)
    a, b = np.sign(one[:, first] - one[:, second]), np.sign(other[:, first] - other[:, second])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=1) / np.sqrt(np.abs(a).sum(axis=1) * np.abs(b).sum(axis=1)))


def best_setting(by_setting: Mapping[str, Scores]) -> dict[str, float]:
    """Every fixer's best score over the settings of one axis: what Table 1 ranks in its columns "best"."""
    names = dict.fromkeys(name for scores in by_setting.values() for name in scores)
    return {name: max(scores[name] for scores in by_setting.values() if name in scores) for name in names}


def ranking(scores: Scores) -> list[str]:
    """Fixers from the best score down; of equal ones the first in the mapping comes first."""
    return sorted(scores, key=lambda name: -scores[name])


@dataclass(frozen=True)
class Flip:
    """Two fixers whose order differs between two settings. Ties in either are no flip."""

    ahead: str
    behind: str
    """In the default setting; the other setting has them the other way round."""


def flips(default: Scores, other: Scores) -> list[Flip]:
    """Every pair of fixers measured at both settings that changes its order, in the default's order. Without ties they are as many
    as the swaps of neighbours that turn one ranking into the other (4.4, "Translating tau to swaps")."""
    names = [fixer for fixer in ranking(default) if fixer in other]
    return [
        Flip(ahead, behind)
        for place, ahead in enumerate(names)
        for behind in names[place + 1 :]
        if default[ahead] > default[behind] and other[ahead] < other[behind]
    ]
