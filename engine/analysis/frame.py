"""The columns that every number is computed from: one row a trajectory, one row an iteration, and what is not among them.

Names are stored once and columns hold their ids, so that a million iterations are a few arrays. A Frame holds counted
trajectories only: closed, with at least one iteration, and not played by hand unless that was asked for. What was planned and is
not here is in ``coverage``, cell by cell, and never becomes a failure in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from engine.protocol import GateMode, Protocol
from engine.rundir import Cell
from engine.verdict import Category, Signal
from engine.verdict.categories import UNCLASSIFIED

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

CATEGORIES: Final = (*map(str, Category), UNCLASSIFIED)
"""Codes of the column ``category``: the eight in the order of Table 4, then the label for an ambiguous stage."""
PASSED: Final = CATEGORIES.index(Category.PASSED)

GATES: Final = ("pass", "fail", "unmeasured")
"""Codes of the column ``gate``."""

SIGNALS: Final = tuple(map(str, Signal))
"""Bit n of the column ``signals`` is SIGNALS[n]; in the order in which they become the stop reason."""

UNKNOWN: Final = -1
"""The id of what is not known: no source model, no operation, no usable file in a reply."""

NAMED: Final = (
    "task", "fixer", "model", "family", "source", "bucket", "operation", "generation", "device", "stop_reason",
)  # fmt: skip
"""The columns of trajectories whose ids are names, see ``Frame.names``."""

Why = Literal["missing", "unfinished", "infra", "interactive", "no_answer", "needs_device", "damaged"]


@dataclass(frozen=True)
class Gap:
    """A planned cell without a counted trajectory. ``detail`` is what a reader can act on, as plain text from outside."""

    run: str
    cell: Cell
    why: Why
    detail: str = ""


@dataclass(frozen=True)
class Coverage:
    """Planned cells = counted ones + gaps."""

    planned: int = 0
    gaps: tuple[Gap, ...] = ()

    @property
    def counted(self) -> int:
        return self.planned - len(self.gaps)

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many cells are left out for each reason."""
        return Counter(gap.why for gap in self.gaps)


@dataclass(frozen=True)
class RunFacts:
    """What a card says of a run that rows came from."""

    name: str
    corpus_hash: str = ""
    device: str = ""
    schema_version: int = 1
    gate: float = 0.7
    """The threshold p that the run asks to be scored at."""


@dataclass(frozen=True)
class Trajectories:
    """One row a trajectory. Ids are positions in ``Frame.names[column]``, -1 where nothing is known."""

    task: Ints
    fixer: Ints
    model: Ints
    """The model's name as the service returned it with the first reply."""
    family: Ints
    source: Ints
    """The model that made the broken start."""
    bucket: Ints
    operation: Ints
    generation: Ints
    """The GPU generation."""
    device: Ints
    stop_reason: Ints
    setting: Ints
    """Position in ``Frame.settings``."""
    run: Ints
    attempt: Ints
    interactive: Bools
    infra: Ints
    """Faults of the machine or the service that were overcome on the way."""
    fell_back: Ints
    """Iterations whose feedback is of another level than the protocol's: L3 for want of a profile."""
    first: Ints
    """Position of its first iteration."""
    length: Ints
    """How many iterations it has, at least 1."""

    def __len__(self) -> int:
        return len(self.task)


@dataclass(frozen=True)
class Iterations:
    """One row an iteration, ordered by trajectory, then by number. NaN is what was not measured or not told."""

    trajectory: Ints
    number: Ints
    """From 1."""
    category: Ints
    """Code of CATEGORIES."""
    solution: Ints
    """Equal ids are equal bytes, over the whole Frame; -1 for a reply without a usable file."""
    signature: Ints
    passed: Bools
    """As the loop took it: correct and, with the in-loop gate, fast enough."""
    speedup: Floats
    """reference_mean / candidate_mean."""
    cv: Floats
    """Coefficient of variation of the launches' means, as a fraction."""
    gate: Ints
    """Code of GATES, for the threshold of the run."""
    seconds: Floats
    """Wall-clock of model, build, test, sanitizer and timing together."""
    tokens: Floats
    """In and out."""
    cost: Floats
    """US dollars."""
    signals: Ints
    """Bits of SIGNALS."""
    truncated: Bools

    def __len__(self) -> int:
        return len(self.trajectory)


@dataclass(frozen=True)
class Frame:
    """Trajectories and iterations in columns. ``settings`` are the protocols that rows were played under, as ``setting_of``
    makes them: what only matters when scoring does not tell two of them apart."""

    names: Mapping[str, tuple[str, ...]]
    settings: tuple[Protocol, ...]
    runs: tuple[RunFacts, ...]
    coverage: Coverage
    trajectories: Trajectories
    iterations: Iterations

    def where(self, chosen: Bools) -> Frame:
        """The Frame of the chosen trajectories; names, ids, settings and coverage stay as they are."""
        count = int(chosen.sum())
        kept = chosen[self.iterations.trajectory]
        position = np.cumsum(chosen) - 1
        iterations = Iterations(**{item.name: getattr(self.iterations, item.name)[kept] for item in fields(Iterations)})
        trajectories = Trajectories(
            **{item.name: getattr(self.trajectories, item.name)[chosen] for item in fields(Trajectories)}
        )
        lengths = trajectories.length
        first = np.concatenate(([0], np.cumsum(lengths)[:-1])) if count else lengths[:0]
        return replace(
            self,
            trajectories=replace(trajectories, first=first),
            iterations=replace(iterations, trajectory=position[iterations.trajectory]),
        )

    def of(self, column: str, name: str) -> Bools:
        """Which trajectories have ``name`` in a named column: frame.where(frame.of("fixer", "gpt-5.4")). An unknown name has
        none."""
        names = self.names[column]
        if name not in names:
            return np.zeros(len(self.trajectories), bool)
        return np.asarray(getattr(self.trajectories, column) == names.index(name))

    def labels(self, column: str) -> tuple[str, ...]:
        """The names of a column's ids, and one more at the end, which the id -1 finds: "unknown"."""
        return (*self.names[column], "unknown")


def setting_of(protocol: Protocol) -> Protocol:
    """The protocol without what acts only when scoring: the threshold of a posthoc gate changes no trajectory."""
    return msgspec.structs.replace(protocol, gate=0.0) if protocol.gate_mode is GateMode.POSTHOC else protocol


GENERATIONS: Final[Mapping[int, str]] = {
    50: "Maxwell", 52: "Maxwell", 53: "Maxwell", 60: "Pascal", 61: "Pascal", 62: "Pascal", 70: "Volta", 72: "Volta", 75: "Turing",
    80: "Ampere", 86: "Ampere", 87: "Ampere", 88: "Ampere", 89: "Ada", 90: "Hopper", 100: "Blackwell", 101: "Blackwell",
    103: "Blackwell", 110: "Blackwell", 120: "Blackwell", 121: "Blackwell",
}  # fmt: skip
"""NVIDIA's architecture names by compute capability (CUDA programming guide, "Compute Capabilities")."""
