"""The filter over the list of trajectories."""

from __future__ import annotations

from pathlib import Path

import pytest

from beaver_tui.state.catalog import Catalog, CatalogRow
from beaver_tui.state.query import QueryError, matches
from engine.rundir import Cell
from tests.support.stores import RECORDED

ROW = CatalogRow(
    Path("runs/20260101T000000Z-first"),
    Cell("softmax_rows", "scripted:good", 1),
    task="softmax_rows",
    fixer="scripted:good",
    device="cpu",
    status="stopped: no_progress",
    iterations=2,
    category="functional_correctness",
    categories=("buildability", "functional_correctness"),
    seconds=90.0,
)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "softmax",
        "SOFTMAX good",
        "scripted:good",
        "2026",
        "category:functional",
        "category:buildability",
        "status:stopped",
        "status:no_progress",
        "fixer:scripted:good",
        "task:rows device:cpu run:first",
        "longer:89s",
        "longer:1m shorter:0.5h",
        "shorter:90.5",
        "longer:89000ms",
        "-gemm -category:timeout -status:passed",
        "-category:timeout softmax",
    ],
)
def test_a_row_is_found_by(query: str):
    assert matches(ROW, query)


@pytest.mark.parametrize(
    "query",
    [
        "gemm",
        "softmax gemm",
        "-softmax",
        "category:timeout",
        "status:passed",
        "status:open",
        "fixer:human",
        "longer:90s",
        "shorter:1m",
        "-longer:1m",
    ],
)
def test_a_row_is_not_found_by(query: str):
    assert not matches(ROW, query)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("categry:timeout", "categry: is no condition; did you mean category:?"),
        ("-staus:passed", "staus: is no condition; did you mean status:?"),
        ("xyz:1", "xyz: is no condition; there are category:, status:"),
        ("longer:soon", "longer:soon: is no duration; write longer:10s"),
        ("shorter:10d", "shorter:10d: is no duration; write shorter:10s"),
        ("category:", "category: wants something behind it, such as category:timeout"),
    ],
)
def test_a_query_that_cannot_be_understood_says_what_would_do(query: str, says: str):
    with pytest.raises(QueryError) as error:
        matches(ROW, query)
    assert says in str(error.value)


def test_a_minus_alone_is_a_word():
    assert matches(ROW, "- softmax"), "there is one in the run's name"
    assert not matches(ROW, "-- softmax")


def test_conditions_divide_a_recorded_run():
    rows = Catalog(RECORDED).read()

    def filtered(query: str) -> list[CatalogRow]:
        return [row for row in rows if matches(row, query)]

    passed, others = filtered("status:passed"), filtered("-status:passed")
    assert passed
    assert others
    assert sorted(passed + others, key=rows.index) == rows
    assert {row.fixer for row in filtered("scripted:stagnating")} == {"scripted:stagnating"}
    assert all("timeout" in row.categories for row in filtered("category:timeout"))
