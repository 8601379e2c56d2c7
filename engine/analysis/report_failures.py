"""The part of a report that tells how repairs fail: fix rates, stagnation, transitions, trajectories one by one, difficulty."""

from __future__ import annotations

import numpy as np

from engine.analysis.axes import base_setting
from engine.analysis.document import Heat, Section, Strip, Table, clean, count, missing, table, words
from engine.analysis.frame import CATEGORIES, SIGNALS, Frame
from engine.analysis.metrics import fix_rate_by_bucket, fix_rate_by_category
from engine.analysis.rates import AnalysisError, Tally, groups_by, rates_by, setting_label
from engine.analysis.rescore import owners, rate_cell
from engine.analysis.scoring import Scored
from engine.analysis.stagnation import TABLE_7, dominant_signal, sensitivity, stagnation_rates
from engine.analysis.tiers import TIERS, pass_by_tier, tiers
from engine.analysis.transitions import (
    EIGHT,
    progression_rate,
    transition_counts,
    transition_matrix,
    unique_by_task,
)
from engine.protocol import Sampling

MOST_STRIPS = 400
"""Trajectories that are kept for pictures."""


def failure_sections(scored: Scored) -> list[Section]:
    frame = scored.frame
    return [
        Section("Where repairs begin", _fix_rates(scored)),
        Section("Stagnation", (*_stagnation(scored), _sensitivity(frame))),
        Section("Trajectories", (_stops(frame),), strips=tuple(_strips(frame)), note=_strips_note(frame)),
        Section("Transitions", (_transitions(frame),), heat=_heat(frame)),
        *_difficulty(scored),
    ]


def _wide(name: str, title: str, tallies: dict[str, Tally], scored: Scored, note: str, why: str = "") -> Table:
    """A column for each tally that counts anything. ``why``: see rate_cell."""
    groups = groups_by(scored.frame)
    columns = {key: rates_by(tally, groups) for key, tally in tallies.items() if len(tally.rows)}
    rows = [
        [*owner, *(rate_cell(rates[row], why) for rates in columns.values())]
        for row, owner in enumerate(owners(groups.keys))
    ]
    return table(name, title, ("setting", "fixer", *columns), rows, note)


def _fix_rates(scored: Scored) -> tuple[Table, ...]:
    by_category = _wide(
        "fix_rate_by_category",
        "fix_rate by category of iteration 1",
        fix_rate_by_category(scored),
        scored,
        "Of the trajectories that began with the category, those that passed (D.3). Categories that none began with are left out.",
        why="none",
    )
    by_bucket = _wide(
        "fix_rate_by_bucket",
        "fix_rate by bucket of the broken start, at p=0",
        fix_rate_by_bucket(scored.frame, scored.scoring),
        scored,
        "Correctness alone, as in Table 13.",
        why="none",
    )
    return by_category, by_bucket


def _stagnation(scored: Scored) -> tuple[Table, ...]:
    rates = stagnation_rates(scored.frame)
    overall = {
        "of all": rates["stagnation"],
        "of failing": rates["stagnation_failing"],
        "oscillation of all": rates["oscillation"],
        "progression": progression_rate(scored),
        "different programs": unique_by_task(scored.frame),
    }
    groups = groups_by(scored.frame)
    mix = {name: rates_by(rates[name], groups) for name in SIGNALS}
    rows = []
    for row, owner in enumerate(owners(groups.keys)):
        shares = {name: column[row].value or 0.0 for name, column in mix.items()}
        dominant = dominant_signal(shares)
        named = words(dominant) if dominant else missing("none")
        rows.append([*owner, *(rate_cell(column[row], "none failed") for column in mix.values()), named])
    return (
        _wide(
            "stagnation",
            "Stagnation and progress",
            overall,
            scored,
            "Stagnation over all tasks (D.3) and over those that never passed as played (Table 12). Progression: of tasks that failed at "
            "iteration 1, those that climbed in severity. Different programs: distinct candidates over iterations, mean by trajectory.",
        ),
        table(
            "stagnation_mix",
            "Signals that end failing trajectories",
            ("setting", "fixer", *SIGNALS, "dominant"),
            rows,
            "The columns sum to the stagnation of failing tasks.",
        ),
    )


