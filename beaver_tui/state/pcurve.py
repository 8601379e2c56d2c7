"""A trajectory at every threshold of speed: which of its steps pass at p, and where that cannot be known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.analysis.grids import GATES
from engine.protocol import GateMode, Protocol
from engine.trajectory import Iteration

CORRECT = "passed"


@dataclass(frozen=True)
class Point:
    """One threshold: a step passes at ``p`` that is correct and has a speedup of at least p (paper 3.4, A1); one whose speedup was
    not measured passes at 0 alone. ``steps`` are the numbers of all that do, the first one decides.

    ``known``: whether a trajectory played at p could be told from this one. With an in-loop gate p0 it ended at its first pass at
    p0; a higher threshold would have gone on from there, so no pass above p0 is known to be missing (protocol 20)."""

    p: float
    steps: tuple[int, ...]
    known: bool = True

    @property
    def passes(self) -> bool:
        return bool(self.steps)


@dataclass(frozen=True)
class PCurve:
    """``points`` from the lowest threshold on. ``best`` is the number and speedup of the fastest correct step, None where none was
    measured; ``unmeasured`` are the correct steps without a speedup; ``gate`` is the threshold that the protocol names, ``inloop``
    whether the trajectory was played with it."""

    points: tuple[Point, ...]
    best: tuple[int, float] | None
    unmeasured: tuple[int, ...]
    gate: float
    inloop: bool


def p_curve(iterations: Sequence[Iteration], protocol: Protocol, grid: Sequence[float] = GATES) -> PCurve:
    """The curve over ``grid`` and the protocol's own threshold, of the iterations that have a verdict. Whatever gate the loop had,
    a step counts as correct by its category alone."""
    correct = [item for item in iterations if item.verdict is not None and item.verdict.category == CORRECT]
    speedups = {item.number: item.timed.speedup if item.timed is not None else None for item in correct}
    measured = {number: value for number, value in speedups.items() if value is not None}
    inloop = protocol.gate_mode is GateMode.INLOOP
    points = []
    for p in sorted({*grid, protocol.gate}):
        steps = tuple(number for number in speedups if p <= 0 or measured.get(number, -1.0) >= p)
        points.append(Point(p, steps, known=not inloop or p <= protocol.gate))
    fastest = max(measured, key=lambda number: (measured[number], -number), default=None)
    return PCurve(
        points=tuple(points),
        best=(fastest, measured[fastest]) if fastest is not None else None,
        unmeasured=tuple(number for number in speedups if number not in measured),
        gate=protocol.gate,
        inloop=inloop,
    )
