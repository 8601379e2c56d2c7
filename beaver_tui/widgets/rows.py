"""A table whose rows stay while their cells change, moved in with the keys of the other panes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from rich.text import Text
from textual.binding import Binding
from textual.widgets import DataTable

AT_ONCE, PIECE = 60, 30
"""Rows that a table begins with, and those that follow at a time."""
PAUSE = 0.01
"""Seconds between two pieces."""

MakeCells = Callable[[], Sequence[Text]]


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

    def fill(self, rows: Sequence[tuple[str, MakeCells]], at_once: int = AT_ONCE) -> None:
        """Replace all rows; each has a key. ``at_once`` of them are there when this returns, the others come in pieces, between
        which keys are heeded: a thousand rows take Textual half a second."""
        self.clear()
        self._waiting = deque(rows)
        self._add(at_once)

    def _add(self, count: int) -> None:
        for _ in range(min(count, len(self._waiting))):
            key, make = self._waiting.popleft()
            self.add_row(*make(), key=key)
        self.call_after_refresh(self._widen)
        if self._waiting and not self._adding:
            self._adding = True
            self.set_timer(PAUSE, self._add_more)

    def _add_more(self) -> None:
        self._adding = False
        self._add(PIECE)

    def change(self, row: str, column: str, cell: Text) -> None:
        """Replace one cell, and make room for it; a row that has not come yet will come with what it is then."""
        if row in self.rows:
            self.update_cell(row, column, cell, update_width=True)
            self.call_after_refresh(self._widen)

    def _widen(self) -> None:
        # lines that were drawn before the columns' widths were known are kept otherwise
        self.notify_style_update()
        self.refresh()

    _waiting: deque[tuple[str, MakeCells]] = deque()
    _adding = False

    def on_mount(self, *_: Any) -> None:
        self.call_after_refresh(self._widen)
