"""The words for how a trajectory stands, the same in every list."""

from __future__ import annotations

from typing import Final

PASSED: Final = "passed"
FAILED: Final = "failed"
"""It has used up its iterations."""
STOPPED: Final = "stopped"
"""With its reason behind it: "stopped: no_progress"."""
RUNNING: Final = "running"
OPEN: Final = "open"
"""It was interrupted, waits for its turn, or met a fault of the machine; it can be gone on with."""
DAMAGED: Final = "damaged"
NOT_BEGUN: Final = "not begun"


def ended_as(stop_reason: str, passed: bool) -> str:
    """The status of a trajectory that is over."""
    if passed:
        return PASSED
    return FAILED if stop_reason == "max_iterations" else f"{STOPPED}: {stop_reason}"
