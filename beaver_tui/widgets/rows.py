"""A table whose rows stay while their cells change, moved in with the keys of the other panes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text
from textual.binding import Binding
from textual.widgets import DataTable


class Rows(DataTable[Text], inherit_bindings=False):
    """Textual's table with the keys j k g G, and columns that are as wide as what is in them from the first frame on. Enter is
    the screen's: its key can be changed by a user."""

    BINDINGS = [
        Binding("j,down", "cursor_down", "down", show=False),
        Binding("k,up", "cursor_up", "up", show=False),
        Binding("h,left", "cursor_left", "left", show=False),
        Binding("l,right", "cursor_right", "right", show=False),
        Binding("pagedown,ctrl+d", "page_down", "page down", show=False),
        Binding("pageup,ctrl+b", "page_up", "page up", show=False),
        Binding("g,home", "scroll_top", "first", show=False),
        Binding("G,end", "scroll_bottom", "last", show=False),
    ]

    def fill(self, rows: Sequence[tuple[str, Sequence[Text]]]) -> None:
        """Replace all rows; each has a key."""
        self.clear()
        for key, cells in rows:
            self.add_row(*cells, key=key)
        self.call_after_refresh(self._widen)

    def change(self, row: str, column: str, cell: Text) -> None:
        """Replace one cell, and make room for it."""
        self.update_cell(row, column, cell, update_width=True)
        self.call_after_refresh(self._widen)

    def _widen(self) -> None:
        # lines that were drawn before the columns' widths were known are kept otherwise
        self.notify_style_update()
        self.refresh()

    def on_mount(self, *_: Any) -> None:
        self.call_after_refresh(self._widen)
