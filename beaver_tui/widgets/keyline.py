"""The last line of a screen: the keys of the pane in focus and of its screen, help and palette always among them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text
from textual import events
from textual.keys import key_to_character
from textual.widgets import Static

from beaver_tui.keymap import shown_key

ALWAYS = ("app.help", "app.palette")
"""What stands at the right end, whatever else there is no room for."""
GAP = 2
"""Blanks between two keys."""


class KeyLine(Static):
    """Shows keys as wholes: one that does not fit is left out, and help has it. A click on one presses it."""

    DEFAULT_CSS = "KeyLine { dock: bottom; height: 1; background: $panel; }"

    def __init__(self) -> None:
        super().__init__()
        self._places: list[tuple[int, int, str]] = []
        """First cell, the one after the last, and the key that is drawn there."""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._draw())

    def on_unmount(self) -> None:
        self.screen.bindings_updated_signal.unsubscribe(self)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        entries = list(self._entries())
        right = [entry for entry in entries if entry[0] in ALWAYS]
        left = [entry for entry in entries if entry[0] not in ALWAYS]
        start = self.size.width - sum(map(_cells, right)) - 1
        self._places = []
        text, at = Text(no_wrap=True), 1
        for entry in left:
            if at + _cells(entry) > start:
                break
            at = self._append(text, at, entry)
        at = max(at, start)
        for entry in right:
            at = self._append(text, at, entry)
        self.update(text, layout=False)

    def _append(self, text: Text, at: int, entry: tuple[str, str, str]) -> int:
        _, key, label = entry
        colours = self.app.theme_variables
        text.append(" " * (at - text.cell_len)).append(shown_key(key), style=f"bold {colours['accent']}")
        text.append(f" {label}")
        self._places.append((at, text.cell_len, key))
        return text.cell_len + GAP

    def _entries(self) -> Iterator[tuple[str, str, str]]:
        """Id, key and label of each action, by the first of its keys that reaches it from where the focus is."""
        focused, seen = self.screen.focused, set[str]()
        for key, (_, binding, _, _) in self.screen.active_bindings.items():
            name = binding.id
            if not binding.show or name is None or name in seen:
                continue
            if focused is not None and focused.check_consume_key(key, key_to_character(key)):
                continue  # the field in focus takes it as a letter
            seen.add(name)
            yield name, key, binding.description

    def on_click(self, event: events.Click) -> None:
        for start, end, key in self._places:
            if start <= event.x < end:
                self.app.simulate_key(key)


def _cells(entry: tuple[str, str, str]) -> int:
    return len(shown_key(entry[1])) + 1 + len(entry[2]) + GAP
