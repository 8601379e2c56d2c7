"""When to ask a service again: back-off, Retry-After, and a clock that tests can own."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

BASE_SECONDS = 1.0
"""The first wait is half to once this long; each further one doubles."""

CAP_SECONDS = 60.0
"""No wait of our own choosing is longer; a service's Retry-After may be."""


@dataclass(frozen=True)
class Clock:
    """Time and chance. ``monotonic`` and ``sleep``: seconds; ``now``: seconds since 1970; ``random``: in [0, 1)."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


def backoff(failures: int, chance: float) -> float:
    """Seconds to wait after so many failures in a row: doubling, half of it jitter (``chance`` in [0, 1))."""
    longest = min(CAP_SECONDS, BASE_SECONDS * 2.0 ** min(failures - 1, 30))
    return longest * (0.5 + 0.5 * chance)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds a service asks us to wait, or None: ``retry-after-ms``, or ``Retry-After`` as seconds or as an HTTP date.

    ``headers`` must ignore case; ``now`` is in seconds since 1970. What cannot be read counts as absent.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:  # "-0000" and asctime dates: HTTP dates are always GMT
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
