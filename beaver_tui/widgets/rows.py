"""A table whose rows are made when they are seen: its length costs nothing. No row and no cell is ever a widget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from beaver_tui.keymap import bindings
from beaver_tui.widgets.lined import Lined
from beaver_tui.widgets.strips import cells

PAD = 1
"""Cells on either side of what stands in a column."""
WIDEST = 100
"""Cells of the widest column: what a cell has beyond them is cut, with a sign."""
SIDESTEP = 8
"""Cells of one step to the side, where a whole row is chosen."""
KEPT = 512
"""Rows that stay made and drawn: some screens' worth on either side of what is seen."""

MakeCells = Callable[[str], Sequence[Text]]
"""The cells of the row with this key, as they are now."""


@dataclass
class Column:
    """``label`` stands above it; ``width`` cells hold the widest of what is in it."""

    label: Text
    right: bool = False
    width: int = field(init=False)

    def __post_init__(self) -> None:
        self.width = self.label.cell_len


class _Row:
    """One row, made: its cells, how wide they are, and what was drawn of it, by the chosen column and the styles that it took."""

    def __init__(self, cells: Sequence[Text]) -> None:
        self.cells = cells
        self.widths = [text.cell_len for text in cells]
        self.strips: dict[tuple[int, tuple[Style, ...]], Strip] = {}


