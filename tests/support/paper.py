"""The paper's printed tables as data, and every place where the paper disagrees with itself, computed from them.

``tests/fixtures/paper/tables.json`` holds the figures as printed (percent), ``disagreements.json`` the list by table and cell. What
only the text says is a constant here, with its section in the list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.analysis.robustness import flips, kendall, ranking, swings

FOLDER = Path(__file__).parents[1] / "fixtures" / "paper"
TABLES: dict[str, Any] = json.loads((FOLDER / "tables.json").read_text())
DISAGREEMENTS: list[dict[str, str]] = json.loads((FOLDER / "disagreements.json").read_text())

Scores = dict[str, float]


def column(name: str, place: int) -> Scores:
    """One column of a table, fixer to figure. Keys that are no fixer (n, p) are left out."""
    rows: Mapping[str, Any] = TABLES[name]
    return {fixer: row[place] for fixer, row in rows.items() if fixer not in ("n", "p", "n_Gemma")}


T8, T9, T10, T11, T12 = (
    "table8_A1_pass5_by_p",
    "table9_A2_iter_rep",
    "table10_A3_L0_L1_L2_L3_L3raw",
    "table11_A4_H1_H2_H3_H4",
    "table12_pass1_debug5_pass5_stag_dominant",
)
T3, T6, T7, T13 = (
    "table3_passk_by_tier_L1_L2_L3_L4_L5",
    "table6_stagnation_nfail_overall_dup_cycle_osc_noprog",
    "table7_overall_stagnation_osc_2of4_3of5_4of6_noprog_c2_c3_c4",
    "table13_fixrate_compile_logic_perf_mem_timeout",
)
P_VALUES: Sequence[float] = TABLES[T8]["p"]
FEEDBACK, HISTORY = ("L0", "L1", "L2", "L3", "L3raw"), ("H1", "H2", "H3", "H4")

SETTINGS: dict[str, dict[str, Scores]] = {
    "A1": {f"p={p:g}": column(T8, place) for place, p in enumerate(P_VALUES)},
    "A2": {"iterative": column(T9, 0), "repeated": column(T9, 1)},
    "A3": {level: column(T10, place) for place, level in enumerate(FEEDBACK)},
    "A4": {depth: column(T11, place) for place, depth in enumerate(HISTORY)},
}
DEFAULT = column(T12, 2)
"""pass@5 of the six fixers at the default protocol."""

FIXERS = list(DEFAULT)


def among(scores: Scores, fixers: Sequence[str] = FIXERS) -> Scores:
    return {name: scores[name] for name in fixers if name in scores}


def counts_of(percent: float, total: int) -> list[int]:
    """The counts of ``total`` that print as ``percent``: rounded to one digit, halves either way."""
    return [count for count in range(total + 1) if abs(100 * count / total - percent) <= 0.05 + 1e-9]


def solved_by_tier(fixer: str) -> int:
    """How many tasks Table 3's row adds up to."""
    sizes = TABLES[T3]["n"]
    return sum(round(percent * size / 100) for percent, size in zip(TABLES[T3][fixer], sizes, strict=True) if size)


def solved_by_bucket(fixer: str) -> int:
    """How many tasks Table 13's row adds up to."""
    sizes = TABLES[T13]["n_Gemma" if fixer.startswith("Gemma") else "n"]
    return sum(round(percent * size / 100) for percent, size in zip(TABLES[T13][fixer], sizes, strict=True))


def spread(sizes: Sequence[float]) -> str:
    return f"{min(sizes):.1f}-{max(sizes):.1f}"


def swing_range(axis: str) -> str:
    return spread([swing.size for swing in swings(SETTINGS[axis])])


def _spreads_by_bucket() -> str:
    rows = [values[:4] for name, values in TABLES[T13].items() if not name.startswith("n")]
    return spread([max(row) - min(row) for row in rows])


def _others_preferred() -> str:
    """Fixers that do better than at the default on A2, A3 or A4, against each table's own default column."""
    defaults = {"A2": "iterative", "A3": "L3", "A4": "H4"}
    better = {
        fixer
        for axis, usual in defaults.items()
        for scores in SETTINGS[axis].values()
        for fixer, score in scores.items()
        if score > SETTINGS[axis][usual][fixer]
    }
    return f"{len(better)} of 7"


def _not_last() -> str:
    """Settings at which GLM-4.7 is not the sixth of the six."""
    return ", ".join(
        name
        for axis in ("A2", "A3", "A4")
        for name, scores in SETTINGS[axis].items()
        if ranking(among(scores))[-1] != "GLM-4.7"
    )


