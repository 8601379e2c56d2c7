"""Kernel times by relaunching: the paper's ten launches of reference and candidate, interleaved on one device (appendix G)."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence

from engine.events import Outlier, SizeTime, Timed, TimedLaunch
from engine.harness.ratio import interval, outliers

SOURCES = ((r"^Region time", "nvtx"), (r"^Elapsed time", "process"))
"""Who takes a time, by the head of the pattern that finds it; anything else is the program's own figure."""

SOURCE_WORDS = {
    "events": "CUDA events, the parent's clock agreeing",
    "program": "the program's own figure, which the parent's clock cannot check",
    "nvtx": "an NVTX range, by two moments of the host's clock",
    "process": "the whole process, by the host's clock",
}

_HEADING = re.compile(r"^=+ *(.*?) *=+ *$", re.MULTILINE)
"""How drivers of several sizes begin each one's block."""

_BAD_CLOCK = ("hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown", "sw_power_cap")
"""Reasons for which a clock is lower than the GPU could run."""

NOISY = 0.03
"""The paper's threshold for the CV: reported, not enforced."""


def parse_time(parser: str, output: str) -> float | None:
    """Milliseconds that ``parser``'s first group captures; None when absent, zero, negative or not finite, and when several
    lines match: one of them is not the driver's."""
    times = parse_times(parser, output)
    return times[0] if times is not None and len(times) == 1 else None


def parse_times(parser: str, output: str) -> list[float] | None:
    """All milliseconds that ``parser`` finds, in order; None when there is none, or one is zero, negative or not finite."""
    values = []
    for match in re.finditer(parser, output, re.MULTILINE):
        try:
            value = float(match[1])
        except ValueError:
            return None
        if not (math.isfinite(value) and value > 0):
            return None
        values.append(value)
    return values or None


def parse_sizes(parser: str, reference_parser: str, output: str) -> list[SizeTime] | None:
    """The times of a program that prints both: once, or once below the heading of each size. None when they do not pair up, or
    when several stand without a heading of their own: one of them is not the driver's."""
    candidate, reference = parse_times(parser, output), parse_times(reference_parser, output)
    if candidate is None or reference is None or len(candidate) != len(reference):
        return None
    if len(candidate) == 1:
        return [SizeTime(size="", reference_ms=reference[0], candidate_ms=candidate[0])]
    parts = _HEADING.split(output)[1:]
    found = []
    for size, block in zip(parts[::2], parts[1::2], strict=True):
        own, other = parse_time(parser, block), parse_time(reference_parser, block)
        if own is not None and other is not None:
            found.append(SizeTime(size=size, reference_ms=other, candidate_ms=own))
    named = {row.size for row in found}
    return found if len(found) == len(named) == len(candidate) else None


def source_of(parser: str) -> str:
    """Who takes the times that ``parser`` finds."""
    return next((source for head, source in SOURCES if parser.startswith(head)), "program")


def summarize(
    iteration: int,
    reference: list[float],
    candidate: list[float],
    gate: float,
    note: str,
    seconds: float,
    *,
    source: str = "",
    launches: Sequence[TimedLaunch] = (),
    sizes: Sequence[SizeTime] = (),
    flags: Sequence[str] = (),
) -> Timed:
    """Speedup = mean of the reference / mean of the candidate; CV = sigma / mu of the candidate's launches (appendix G).

    With several ``sizes`` the times are geometric means over them, and so is the speedup. Unequal or missing samples leave the
    gate unmeasured, which never passes a gate above 0.
    """
    speedup = cv = mean = None
    ends: list[float] = []
    said = list(flags)
    if candidate and len(candidate) == len(reference) and not note:
        mean = statistics.fmean(reference)
        speedup = mean / statistics.fmean(candidate)
        if len(candidate) > 1:
            cv = statistics.stdev(candidate) / statistics.fmean(candidate)
            ends = interval(reference, candidate)
        said += _flags(reference, candidate, ends, gate, cv, sizes)
    said += _clock_flags(launches)
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
        interval=ends,
        source=source,
        flags=said,
        outliers=_outliers("reference", reference) + _outliers("candidate", candidate),
        launches=list(launches),
        sizes=list(sizes),
    )


def _flags(
    reference: list[float],
    candidate: list[float],
    ends: list[float],
    gate: float,
    cv: float | None,
    sizes: Sequence[SizeTime],
) -> list[str]:
    found = []
    if len(candidate) == 1:
        found.append("single launch: no spread is known")
    if ends and ends[0] < gate <= ends[1]:
        found.append(f"undecided at 95 %: the interval {ends[0]:.3f} to {ends[1]:.3f} lies across the gate {gate:g}")
    if cv is not None and cv > NOISY:
        found.append(f"cv {100 * cv:.1f} %, above {100 * NOISY:g} %")
    if len(sizes) > 1:
        least = min(sizes, key=lambda row: row.speedup)
        found.append(f"geometric mean of {len(sizes)} sizes; the least is {least.speedup:.2f}x at {least.size}")
    return found


def _clock_flags(launches: Sequence[TimedLaunch]) -> list[str]:
    found = []
    for reason in _BAD_CLOCK:
        held = sum(1 for launch in launches if reason in launch.reasons)
        if held:
            found.append(f"{reason} in {held} of {len(launches)} launches")
    clocks = [launch.sm_mhz for launch in launches if launch.sm_mhz]
    if clocks and max(clocks) > 1.05 * min(clocks):
        found.append(f"SM clock between {min(clocks)} and {max(clocks)} MHz")
    return found


def _outliers(side: str, times: list[float]) -> list[Outlier]:
    return [
        Outlier(side=side, number=index + 1, ms=times[index], score=round(score, 2)) for index, score in outliers(times)
    ]