class Rows(Lined, can_focus=True, inherit_bindings=False):
    """Rows under a header, one of them (or one cell of it) chosen. Enter is the screen's: its key can be changed by a user.

    A row is known by its key. ``fill`` names all of them; what stands in one is asked for when it is first seen, and again after
    ``change``. The cursor stays on its row, and that row at its place on the screen, when others come before it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list"), *bindings("table")]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--header",
        "rows--even",
        "rows--odd",
        "rows--fixed",
        "rows--cursor",
        "rows--hover",
    }

    DEFAULT_CSS = """
    Rows {
        height: 1fr;
        background: $background;
        scrollbar-size-vertical: 1;
        & > .rows--header { background: $panel; color: $foreground; text-style: bold; }
        & > .rows--even { background: $surface-lighten-1 50%; }
        &:dark > .rows--even { background: $surface-darken-1 40%; }
        & > .rows--fixed { background: $background; color: $foreground; }
        & > .rows--cursor { background: $primary 40%; color: $foreground; }
        &:focus > .rows--cursor { text-style: bold; }
        & > .rows--hover { background: $block-hover-background; }
    }
    """

    class Moved(Message):
        """Another row or cell is under the cursor."""

    class Chosen(Message):
        """The row or cell under the cursor was clicked on once more."""

    def __init__(self, *, by_cell: bool = False, fixed: int = 0, id: str | None = None) -> None:
        """``by_cell``: the cursor is one cell, else a whole row. ``fixed``: columns that do not move to the side."""
        super().__init__(id=id)
        self._by_cell, self._fixed = by_cell, fixed
        self._columns: list[Column] = []
        self._keys: Sequence[str] = ()
        self._make: MakeCells = lambda key: ()
        self._row = self._column = 0
        self._hover = -1
        self._known: LRUCache[str, _Row] = LRUCache(KEPT)
        self._styles: dict[str, Style] = {}
        self._colours: dict[str, str] = {}
        """Those of the theme that the cells were made in."""

    # What is in it

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Before any rows."""
        self._columns = list(columns)
        self._resized()

    def fill(self, keys: Sequence[str], make: MakeCells, widths: Sequence[int] | None = None) -> None:
        """Replace all rows. ``widths``: cells of the widest text of each column, where the caller knows; else every row is made
        once to measure it, which is for short tables."""
        kept = self.cursor_key
        self._keys, self._make = keys, make
        self._known.clear()
        for key in keys if widths is None else ():
            self._widen(self._made(key).widths)
        self._widen(widths or ())
        before = self._row
        self._row = self._index(kept) if kept is not None else 0
        self._resized()
        if self.is_mounted:
            self.scroll_to(y=max(self.scroll_offset.y + self._row - before, 0), animate=False, force=True)
            self._show_cursor()
        if self.cursor_key != kept:
            self.post_message(self.Moved())

    def change(self, key: str) -> None:
        """The row is not what it was: make it anew when it is seen, and room for it now when it is on the screen."""
        if key not in self._known:
            return  # it was never seen
        self._known.discard(key)
        top = self.scroll_offset.y
        seen = self._keys[top : top + max(self._page, 1)]
        if key in seen:
            self._widen(self._made(key).widths)
            self._refresh_row(top + list(seen).index(key))

    @property
    def row_count(self) -> int:
        return len(self._keys)

    def get_row_at(self, index: int) -> Sequence[Text]:
        """The cells of a row. Raises IndexError."""
        return self._made(self._keys[index]).cells

    def _made(self, key: str) -> _Row:
        made = self._known.get(key)
        if made is None:
            made = self._known[key] = _Row(self._make(key))
        return made

    def _index(self, key: str) -> int:
        """Where a row is; the first where it is not there."""
        try:
            return self._keys.index(key)
        except ValueError:
            return 0

    def _widen(self, widths: Sequence[int]) -> None:
        wider = [min(max(column.width, width), WIDEST) for column, width in zip(self._columns, widths, strict=False)]
        if any(column.width < width for column, width in zip(self._columns, wider, strict=False)):
            for column, width in zip(self._columns, wider, strict=False):
                column.width = width
            self._undraw()
            self._resized()

    def _resized(self) -> None:
        width = sum(column.width + 2 * PAD for column in self._columns)
        self.fit(Size(width, len(self._keys) + 1))
        self.refresh()

    # The cursor

    @property
    def cursor_row(self) -> int:
        return self._row

    @property
    def cursor_column(self) -> int:
        return self._column

    @property
    def cursor_key(self) -> str | None:
        """The key of the row under the cursor, None in an empty table."""
        return self._keys[self._row] if self._row < len(self._keys) else None

    def move_cursor(self, row: int | None = None, column: int | None = None) -> None:
        """To the nearest row and column that there are."""
        before = (self._row, self._column)
        self._row = max(0, min(self._row if row is None else row, len(self._keys) - 1))
        self._column = max(0, min(self._column if column is None else column, len(self._columns) - 1))
        if (self._row, self._column) != before:
            self._refresh_row(before[0])
            self._refresh_row(self._row)
            self._show_cursor()
            self.post_message(self.Moved())

    @property
    def _page(self) -> int:
        """Rows that there is room for, the header's apart."""
        return self.scrollable_content_region.height - 1

    def _show_cursor(self) -> None:
        """Scroll as little as shows the cursor."""
        x, y = self.scroll_offset
        if self._page > 0:
            y = min(max(y, self._row - self._page + 1), self._row)
        if self._by_cell and self._column >= self._fixed:
            widths = [column.width + 2 * PAD for column in self._columns]
            left, fixed = sum(widths[: self._column]), sum(widths[: self._fixed])
            right = left + widths[self._column]
            x = min(max(x, right - self.scrollable_content_region.width), left - fixed)
        if (x, y) != self.scroll_offset:
            self.scroll_to(x=max(x, 0), y=max(y, 0), animate=False, force=True)

    def on_resize(self) -> None:
        self._show_cursor()

    def action_move(self, by: int) -> None:
        self._leave_hover()
        self.move_cursor(row=self._row + by)

    def action_page(self, direction: int) -> None:
        self.action_move(direction * max(self._page, 1))

    def action_top(self) -> None:
        self.action_move(-self._row)

    def action_bottom(self) -> None:
        self.action_move(len(self._keys))

    def action_side(self, direction: int) -> None:
        if self._by_cell:
            self.move_cursor(column=self._column + direction)
        else:
            self.scroll_to(x=self.scroll_offset.x + direction * SIDESTEP, animate=False)

    # The mouse

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None or at.y == 0 or not 0 <= (row := self.scroll_offset.y + at.y - 1) < len(self._keys):
            return
        column = self._column_at(at.x)
        if self._by_cell and column is None:
            return
        again = row == self._row and (not self._by_cell or column == self._column)
        self.move_cursor(row, column if self._by_cell else None)
        if again:
            self.post_message(self.Chosen())
        event.stop()

    def _column_at(self, x: int) -> int | None:
        """The column that is drawn in a cell of the screen, None beyond the last one."""
        end = 0
        for index, column in enumerate(self._columns):
            end += column.width + 2 * PAD
            if x < end - (self.scroll_offset.x if index >= self._fixed else 0):
                return index
        return None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        at = event.get_content_offset(self)
        self._leave_hover()
        if at is not None and at.y > 0:
            self._hover = self.scroll_offset.y + at.y - 1
            self._refresh_row(self._hover)

    def on_leave(self) -> None:
        self._leave_hover()

    def _leave_hover(self) -> None:
        if self._hover >= 0:
            row, self._hover = self._hover, -1
            self._refresh_row(row)

    # Drawing

    def _undraw(self) -> None:
        for key in list(self._known.keys()):
            self._known[key].strips.clear()

    def _refresh_row(self, row: int) -> None:
        y = row - self.scroll_offset.y + 1
        if 0 < y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def notify_style_update(self) -> None:
        """Another theme, or the focus came or went: then only the cursor's row is another, and no other row is drawn anew."""
        super().notify_style_update()
        self._styles.clear()
        if self._colours is not self.app.theme_variables:
            self._colours = self.app.theme_variables
            self._known.clear()

    def render_line(self, y: int) -> Strip:
        """The strip of a line of the screen; the first is the header's."""
        width = self.size.width
        row = self.scroll_offset.y + y - 1
        if y == 0:
            strip = self._header()
        elif row < len(self._keys):
            strip = self._row_strip(row)
        else:
            return Strip.blank(width, self.rich_style)
        fixed = sum(column.width + 2 * PAD for column in self._columns[: self._fixed])
        x = self.scroll_offset.x
        # beyond the last column the row goes on in its own colours
        strip = strip.extend_cell_length(fixed + x + width, self._tone("header" if y == 0 else self._parity(row)))
        return Strip.join([strip.crop(0, fixed), strip.crop(fixed + x, x + width)]) if x else strip.crop(0, width)

    def _header(self) -> Strip:
        base = self._tone("header")
        return Strip([part for column in self._columns for part in self._cell(column, column.label, base)])

    def _row_strip(self, row: int) -> Strip:
        made = self._made(self._keys[row])
        self._widen(made.widths)
        odd, hover = bool(row % 2), row == self._hover
        chosen = (self._column if self._by_cell else -2) if row == self._row else -1
        marks = (("cursor",) if chosen != -1 else ()) + (("hover",) if hover else ())
        styles = (chosen, tuple(self._tone(name) for name in ("fixed", self._parity(row), *marks)))
        strip = made.strips.get(styles)
        if strip is None:
            strip = made.strips[styles] = Strip(
                [
                    part
                    for index, (column, text) in enumerate(zip(self._columns, made.cells, strict=True))
                    for part in self._cell(column, text, self._base(index, odd, chosen, hover))
                ]
            ).simplify()  # drawing takes time for each part
        return strip

    def _base(self, index: int, odd: bool, chosen: int, hover: bool) -> Style:
        base = self._tone("fixed" if index < self._fixed else "odd" if odd else "even")
        if hover:
            base += self._tone("hover")
        # the fixed cells of the row are marked with the cell: they are its name
        if chosen in (-2, index) or (chosen >= 0 and index < self._fixed):
            base += self._tone("cursor")
        return base

    def _parity(self, row: int) -> str:
        return "odd" if row % 2 else "even"

    def _cell(self, column: Column, text: Text, base: Style) -> list[Segment]:
        """A text in the room of its column; its own colours lie over those of the row."""
        if text.cell_len > column.width:
            text = text.copy()
            text.truncate(column.width, overflow=text.overflow or "ellipsis")
        rest = column.width - text.cell_len
        left, right = (rest, 0) if column.right else (0, rest)
        parts = [
            Segment(part.text, base + part.style if part.style else base)
            for part in text.render(self.app.console)
            if part.text
        ]
        return [Segment(" " * (PAD + left), base), *parts, Segment(" " * (PAD + right), base)]

    def _tone(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self.get_component_rich_style(f"rows--{name}")
        return style


def widest(rows: Sequence[Sequence[str]]) -> list[int]:
    """Cells of the widest text of each column."""
    return [max(map(cells, column)) for column in zip(*rows, strict=True)]
