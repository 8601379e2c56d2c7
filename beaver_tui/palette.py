"""The command palette: every action of the screen and of the pane in focus, by name, from the table of keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from beaver_tui.keymap import KEYS, SCOPES, Key, shown_keys

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp


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
        app: BeaverApp = self.app  # type: ignore[assignment]
        # the nearest scope first
        for scope in app.scopes_of(self.screen, self.focused):
            yield from (key for key in KEYS if key.scope == scope and key.id not in _LEFT_OUT)

    async def _run(self, key: Key) -> None:
        app: BeaverApp = self.app  # type: ignore[assignment]
        await app.run_key(key, self.screen, self.focused)


_LEFT_OUT = frozenset({"app.palette"})
"""It is open already."""


def _title(key: Key) -> str:
    return f"{SCOPES[key.scope]}: {key.label} ({shown_keys(key.id)})"
