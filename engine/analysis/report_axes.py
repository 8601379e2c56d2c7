"""The part of a report about the protocol itself: swing, tau, ranks and flips along each axis that was measured."""

from __future__ import annotations

from collections.abc import Sequence

from engine.analysis.axes import Axis, axes_of
from engine.analysis.document import Ranks, Section, Shown, Table, clean, count, missing, number, share, table, words
from engine.analysis.frame import Frame
from engine.analysis.robustness import Scores, best_setting
from engine.analysis.scoring import Scoring
from engine.analysis.taus import BEST

TITLES = {
    "A1": "performance gate p",
    "A2": "sampling",
    "A3": "feedback",
    "A4": "history H",
    "A5": "few-shot examples",
}


def axes_section(frame: Frame, scoring: Scoring) -> list[Section]:
    """One section, or none when no axis has two settings."""
    axes = axes_of(frame, scoring)
    if not axes:
        return []
    ranks = _ranks(axes)
    tables = [*(_scores(axis) for axis in axes if axis.name != "A1"), _swings(axes), _taus(axes), _flips(axes)]
    tables += [_rank_table(ranks)] if ranks is not None else []
    return [
        Section(
            "The protocol's part",
            tuple(found for found in tables if found.rows),
            ranks=ranks,
            note="One axis at a time, the others as in the base setting. In the picture a rank that differs from the first column's has "
            "a star and a thick ring.",
        )
    ]


def _scores(axis: Axis) -> Table:
    fixers = list(axis.tasks)
    rows = [
        [words(fixer), count(axis.tasks[fixer]), *(_score(scores, fixer) for scores in axis.scores.values())]
        for fixer in fixers
    ]
    title = f"{axis.name}: pass@k by {TITLES[axis.name]}"
    note = f"On the tasks that a fixer has at all of its settings. Base: {axis.base}."
    return table(f"axis_{axis.name}", title, ("fixer", "tasks", *axis.scores), rows, note)


def _score(scores: Scores, fixer: str) -> Shown:
    return share(scores[fixer]) if fixer in scores else missing("not measured")


def _swings(axes: Sequence[Axis]) -> Table:
    rows = [
        [
            words(axis.name),
            words(swing.fixer),
            number(100 * swing.size, 1, " points"),
            words(swing.lowest),
            words(swing.highest),
            count(swing.settings),
        ]
        for axis in axes
        for swing in axis.swings
    ]
    names = ("axis", "fixer", "swing", "lowest at", "highest at", "settings")
    return table("swing", "Swing (Eq. 2)", names, rows, "A lower bound of what the protocol can move (Eq. 3).")


def _taus(axes: Sequence[Axis]) -> Table:
    rows = []
    for axis in axes:
        for other, found in axis.taus.items():
            pair = (words(axis.name), words(axis.base), words("each fixer's best" if other == BEST else other))
            tau, around = found.tau, found.interval
            known = around.low is not None and around.high is not None
            said = words(f"{around.low:.2f} to {around.high:.2f}") if known else missing(around.why or "no interval")
            rows.append(
                [
                    *pair,
                    number(tau.value, 2, why=tau.why),
                    said,
                    count(tau.count),
                    count(found.tasks),
                    count(found.left_out),
                ]
            )
    names = ("axis", "base", "against", "Kendall tau", "95 %", "fixers", "tasks", "left out")
    note = (
        "tau-b; descriptive, as the paper has it. The interval is under resamples of the tasks. Along a played axis scores are on the "
        "tasks that every ranked fixer has at the settings compared, and others are left out."
    )
    return table("tau", "Ranking stability (Eq. 4)", names, rows, note)


def _flips(axes: Sequence[Axis]) -> Table:
    rows = []
    for axis in axes:
        for other in axis.others:
            for judged in axis.flips(other):
                z = [number(order.z, 2, why="both certain") for order in (judged.default, judged.other)]
                resolved = words("resolved" if judged.resolved else "not resolved")
                rows.append(
                    [words(axis.name), words(other), words(judged.flip.ahead), words(judged.flip.behind), *z, resolved]
                )
    names = ("axis", "setting", "ahead at the base", "ahead here", "z at the base", "z here", "z at both 1.645 or more")
    note = "Pairs of fixers whose order changes. Resolved: the z-criterion of Hariri et al. holds for both orders."
    return table("flips", "Flips", names, rows, note)


def _ranks(axes: Sequence[Axis]) -> Ranks | None:
    """The base, then every other setting, and the best of each played axis, as in Table 1."""
    base = next((axis for axis in axes if axis.name != "A1"), axes[0])
    columns: dict[str, Scores] = {"base": base.scores[base.base]}
    for axis in axes:
        columns |= {f"{axis.name} {other}": axis.scores[other] for other in axis.others}
        if axis.name in ("A3", "A4", "A5"):
            columns[f"{axis.name} best"] = best_setting(axis.scores)
    fixers = list(columns["base"])
    if len(fixers) < 2:
        return None
    return Ranks(
        tuple(columns), {clean(fixer): tuple(_rank(scores, fixer) for scores in columns.values()) for fixer in fixers}
    )


def _rank_table(ranks: Ranks) -> Table:
    """Table 1, with fixers as rows; a star is a flip."""
    rows = [[words(fixer), *(_rank_cell(rank, row[0]) for rank in row)] for fixer, row in ranks.ranks.items()]
    note = "From 1; equal scores share the mean of their ranks. A star: another rank than at the base."
    return table("ranks", "Ranks by setting", ("fixer", *ranks.settings), rows, note)


def _rank_cell(rank: float | None, base: float | None) -> Shown:
    return missing("not measured") if rank is None else Shown(f"{rank:g}{'*' if rank != base else ''}", rank)


def _rank(scores: Scores, fixer: str) -> float | None:
    """From 1; equal scores share the mean of their ranks."""
    if fixer not in scores:
        return None
    better = sum(score > scores[fixer] for score in scores.values())
    equal = sum(score == scores[fixer] for score in scores.values())
    return better + (equal + 1) / 2
