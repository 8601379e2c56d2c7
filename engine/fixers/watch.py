"""Tells a coroutine that something in a folder was saved, renamed or deleted, once it has come to rest."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

CHANGES = frozenset({"created", "modified", "moved", "deleted", "closed"})
"""Event types that count. Opening and reading a file do not: we read it ourselves after each change."""

POLL_SECONDS = 0.5
"""Where the kernel has no more watches to give, the folder is looked at this often."""


class FolderWatch:
    """``async with FolderWatch(folder) as watch: await watch.settled()``.

    Editors save in several steps (truncate and write, or write beside and rename), so a change is passed on after
    ``settle`` seconds of silence, and after ``patience`` seconds even if the folder never falls silent.
    """

    def __init__(self, folder: Path, settle: float = 0.05, patience: float = 1.0) -> None:
        self._folder, self._settle, self._patience = folder, settle, patience
        self._touched = asyncio.Event()
        self._observer: BaseObserver | None = None

    async def __aenter__(self) -> FolderWatch:
        self._loop = asyncio.get_running_loop()
        self._observer = self._observe()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._observer is not None:
            self._observer.stop()
            # In a thread: the observer's own threads may be in the middle of an event. Shielded: it takes milliseconds,
            # and a second cancellation must not leave them behind.
            await asyncio.shield(asyncio.to_thread(self._observer.join))

    async def settled(self) -> None:
        """Returns after the next change, or at once when one came since the last call."""
        await self._touched.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                while await self._touched_again():
                    pass
        self._touched.clear()

    async def _touched_again(self) -> bool:
        self._touched.clear()
        try:
            async with asyncio.timeout(self._settle):
                return await self._touched.wait()
        except TimeoutError:
            return False

    def touch(self) -> None:
        """As if something had changed. May be called from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits any more
            self._loop.call_soon_threadsafe(self._touched.set)

    def _observe(self) -> BaseObserver:
        # an observer that is stopped in the middle of an event warns of it; without a handler that goes to standard error
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        from watchdog.observers import Observer
        from watchdog.observers.polling import PollingObserver

        try:
            return self._started(Observer())
        except OSError:
            return self._started(PollingObserver(timeout=POLL_SECONDS))

    def _started(self, observer: Any) -> BaseObserver:
        from watchdog.events import FileSystemEventHandler

        touch = self.touch

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                if event.event_type in CHANGES:
                    touch()

        observer.schedule(Handler(), str(self._folder))
        observer.start()
        started: BaseObserver = observer
        return started