def _favours() -> str:
    differences = [round(iterative - repeated, 1) for iterative, repeated in TABLES[T9].values()]
    more, less = sum(d > 0.5 for d in differences), sum(d < -0.5 for d in differences)
    return f"{more} for iteration, {less} for repeated, {len(differences) - more - less} within 0.5"


def _table7_flips() -> str:
    usual = column(T7, 1)
    names = ("2-of-4", "3-of-5", "4-of-6", "c=2", "c=3", "c=4")
    found = [(name, flip) for place, name in enumerate(names) for flip in flips(usual, column(T7, place))]
    return "; ".join(f"{name}: {flip.behind} passes {flip.ahead}" for name, flip in found)


def _tier_threshold() -> str:
    """The p of Table 8 whose scores, as counts of 200, are the sums of Table 3's rows."""
    fits = [
        p
        for place, p in enumerate(P_VALUES)
        if all(round(2 * TABLES[T8][fixer][place]) == solved_by_tier(fixer) for fixer in column(T8, 0))
    ]
    return ", ".join(f"p={p:g}" for p in fits)


def _whole(cells: Sequence[float]) -> str:
    totals = [total for total in (200, 208, 213) if all(counts_of(cell, total) for cell in cells)]
    return "N=" + " or ".join(map(str, totals))


Finding = Callable[[], str]


def _n_fail(fixer: str) -> Finding:
    """Table 13's solved tasks taken from the 200 of Table 8 (168 for Gemma)."""
    return lambda: str((168 if fixer.startswith("Gemma") else 200) - solved_by_bucket(fixer))


def _fails_of_213(fixer: str) -> Finding:
    return lambda: str(round(213 * (1 - DEFAULT[fixer] / 100)))


def _default_in_8(fixer: str) -> Finding:
    return lambda: f"{SETTINGS['A2']['iterative'][fixer]:.1f}"


FINDINGS: dict[str, Finding] = {
    "A3 range": lambda: swing_range("A3"),
    "A4 range": lambda: swing_range("A4"),
    "grid": lambda: f"{len(P_VALUES)} x 2 x 5 x 4 = {len(P_VALUES) * 2 * 5 * 4}",
    "smallest swing": lambda: "{}, {:.1f}".format(
        *min(((axis, swings(SETTINGS[axis])[0].size) for axis in SETTINGS), key=lambda pair: pair[1])
    ),
    "GLM default": lambda: f"{DEFAULT['GLM-4.7']:.1f}",
    **{f"Table 8 default, {fixer}": _default_in_8(fixer) for fixer in column(T8, 0)},
    **{f"n_fail, {fixer}": _n_fail(fixer) for fixer in ("Gemma-4-31B-it", "Qwen3.6-27B", "GLM-4.7")},
    **{f"n_fail and pass@5, {fixer}": _fails_of_213(fixer) for fixer in FIXERS},
    "Gemma coverage": lambda: f"{100 * solved_by_bucket('Gemma-4-31B-it') / 168:.1f}",
    "Table 3 threshold": _tier_threshold,
    "Table 8 tasks": lambda: _whole([cell for name, row in TABLES[T8].items() if name != "p" for cell in row]),
    "Table 3 tasks": lambda: f"N={sum(TABLES[T3]['n'])}",
    "pass@1, GPT-5.4": lambda: f"{len(counts_of(TABLES[T12]['GPT-5.4'][0], 213))} counts of 213",
    "pass@1, Gemma-4-31B-it": lambda: f"{len(counts_of(TABLES[T12]['Gemma-4-31B-it'][0], 213))} counts of 213",
    "c=4 collapse": lambda: spread([row[1] - row[5] for row in TABLES[T7].values()]),
    "rank order of Table 7": _table7_flips,
    "solvable": lambda: f"{TABLES[T3]['n'][4]} of {sum(TABLES[T3]['n'])} solved by nobody of the panel",
    "fix_rate spread": _spreads_by_bucket,
    "prefer another protocol": _others_preferred,
    "always last": _not_last,
    "strongest reshuffle": lambda: f"H3: {kendall(among(SETTINGS['A4']['H3']), DEFAULT).value:.2f}",
    "who favours iteration": _favours,
    "measured cells": lambda: f"{196 + 48}",
    "no cell empty": lambda: f"{TABLES['table16_buckets']['timeout']} timeouts",
    "source models": lambda: f"{sum('injection' not in name for name in TABLES['table15_source_models'])} models",
    "L4": lambda: ", ".join(FEEDBACK),
}
"""What the other place gives, for every disagreement that figures decide."""
