"""What a screen shows of files is read in a thread: a folder of thousands of journals must not keep a key waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from textual.dom import DOMNode

News = TypeVar("News")


class Readings(Generic[News]):
    """One reading at a time. What is asked for meanwhile is one reading more, behind it: none is given up for the next one, or a
    folder that takes longer than the time between two looks at it would never be shown."""

    def __init__(self, screen: DOMNode, read: Callable[[], News], show: Callable[[News], None]) -> None:
        """``read`` is called in a thread; ``show`` gets what it returned, in the loop of the screen."""
        self._screen, self._read, self._show = screen, read, show
        self._wanted = self._going_on = False

    def again(self) -> None:
        """Read what is there now."""
        self._wanted = True
        if not self._going_on:
            self._going_on = True
            self._screen.run_worker(self._go_on())

    async def _go_on(self) -> None:
        while self._wanted:
            self._wanted = False
            self._show(await _in_daemon(self._read))
        self._going_on = False


async def _in_daemon(read: Callable[[], News]) -> News:
    """``read()`` in a thread that nobody waits for at the end: a network folder that is gone answers a reading after minutes."""
    found: Future[News] = Future()
    found.set_running_or_notify_cancel()  # whoever waits may go; what comes then is left

    def work() -> None:
        try:
            news = read()
        except Exception as error:
            found.set_exception(error)
        else:
            found.set_result(news)

    threading.Thread(target=work, daemon=True, name="reading").start()
    return await asyncio.wrap_future(found)
