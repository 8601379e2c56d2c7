"""A row of tab names above the pane that they choose; it takes one line of the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

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
        self.watch(self.screen, "focused", self._draw)

    def on_resize(self) -> None:
        self._draw()

    def choose(self, name: str) -> None:
        """Make a tab the active one and say so to the screen."""
        self.mark(name)
        self.post_message(self.Chosen(self, name))

    def mark(self, name: str) -> None:
        """Make a tab the active one; the screen, which wants it so, shows its pane by itself."""
        self.active = name
        self._draw()

    def step(self, by: int) -> None:
        """The next tab, or the one before."""
        self.choose(self.names[(self.names.index(self.active) + by) % len(self.names)])

    def show(self, unread: Mapping[str, int] | None = None, note: str | None = None) -> None:
        """Counts of unread lines by name, and a few words at the right end."""
        self._unread = self._unread if unread is None else unread
        self._note = self._note if note is None else note
        self._draw()

    @property
    def over_focus(self) -> bool:
        """Whether the pane in focus is one of those below this line."""
        siblings = list(self.parent.children) if self.parent is not None else []
        below = siblings[siblings.index(self) + 1 :] if self in siblings else []
        below = list(takewhile(lambda widget: not isinstance(widget, TabLine), below))
        focused = self.screen.focused
        return focused is not None and any(widget in below for widget in focused.ancestors_with_self)

    def _draw(self) -> None:
        """A thick rule and a tab in reverse say that keys go to the pane below, without any colour too."""
        colours = self.app.theme_variables
        quiet, here = colours.get("quiet", ""), self.over_focus
        rule, tone = (sign("thick_line"), colours["primary"]) if here else (sign("line"), quiet)
        text = Text(no_wrap=True, overflow="ellipsis").append(rule, style=tone)
        for name in self.names:
            chosen = f"bold {'reverse' if here else 'underline'} {colours['primary']}"
            text.append(f" {self._shown(name)} ", style=chosen if name == self.active else quiet)
            text.append(rule, style=tone)
        note = harmless(self._note)
        rest = self.size.width - text.cell_len
        if note.plain and rest > note.cell_len + 2:
            text.append(rule * (rest - note.cell_len - 2), style=tone).append(f" {note.plain} ", style=quiet)
        else:
            text.append(rule * rest, style=tone)
        self.update(text, layout=False)

    def _shown(self, name: str) -> str:
        count = self._unread.get(name.lower(), 0)
        return f"{name} {count}" if count and name != self.active else name

    def on_click(self, event: events.Click) -> None:
        at = 1
        for name in self.names:
            width = len(self._shown(name)) + 2
            if at <= event.x < at + width:
                self.choose(name)
                return
            at += width + 1
