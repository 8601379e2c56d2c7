"""Writes docs/paper-tables.md from the paper's figures: PYTHONPATH=. python -P tests/support/paper_page.py > docs/paper-tables.md"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from engine.analysis.metrics import identity_gap
from engine.analysis.rates import Rate
from engine.analysis.robustness import Scores, best_setting, kendall, swings
from tests.support.paper import DEFAULT, DISAGREEMENTS, FIXERS, SETTINGS, T6, T7, T12, TABLES, among

INTRODUCTION = """\
# The paper's tables, recomputed

The figures that the CUDABeaver paper prints (`tests/fixtures/paper/tables.json`, its tables as data), put through the functions that
analyse our own runs. `tests/unit/test_analysis_paper.py` checks every line; this page is written by
`PYTHONPATH=. python -P tests/support/paper_page.py > docs/paper-tables.md`, and a test compares the two.
"""

CENSORING = """\
## Table 7 is Table 6 less one signal

Overall stagnation at c=4 equals the overall rate minus no_progress, and at 4-of-6 minus category_oscillation, for all six fixers and
within rounding. That is censoring, not sensitivity: the trajectories had been ended by the default thresholds, so what a looser one
would have seen later was never played. `sensitivity` counts such trajectories beside each rate; runs made with `--observe` have none.
"""

DIFFERENCES = """\
## Where the paper disagrees with itself

We follow the tables, and of two tables the one that the point of our protocol names. Each line is a cell or a sentence, and what
another place of the paper gives for it. Where figures decide, the last column is computed from them.
"""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def taus() -> str:
    printed = TABLES["table1_kendall_tau_vs_default_six"]
    pairs: list[tuple[str, Scores, Scores, float]] = [
        ("A2, repeated sampling, six fixers", DEFAULT, among(SETTINGS["A2"]["repeated"]), printed["repeated"]),
        ("A2, repeated sampling, seven fixers", *SETTINGS["A2"].values(), TABLES["tau_A2_seven"]),
        ("A3, each fixer's best level", DEFAULT, best_setting(SETTINGS["A3"]), printed["best_feedback"]),
        ("A4, each fixer's best depth", DEFAULT, best_setting(SETTINGS["A4"]), printed["best_history"]),
    ]
    rows = [[name, f"{paper:.2f}", f"{kendall(one, other).value or 0:.2f}"] for name, one, other, paper in pairs]
    return table(["ranking against the default", "paper", "computed"], rows)


def ranges() -> str:
    rows = []
    for axis, scores in SETTINGS.items():
        found = swings(scores)
        largest, smallest = found[0], found[-1]
        rows.append(
            [axis, f"{largest.fixer}, {largest.size:.1f}", f"{smallest.fixer}, {smallest.size:.1f}", str(len(found))]
        )
    return table(["axis", "largest swing, points", "smallest swing", "fixers"], rows)


def identities() -> str:
    rows = []
    for fixer in FIXERS:
        pass_1, debug, pass_5 = (Rate(value, 100) for value in TABLES[T12][fixer][:3])
        gap = identity_gap(pass_1, pass_5, debug)
        rows.append([fixer, *(f"{rate.numerator:.1f}" for rate in (pass_1, debug, pass_5)), f"{100 * (gap or 0):+.2f}"])
    return table(["fixer", "pass@1", "debug_rate@5", "pass@5", "pass@5 - (pass@1 + (1 - pass@1) debug_rate@5)"], rows)


def censored() -> str:
    rows = []
    for fixer in FIXERS:
        _, overall, _, _, oscillation, no_progress = TABLES[T6][fixer]
        _, _, looser, _, _, c4 = TABLES[T7][fixer]
        numbers = (c4, overall - no_progress, looser, overall - oscillation)
        rows.append([fixer, *(f"{number:.1f}" for number in numbers)])
    return table(["fixer", "c=4", "overall - no_progress", "4-of-6", "overall - oscillation"], rows)


def differences() -> str:
    rows = [[entry[name] for name in ("place", "says", "against", "gives")] for entry in DISAGREEMENTS]
    return table(["place", "says", "against", "gives"], rows)


def page() -> str:
    def parts() -> Iterator[str]:
        yield INTRODUCTION
        yield "## Kendall's tau (Table 1)\n"
        yield taus()
        yield "## Swings (Tables 8 to 11)\n"
        yield ranges()
        yield "## The decomposition (Table 12)\n"
        yield identities()
        yield CENSORING
        yield censored()
        yield DIFFERENCES
        yield differences()

    return "\n".join(parts())


if __name__ == "__main__":
    sys.stdout.write(page())
