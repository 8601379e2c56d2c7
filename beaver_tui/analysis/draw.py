"""A report on a terminal: rich tables, and pictures of characters. A colour never stands without a sign or a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from beaver_tui.analysis.look import DARK, colours
from beaver_tui.glyphs import ascii_wanted, category_sign, locale_is_ascii, sign, use_ascii
from engine.analysis.document import Curve, Document, Heat, Ranks, Section, Shown, Strip, Table, clean

TICKS = ("▁▂▃▄▅▆▇█", "_.-:=+*#")
SHADES = (" ░▒▓█", " .:*#")
BAR = 8
"""Characters of a bar."""
MOST_STRIPS = 60


def print_rich(document: Document) -> None:
    """The whole document on a terminal. Titles and facts may be from outside; cells and names of pictures are clean already."""
    use_ascii(ascii_wanted() or locale_is_ascii())
    screen = console()
    screen.print(Text(clean(document.title), "bold"))
    for name, text in document.facts.items():
        screen.print(Text.assemble((f"{clean(name)}: ", "dim"), clean(text)))
    for section in document.sections:
        screen.print()
        screen.rule(Text(section.title, "bold"), align="left", characters="-" if ascii_wanted() else "─")
        if section.note:
            screen.print(Text(section.note, "dim"))
        for picture in _pictures(section):
            screen.print(picture)
        for table in section.tables:
            screen.print(rich_table(table))
            if table.note:
                screen.print(Text(table.note, "dim"))


def console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)


HEADLINE = "pass@k"
"""The column whose shares have a bar besides: a terminal is too narrow for more."""


def rich_table(table: Table) -> RichTable:
    """A table as narrow as its content allows: a setting that is the same in all rows stands in the title."""
    table = _without_one_setting(table)
    drawn = RichTable(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), title=Text(table.title, "bold"), title_justify="left"
    )
    for index, column in enumerate(table.columns):
        figures = bool(table.rows) and all(not isinstance(row[index].value, str) for row in table.rows)
        drawn.add_column(Text(column), justify="right" if figures else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_rich_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)))
    return drawn


def _without_one_setting(table: Table) -> Table:
    if table.columns[:1] != ("setting",) or len({row[0].text for row in table.rows}) != 1:
        return table
    title = f"{table.title} ({table.rows[0][0].text})"
    return replace(table, title=title, columns=table.columns[1:], rows=tuple(row[1:] for row in table.rows))


def _rich_cell(cell: Shown, column: str) -> Text:
    if cell.value is None:
        return Text(cell.text, "dim italic")
    if column == HEADLINE and isinstance(cell.value, float):
        return Text.assemble((bar(cell.value), "cyan"), " ", cell.text)
    return Text(cell.text)


def bar(share: float, width: int = BAR) -> str:
    """A share as a bar of ``width`` characters."""
    full, empty = ("#", ".") if ascii_wanted() else ("▰", "▱")
    filled = round(min(max(share, 0.0), 1.0) * width)
    return full * filled + empty * (width - filled)


def sparkline(values: Sequence[float]) -> str:
    """Values from 0 to their largest, a character each."""
    ticks, most = TICKS[ascii_wanted()], max(values, default=0.0) or 1.0
    return "".join(ticks[round(value / most * (len(ticks) - 1))] for value in values)


def _pictures(section: Section) -> list[Text]:
    found = []
    if section.curves:
        found.append(_curves(section.curves))
    if section.strips:
        found.append(_strips(section.strips))
    if section.heat is not None:
        found.append(_heat(section.heat))
    if section.ranks is not None:
        found.append(_ranks(section.ranks))
    return found


def _curves(curves: Sequence[Curve]) -> Text:
    width = max(len(curve.name) for curve in curves)
    lines = []
    for curve in curves:
        shares = [share for _, share in curve.points]
        if shares:
            ends = f"{curve.points[0][0]:g} to {curve.points[-1][0]:g}"
            words = f"  {100 * shares[0]:.1f} % to {100 * shares[-1]:.1f} % over p = {ends}"
            lines.append(Text.assemble(f"{curve.name:{width}}  ", (sparkline(shares), "cyan"), words))
    return Text("\n").join(lines)


def _strips(strips: Sequence[Strip]) -> Text:
    """Signs in the colours of the default theme, the stop reason behind them."""
    palette = colours(DARK)
    shown = strips[:MOST_STRIPS]
    tasks, fixers = max(len(strip.task) for strip in shown), max(len(strip.fixer) for strip in shown)
    lines = []
    for strip in shown:
        signs = [
            (category_sign(category) + " ", f"bold {palette.get(f'category-{category}', palette['quiet'])}")
            for category in strip.categories
        ]
        lines.append(
            Text.assemble(f"{strip.task:{tasks}}  {strip.fixer:{fixers}}  ", *signs, (f" {strip.stop}", "dim"))
        )
    if len(strips) > len(shown):
        lines.append(Text(f"and {len(strips) - len(shown)} more", "dim"))
    return Text("\n").join(lines)


def _heat(heat: Heat) -> Text:
    """A row for what was, a column for what came next: a shade and the percents."""
    shades, width = SHADES[ascii_wanted()], max(len(name) for name in heat.names)
    lines = [Text(" " * (width + 4) + "".join(f"{category_sign(name):>6}" for name in heat.names))]
    for name, shares, count in zip(heat.names, heat.shares, heat.counts, strict=True):
        cells = []
        for share in shares:
            said = "" if share is None else f"{100 * share:.0f}" if share else sign("dot")
            shade = shades[0 if not share else max(1, round(share * (len(shades) - 1)))]
            cells.append(f" {shade}{said:>4}")
        lines.append(
            Text.assemble(f"{name:{width}} {category_sign(name)}  ", ("".join(cells), "cyan"), (f"  n={count}", "dim"))
        )
    return Text("\n").join(lines)


def _ranks(ranks: Ranks) -> Text:
    """A row for each fixer, a column for each setting; a rank that differs from the first one's has a star."""
    width = max(map(len, ranks.ranks), default=0)
    widths = [max(len(name), 4) for name in ranks.settings]
    lines = [
        Text(" " * width + "".join(f"  {name:>{size}}" for name, size in zip(ranks.settings, widths, strict=True)))
    ]
    for fixer, row in ranks.ranks.items():
        cells = []
        for rank, size in zip(row, widths, strict=True):
            said = "-" if rank is None else f"{rank:g}" + ("*" if rank != row[0] else "")
            cells.append((f"  {said:>{size}}", "bold" if said.endswith("*") else ""))
        lines.append(Text.assemble(f"{fixer:{width}}", *cells))
    return Text("\n").join(lines)
