"""A row of tab names above the pane that they choose; it takes one line of the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widgets import Static

from beaver_tui.glyphs import sign
from beaver_tui.widgets.painting import harmless


class TabLine(Static):
    """``names`` in their order, one of them ``active``; counts beside names say what has not been looked at yet."""

    class Chosen(Message):
        def __init__(self, line: TabLine, name: str) -> None:
            super().__init__()
            self.line, self.name = line, name

        @property
        def control(self) -> TabLine:
            return self.line

    def __init__(self, names: Sequence[str], active: str, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self.names, self.active = list(names), active
        self._unread: Mapping[str, int] = {}
        self._note = ""

    def on_mount(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def choose(self, name: str) -> None:
        """Make a tab the active one and say so to the screen."""
        self.active = name
        self._draw()
        self.post_message(self.Chosen(self, name))

    def step(self, by: int) -> None:
        """The next tab, or the one before."""
        self.choose(self.names[(self.names.index(self.active) + by) % len(self.names)])

    def show(self, unread: Mapping[str, int] | None = None, note: str | None = None) -> None:
        """Counts of unread lines by name, and a few words at the right end."""
        self._unread = self._unread if unread is None else unread
        self._note = self._note if note is None else note
        self._draw()

    def _draw(self) -> None:
        colours = self.app.theme_variables
        quiet = colours.get("quiet", "")
        text = Text(no_wrap=True, overflow="ellipsis")
        for index, name in enumerate(self.names):
            if index:
                text.append(f" {sign('line')} ", style=quiet)
            count = self._unread.get(name.lower(), 0)
            shown = f"{name} {count}" if count and name != self.active else name
            text.append(shown, style=f"bold reverse {colours['primary']}" if name == self.active else quiet)
        note = harmless(self._note)
        room = self.size.width - text.cell_len - note.cell_len
        if note.plain and room > 1:
            text.append(" " * room).append(note.plain, style=quiet)
        self.update(text)

    def on_click(self, event: events.Click) -> None:
        at = 0
        for name in self.names:
            count = self._unread.get(name.lower(), 0)
            width = len(f"{name} {count}" if count and name != self.active else name)
            if at <= event.x < at + width:
                self.choose(name)
                return
            at += width + 3
