"""When two fixers' order can be believed: the z-criterion of Hariri et al., which the paper's 3.4 cites.

For one fixer, task a has outcomes in C+1 categories with weights w_0 .. w_C (here: failed, 0, and passed, 1) and counts n_a0 .. n_aC
in N trials, with a prior D + 1 pseudo-observations. Under the Dirichlet posterior the fixer's score has the mean and variance

    mu      = w_0 + 1/(M T) sum_a sum_j nu_aj (w_j - w_0)
    sigma^2 = 1/(M^2 (T+1)) sum_a [ sum_j (nu_aj/T) (w_j - w_0)^2 - ( sum_j (nu_aj/T) (w_j - w_0) )^2 ]

with nu_aj = n_aj + prior_j and T the sum over j of nu_aj (Hariri et al., "Don't Pass@k: A Bayesian Framework for Large Language
Model Evaluation", arXiv 2510.04265: Bayes@N, by default with a uniform prior). Tasks may have different T here: each is summed with its own.
Two scores are then compared by z = |mu - mu'| / sqrt(sigma^2 + sigma'^2), and their order is right with probability
rho = (1 + erf(z / sqrt 2)) / 2; z >= 1.645 (rho = 0.95) declares it resolved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.analysis.rates import AnalysisError
from engine.analysis.robustness import Flip, flips

RESOLVED: Final = 1.645
"""z from which an order is declared (paper 3.4): right with probability 0.95."""

UNIFORM: Final = (1.0, 1.0)
"""One pseudo-observation of each outcome: failed, passed."""


@dataclass(frozen=True)
class Posterior:
    """Mean and variance of a score under its Dirichlet posterior, from ``tasks`` tasks."""

    mean: float
    variance: float
    tasks: int


def posterior(
    counts: npt.ArrayLike, weights: Sequence[float] = (0.0, 1.0), prior: npt.ArrayLike = UNIFORM
) -> Posterior:
    """The posterior of ``counts``, shape (tasks, outcomes): how often each task had each outcome; ``prior`` is of each outcome, or
    of each task and outcome. Raises AnalysisError without a task, for negative counts, and for shapes that do not fit."""
    rows, added = np.asarray(counts, np.float64), np.asarray(prior, np.float64)
    if rows.ndim != 2 or not rows.size or rows.shape[1] != len(weights) or added.shape[-1] != len(weights):
        raise AnalysisError("a posterior needs at least one task, and a weight and a prior for each outcome")
    if (rows < 0).any() or (added < 0).any() or not ((rows + added).sum(axis=1) > 0).all():
        raise AnalysisError("a posterior needs counts and a prior that are not negative, and something counted")
    nu = rows + added
    total = nu.sum(axis=1, keepdims=True)
    share, value = nu / total, np.asarray(weights, np.float64)
    means = share @ value
    variances = (share @ value**2 - means**2) / (total[:, 0] + 1)
    return Posterior(float(means.mean()), float(max(variances.sum(), 0.0) / len(rows) ** 2), len(rows))


@dataclass(frozen=True)
class Order:
    """How sure the order of two scores is. ``z`` is None when both are certain, ``probability`` then 1 or, for equals, 1/2."""

    z: float | None
    probability: float
    resolved: bool


def order_of(one: Posterior, other: Posterior, threshold: float = RESOLVED) -> Order:
    """z, rho and whether the order is declared resolved."""
    apart, spread = abs(one.mean - other.mean), math.sqrt(one.variance + other.variance)
    if spread == 0:
        return Order(None, 1.0 if apart else 0.5, apart > 0)
    z = apart / spread
    return Order(z, 0.5 * (1 + math.erf(z / math.sqrt(2))), z >= threshold)


@dataclass(frozen=True)
class JudgedFlip:
    """A flip, and how sure the order is at either setting. It is resolved when both orders are: the rank did change."""

    flip: Flip
    default: Order
    other: Order

    @property
    def resolved(self) -> bool:
        return self.default.resolved and self.other.resolved


def judged_flips(default: Mapping[str, Posterior], other: Mapping[str, Posterior]) -> list[JudgedFlip]:
    """Every flip between two settings with its judgement. Orders are those of the posterior means."""
    found = flips(
        {name: post.mean for name, post in default.items()}, {name: post.mean for name, post in other.items()}
    )
    return [
        JudgedFlip(
            flip,
            order_of(default[flip.ahead], default[flip.behind]),
            order_of(other[flip.ahead], other[flip.behind]),
        )
        for flip in found
    ]
