"""A stored run under other rules: other thresholds of the gate and of the stagnation signals, and the classifier of today.

Nothing is played again, so each answer says what its censoring leaves open: a trajectory that was stopped tells nothing of what
would have come after.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.analysis.classify_again import Judged
from engine.analysis.document import Section, Shown, Table, clean, count, share, table, words
from engine.analysis.frame import PASSED, SIGNALS, Bools, Frame
from engine.analysis.metrics import pass_at_k
from engine.analysis.performance import p_sweep
from engine.analysis.rates import AnalysisError, Groups, Rate, groups_by, rates_by
from engine.analysis.scoring import Scoring, any_of, score
from engine.analysis.stagnation import Thresholds, failing, iterative, rerun, stagnated
from engine.protocol import EarlyStop

MOST_CHANGES = 200
"""Iterations that are listed one by one when they are judged differently."""


def rate_cell(rate: Rate, why: str = "") -> Shown:
    """A rate as a cell. ``why`` is a shorter reason than the rate's own, for tables in which it stands often."""
    return share(rate.value, why or rate.why or f"no {rate.of}")


def owners(keys: Sequence[tuple[str, ...]]) -> list[list[Shown]]:
    """The first cells of each row: setting and fixer."""
    return [[words(key[0]), words(key[1])] for key in keys]


def by_gate(frame: Frame, gates: Sequence[float], asymmetric: bool = True) -> Table:
    """pass@k at every threshold of ``gates``. Raises AnalysisError for one above an in-loop gate (protocol 20)."""
    groups = groups_by(frame)
    curves = [rates_by(tally, groups) for _, tally in p_sweep(frame, gates, Scoring(asymmetric=asymmetric))]
    unmeasured = _totals(unmeasured_passes(frame), groups)
    tasks = _totals(np.ones(len(frame.trajectories), bool), groups)
    rows = [
        [*owner, count(tasks[row]), *(rate_cell(curve[row]) for curve in curves), count(unmeasured[row])]
        for row, owner in enumerate(owners(groups.keys))
    ]
    names = ("setting", "fixer", "trajectories", *(f"p={gate:g}" for gate in gates), "never measured")
    note = "Correct trajectories without any speedup are never measured: they pass p=0 and fail every p above it."
    return table("gates", "pass@k by performance gate", names, rows, note)


def unmeasured_passes(frame: Frame) -> Bools:
    """Trajectories that were correct, and never with a speedup."""
    correct = frame.iterations.category == PASSED
    timed = correct & ~np.isnan(frame.iterations.speedup)
    return any_of(frame, correct) & ~any_of(frame, timed)


def _totals(flags: Bools, groups: Groups) -> list[int]:
    return [int(total) for total in np.bincount(groups.index, flags, minlength=len(groups.keys))]


def by_thresholds(frame: Frame, thresholds: Thresholds, asymmetric: bool = True) -> list[Table]:
    """Stagnation and pass@k had the signals had these thresholds. Looser ones are censored where a signal has stopped the loop,
    tighter ones are not: what they would have cut off was played."""
    try:
        bits = rerun(frame, thresholds)
    except ValueError as error:
        raise AnalysisError(f"{thresholds}: {error}") from error
    groups, was, now = groups_by(frame), stagnated(frame), stagnated(frame, bits)
    scored = score(frame, Scoring(asymmetric=asymmetric))
    censored = _stopped_early(frame) & (was >= 0) & (now < 0)
    cut_off = scored.solved & (now >= 0)
    failed = failing(frame)
    failing_count = _totals(failed, groups)
    before, after = _totals(failed & (was >= 0), groups), _totals(failed & (now >= 0), groups)
    open_ends, lost = _totals(censored, groups), _totals(cut_off, groups)
    passes = rates_by(pass_at_k(scored), groups)
    rows = []
    for row, owner in enumerate(owners(groups.keys)):
        failures = Rate(before[row], failing_count[row], "failing tasks", "no task failed")
        now_rate = Rate(after[row], failing_count[row], "failing tasks", "no task failed")
        rows.append(
            [
                *owner,
                count(failing_count[row]),
                rate_cell(failures),
                rate_cell(now_rate),
                count(open_ends[row]),
                rate_cell(passes[row]),
                *_bounds(passes[row], lost[row], open_ends[row]),
            ]
        )
    names = ("setting", "fixer", "failing", "stagnation as played", "stagnation now", "censored", "pass@k as played")
    note = (
        "Of the trajectories that never passed. Censored ones were stopped by a signal that these thresholds do not raise: they "
        "might have passed or stagnated later, so pass@k lies between its bounds. Runs made with --observe are free of this."
    )
    overall = table("thresholds", f"Signals at {thresholds}", (*names, "pass@k at least", "at most"), rows, note)
    return [overall, _mix(groups, failed, was, now)]


