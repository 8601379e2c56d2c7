"""The base of all text panes: rows drawn when they are seen, a cursor, a search. No row is ever a widget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from beaver_tui.keymap import bindings
from beaver_tui.widgets.lined import Lined
from beaver_tui.widgets.lineprompt import LinePrompt
from beaver_tui.widgets.strips import Styled, cells, fitted, hits

SIDESTEP = 16
"""Cells of one step to the side."""


class TextView(Lined, can_focus=True, inherit_bindings=False):
    """Rows of harmless text under a cursor. A subclass says how many rows there are, what stands in them, and draws one.

    Everything that a subclass is given is text already made harmless (``beaver_tui.state``); it is drawn as it is, never read as markup.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("text")]

    COMPONENT_CLASSES: ClassVar[set[str]] = {"text--cursor", "text--quiet", "text--hit", "text--sign", "text--badge"}

    DEFAULT_CSS = """
    TextView {
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        & > .text--cursor { background: $primary 30%; text-style: bold; }
        & > .text--quiet { color: $foreground 60%; }
        & > .text--sign { color: $accent; text-style: bold; }
        & > .text--badge { background: $panel; color: $text-accent; text-style: bold; }
        & > .text--hit { color: $background; background: $accent; text-style: underline; }
    }
    """

    cursor: reactive[int] = reactive(0, repaint=False)
    """The row under the cursor, from 0."""

    class StatusChanged(Message):
        """What a pane has to say of itself (see ``status``) is new."""

        def __init__(self, view: TextView, status: str) -> None:
            super().__init__()
            self.view, self.status = view, status

        @property
        def control(self) -> TextView:
            return self.view

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._strips: LRUCache[tuple[int, int, int, bool, bool], Strip] = LRUCache(512)
        self._styles: dict[str, Style] = {}
        self._pattern = ""
        self._said = ""
        self._moving = self._laid_out = False

    # What a subclass gives

    @property
    def row_count(self) -> int:
        raise NotImplementedError

    def row_text(self, row: int) -> str:
        """What a search looks at and what a copy takes."""
        raise NotImplementedError

    def draw_row(self, row: int, width: int, offset: int, base: Style) -> list[Segment]:
        """A row, ``width`` cells wide, its text moved ``offset`` cells to the left; ``base`` knows of the cursor."""
        raise NotImplementedError

    @property
    def longest(self) -> int:
        """Cells of the widest line of text."""
        raise NotImplementedError

    def text_cells(self, width: int) -> int:
        """Cells that a line of text has in a row of ``width``; the rest is numbers and signs."""
        raise NotImplementedError

    def matching(self, pattern: str) -> list[int]:
        """The rows that a pattern occurs in."""
        return [row for row in range(self.row_count) if hits(self.row_text(row), pattern)]

    def jump(self, step: int) -> None:
        """To the next thing of interest (1) or the one before (-1) while nothing is searched for."""

    @property
    def badge(self) -> str:
        """What a person must know to read the pane aright, such as a filter; drawn over the end of its last line."""
        return f"/{self._pattern}" if self._pattern else ""

    @property
    def status(self) -> str:
        """One line for a frame around the pane: its badge, and what else a subclass has to say."""
        return self.badge

    def copied(self) -> str:
        """What ``y`` copies."""
        return self.row_text(self.cursor) if self.row_count else ""

    # Drawing

    @property
    def row_width(self) -> int:
        return self.scrollable_content_region.width

    def render_line(self, y: int) -> Strip:
        """The strip of a line of the screen."""
        width = self.row_width
        strip = self._row_strip(self.scroll_offset.y + y, width)
        if y != self.scrollable_content_region.height - 1 or not self.badge:
            return strip
        badge = fitted(f" {self.badge} ", width)
        style = self.rich_style + self.style_of("text--badge")
        return Strip([*strip.crop(0, width - cells(badge)), Segment(badge, style)])

    def _row_strip(self, row: int, width: int) -> Strip:
        offset = self.scroll_offset.x
        if row >= self.row_count:
            return Strip.blank(width, self.rich_style)
        here = row == self.cursor
        key = (row, offset, width, here, here and self.has_focus)
        strip = self._strips.get(key)
        if strip is None:
            base = self.rich_style
            if here and self.has_focus:
                base += self.style_of("text--cursor")
            # in a pane too narrow for its numbers a row may come out wider
            strip = Strip(self.draw_row(row, width, offset, base)).adjust_cell_length(width, base).simplify()
            self._strips[key] = strip
        return strip

    def style_of(self, name: str) -> Style:
        """A component's colours, where it names any, and its text style, to be laid over another style."""
        style = self._styles.get(name)
        if style is None:
            whole, own = self.get_component_rich_style(name), self.get_component_rich_style(name, partial=True)
            style = own + Style(
                # mixed with what is behind it where the component's colour is translucent
                color=whole.color if own.color else None,
                bgcolor=whole.bgcolor if own.bgcolor else None,
            )
            self._styles[name] = style
        return style

    def hit_layer(self, text: str) -> list[Styled]:
        """The hits of the search in a line."""
        over = self.style_of("text--hit")
        return [(start, end, over) for start, end in hits(text, self._pattern)]

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()
        self._strips.clear()

    def redraw(self) -> None:
        """Rows are not what they were: fit the size, and draw anew."""
        self._strips.clear()
        width = self.row_width
        self.fit(Size(width + max(self.longest - self.text_cells(width), 0), self.row_count))
        self.refresh()
        if self.status != self._said:
            self._said = self.status
            self.post_message(self.StatusChanged(self, self._said))

    def on_resize(self, event: events.Resize) -> None:
        self.redraw()
        if not self._laid_out and self.scrollable_content_region.height > 0:
            self._laid_out = True
            self.centre_cursor()
        self.show_cursor()

    # The cursor

    def validate_cursor(self, row: int) -> int:
        return max(0, min(row, self.row_count - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh()
        self.show_cursor()

    def show_cursor(self) -> None:
        """Scroll as little as shows the cursor."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if height <= 0:
            return
        # not beyond the end, where fewer rows than before may have left the pane
        top = min(top, max(self.row_count - height, 0))
        self._scroll_rows(min(max(top, self.cursor - height + 1), self.cursor))

    def centre_cursor(self) -> None:
        """Scroll the cursor's row to the middle of the pane; one that has no room yet does so when it gets some."""
        height = self.scrollable_content_region.height
        if height > 0:
            self._scroll_rows(max(self.cursor - height // 2, 0))

    def _scroll_rows(self, top: int) -> None:
        if top != self.scroll_offset.y:
            self._moving = True
            self.scroll_to(y=top, animate=False, force=True)
            self._moving = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._moving or not self.is_mounted:
            return
        # moved by the mouse: the cursor stays in view, and the end of the text is the end for it too
        top, height = round(new_value), self.scrollable_content_region.height
        if height > 0:
            # a pane that grows is scrolled back to where its text ends: nobody has gone there
            at_end = new_value > old_value and top >= self.row_count - height
            self.cursor = self.row_count - 1 if at_end else min(max(self.cursor, top), top + height - 1)

    def watch_has_focus(self, value: bool) -> None:
        super().watch_has_focus(value)
        self.refresh()

    def action_move(self, step: int) -> None:
        self.cursor += step

    def action_page(self, direction: int) -> None:
        self.cursor += direction * max(self.scrollable_content_region.height - 1, 1)

    def action_top(self) -> None:
        self.cursor = 0

    def action_bottom(self) -> None:
        self.cursor = self.row_count - 1

    def action_side(self, direction: int) -> None:
        self.scroll_to(x=self.scroll_offset.x + direction * SIDESTEP, animate=False)

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is not None:
            self.cursor = self.scroll_offset.y + at.y

    # Search and copy

    def action_search(self) -> None:
        """Ask for a pattern; the cursor goes to its first hit while it is typed."""
        old, start = self._pattern, self.cursor

        def typed(pattern: str) -> None:
            self.search(pattern, start)

        def done(pattern: str | None) -> None:
            self.search(old if pattern is None else pattern, start)
            if pattern and not self.matching(pattern):
                self.notify(f"{pattern}: not found", markup=False)

        self.app.push_screen(LinePrompt("/", "", self.region, typed), done)

    def search(self, pattern: str, start: int | None = None) -> None:
        """Search for ``pattern``, nothing for an empty one; the cursor goes to the first hit from ``start`` on."""
        self._pattern = pattern
        self.redraw()
        start = self.cursor if start is None else start
        found = self.matching(pattern) if pattern else []
        self.cursor = next((row for row in found if row >= start), found[0] if found else start)

    def action_hit(self, step: int) -> None:
        """To the next hit or the one before, round the ends; without a search, to what the pane is about."""
        if not self._pattern:
            self.jump(step)
            return
        found = self.matching(self._pattern)
        if found:
            self.cursor = next_of(found, self.cursor, step)
        else:
            self.notify(f"{self._pattern}: not found", markup=False)

    def action_copy(self) -> None:
        """Into the terminal's clipboard (OSC 52) and the app's."""
        if text := self.copied():
            self.app.copy_to_clipboard(text)
            lines = len(text.splitlines())
            self.notify(f"copied {lines} {'line' if lines == 1 else 'lines'}", markup=False)


def next_of(rows: Sequence[int], row: int, step: int) -> int:
    """Of some rows in order the one after ``row``, or before it for a negative step, round the ends."""
    if step > 0:
        return next((other for other in rows if other > row), rows[0])
    return next((other for other in reversed(rows) if other < row), rows[-1])
