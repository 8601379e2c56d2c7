"""Turn a coroutine that reports through a callback into an async iterator of its reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Pump(Generic[Item, Result]):
    """Runs ``work(emit)``; ``items`` yields what it emits, in order, while it runs.

    ``result`` is set when ``items`` ends; an exception of the work is raised from it. Closing ``items`` early cancels the
    work and waits for it: use it in ``aclosing``, because leaving an ``async for`` closes nothing.
    """

    result: Result

    def __init__(self, work: Callable[[Callable[[Item], None]], Awaitable[Result]]) -> None:
        self._work = work

    async def items(self) -> AsyncGenerator[Item, None]:
        queue: asyncio.Queue[Item | None] = asyncio.Queue()

        async def run() -> Result:
            try:
                return await self._work(queue.put_nowait)
            finally:
                queue.put_nowait(None)

        task = asyncio.create_task(run())
        try:
            while (item := await queue.get()) is not None:
                yield item
            self.result = await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # seen: it was raised above, or the reader has gone
