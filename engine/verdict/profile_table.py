"""A profile in words: the small table that a prompt at L4 and the workbench show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engine.events import Profiled
from engine.text import shown_name
from engine.verdict.profile_metrics import LIMITS, METRICS, STALLS, stall_name

MOST_SHOWN: Final = 4
"""Kernels in a table: a prompt is for those that take the time."""

_MOST_STALLS: Final = 3
_LEAST_STALL: Final = 5.0
"""Per cent of a warp's cycles."""

_IN_HEAD: Final = frozenset({"blocks", "threads_per_block"})
_ONLY_IF_USED: Final = frozenset({"tensor_pipe_pct", "dynamic_shared_bytes", "static_shared_bytes"})
"""Figures of which zero says nothing."""

CAPTION: Final = (
    "Profiler figures (Nsight Compute; one run of the test, caches flushed before each kernel, so a duration here is not the "
    "measured time)"
)


def profile_table(profiled: Profiled) -> str:
    """The figures of the kernels that took longest, each with its unit. Empty when there are none."""
    kernels = list(profiled.figures.items())
    parts = ["\n".join(_kernel(name, figures)) for name, figures in kernels[:MOST_SHOWN]]
    rest = kernels[MOST_SHOWN:]
    if rest:
        share = sum(figures.get("time_pct", 0.0) for _, figures in rest)
        parts.append(f"{len(rest)} more kernel{'s' if len(rest) > 1 else ''}: {_number(share)} % of the profiled time")
    return "\n".join(parts)


def profile_line(profiled: Profiled) -> str:
    """The kernel that took longest, in one line: how near it is to its limits, and what its warps wait for. Empty without figures."""
    if not profiled.figures:
        return ""
    name, figures = next(iter(profiled.figures.items()))
    told = (
        ("SM", "sm_throughput_pct"),
        ("DRAM", "dram_throughput_pct"),
        ("occupancy", "achieved_occupancy_pct"),
    )
    words = [f"{label} {_number(figures[key])} %" for label, key in told if key in figures]
    stall = max(STALLS, key=lambda reason: figures.get(stall_name(reason), 0.0))
    if stall_name(stall) in figures:
        words.append(f"{stall} {_number(figures[stall_name(stall)])} %")
    return f"{shown_name(name)}: {', '.join(words)}"


def _kernel(name: str, figures: Mapping[str, float]) -> list[str]:
    lines = [_head(name, figures)]
    for metric in METRICS:
        value = figures.get(metric.name)
        if value is None or metric.name in _IN_HEAD or (value == 0 and metric.name in _ONLY_IF_USED):
            continue
        limited = _limited_by(figures) if metric.name == "theoretical_occupancy_pct" and value < 100 else ""
        lines.append(f"  {metric.words:22} {_number(value):>8} {metric.unit}{limited}")
    return [*lines, *_stall_lines(figures)]


def _head(name: str, figures: Mapping[str, float]) -> str:
    launches = int(figures.get("launches", 0))
    words = [f"{launches} launch{'es' if launches != 1 else ''}"]
    if "blocks" in figures and "threads_per_block" in figures:
        words.append(f"{figures['blocks']:.0f} blocks of {figures['threads_per_block']:.0f} threads")
    if "time_pct" in figures:
        words.append(f"{_number(figures['time_pct'])} % of the profiled time")
    return f"{shown_name(name, 120)}: {', '.join(words)}"


def _limited_by(figures: Mapping[str, float]) -> str:
    """The resource that lets the fewest blocks into an SM; several that are equal are all named."""
    limits = {metric.words: figures[metric.name] for metric in LIMITS if metric.name in figures}
    if not limits:
        return ""
    least = min(limits.values())
    names = " and ".join(words for words, blocks in limits.items() if blocks == least)
    return f", limited by {names} to {least:.0f} block{'s' if least != 1 else ''} an SM"


def _stall_lines(figures: Mapping[str, float]) -> list[str]:
    shares = [(figures.get(stall_name(reason), 0.0), reason, words) for reason, words in STALLS.items()]
    top = [item for item in sorted(shares, key=lambda item: -item[0]) if item[0] >= _LEAST_STALL][:_MOST_STALLS]
    return [f"  {'warps wait for' if not index else '':22} {_number(share):>8} % of cycles: {words} ({reason})"
            for index, (share, reason, words) in enumerate(top)]  # fmt: skip


def _number(value: float) -> str:
    """Three digits at least, no exponent: 1082, 79.3, 0.04."""
    if value >= 100:
        return f"{value:.0f}"
    text = f"{value:.2f}" if value < 10 else f"{value:.1f}"
    return text.rstrip("0").rstrip(".")
