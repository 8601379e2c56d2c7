"""What the app has told: a message goes from the corner of the screen after seconds, and can be read again here."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Label

from beaver_tui.keymap import bindings
from beaver_tui.state.logtext import LogText
from beaver_tui.state.told import Told
from beaver_tui.widgets.dialog import Dialog
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.logview import LogView


class Messages(Dialog[None]):
    """The newest message stands at the end, under the cursor; lines can be searched and copied as in every log."""

    BINDINGS = bindings("messages")

    def __init__(self, told: Sequence[Told]) -> None:
        super().__init__()
        self._told = list(told)

    def compose(self) -> ComposeResult:
        count = len(self._told)
        words = (
            "1 message since the start" if count == 1 else f"{count} messages since the start, the newest at the end"
        )
        with Vertical(classes="dialog tall"):
            yield Label(words if count else "Nothing was told yet.")
            yield LogView()
            yield KeyLine()

    def on_mount(self) -> None:
        view = self.query_one(LogView)
        view.show(LogText("\n".join(told.line for told in self._told)))
        view.focus()

    def action_leave(self) -> None:
        self.dismiss(None)
