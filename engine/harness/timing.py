"""Kernel times by relaunching: the paper's ten launches of reference and candidate, interleaved on one device (appendix G)."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Awaitable, Callable

from engine.events import Timed

Measure = Callable[[], Awaitable[str]]
"""Launches a program once and returns its standard output."""


def parse_time(parser: str, output: str) -> float | None:
    """Milliseconds that ``parser``'s first group captures; None when absent, zero, negative or not finite, and when several
    lines match: one of them is not the driver's."""
    found = list(re.finditer(parser, output, re.MULTILINE))
    if len(found) != 1:
        return None
    match = found[0]
    try:
        value = float(match[1])
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


async def interleave(
    parser: str, reference: Measure, candidate: Measure, launches: int
) -> tuple[list[float], list[float], str]:
    """Times in milliseconds of both, one launch each in turn, and why they are incomplete (empty when they are not)."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(launches):
        for who, measure, samples in (("reference", reference, times[0]), ("candidate", candidate, times[1])):
            value = parse_time(parser, await measure())
            if value is None:
                return *times, f"the {who} reported no usable time"
            samples.append(value)
    return *times, ""


def summarize(
    iteration: int, reference: list[float], candidate: list[float], gate: float, note: str, seconds: float
) -> Timed:
    """Speedup = mean of the reference / mean of the candidate; CV = sigma / mu of the candidate's launches (appendix G).

    Unequal or missing samples leave the gate unmeasured, which never passes a gate above 0.
    """
    speedup = cv = mean = None
    if candidate and len(candidate) == len(reference) and not note:
        mean = statistics.fmean(reference)
        speedup = mean / statistics.fmean(candidate)
        if len(candidate) > 1:
            cv = statistics.stdev(candidate) / statistics.fmean(candidate)
    decision = "unmeasured" if speedup is None else "pass" if speedup >= gate else "fail"
    return Timed(
        iteration=iteration,
        reference_ms=reference,
        candidate_ms=candidate,
        speedup=speedup,
        reference_mean_ms=mean,
        cv=cv,
        gate=decision,
        note=note,
        seconds=seconds,
    )
