"""Two trajectories side by side: each at a step of its own, stepped together or apart, and what differs between them there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from beaver_tui.state.facts import Facts
from beaver_tui.state.session import Session

Side = Literal["left", "right"]


@dataclass(frozen=True)
class Difference:
    """One fact in which two steps differ, in words for both sides."""

    name: str
    left: str
    right: str


class Comparison:
    """``left`` and ``right`` keep their own positions, so that a screen may move either by itself."""

    def __init__(self, left: Session, right: Session) -> None:
        self.left, self.right = left, right

    @property
    def positions(self) -> tuple[int, int]:
        return self.left.position, self.right.position

    @property
    def last(self) -> int:
        """The newest step of the longer side."""
        return max(self.left.last, self.right.last)

    def step(self, by: int) -> None:
        """Move both sides, each as far as it goes; a distance between them stays while neither meets its end."""
        for side in (self.left, self.right):
            side.go(side.position + by)

    def move(self, side: Side, by: int) -> None:
        """Move one side."""
        session = self.left if side == "left" else self.right
        session.go(session.position + by)

    def align(self, step: int) -> None:
        """Both sides at the same step, or at their last one."""
        self.left.go(step)
        self.right.go(step)

    def swap(self) -> None:
        """Left becomes right."""
        self.left, self.right = self.right, self.left

    @property
    def sources(self) -> tuple[bytes | None, bytes | None]:
        """The code of both sides; None where a step has no usable file."""
        return self.left.source(self.left.position), self.right.source(self.right.position)

    @property
    def facts(self) -> tuple[Facts, Facts]:
        return self.left.facts(self.left.position), self.right.facts(self.right.position)

    @property
    def same_task(self) -> bool:
        """Whether a difference of code or of times means anything."""
        return self.left.cell.task == self.right.cell.task

    @property
    def categories(self) -> list[tuple[str, str]]:
        """The categories of both sides step by step, empty where one has no such step or does not know yet."""
        sides = [[row.category for row in session.rows] for session in (self.left, self.right)]
        return [
            (sides[0][step] if step < len(sides[0]) else "", sides[1][step] if step < len(sides[1]) else "")
            for step in range(max(map(len, sides)))
        ]

    @property
    def parted(self) -> int | None:
        """The first step at which the categories are not the same, None when all are."""
        return next((step for step, (left, right) in enumerate(self.categories) if left != right), None)

    @property
    def differences(self) -> list[Difference]:
        """The facts in which the steps on show differ, in the order in which a reader asks for them."""
        left, right = (_words(facts) for facts in self.facts)
        found = [Difference(name, left[name], right[name]) for name in left if left[name] != right[name]]
        before, after = self.sources
        if before != after:
            found.append(Difference("code", _size(before), _size(after)))
        return found


def _words(facts: Facts) -> dict[str, str]:
    """Facts that can be compared, each in words."""
    return {
        "device": facts.device,
        "category": facts.category,
        "signature": facts.signature,
        "signals": ", ".join(facts.signals),
        "hazards": ", ".join(facts.hazards),
        "speedup": f"{facts.speedup:.2f}x" if facts.speedup is not None else "",
        "gate": facts.gate,
        "candidate ms": _mean(facts.samples),
        "reference ms": _mean(facts.reference_samples),
        "tokens": str(facts.tokens),
        "cost": f"${facts.cost:.4f}" if facts.cost is not None else "",
        "findings": "; ".join(facts.findings),
    }


def _mean(samples: tuple[float, ...]) -> str:
    return f"{sum(samples) / len(samples):.4g}" if samples else ""


def _size(code: bytes | None) -> str:
    return "no usable file" if code is None else f"{len(code.splitlines())} lines"
