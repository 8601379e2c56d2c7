"""The errors of a step as a table; enter goes to the line of the source."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Label

from beaver_tui.keymap import bindings, shown_keys
from beaver_tui.state.session import ErrorRow
from beaver_tui.widgets.dialog import Dialog
from beaver_tui.widgets.painting import harmless
from beaver_tui.widgets.rows import Column, Rows, widest


class Errors(Dialog[ErrorRow | None]):
    """The row that was chosen, None when it was left."""

    BINDINGS = bindings("errors")

    def __init__(self, rows: Sequence[ErrorRow]) -> None:
        super().__init__()
        self.rows = rows

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            count = len(self.rows)
            lines = f"{count} lines name a place" if count > 1 else "1 line names a place"
            yield Label(f"{lines}; {shown_keys('errors.go')} goes there, {shown_keys('errors.leave')} closes")
            yield Rows()

    def on_mount(self) -> None:
        table = self.query_one(Rows)
        table.set_columns([Column(Text(name)) for name in ("where", "what", "message")])
        texts = [(_where(row), row.severity, row.message) for row in self.rows]
        table.fill([str(number) for number in range(len(self.rows))], self._cells, widest(texts))
        table.focus()

    def _cells(self, key: str) -> list[Text]:
        row, colours = self.rows[int(key)], self.app.theme_variables
        tone = colours["error"] if row.severity == "error" else colours["warning"]
        return [harmless(_where(row)), Text(row.severity, style=tone), harmless(row.message)]

    @on(Rows.Chosen)
    def _chosen(self) -> None:
        self.action_go()

    def action_go(self) -> None:
        self.dismiss(self.rows[self.query_one(Rows).cursor_row])

    def action_leave(self) -> None:
        self.dismiss(None)


def _where(row: ErrorRow) -> str:
    return f"{row.file}:{row.line}" if row.line else row.file
