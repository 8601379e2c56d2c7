"""A report as Markdown, LaTeX, CSV or JSON. Names from outside are escaped for each: none can leave its cell."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any

import msgspec

from engine.analysis.document import SCHEMA_VERSION, Document, Shown, Table, clean

_MARKDOWN = re.compile(r"([\\`*{}\[\]#|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
"""What means something in Markdown; an underscore inside a word does not."""
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "-": r"{-}",
}
"""A hyphen in braces forms no dash with its neighbour, and begins no option."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters by which a spreadsheet takes text for a formula."""


def in_markdown(text: str) -> str:
    """Text that shows as itself in Markdown, HTML included."""
    return _MARKDOWN.sub(r"\\\1", clean(text).translate(_HTML))


def in_latex(text: str) -> str:
    """Text that shows as itself in LaTeX."""
    return "".join(_LATEX.get(character, character) for character in clean(text))


def in_csv(shown: Shown) -> str | int | float:
    """A CSV field: the bare value, or why there is none. Text never begins a formula."""
    value = shown.text if shown.value is None else shown.value
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def markdown(document: Document) -> str:
    """GitHub's Markdown: a heading a section, a table a table."""
    lines = [f"# {in_markdown(document.title)}", ""]
    lines += [f"- {in_markdown(name)}: {in_markdown(text)}" for name, text in document.facts.items()]
    for section in document.sections:
        lines += ["", f"## {in_markdown(section.title)}"]
        if section.note:
            lines += ["", in_markdown(section.note)]
        for table in section.tables:
            lines += ["", f"### {in_markdown(table.title)}", "", *_markdown_table(table)]
            if table.note:
                lines += ["", in_markdown(table.note)]
    return "\n".join(lines) + "\n"


def _markdown_table(table: Table) -> list[str]:
    rows = [table.columns, *(tuple(cell.text for cell in row) for row in table.rows)]
    lines = ["| " + " | ".join(in_markdown(text) or " " for text in row) + " |" for row in rows]
    numeric = [
        bool(table.rows) and all(not isinstance(row[index].value, str) for row in table.rows)
        for index in range(len(table.columns))
    ]
    return [lines[0], "|" + "|".join("---:" if right else "---" for right in numeric) + "|", *lines[1:]]


def latex(document: Document) -> str:
    """Tables to be included in a paper: plain tabular, no package needed beyond textcomp, which LaTeX has had since 2020."""
    parts = [f"% {in_latex(document.title)}"]
    parts += [f"% {in_latex(name)}: {in_latex(text)}" for name, text in document.facts.items()]
    for section in document.sections:
        for table in section.tables:
            columns = "l" + "r" * (len(table.columns) - 1)
            rows = [table.columns, *(tuple(cell.text for cell in row) for row in table.rows)]
            lines = [" & ".join(map(in_latex, row)) + r" \\" for row in rows]
            parts += [
                "",
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{in_latex(table.title)}{'. ' + in_latex(table.note) if table.note else ''}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\hline",
                lines[0],
                r"\hline",
                *lines[1:],
                r"\hline",
                r"\end{tabular}",
                r"\end{table}",
            ]
    return "\n".join(parts) + "\n"


def csv_text(document: Document) -> str:
    """RFC 4180: every table in one file of five columns, a line for every cell, so that all lines have the same fields."""
    file = io.StringIO()
    writer = csv.writer(file, dialect="excel", lineterminator="\r\n")
    writer.writerow(("table", "row", "column", "value", "text"))
    for table in document.tables:
        for number, row in enumerate(table.rows, 1):
            for column, cell in zip(table.columns, row, strict=True):
                shown = Shown(cell.text, cell.text)
                writer.writerow((table.name, number, in_csv(Shown(column, column)), in_csv(cell), in_csv(shown)))
    return file.getvalue()


def json_text(document: Document) -> str:
    """Every table as its columns and rows; a cell without a value is {"not_available": reason}."""
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "title": clean(document.title),
        "facts": {clean(name): clean(text) for name, text in document.facts.items()},
        "tables": {
            table.name: {
                "title": table.title,
                "note": table.note,
                "columns": list(table.columns),
                "rows": [[_json_cell(cell) for cell in row] for row in table.rows],
            }
            for table in document.tables
        },
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def _json_cell(cell: Shown) -> Any:
    return {"not_available": cell.why} if cell.value is None else cell.value


TEXTS: dict[str, Callable[[Document], str]] = {
    "md": markdown,
    "latex": latex,
    "csv": csv_text,
    "json": json_text,
}
"""The formats that need no picture."""
