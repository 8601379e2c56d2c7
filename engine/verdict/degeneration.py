"""The degeneration lens: what a candidate has given up of what made its baseline fast, in words, with lines and a score.

The paper's repair by degeneration (section 1, figure 1): a fixer passes by leaving the optimised structure. The baseline is the
broken start, the candidate before, or the reference; where the broken start itself is the slow one (perf_broken), the reference.
Pure functions of two structures: a live view, a replay and a report compute the same from the stored solutions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from engine.verdict.degeneration_rules import KINDS, Kind, Measure
from engine.verdict.structure import Structure


@dataclass(frozen=True)
class Finding:
    """One thing given up. ``before`` and ``after`` are counts (of what ``kind`` counts); ``severity`` is the share that was given
    up, ``weight`` what all of it weighs, both 0 to 1. Lines count from 1, those of the baseline first; where the candidate has
    nothing left, its lines are those of the kernels that took over."""

    kind: str
    words: str
    before: int
    after: int
    severity: float
    weight: float
    fallback: bool = False
    lines_before: tuple[int, ...] = ()
    lines_after: tuple[int, ...] = ()
    seen_in: str = "source"

    @property
    def part(self) -> float:
        """What it takes of the score: weight times severity."""
        return self.weight * self.severity

    @property
    def how(self) -> Literal["lost", "fewer", "fell back to"]:
        """In which way it was given up."""
        if self.fallback:
            return "fell back to"
        return "fewer" if self.after else "lost"

    @property
    def text(self) -> str:
        """In words: "lost shared tiling (2 -> 0)", "fell back to waits on the host (0 -> 1)"."""
        return f"{self.how} {self.words} ({self.before} -> {self.after})"


def lens(baseline: Structure, candidate: Structure) -> tuple[Finding, ...]:
    """What ``candidate`` gave up against ``baseline``, the heaviest first; nothing for a fix that keeps, or betters, the structure."""
    seen = [(kind, measure) for kind in KINDS if (measure := kind.test(baseline, candidate)) is not None]
    if not any(kind.alone for kind, _ in seen):
        return ()
    return tuple(_finding(kind, measure, baseline, candidate) for kind, measure in seen)


def score(findings: Iterable[Finding]) -> float:
    """The degeneration score, 0 (nothing given up) to 1: one minus the product of what every finding leaves, 1 - weight x severity.
    Of findings of one kind (source and compiled) the larger part counts."""
    parts: dict[str, float] = {}
    for finding in findings:
        parts[finding.kind] = max(parts.get(finding.kind, 0.0), finding.part)
    left = 1.0
    for part in parts.values():
        left *= 1.0 - part
    return 1.0 - left


def _finding(kind: Kind, measure: Measure, baseline: Structure, candidate: Structure) -> Finding:
    here = candidate.lines(measure.feature) or candidate.lines("kernels")
    return Finding(
        kind=kind.name,
        words=kind.words,
        before=measure.before,
        after=measure.after,
        severity=measure.severity,
        weight=kind.weight,
        fallback=kind.fallback,
        lines_before=baseline.lines(measure.feature),
        lines_after=here,
    )
