"""A report as one HTML file: style and pictures inside, nothing fetched and nothing that runs; light and dark as the reader's
system is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from engine.analysis.document import Document, Section, Shown, Table, clean
from engine.analysis.plots import bump_chart, heat_map, legend, p_curves, strips


@dataclass(frozen=True)
class Look:
    """Signs of categories, and the colours of a light and a dark page by name: background, foreground, surface, panel, primary,
    quiet, and category-<name>. Colours are ``#rrggbb`` of the program's own."""

    signs: Mapping[str, str]
    light: Mapping[str, str]
    dark: Mapping[str, str]


SERIES_LIGHT = ("#0063a0", "#a34700", "#00704f", "#8a3a7d", "#806000", "#1f7a8c", "#b02a2a", "#4f4f4f")
SERIES_DARK = ("#56b4e9", "#f0a35a", "#3fc79a", "#d997c4", "#e6d24a", "#7fd6e0", "#f08a80", "#c4c4c4")
"""Colours of lines, 4.5:1 or more on their page; each line has a dash and a mark besides."""

STYLE = """
body { background: var(--background); color: var(--foreground); font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 76rem;
  padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .75rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; padding-top: .75rem; border-top: 1px solid var(--panel); }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.25rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; border-bottom: 1px solid var(--panel); vertical-align: top; }
th { color: var(--quiet); font-weight: 600; border-bottom-color: var(--quiet); }
th.n, td.n { text-align: right; white-space: nowrap; }
td.short { white-space: nowrap; }
td.none { color: var(--quiet); font-style: italic; }
summary { color: var(--primary); cursor: pointer; margin: .2rem 0 .5rem; }
.note { color: var(--quiet); max-width: 62rem; font-size: .9rem; margin: .4rem 0; }
.legend { font-size: .85rem; line-height: 2; }
.key { white-space: nowrap; margin-right: 1rem; }
.key b { display: inline-block; width: 1.3em; text-align: center; border-radius: 3px; color: var(--background); }
svg { max-width: none; display: block; margin: .5rem 0; font: 11.5px system-ui, sans-serif; }
svg text { fill: var(--foreground); }
svg .strong { font-weight: 600; }
svg .faint { fill: var(--quiet); }
svg .over, svg .sign { fill: var(--background); }
svg .sign { font-weight: 600; }
svg .grid { stroke: var(--panel); }
svg .line { fill: none; stroke-width: 1.8; }
svg .moved { stroke-width: 3; }
svg .lead { stroke: var(--quiet); stroke-width: .6; }
svg .band { fill-opacity: .07; }
svg .dot { fill: var(--surface); }
svg .cell { fill: var(--panel); fill-opacity: .5; }
@media print { body { max-width: none; } .wide { overflow: visible; } }
"""

LONG_TABLE = 24
"""Rows from which a table is folded until somebody opens it."""

SHORT = 24
"""Characters of a cell that is never broken."""

PAGE_COLOURS = ("background", "foreground", "surface", "panel", "primary", "quiet")


def page(document: Document, look: Look) -> str:
    """The whole file."""
    facts = "".join(f"<dt>{_said(name)}</dt><dd>{_said(text)}</dd>" for name, text in document.facts.items())
    body = "".join(_section(section, look) for section in document.sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # a page that may load and run nothing: whatever a name from outside could smuggle in stays text
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{_said(document.title)}</title>\n<style>{_colours(look)}{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_said(document.title)}</h1>\n<dl>{facts}</dl>\n{body}</body>\n</html>\n"
    )


def _section(section: Section, look: Look) -> str:
    parts = [f"<h2>{_said(section.title)}</h2>\n"]
    if section.note:
        parts.append(f'<p class="note">{_said(section.note)}</p>\n')
    parts += [f'<div class="wide">{picture}</div>\n' for picture in _pictures(section, look) if picture]
    parts += [_table(table) for table in section.tables]
    return "".join(parts)


def _pictures(section: Section, look: Look) -> list[str]:
    pictures = []
    if section.curves:
        pictures.append(p_curves(section.curves, "performance gate p (least speedup)", "pass@k, percent"))
    if section.strips:
        used = dict.fromkeys(category for strip in section.strips for category in strip.categories)
        pictures += [legend(list(used), look.signs), strips(section.strips, look.signs)]
    if section.heat is not None:
        pictures.append(heat_map(section.heat, look.signs))
    if section.ranks is not None:
        pictures.append(bump_chart(section.ranks))
    return pictures


def _table(table: Table) -> str:
    figures = [
        bool(table.rows) and all(not isinstance(row[index].value, str) for row in table.rows)
        for index in range(len(table.columns))
    ]
    head = "".join(
        f"<th{' class=n' if right else ''}>{_said(column)}</th>"
        for column, right in zip(table.columns, figures, strict=True)
    )
    rows = "".join(f"<tr>{''.join(map(_cell, row, figures))}</tr>" for row in table.rows)
    note = f'<p class="note">{_said(table.note)}</p>' if table.note else ""
    body = f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    if len(table.rows) > LONG_TABLE and not table.headline:
        body = f"<details><summary>{len(table.rows)} rows</summary>{body}</details>"
    return f"<h3>{_said(table.title)}</h3>{body}{note}\n"


def _cell(cell: Shown, figure: bool) -> str:
    """Figures stand to the right, and so does what stands in their place; what is short stays on its line."""
    facts = (("n", figure), ("none", cell.value is None), ("short", len(cell.text) <= SHORT))
    kinds = [kind for kind, holds in facts if holds]
    named = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<td{named}>{_said(cell.text)}</td>"


def _said(text: str) -> str:
    return escape(clean(text))


def _colours(look: Look) -> str:
    light, dark = _variables(look.light, SERIES_LIGHT), _variables(look.dark, SERIES_DARK)
    return (
        f"\n:root {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"@media print {{ :root {{ {light} }} }}\n"
    )


def _variables(colours: Mapping[str, str], series: tuple[str, ...]) -> str:
    named = {name: colour for name, colour in colours.items() if name in PAGE_COLOURS or name.startswith("category-")}
    named["heat"] = colours["primary"]
    named["category-unclassified"] = colours["quiet"]
    lines = {f"s{index}": colour for index, colour in enumerate(series)}
    return " ".join(f"--{name}: {colour};" for name, colour in {**named, **lines}.items())
