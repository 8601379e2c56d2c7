"""Keys one after the other: none is looked at before all is done that the key before it does.

Textual sends a key to what has the focus when it is read; what the key does comes later, through the queues of that pane and of all
that it lies in. Of two keys that arrive together both would go to what had the focus before the first: an enter that ends a field,
and the enter behind it that is meant for the list below.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from textual import events
from textual.app import App, ScreenStackError
from textual.dom import DOMNode

GLANCE = 0.02
"""Seconds between two looks at what a key does while it goes on."""
PATIENCE = 50
"""Such looks after which all keys that are held are read all the same: a pane that is stuck must not take the keys with it. No time is
set: while the whole program does something long, such as an import, nobody looks."""


class KeysInOrder(App[None]):
    """Holds keys and pasted text back until what came before them is over."""

    def __init__(self) -> None:
        super().__init__()
        self._held: deque[events.Key | events.Paste] = deque()
        self._following: asyncio.Task[None] | None = None
        """Follows the last key through what it does; None when that is over."""
        self._patience = 0

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._following is not None:
            self._held.append(event)
        else:
            await self._type(event)

    async def _type(self, event: events.Key | events.Paste, *, waits: bool = True) -> None:
        place = self.focused or self.screen
        await super().on_event(event)
        # what a field takes as text does nothing but stand there; it need not be waited for
        if waits and isinstance(event, events.Key) and not place.check_consume_key(event.key, event.character):
            self._patience = PATIENCE
            self._following = asyncio.create_task(self._follow(place))

    async def _follow(self, place: DOMNode) -> None:
        try:
            with suppress(ScreenStackError):  # no screen is left when the app ends
                await self._over(place)
        finally:  # whatever happens, no key is held for ever
            self.call_later(self._next)

    async def _next(self) -> None:
        self._following = None
        waits = self._patience > 0
        while self._held and self._following is None:
            await self._type(self._held.popleft(), waits=waits)

    async def _over(self, place: DOMNode) -> None:
        """Behind the key from ``place`` up to here; then behind what that has sent from there, such as the words of a field; then
        from whatever has the focus, until that stays: a dialog that opens takes it when it is drawn."""
        await self._behind(place)
        while True:
            before = self.screen, self.focused
            await self._behind(place)
            if (self.screen, self.focused) == before:
                return
            place = self.focused or self.screen

    async def _behind(self, place: DOMNode) -> None:
        """Wait until ``place``, and then each that it lies in, has done what it has been sent so far."""
        for node in place.ancestors_with_self:
            done = asyncio.Event()
            if node.call_later(done.set):
                while not done.is_set() and node.is_attached and self._patience:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(done.wait(), GLANCE)
                    self._patience -= not done.is_set()
