"""Two trajectories side by side: each at a step of its own, stepped together or apart."""

from __future__ import annotations

from typing import Literal

from beaver_tui.state.session import Session
from beaver_tui.state.speedtext import Beside, beside

Side = Literal["left", "right"]


class Comparison:
    """``left`` and ``right`` keep their own positions, so that a screen may move either by itself. ``runs`` are the names of the
    runs that they are of."""

    def __init__(self, left: Session, right: Session, runs: tuple[str, str] = ("", "")) -> None:
        self.left, self.right, self.runs = left, right, runs

    @property
    def positions(self) -> tuple[int, int]:
        return self.left.position, self.right.position

    def session(self, side: Side) -> Session:
        """The trajectory of a side."""
        return self.left if side == "left" else self.right

    def step(self, by: int) -> None:
        """Move both sides, each as far as it goes; a distance between them stays while neither meets its end."""
        self.move("left", by)
        self.move("right", by)

    def move(self, side: Side, by: int) -> None:
        """Move one side."""
        session = self.session(side)
        session.go(session.position + by)

    def swap(self) -> None:
        """Left becomes right."""
        self.left, self.right, self.runs = self.right, self.left, self.runs[::-1]

    @property
    def sources(self) -> tuple[bytes | None, bytes | None]:
        """The code of both sides; None where a step has no usable file."""
        return self.left.source(self.left.position), self.right.source(self.right.position)

    @property
    def speed(self) -> Beside | None:
        """How many times as fast as the left step the right one is; None where either was not timed, or is of another task."""
        if self.left.cell.task != self.right.cell.task:
            return None
        return beside(self.right.timed(self.right.position), self.left.timed(self.left.position), "the left one")
