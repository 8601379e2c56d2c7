"""The log pane: follows a growing log, filters it, and leads from an error to its line of source."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.message import Message

from beaver_tui.glyphs import sign
from beaver_tui.keymap import bindings
from beaver_tui.state.logtext import LogText, Place, line_kind
from beaver_tui.widgets.lineprompt import LinePrompt
from beaver_tui.widgets.strips import cells, pane_sign, windowed
from beaver_tui.widgets.textview import TextView

GUTTER = 3
"""Cells before a line: the cursor, the sign of its kind, a blank."""


class LogView(TextView):
    """Shows a LogText. While the cursor is on the last line, it stays on the last line of a log that grows."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("log")]

    COMPONENT_CLASSES: ClassVar[set[str]] = {"log--error", "log--warning", "log--note", "log--hazard"}

    DEFAULT_CSS = """
    LogView {
        & > .log--error { color: $text-error; text-style: bold; }
        & > .log--warning { color: $text-warning; }
        & > .log--note { color: $foreground 60%; }
        & > .log--hazard { color: $text-warning; text-style: bold; }
    }
    """

    enter_goes_on = False
    """On a line that names no place, the key is the screen's."""

    class PlaceChosen(Message):
        """A person wants to see the place in a file that the line under the cursor names."""

        def __init__(self, view: LogView, place: Place) -> None:
            super().__init__()
            self.view, self.place = view, place

        @property
        def control(self) -> LogView:
            return self.view

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._log = LogText()
        self._filter = ""
        self._shown: Sequence[int] = range(0)
        """The indexes of the lines that the filter leaves; all of them as a range."""
        self._looked = 0
        """How many lines have been measured and filtered, and will not change."""
        self._longest = 0

    def show(self, log: LogText, *, from_start: bool = False) -> None:
        """Show another log, from its end, or ``from_start`` what is read and not followed. The filter stays: it is the
        person's; and of a log with the same lines the cursor stays too."""
        same = log.lines == self._log.lines
        self._log = log
        if same:
            self._looked = min(self._looked, log.settled)
            return
        self._forget()
        self._take_in()
        self.cursor = 0 if from_start else self.row_count - 1
        self.redraw()
        self.show_cursor()

    def refresh_log(self) -> None:
        """The log has grown: show what is new."""
        following = self.following
        self._take_in()
        if following:
            self.cursor = self.row_count - 1
        self.redraw()
        if following:
            self.show_cursor()

    @property
    def following(self) -> bool:
        """Whether the pane goes on with its log."""
        return self.cursor >= self.row_count - 1

    def _forget(self) -> None:
        self._looked, self._longest = 0, 0
        self._shown = [] if self._filter else range(0)

    def _take_in(self) -> None:
        """Measure and filter the lines that are new, and the last one, which may have grown."""
        lines, start = self._log.lines, self._looked
        if self._filter:
            kept = list(self._shown[: bisect_left(self._shown, start)])
            self._shown = kept + self._log.matching(self._filter, start)
        else:
            self._shown = range(len(lines))
        for index in range(start, len(lines)):
            # a character has at most two cells: most lines need no counting
            if 2 * len(lines[index]) > self._longest:
                self._longest = max(self._longest, cells(lines[index]))
        self._looked = self._log.settled

    @property
    def row_count(self) -> int:
        return len(self._shown)

    def row_text(self, row: int) -> str:
        return self._log.lines[self._shown[row]]

    @property
    def longest(self) -> int:
        return self._longest

    def text_cells(self, width: int) -> int:
        return width - GUTTER

    def matching(self, pattern: str) -> list[int]:
        found = self._log.matching(pattern)
        if not self._filter:
            return found
        rows = {index: row for row, index in enumerate(self._shown)}
        return [rows[index] for index in found if index in rows]

    def draw_row(self, row: int, width: int, offset: int, base: Style) -> list[Segment]:
        text = self.row_text(row)
        kind = line_kind(text)
        style = base + self.style_of(f"log--{kind}") if kind else base
        gutter = [
            Segment(sign("selected") if row == self.cursor else " ", base + self.style_of("text--sign")),
            Segment(f"{pane_sign(kind)} ", style),
        ]
        line = windowed(
            text, style, [self.hit_layer(text)], offset, self.text_cells(width), base + self.style_of("text--quiet")
        )
        return [*gutter, *line]

    @property
    def badge(self) -> str:
        """ "filter tid: 3 of 120  /row"."""
        words = [f"filter {self._filter}: {self.row_count} of {len(self._log.lines)}"] if self._filter else []
        return "  ".join(filter(None, [*words, super().badge]))

    def filter(self, pattern: str) -> None:
        """Show only the lines that contain ``pattern``; all of them for an empty one. The cursor stays near its line."""
        index = self._shown[self.cursor] if self.row_count else 0
        followed = self.following
        self._filter = pattern
        self._forget()
        self._take_in()
        self.cursor = self.row_count - 1 if followed else bisect_left(self._shown, index)
        self.redraw()
        self.show_cursor()

    def action_filter(self) -> None:
        """Ask for a filter; the lines follow while it is typed."""
        old = self._filter
        self.app.push_screen(
            LinePrompt("filter", old, self.region, self.filter),
            lambda typed: self.filter(old if typed is None else typed),
        )

    def action_choose(self) -> None:
        """Lead to the place that the line names."""
        place = self._log.place(self._shown[self.cursor]) if self.row_count else None
        if place is None and self.enter_goes_on:
            raise SkipAction
        if place is None:
            self.notify("this line names no place in a file", markup=False)
        else:
            self.post_message(self.PlaceChosen(self, place))