def _sensitivity(frame: Frame) -> Table:
    """Table 7 of the paper, over all fixers and settings at once."""
    rows = []
    for variant in sensitivity(frame, tuple(dict.fromkeys(TABLE_7))):
        rate = variant.stagnation.total()
        rows.append(
            [words(str(variant.thresholds)), rate_cell(rate), count(round(rate.denominator)), count(variant.censored)]
        )
    note = "Re-run on stored iterations. Censored: stopped by a signal that these thresholds do not raise; what would have come is unknown."
    return table(
        "thresholds", "Other thresholds of the signals", ("thresholds", "stagnation", "failing", "censored"), rows, note
    )


def _stops(frame: Frame) -> Table:
    groups, names = groups_by(frame), frame.labels("stop_reason")
    rows = []
    for row, owner in enumerate(owners(groups.keys)):
        found, totals = np.unique(frame.trajectories.stop_reason[groups.index == row], return_counts=True)
        rows += [[*owner, words(names[code]), count(int(total))] for code, total in zip(found, totals, strict=True)]
    return table("stop_reasons", "How trajectories ended", ("setting", "fixer", "stop reason", "trajectories"), rows)


def _strips(frame: Frame) -> list[Strip]:
    """Of the base setting, by task."""
    mine = frame.where(frame.trajectories.setting == frame.settings.index(base_setting(frame)))
    columns, rows = mine.trajectories, mine.iterations
    stops, found = mine.labels("stop_reason"), []
    for place in np.lexsort((columns.attempt, columns.fixer, columns.task))[:MOST_STRIPS]:
        first, length = int(columns.first[place]), int(columns.length[place])
        found.append(
            Strip(
                clean(mine.names["task"][columns.task[place]]),
                clean(mine.names["fixer"][columns.fixer[place]]),
                tuple(CATEGORIES[code] for code in rows.category[first : first + length]),
                clean(stops[columns.stop_reason[place]]),
            )
        )
    return found


def _strips_note(frame: Frame) -> str:
    base = base_setting(frame)
    mine = int((frame.trajectories.setting == frame.settings.index(base)).sum())
    notes = []
    if len(frame.settings) > 1:
        notes.append(f"Drawn are those of the base setting ({setting_label(base)}).")
    if base.sampling is Sampling.REPEATED:
        notes.append("Attempts of repeated sampling follow each other.")
    if mine > MOST_STRIPS:
        notes.append(f"The first {MOST_STRIPS} of {mine} are drawn.")
    return " ".join(notes)


def _heat(frame: Frame) -> Heat:
    counts = transition_counts(frame)
    shares = tuple(tuple(rate.value for rate in row) for row in transition_matrix(frame))
    return Heat(CATEGORIES[:EIGHT], shares, tuple(int(total) for total in counts.sum(axis=1)))


def _transitions(frame: Frame) -> Table:
    """The same as a table, by pairs that occur."""
    rows = []
    for a, row in enumerate(transition_matrix(frame)):
        for b, rate in enumerate(row):
            if rate.numerator:
                rows.append([words(CATEGORIES[a]), words(CATEGORIES[b]), count(round(rate.numerator)), rate_cell(rate)])
    note = "Pairs of neighbouring iterations of all trajectories. A pass ends a trajectory, so its row is empty."
    return table("transitions", "Which category follows which", ("from", "to", "pairs", "of its row"), rows, note)


def _difficulty(scored: Scored) -> list[Section]:
    """Tiers need a panel: two fixers or more, in one setting of iterative repair."""
    try:
        tiering = tiers(scored)
    except AnalysisError:
        return []
    if len(tiering.panel) < 2:
        return []
    rows = []
    for fixer in tiering.panel:
        rates = pass_by_tier(scored, tiering, fixer)
        rows.append([words(fixer), *(rate_cell(rates[tier], "no task") for tier in TIERS)])
    sizes = tiering.sizes
    names = ("fixer", *(f"{tier} (n={sizes[tier]})" for tier in TIERS))
    note = (
        "Tiers by this panel: L1 and L2 solved by all, in at most 2 iterations on average or in more; L3 by half or more; L4 by fewer; "
        f"L5 by none. {len(tiering.outside)} tasks are not covered by every fixer, and in no tier."
    )
    return [Section("Difficulty", (table("tiers", "pass@k by difficulty", names, rows, note),))]
