"""The table that ends a batch, as rows and as plain text."""

from __future__ import annotations

from beaver_tui.state.lines import one_line, shortened
from beaver_tui.state.summary import FixerSummary, counted

HEADER = ["fixer", "solved", "iterations", "unfinished", "faults", "tokens", "cost"]

SHOWN_NAME = 40
"""Characters of a fixer's name in the table, so that a row fits a terminal of 100 columns."""


def summary_rows(summaries: list[FixerSummary]) -> list[list[str]]:
    """A row per fixer, under HEADER."""
    return [
        [
            shortened(one_line(item.fixer), SHOWN_NAME),
            f"{item.solved} of {item.cells}",
            str(item.iterations),
            str(item.unfinished),
            str(item.faults),
            str(item.tokens),
            f"${item.cost:.4f}" if item.cost is not None else "-",
        ]
        for item in summaries
    ]


def filled_columns(rows: list[list[str]]) -> list[int]:
    """The columns in which any row says something; the first three always do."""
    return [index for index in range(len(HEADER)) if index < 3 or any(row[index] not in ("0", "-") for row in rows)]


def summary_details(summaries: list[FixerSummary]) -> list[str]:
    """What no column could hold: the categories of the first iterations, and how the trajectories ended."""
    lines = []
    for item in summaries:
        name = one_line(item.fixer)
        if item.waiting_for_device:
            wait = "1 waits" if item.waiting_for_device == 1 else f"{item.waiting_for_device} wait"
            lines.append(f"{name}  {wait} for a device: built, not yet judged")
        lines.append(f"{name}  first iterations: {counted(item.first_categories)}")
        lines.append(f"{name}  ended by: {counted(item.stop_reasons)}")
    return lines


def summary_lines(summaries: list[FixerSummary]) -> list[str]:
    """Table and details as plain text."""
    rows = [HEADER, *summary_rows(summaries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    table = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*table, *summary_details(summaries)]
