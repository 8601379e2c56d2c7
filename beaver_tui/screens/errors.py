"""The errors of a step as a table; enter goes to the line of the source."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Label

from beaver_tui.keymap import bindings, shown_keys
from beaver_tui.state.session import ErrorRow
from beaver_tui.widgets.dialog import Dialog
from beaver_tui.widgets.painting import harmless
from beaver_tui.widgets.rows import Rows


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
            yield Rows(cursor_type="row", zebra_stripes=True)

    def on_mount(self) -> None:
        colours = self.app.theme_variables
        table = self.query_one(Rows)
        table.add_columns("where", "what", "message")
        for row in self.rows:
            tone = colours["error"] if row.severity == "error" else colours["warning"]
            where = f"{row.file}:{row.line}" if row.line else row.file
            table.add_row(harmless(where), Text(row.severity, style=tone), harmless(row.message))
        table.focus()

    def on_data_table_row_selected(self) -> None:
        self.action_go()

    def action_go(self) -> None:
        self.dismiss(self.rows[self.query_one(Rows).cursor_row])

    def action_leave(self) -> None:
        self.dismiss(None)
