"""A table for standard output: rich on a terminal, plain columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from beaver_tui.state.lines import one_line, shortened

WIDEST = 60
"""Characters of a cell in plain columns."""


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Cells may hold outside text: each is shown as one harmless line."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(*header, box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        Console(highlight=False, markup=False, emoji=False).print(table)
        return
    lines = [list(header), *([shortened(cell, WIDEST) for cell in row] for row in cells)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())
