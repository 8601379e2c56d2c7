"""Figures in words that have room in a column."""

from __future__ import annotations

from collections.abc import Sequence


def times(speedup: float | None) -> str:
    """ "1.31x"; "1.3e+08x" where digits would say nothing and fill the screen; empty when nothing was measured."""
    if speedup is None:
        return ""
    return f"{speedup:.2f}x" if speedup == 0 or 0.005 <= abs(speedup) < 10_000 else f"{speedup:.1e}x"


def percent(share: float) -> str:
    """ "1.10 %"; "1.0e+71 %" where digits would say nothing."""
    return f"{100 * share:.2f} %" if abs(share) < 100 else f"{100 * share:.1e} %"


def within(interval: Sequence[float]) -> str:
    """ "[1.28, 1.34]"; empty without an interval."""
    return f"[{times(interval[0])[:-1]}, {times(interval[1])[:-1]}]" if len(interval) == 2 else ""
