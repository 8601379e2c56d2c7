"""The metric family of D.3: pass@1, pass@k, debug_rate@k, fix_rate, compile rate, and what a fix took.

Every function returns a Tally: what each unit adds to numerator and denominator. Sum it with ``rates_by``, put intervals on it with
``intervals.bootstrap``. docs/decisions/what-a-rate-divides-by.md names every denominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.analysis.frame import CATEGORIES, PASSED, Floats, Frame, Ints
from engine.analysis.rates import Rate, Tally, each, everyone, tally_of
from engine.analysis.scoring import DEFAULT, Scored, Scoring, score, sum_of
from engine.verdict.categories import OUTCOME_BUCKETS

START_BUCKETS: Final = ("compile_error", "logic_error", "perf_broken", "memory_crash", "timeout")
"""In the order of Table 13."""

_REPEATED = "repeated sampling: no attempt sees another's failure, so nothing is debugged (protocol 21)"


def unbiased(n: Ints, c: Ints, k: Ints) -> Floats:
    """1 - C(n-c, k) / C(n, k): the chance that k of n draws, c of them right, hold a right one. The unbiased estimator of pass@k
    (Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 2.1); with n = k it is whether any draw was
    right. Each place is a case of its own, with 0 <= c <= n and 1 <= k <= n."""
    # C(n-c, k) / C(n, k) is the product of (n-c-i) / (n-i) for i < k, which no factorial overflows
    none_right = np.ones(len(n))
    for i in range(int(k.max(initial=0))):
        none_right *= np.where(i < k, np.maximum(n - c - i, 0) / np.maximum(n - i, 1), 1.0)
    return 1.0 - none_right


@dataclass(frozen=True)
class _Draws:
    """Attempts of repeated sampling, by setting, run, fixer and task: how many are kept, how many of these passed, the budget."""

    rows: Ints
    kept: Ints
    right: Ints
    budget: Ints


def _draws(scored: Scored) -> _Draws:
    """A self-sourced task of K attempts keeps attempts 1 to K-1 (protocol 27); of more than K, all are draws."""
    table, settings = scored.frame.trajectories, scored.frame.settings
    rows = np.flatnonzero(scored.repeated)
    if not len(rows):
        return _Draws(rows, rows, rows, rows)
    owner = (table.task[rows], table.fixer[rows], table.run[rows], table.setting[rows])
    order = np.lexsort((table.attempt[rows], *owner))
    rows = rows[order]
    changes = [column[order][1:] != column[order][:-1] for column in owner]
    begins = np.flatnonzero(np.concatenate(([True], np.logical_or.reduce(changes))))
    drawn = np.diff(np.append(begins, len(rows)))
    most = np.array([protocol.k for protocol in settings], np.int64)[table.setting[rows[begins]]]
    kept = drawn - (scored.self_source[rows[begins]] & (drawn == most) & (most > 1))
    place = np.arange(len(rows)) - np.repeat(begins, drawn)
    right = np.add.reduceat(scored.solved[rows] & (place < np.repeat(kept, drawn)), begins, dtype=np.int64)
    return _Draws(rows[begins], kept, right, scored.budget[rows[begins]])


def pass_at_k(scored: Scored) -> Tally:
    """pass@k (D.3, with Eq. 5 when asymmetric). Iterative: did any iteration of the budget pass; one unit a trajectory. Repeated:
    one unit a task, the unbiased estimator (with as many attempts as the budget: did any pass); a task with fewer attempts than
    its budget is left out, and counted in ``left_out``."""
    alone = np.flatnonzero(~scored.repeated)
    draws = _draws(scored)
    enough = draws.kept >= draws.budget
    chances = unbiased(draws.kept[enough], draws.right[enough], draws.budget[enough])
    rows = np.concatenate((alone, draws.rows[enough]))
    hits = np.concatenate((scored.solved[alone].astype(np.float64), chances))
    return Tally("pass@k", "tasks", rows, hits, each(len(rows)), left_out=int((~enough).sum()))


def pass_at_1(scored: Scored) -> Tally:
    """pass@1 (D.3). Iterative: did iteration 1 pass. Repeated: the share of a task's kept attempts that passed, the unbiased
    estimator at k=1."""
    alone = np.flatnonzero(~scored.repeated)
    draws = _draws(scored)
    rows = np.concatenate((alone, draws.rows))
    hits = np.concatenate((scored.first_passes[alone].astype(np.float64), draws.right / draws.kept))
    return Tally("pass@1", "tasks", rows, hits, each(len(rows)))


def debug_rate(scored: Scored) -> Tally:
    """debug_rate@k (D.3): of the tasks that failed at iteration 1, those that passed later within the budget."""
    failed = ~scored.repeated & ~scored.first_passes
    why = "no task failed at iteration 1" if not scored.repeated.any() else _REPEATED
    return tally_of("debug_rate@k", "tasks that failed at iteration 1", scored.solved & failed, failed, why)


def identity_gap(pass_1: Rate, pass_k: Rate, debug: Rate) -> float | None:
    """pass@k - (pass@1 + (1 - pass@1) * debug_rate@k): 0 when the three are of the same iterations (paper 3.5). None when one has
    no value, except that nothing can be debugged where everything passed at once."""
    if pass_1.value is None or pass_k.value is None or (debug.value is None and pass_1.value < 1):
        return None
    return pass_k.value - (pass_1.value + (1 - pass_1.value) * (debug.value or 0.0))


def fix_rate_by_category(scored: Scored) -> dict[str, Tally]:
    """fix_rate[c] (D.3): of the trajectories whose iteration 1 was of category c, those that passed. ``passed`` has no row: it
    would be trivially 1. For repeated sampling nothing is fixed later, and attempts are left out."""
    first = scored.frame.iterations.category[scored.frame.trajectories.first]
    return {
        name: tally_of(
            f"fix_rate[{name}]",
            f"tasks that began with {name}",
            scored.solved,
            ~scored.repeated & (first == code),
        )
        for code, name in enumerate(CATEGORIES)
        if code != PASSED
    }


def fix_rate_by_bucket(frame: Frame, scoring: Scoring = DEFAULT) -> dict[str, Tally]:
    """fix_rate by the bucket of the broken start, at p=0 whatever the scoring says (Table 13)."""
    scored = score(frame, Scoring(gate=0.0, k=scoring.k, asymmetric=scoring.asymmetric))
    solved = pass_at_k(scored)
    tallies = {}
    for name in START_BUCKETS:
        rows = np.flatnonzero(frame.of("bucket", name)[solved.rows])
        of, why = f"tasks that start as {name}", "no such task"
        tallies[name] = Tally(f"fix_rate[{name}]", of, solved.rows[rows], solved.hits[rows], each(len(rows)), why)
    return tallies


def compile_rate(scored: Scored) -> Tally:
    """compile_rate@1: first candidates whose category is none of Table 4's bucket compile_error. One unit a trajectory, so one an
    attempt for repeated sampling."""
    broken = [code for code, name in enumerate(CATEGORIES) if OUTCOME_BUCKETS[name] == "compile_error"]
    first = scored.frame.iterations.category[scored.frame.trajectories.first]
    hits = (~np.isin(first, broken)).astype(np.float64)
    return Tally("compile_rate@1", "first candidates", everyone(len(hits)), hits, each(len(hits)))


def truncated_rate(frame: Frame) -> Tally:
    """Replies that the token limit cut off, of all iterations (protocol 11). One unit a trajectory."""
    hits = sum_of(frame, frame.iterations.truncated)
    lengths = frame.trajectories.length.astype(np.float64)
    return Tally("truncated", "iterations", everyone(len(lengths)), hits, lengths)


def iterations_to_fix(scored: Scored) -> Tally:
    """Mean number of the first passing iteration, over the solved trajectories of iterative repair."""
    solved = scored.solved & ~scored.repeated
    return tally_of(
        "iterations to fix", "solved tasks", scored.first_pass.astype(np.float64), solved, "nothing was solved"
    )


def tokens_to_fix(scored: Scored) -> Tally:
    """Mean tokens, in and out, up to and with the first pass, over the solved trajectories whose every reply told them."""
    return _spent(scored, scored.frame.iterations.tokens, "tokens to fix")


def cost_to_fix(scored: Scored) -> Tally:
    """Mean US dollars up to and with the first pass, over the solved trajectories whose every reply has a price."""
    return _spent(scored, scored.frame.iterations.cost, "cost to fix")


def seconds_to_fix(scored: Scored) -> Tally:
    """Mean wall-clock seconds (model, build, test, sanitizer, timing) up to and with the first pass, over solved trajectories."""
    return _spent(scored, scored.frame.iterations.seconds, "seconds to fix")


def _spent(scored: Scored, values: Floats, name: str) -> Tally:
    rows = scored.frame.iterations
    until = rows.number <= scored.first_pass[rows.trajectory]
    spent = sum_of(scored.frame, np.where(until, values, 0.0))
    known = scored.solved & ~scored.repeated & ~np.isnan(spent)
    return tally_of(name, "solved tasks that tell it", spent, known, "nothing was solved, or no reply told it")
