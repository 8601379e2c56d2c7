"""Wait for something that another process or task does."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SECONDS = 30.0
PAUSE = 0.01


def until(condition: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
    """Look again and again until ``condition`` holds; fails with ``what`` when it never does."""
    for _ in _looks(condition, what, seconds):
        time.sleep(PAUSE)


async def until_async(condition: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
    """The same, while other tasks of this event loop go on."""
    for _ in _looks(condition, what, seconds):
        await asyncio.sleep(PAUSE)


def _looks(condition: Callable[[], object], what: str, seconds: float) -> Iterator[None]:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        yield


def waiting_at(desk: Path) -> dict[str, Any] | None:
    """What a human fixer waits for in a folder, None when it does not wait."""
    try:
        state: dict[str, Any] = json.loads((desk / "waiting.json").read_text())
    except (OSError, ValueError):
        return None
    return state if state["state"] == "waiting" else None
