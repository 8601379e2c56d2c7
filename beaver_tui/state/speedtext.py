"""How fast a step is, in words: its samples and how far they can be trusted, beside the pinned step, and at every threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from beaver_tui.glyphs import sign
from beaver_tui.state.lines import one_line
from beaver_tui.state.pcurve import PCurve, Point
from engine import events as ev
from engine.figures import percent, times, within

MOST_LOG = 100.0
"""An interval that is wider than this power of e says nothing."""
SHOWN_SAMPLES = 12
"""Launches whose times are written out; of more there are the first ones."""


@dataclass(frozen=True)
class Beside:
    """A step's speed beside that of another, called ``name``. ``ratio`` is how many times as fast as that it is, by both
    speedups over the reference where there are such, else by the mean times of both; ``interval`` (95 %) is empty where either has
    none, and in the second case."""

    name: str
    ratio: float
    interval: tuple[float, ...] = ()


@dataclass(frozen=True)
class Speed:
    """A step's measurement, and how it compares with the pinned step; None for what there is not."""

    timed: ev.Timed | None
    beside: Beside | None = None


def beside(timed: ev.Timed | None, other: ev.Timed | None, name: str) -> Beside | None:
    """None where either was not timed. The speedups are of two sessions, each with the reference in turns with the candidate: the
    state of the GPU, which may be another by now, is no part of their ratio. The sessions are independent: the widths of the
    intervals' logarithms add as squares."""
    if timed is None or other is None:
        return None
    if timed.speedup is not None and other.speedup is not None and min(timed.speedup, other.speedup) > 0:
        ratio = timed.speedup / other.speedup
        return Beside(name, ratio, _interval(ratio, timed, other))
    if not timed.candidate_ms or not other.candidate_ms:
        return None
    mine, its = _mean(timed.candidate_ms), _mean(other.candidate_ms)
    return Beside(name, its / mine) if mine > 0 and its > 0 else None


def _interval(ratio: float, timed: ev.Timed, other: ev.Timed) -> tuple[float, ...]:
    """Empty for what a journal may hold and no harness has measured."""
    ends = (*timed.interval, *other.interval)
    if len(timed.interval) != 2 or len(other.interval) != 2 or min(ends) <= 0:
        return ()
    assert timed.speedup is not None and other.speedup is not None
    # towards the lower end: this step slower than measured, the other one faster; and the other way round
    down = math.hypot(_log(timed.speedup, timed.interval[0]), _log(other.interval[1], other.speedup))
    up = math.hypot(_log(timed.interval[1], timed.speedup), _log(other.speedup, other.interval[0]))
    if not max(down, up) < MOST_LOG:
        return ()
    return ratio * math.exp(-down), ratio * math.exp(up)


def _log(one: float, other: float) -> float:
    """The logarithm of a ratio of two positive numbers, whatever their size."""
    return math.log(one) - math.log(other)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def timed_lines(timed: ev.Timed) -> list[str]:
    """A measurement: the ratio with its interval, both sides' samples, how the GPU stood, what to know before it is believed."""
    ratio = f"speedup {times(timed.speedup)}" if timed.speedup is not None else "speedup unmeasured"
    if timed.interval:
        ratio += f"  95 % {within(timed.interval)}"
    lines = [f"{ratio}  gate {timed.gate}" + (f": {timed.note}" if timed.note else "")]
    for name, samples in (("reference", timed.reference_ms), ("candidate", timed.candidate_ms)):
        if samples:
            lines.append(f"{name:10} {_samples(samples)}")
    if timed.cv is not None:
        lines.append(f"{'variation':10} CV {percent(timed.cv)} of the candidate's launches")
    lines += [f"{'size':10} {size.size}: {times(size.speedup)}" for size in timed.sizes]
    if (clocks := _conditions(timed.launches)) != "":
        lines.append(f"{'GPU':10} {clocks}")
    lines += [
        f"{'apart':10} {item.side} launch {item.number}: {item.ms:.4g} ms (score {item.score:.1f}); it counts all the same"
        for item in timed.outliers
    ]
    if timed.source:
        lines.append(f"{'source':10} {timed.source}")
    lines += [f"{'note':10} {flag}" for flag in timed.flags]
    return [one_line(line) for line in lines]


def _samples(samples: Sequence[float]) -> str:
    shown = " ".join(f"{value:.4g}" for value in samples[:SHOWN_SAMPLES])
    more = f" and {len(samples) - SHOWN_SAMPLES} more" if len(samples) > SHOWN_SAMPLES else ""
    return f"mean {_mean(samples):.4g} ms of {len(samples)}: {shown}{more}"


def _conditions(launches: Sequence[ev.TimedLaunch]) -> str:
    """Clock, temperature and power over all launches, and what held the clock down."""
    words = []
    for unit, values in (
        ("MHz", [launch.sm_mhz for launch in launches if launch.sm_mhz is not None]),
        ("C", [launch.celsius for launch in launches if launch.celsius is not None]),
        ("W", [round(launch.watts) for launch in launches if launch.watts is not None]),
    ):
        if values:
            low, high = min(values), max(values)
            words.append(f"{low} {unit}" if low == high else f"{low} to {high} {unit}")
    reasons = sorted({reason for launch in launches for reason in launch.reasons})
    if reasons:
        words.append(f"held by {', '.join(reasons)}")
    return ", ".join(words)


def beside_line(found: Beside) -> str:
    """ "1.62x of step 1 (pinned)  95 % [1.55, 1.70]"."""
    ends = f"  95 % {within(found.interval)}" if found.interval else ""
    return f"{times(found.ratio)} of {found.name}{ends}"


def curve_lines(curve: PCurve) -> list[str]:
    """The p-curve as a table, and what it says together."""
    lines = ["p      passes  steps"]
    lines += [
        f"{point.p:<6g} {_verdict(point)} {_steps(point)}{_marked(point, curve)}".rstrip() for point in curve.points
    ]
    if curve.best is not None:
        lines.append(f"best {times(curve.best[1])} at step {curve.best[0]}")
    if curve.unmeasured:
        numbers = ", ".join(map(str, curve.unmeasured))
        lines.append(f"correct and not measured: step {numbers}; passes at p 0 alone")
    if any(not point.known for point in curve.points):
        lines.append(
            f"played with the gate {curve.gate:g} in the loop, which ended it at its first pass there: "
            "what a higher threshold would have come to was not played, and is not scored"
        )
    return lines


def _verdict(point: Point) -> str:
    if not point.known:
        return "unknown"
    return f"{sign('yes')} yes  " if point.passes else f"{sign('no')} no   "


def _steps(point: Point) -> str:
    return ", ".join(map(str, point.steps))


def _marked(point: Point, curve: PCurve) -> str:
    if point.p != curve.gate:
        return ""
    return f"  {sign('pin')} this run's gate, {'in the loop' if curve.inloop else 'when scoring'}"


def speed_text(step: int, timed: ev.Timed | None, found: Beside | None, curve: PCurve) -> str:
    """The whole pane: this step, then the trajectory."""
    lines = [f"Step {step}" if step else "Broken start"]
    lines += timed_lines(timed) if timed is not None else ["not timed"]
    if found is not None:
        lines.append(beside_line(found))
    return "\n".join([*lines, "", "The trajectory at each threshold (axis A1)", *curve_lines(curve)])
