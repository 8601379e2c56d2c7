"""Every labelled log gets its label. The labels were written before the classifier saw the logs (fixtures/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.verdict import Category
from engine.verdict.classify_file import Row, classify_lines

LOGS = Path(__file__).parent.parent / "fixtures" / "logs.jsonl"
FIXTURES = [json.loads(line) for line in LOGS.read_text("utf-8").splitlines() if line.strip()]


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture["id"])
def test_a_labelled_log_is_classified_as_labelled(fixture: dict[str, Any]) -> None:
    (row,) = classify_lines([json.dumps(fixture).encode()])
    assert isinstance(row, Row), row
    assert row.category == Category.parse(fixture["label"]), f"{row}\nwhy: {fixture['why']}"


def test_the_fixtures_cover_all_categories_and_have_distinct_ids() -> None:
    assert {fixture["label"] for fixture in FIXTURES} == set(Category)
    assert len({fixture["id"] for fixture in FIXTURES}) == len(FIXTURES) >= 150
