"""A report on standard output: with rich on a terminal, elsewhere as one of the formats."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beaver_tui.state.lines import shortened

if TYPE_CHECKING:
    from engine.analysis.document import Document, Table

FORMATS = ("md", "html", "json", "csv", "latex")

WIDEST = 60
"""Characters of a cell in plain columns."""


def show(document: Document, form: str | None, out: Path | None = None) -> None:
    """Print, or write to ``out``. Without a ``form`` it is rich on a terminal, else Markdown. Raises ConfigError when ``out`` cannot
    be written."""
    if form is None and out is None and sys.stdout.isatty():
        from beaver_tui.analysis.draw import print_rich

        print_rich(document)
        return
    deliver(rendered(document, form or (_form_of(out) if out is not None else "md")), out)


def deliver(text: str, out: Path | None) -> None:
    """To standard output, or to ``out``, whose name is printed then. Raises ConfigError when it cannot be written."""
    if out is None:
        click.echo(text.encode(), nl=False)  # bytes: a file of UTF-8 whatever the terminal's encoding
        return
    from engine.errors import ConfigError
    from engine.store import write_whole

    if out.exists() and not out.is_file():
        raise ConfigError(f"--out {out}: is no regular file")
    if any((folder / "run.json").exists() for folder in out.resolve().parents):
        raise ConfigError(f"--out {out}: lies in a run's folder, which holds nothing but the run; write it elsewhere")
    try:
        write_whole(out, text.encode())
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror}") from error
    click.echo(out)


def _form_of(out: Path) -> str:
    """The format that a file's ending asks for."""
    return {".html": "html", ".json": "json", ".csv": "csv", ".tex": "latex"}.get(out.suffix.lower(), "md")


def rendered(document: Document, form: str) -> str:
    """The document in one of FORMATS."""
    if form == "html":
        from beaver_tui.analysis.look import page_look
        from engine.analysis.page import page

        return page(document, page_look())
    from engine.analysis.formats import TEXTS

    return TEXTS[form](document)


def columns(table: Table) -> str:
    """A table as plain aligned columns: for a pipe, where one line is one row."""
    lines = [list(table.columns), *([shortened(cell.text, WIDEST) for cell in row] for row in table.rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(table.columns))]
    return "\n".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def print_tables(tables: Sequence[Table]) -> None:
    """Tables alone: with rich on a terminal, else in plain columns."""
    if sys.stdout.isatty():
        from beaver_tui.analysis.draw import console, rich_table

        for table in tables:
            console().print(rich_table(table))
        return
    for number, table in enumerate(tables):
        click.echo(("\n" if number else "") + columns(table))
        if table.note:
            click.echo(table.note)
