"""Work on large logs beside the event loop: a screen lives in the same loop, and must not stall."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

LARGE = 128 << 10
"""Bytes of log that are worked through in a few milliseconds: less than what is noticed, more than nearly every log has."""


async def aside(size: int, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """``function(*given)``, in a thread when it works through a log of ``size`` bytes that is large. It must touch nothing
    that others write; when the caller is cancelled it goes on to its end, and its result is lost."""
    if size < LARGE:
        return function(*given, **named)
    return await asyncio.to_thread(function, *given, **named)
