"""Help: the keys of the pane that has the focus and of its screen, read from the table that binds them."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from beaver_tui.keymap import SCOPES, Key, bindings, shown_keys
from beaver_tui.widgets.dialog import Dialog, Reading
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.painting import category_text
from engine.verdict.categories import Category


class Help(Dialog[None]):
    """``keys`` from the nearest to the widest."""

    BINDINGS = bindings("help")

    def __init__(self, keys: Iterable[Key]) -> None:
        super().__init__()
        self.keys = list(keys)
        self.scopes = list(dict.fromkeys(key.scope for key in self.keys))

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog help"):
            with Reading():
                for scope in self.scopes:
                    yield Static(self._keys(scope))
                yield Static(self._signs())
            yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(Reading).focus()

    def _keys(self, scope: str) -> Group:
        colours = self.app.theme_variables
        table = Table.grid(padding=(0, 2))
        # one width for all scopes: their helps stand in one column
        width = max(len(shown_keys(key.id, first=False)) for key in self.keys)
        table.add_column(no_wrap=True, style=f"bold {colours['accent']}", min_width=width)
        table.add_column()
        for key in self.keys:
            if key.scope == scope:
                table.add_row(Text(shown_keys(key.id, first=False)), Text(key.help))
        return Group(Text(SCOPES[scope], style=f"bold {colours['primary']}"), table, Text())

    def _signs(self) -> Text:
        colours = self.app.theme_variables
        text = Text().append("Categories, the same sign and colour everywhere\n", style=f"bold {colours['primary']}")
        for category in Category:
            text.append_text(category_text(colours, category)).append("   ")
        return text

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_scroll(self, by: int) -> None:
        self.query_one(Reading).scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        body = self.query_one(Reading)
        body.scroll_relative(y=by * max(body.size.height - 1, 1), animate=False)
