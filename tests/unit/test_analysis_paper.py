"""The paper's own figures through our functions, to the printed digit, and where the paper disagrees with itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.analysis.metrics import identity_gap
from engine.analysis.rates import Rate
from engine.analysis.robustness import best_setting, flips, kendall, ranking, swings
from engine.analysis.stagnation import dominant_signal
from engine.analysis.tiers import TIERS, tier_of
from tests.support.paper import (
    DEFAULT,
    DISAGREEMENTS,
    FINDINGS,
    FIXERS,
    SETTINGS,
    T3,
    T6,
    T7,
    T9,
    T12,
    T13,
    TABLES,
    among,
    column,
    solved_by_bucket,
    solved_by_tier,
)
from tests.support.paper_page import page

REPEATED = SETTINGS["A2"]["repeated"]
RANKED = {
    "default_iter": DEFAULT,
    "repeated": among(REPEATED),
    "best_feedback": best_setting(SETTINGS["A3"]),
    "best_history": best_setting(SETTINGS["A4"]),
}


@pytest.mark.parametrize("name", ["repeated", "best_feedback", "best_history"])
def test_table_1s_tau(name: str) -> None:
    tau = kendall(DEFAULT, RANKED[name])
    assert tau.count == 6 and round(tau.value or 0, 2) == TABLES["table1_kendall_tau_vs_default_six"][name]


def test_tau_of_a2_with_seven_fixers() -> None:
    tau = kendall(SETTINGS["A2"]["iterative"], REPEATED)
    assert tau.count == 7 and round(tau.value or 0, 2) == TABLES["tau_A2_seven"] == 0.62


@pytest.mark.parametrize("name", list(RANKED))
def test_table_1s_order(name: str) -> None:
    assert ranking(RANKED[name]) == TABLES["table1_ranks"][name]


def test_table_1s_flips() -> None:
    usual = ranking(DEFAULT)
    flipped = {
        name: [fixer for fixer, before in zip(ranking(scores), usual, strict=True) if fixer != before]
        for name, scores in RANKED.items()
    }
    assert flipped == {
        "default_iter": [],
        "repeated": ["Gemma-4-31B-it", "Kimi-k2.6", "Qwen3.6-Plus"],
        "best_feedback": ["Kimi-k2.6", "Gemma-4-31B-it", "Qwen3.6-27B"],
        "best_history": ["Gemma-4-31B-it", "Kimi-k2.6", "Qwen3.6-Plus", "Qwen3.6-27B"],
    }


def test_tau_in_swaps_of_neighbours() -> None:
    swaps = {name: len(flips(DEFAULT, scores)) for name, scores in RANKED.items()}
    assert swaps == {"default_iter": 0, "repeated": 4, "best_feedback": 2, "best_history": 3}  # 4.4


def test_swings() -> None:
    found = {axis: swings(scores) for axis, scores in SETTINGS.items()}
    ends = {
        axis: [(swing.fixer, round(swing.size, 1)) for swing in (rows[0], rows[-1])] for axis, rows in found.items()
    }
    assert ends["A1"] == [("GPT-5.4", 40.0), ("MiniMax-M2.7", 8.5)]
    assert ends["A2"][0] == ("Qwen3.6-Plus", 9.9)
    assert ends["A4"][0] == ("Gemma-4-31B-it", 8.5)
    assert ends["A1"] == [tuple(TABLES["swing_pp"][name]) for name in ("A1_max", "A1_min")]


@pytest.mark.parametrize("fixer", FIXERS)
def test_table_12s_identity(fixer: str) -> None:
    pass_1, debug, pass_5 = (Rate(value, 100) for value in TABLES[T12][fixer][:3])
    gap = identity_gap(pass_1, pass_5, debug)
    assert gap is not None and abs(100 * gap) < 0.1  # each of the three is rounded to 0.1
    expected = pass_1.numerator + (100 - pass_1.numerator) * debug.numerator / 100
    assert round(expected, 1) == pass_5.numerator


@pytest.mark.parametrize("fixer", FIXERS)
def test_table_7s_looser_columns_are_table_6_less_the_one_signal(fixer: str) -> None:
    """Censoring, shown: trajectories that a signal ended cannot show what a looser threshold would have seen."""
    _, overall, _, _, oscillation, no_progress = TABLES[T6][fixer]
    _, usual, looser, _, c3, c4 = TABLES[T7][fixer]
    assert usual == c3 == overall == TABLES[T12][fixer][3]
    assert c4 == pytest.approx(overall - no_progress, abs=0.1 + 1e-9)
    assert looser == pytest.approx(overall - oscillation, abs=0.1 + 1e-9)


@pytest.mark.parametrize("fixer", FIXERS)
def test_table_6s_signals_sum_to_the_overall_rate_and_name_the_dominant_one(fixer: str) -> None:
    _, overall, *shares = TABLES[T6][fixer]
    assert sum(shares) == pytest.approx(overall, abs=0.1 + 1e-9)
    names = ("duplicate_code", "code_cycle", "category_oscillation", "no_progress")
    assert dominant_signal(dict(zip(names, shares, strict=True))) == TABLES[T12][fixer][4]


def test_table_3s_structure() -> None:
    sizes = dict(zip(TIERS, TABLES[T3]["n"], strict=True))
    assert sizes == {"L1": 12, "L2": 0, "L3": 48, "L4": 57, "L5": 91}
    of_six = [tier_of(solved, 6, 1.0) for solved in range(7)]
    assert of_six == ["L5", "L4", "L4", "L3", "L3", "L3", "L1"] and tier_of(6, 6, 2.1) == "L2"
    for fixer in FIXERS:
        by_tier = TABLES[T3][fixer]
        assert (by_tier[0], by_tier[1], by_tier[4]) == (100.0, None, 0.0)
    solved = {
        tier: sum(round(TABLES[T3][fixer][place] * sizes[tier] / 100) for fixer in FIXERS)
        for place, tier in enumerate(TIERS)
        if sizes[tier]
    }
    assert 3 * sizes["L3"] <= solved["L3"] <= 5 * sizes["L3"]
    assert sizes["L4"] <= solved["L4"] <= 2 * sizes["L4"]


@pytest.mark.parametrize("fixer", list(column(T13, 0)))
def test_table_13s_cells_are_counts_that_add_up_to_table_3s(fixer: str) -> None:
    sizes = TABLES[T13]["n_Gemma" if fixer.startswith("Gemma") else "n"]
    for percent, size in zip(TABLES[T13][fixer], sizes, strict=True):
        solved = round(percent * size / 100)
        assert percent == pytest.approx(100 * solved / size, abs=0.051)
    assert solved_by_bucket(fixer) == solved_by_tier(fixer)
    assert sum(TABLES[T13]["n"]) == 200 and sum(TABLES[T13]["n_Gemma"]) == 168


TEXT_ONLY = {"timeout's bucket", "hardware", "duplicate_code"}
"""Words against words: there is no figure to compute."""


@pytest.mark.parametrize("entry", DISAGREEMENTS, ids=lambda entry: entry["id"])
def test_the_paper_disagrees_with_itself_as_listed(entry: dict[str, str]) -> None:
    assert entry["says"] != entry["gives"]
    if entry["id"] not in TEXT_ONLY:
        assert FINDINGS[entry["id"]]() == entry["gives"]


def test_every_disagreement_is_listed_once_and_nothing_else_is() -> None:
    ids = [entry["id"] for entry in DISAGREEMENTS]
    assert len(set(ids)) == len(ids) and set(ids) == set(FINDINGS) | TEXT_ONLY


def test_the_default_is_the_same_in_all_tables_but_for_what_is_listed() -> None:
    printed = {
        **{("Table 8", f"{fixer}, p=0.7"): (fixer, value) for fixer, value in SETTINGS["A1"]["p=0.7"].items()},
        **{("Table 10", f"{fixer}, L3"): (fixer, value) for fixer, value in SETTINGS["A3"]["L3"].items()},
        **{("Table 11", f"{fixer}, H4"): (fixer, value) for fixer, value in SETTINGS["A4"]["H4"].items()},
        **{("Table 12", f"{fixer}, pass@5"): (fixer, value) for fixer, value in DEFAULT.items()},
    }
    differing = {
        f"{table}, {cell}" for (table, cell), (fixer, value) in printed.items() if value != TABLES[T9][fixer][0]
    }
    listed = {entry["place"] for entry in DISAGREEMENTS if entry["id"].startswith(("Table 8 default", "GLM default"))}
    assert differing == listed
    for entry in DISAGREEMENTS:
        if entry["id"].startswith("Table 8 default"):
            assert entry["says"] == f"{SETTINGS['A1']['p=0.7'][entry['id'].partition(', ')[2]]:.1f}"


def test_what_table_6_says_is_what_it_prints() -> None:
    for entry in DISAGREEMENTS:
        if entry["place"].startswith("Table 6"):
            fixer = entry["place"].split(", ")[1]
            assert entry["says"] == str(TABLES[T6][fixer][0])


def test_the_page_of_the_documentation_is_what_the_figures_give() -> None:
    written = Path(__file__).parents[2] / "docs" / "paper-tables.md"
    assert written.read_text() == page()
