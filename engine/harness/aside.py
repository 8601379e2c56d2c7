"""Work beside the event loop: a screen lives in the same loop, and must not stall while logs and files are worked through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

LARGE = 128 << 10
"""Bytes of log that are worked through in a few milliseconds: less than what is noticed, more than nearly every log has. A
thread costs a quarter of a millisecond, and an iteration has a dozen such works."""

FAST = 32
"""So many times more bytes are hashed or copied in the same time."""

SLOW = 16
"""So many times fewer bytes of source are compared line by line in the same time."""


async def in_thread(function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """``function(*given)`` in a thread. It must touch nothing that others write meanwhile. A cancellation waits for its end:
    nothing goes on in a folder that is being removed, or in a run that is somebody else's already."""
    working = asyncio.ensure_future(asyncio.to_thread(function, *given, **named))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise


async def aside(size: int, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """The same when a log of ``size`` bytes, through which ``function`` works, is large; else here and now."""
    if size < LARGE:
        return function(*given, **named)
    return await in_thread(function, *given, **named)
