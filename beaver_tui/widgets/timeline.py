"""The steps of a trajectory, one entry each: what came out, what changed, how long it took."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Static

from beaver_tui.glyphs import sign
from beaver_tui.state.steps import LEFT_OPEN, StepRow
from beaver_tui.widgets.painting import Colours, category_text, duration, harmless, lines_changed, speed
from beaver_tui.widgets.strips import cells

LINES = 2
"""Rows of the screen that an entry takes."""

_WORDS = {
    "start": "broken start",
    "asking": "asking",
    "replying": "replying",
    "building": "building",
    "testing": "testing",
    "sanitizing": "sanitizing",
    "timing": "timing",
    "judging": "judging",
    "fault": "fault",
}


class Timeline(VerticalScroll, can_focus=False):
    """``show`` draws all entries; a click on one posts ``StepChosen``."""

    class StepChosen(Message):
        def __init__(self, timeline: Timeline, step: int) -> None:
            super().__init__()
            self.timeline, self.step = timeline, step

        @property
        def control(self) -> Timeline:
            return self.timeline

    _room = (0, 0)
    """Cells and lines of what is drawn."""

    def compose(self) -> ComposeResult:
        yield Static(classes="steps")

    def show(self, rows: Sequence[StepRow], position: int, planned: int) -> None:
        """``position`` is the step that the other panes show; ``planned`` iterations are promised by the protocol."""
        colours = self.app.theme_variables
        text = Text()
        for row in rows:
            chosen = row.number == position
            text.append_text(self._head(row, chosen))
            text.append("\n")
            text.append_text(Text("    ").append_text(self._detail(row)))
            text.append("\n")
        for number in range(len(rows), planned + 1):
            text.append(f"  {number} {sign('dot')}\n\n", style=colours.get("quiet", ""))
        lines = text.plain.split("\n")
        size = (max(map(cells, lines)), len(lines))
        # the screen is laid out anew only for entries that take another room
        self.query_one(".steps", Static).update(text, layout=size != self._room)
        self._room = size
        self.scroll_to_region(Region(0, position * LINES, 1, LINES), animate=False)

    def _head(self, row: StepRow, chosen: bool) -> Text:
        colours = self.app.theme_variables
        text = Text(f"{sign('selected') if chosen else ' '} {row.number} ", style="bold" if chosen else "")
        if row.phase in ("closed", "start") or row.category:
            label = row.category if row.number else _WORDS["start"]
            text.append_text(category_text(colours, row.category, label))
        else:
            goes_on = row.phase != LEFT_OPEN
            colour = colours.get("accent" if goes_on else "quiet", "")
            text.append(f"{sign('running' if goes_on else 'dot')} {_WORDS.get(row.phase, row.phase)}", style=colour)
        if row.signals:
            # their names are among the facts: none of them would fit here
            text.append(f" {sign('signal')}", style=colours["warning"])
        if chosen:
            text.stylize("bold")
        return text

    def _detail(self, row: StepRow) -> Text:
        colours = self.app.theme_variables
        quiet = colours.get("quiet", "")
        if row.number == 0:
            return harmless(row.category, quiet)
        if row.phase == "fault" and row.note:
            return harmless(row.note, quiet)
        words = [lines_changed(row.added, row.removed)] if row.added or row.removed else []
        if row.seconds:
            words.append(duration(row.seconds))
        text = Text("  ".join(words), style=quiet)
        if row.speedup is not None:
            text.append(f"  {speed(row.speedup)}", style=colours["error" if row.gate == "fail" else "success"])
        return text

    def on_click(self, event: events.Click) -> None:
        offset = event.y + int(self.scroll_offset.y)
        self.post_message(self.StepChosen(self, offset // LINES))


def glyph_line(colours: Colours, rows: Sequence[StepRow], position: int) -> Text:
    """The timeline of a narrow terminal: one sign a step, the shown one in brackets."""
    text = Text(no_wrap=True)
    for row in rows:
        mark = category_text(colours, row.category, "") if row.category else Text(sign("running"))
        if row.number == position:
            text.append("[").append_text(mark).append("]")
        else:
            text.append(" ").append_text(mark).append(" ")
        if row.signals:
            text.append(sign("signal"), style=colours["warning"])
    return text
