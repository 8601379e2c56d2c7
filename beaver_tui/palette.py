"""The command palette: every action of the screen and of the pane in focus, by name, from the table of keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.widgets import Input

from beaver_tui.keymap import SCOPES, Key, shown_keys
from beaver_tui.widgets.reach import keys_here, run_key


class Actions(Provider):
    """What can be done here and now; ``KEYS`` holds the words."""

    async def discover(self) -> Hits:
        for key in self._here():
            yield DiscoveryHit(_title(key), partial(self._run, key), help=key.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for key in self._here():
            title = _title(key)
            score = matcher.match(f"{title} {key.help}")
            if score > 0:
                yield Hit(score, matcher.highlight(title), partial(self._run, key), help=key.help)

    def _here(self) -> Iterator[Key]:
        yield from (key for key in keys_here(self.app, self.screen, self.focused) if key.id not in _LEFT_OUT)

    async def _run(self, key: Key) -> None:
        await run_key(self.app, key, self.screen, self.focused)


class Palette(CommandPalette):
    """Textual's own, with a cursor that stands, as in every field."""

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False


_LEFT_OUT = frozenset({"app.palette"})
"""It is open already."""


def _title(key: Key) -> str:
    return f"{SCOPES[key.scope]}: {key.label} ({shown_keys(key.id)})"
