"""One line to type in, over the last line of a pane: for a search or a filter."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Region
from textual.widgets import Input, Static

from beaver_tui.keymap import bindings
from beaver_tui.widgets.dialog import Dialog, Field
from beaver_tui.widgets.keyline import KeyLine


class LinePrompt(Dialog[str | None]):
    """Asks for one line; gives it back, or None after escape. ``on_change`` hears of every change while it is typed.

    A widget that draws its lines by itself cannot hold another one; a screen above it, transparent but for this line, can.
    """

    BINDINGS = bindings("ask")

    DEFAULT_CSS = """
    LinePrompt > Horizontal { height: 1; background: $panel; }
    LinePrompt Static { width: auto; color: $text-accent; }
    LinePrompt Input { width: 1fr; height: 1; border: none; padding: 0; background: $panel; }
    LinePrompt Input:focus { border: none; }
    """

    def __init__(self, label: str, value: str, pane: Region, on_change: Callable[[str], None]) -> None:
        super().__init__()
        # not in the style sheet: an app's rule for all dialogs must not move or darken this one
        self.styles.background = "transparent"
        self.styles.align = ("left", "top")
        self._label, self._value, self._pane, self._on_change = label, value, pane, on_change

    def compose(self) -> ComposeResult:
        with Horizontal() as bar:
            bar.styles.width = self._pane.width
            bar.styles.offset = (self._pane.x, max(self._pane.bottom - 1, 0))
            yield Static(f"{self._label} ", markup=False)
            yield Field(self._value, compact=True)
        yield KeyLine()  # over that of the screen below, whose keys are not heeded now

    def on_mount(self) -> None:
        self.query_one(Field).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._on_change(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)

    def action_leave(self) -> None:
        self.dismiss(None)