def _bounds(rate: Rate, lost: int, open_ends: int) -> tuple[Shown, Shown]:
    """pass@k when what would have been cut off is lost and all that is open fails, or passes."""
    if rate.value is None:
        return rate_cell(rate), rate_cell(rate)
    least = max(rate.numerator - lost, 0.0)
    most = min(least + open_ends, rate.denominator)
    return share(least / rate.denominator), share(most / rate.denominator)


def _stopped_early(frame: Frame) -> Bools:
    """Trajectories of iterative repair that a signal may have ended before their budget."""
    stops = [protocol.early_stop is EarlyStop.STOP for protocol in frame.settings]
    budget = [protocol.k for protocol in frame.settings]
    owner = frame.trajectories.setting
    if not len(owner):
        return np.zeros(0, bool)
    return np.asarray(np.array(stops)[owner] & iterative(frame) & (frame.trajectories.length < np.array(budget)[owner]))


def _mix(groups: Groups, failed: Bools, was: np.ndarray, now: np.ndarray) -> Table:
    """How many failing trajectories end with each signal, before and after."""
    rows = []
    for row, owner in enumerate(owners(groups.keys)):
        mine = failed & (groups.index == row)
        for code, name in enumerate(SIGNALS):
            before, after = int((mine & (was == code)).sum()), int((mine & (now == code)).sum())
            if before or after:
                rows.append([*owner, words(name), count(before), count(after)])
    return table(
        "signals", "Failing trajectories by their signal", ("setting", "fixer", "signal", "as played", "now"), rows
    )


def by_classifier(judged: Judged) -> list[Table]:
    """What the classifier of today says differently."""
    rows = [
        [
            words(change.cell.task),
            words(change.cell.fixer),
            count(change.cell.attempt),
            count(change.iteration),
            _said(change.was),
            _said(change.now),
        ]
        for change in judged.changed[:MOST_CHANGES]
    ]
    left = len(judged.changed) - len(rows)
    note = f"{len(judged.changed)} of {judged.iterations} iterations are judged differently"
    note += f"; {left} more are not listed" if left else ""
    if judged.cut:
        note += f". {judged.cut} were judged from logs of which the journal holds head and tail only"
    names = ("task", "fixer", "attempt", "iteration", "was", "is now")
    return [table("classified", "Judged again", names, rows, note + ".")]


def _said(verdict: tuple[str, str]) -> Shown:
    category, signature = verdict
    return words(f"{category} [{clean(signature)}]" if signature else category)


def sections(
    frame: Frame,
    gates: Sequence[float],
    thresholds: Thresholds | None,
    judged: Judged | None,
    asymmetric: bool = True,
) -> list[Section]:
    """Everything that was asked for. Raises AnalysisError for a Frame without a counted trajectory."""
    if not len(frame.trajectories):
        raise AnalysisError("nothing to score: no trajectory is counted" + _reasons(frame))
    found = []
    if gates:
        found.append(Section("Performance gate", (by_gate(frame, gates, asymmetric),)))
    if thresholds is not None:
        found.append(Section("Stagnation signals", tuple(by_thresholds(frame, thresholds, asymmetric))))
    if judged is not None:
        found.append(Section("Classifier", tuple(by_classifier(judged))))
    return found


def _reasons(frame: Frame) -> str:
    reasons = ", ".join(f"{number} {why}" for why, number in sorted(frame.coverage.reasons.items()))
    return f" ({reasons})" if reasons else ""
