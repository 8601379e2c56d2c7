"""A rate with what it divides by; the counts of a metric, unit by unit; and the groups that they are summed over.

No number is ever NaN: what has no denominator has no value, and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.analysis.build import PAPER
from engine.analysis.frame import NAMED, Bools, Floats, Frame, Ints
from engine.errors import BeaverError
from engine.protocol import Protocol


class AnalysisError(BeaverError):
    """A number that was asked for and that these rows cannot give. The message says why and what would."""


@dataclass(frozen=True)
class Rate:
    """numerator / denominator. ``of`` says what the denominator counts, ``why`` what a reader should know when it is 0."""

    numerator: float
    denominator: float
    of: str = "tasks"
    why: str = ""

    @property
    def value(self) -> float | None:
        return self.numerator / self.denominator if self.denominator > 0 else None

    @property
    def percent(self) -> float | None:
        return None if self.value is None else 100 * self.value

    def __str__(self) -> str:
        value = self.value
        return f"{100 * value:.1f} %" if value is not None else f"n/a ({self.why or f'no {self.of}'})"


@dataclass(frozen=True)
class Figure:
    """A number that is no rate: a median, a tau. ``count`` is what it was computed from; None has a ``why``."""

    value: float | None
    count: int
    why: str = ""


@dataclass(frozen=True)
class Tally:
    """What a metric counts. Unit u (a trajectory, or all attempts of a repeated task) adds ``hits[u]`` to the numerator and
    ``base[u]`` to the denominator; ``rows[u]`` is a trajectory that stands for it in every column. ``left_out`` units had too
    little to be counted."""

    name: str
    of: str
    rows: Ints
    hits: Floats
    base: Floats
    why: str = ""
    left_out: int = 0

    def total(self) -> Rate:
        """The rate over all units. Use it on rows of one setting and one fixer; ``rates_by`` checks that."""
        return Rate(float(self.hits.sum()), float(self.base.sum()), self.of, self.why)


def each(count: int) -> Floats:
    """A base of one for each unit, in the memory of one."""
    return np.broadcast_to(np.float64(1.0), (count,))


def everyone(count: int) -> Ints:
    """The rows of a tally whose units are all trajectories."""
    return np.arange(count, dtype=np.int32)


def tally_of(name: str, of: str, hits: Bools | Floats, chosen: Bools, why: str = "") -> Tally:
    """A Tally whose units are the chosen trajectories, each with a base of one; ``hits`` of others are dropped."""
    rows = np.flatnonzero(chosen).astype(np.int32)
    return Tally(name, of, rows, hits[rows].astype(np.float64), each(len(rows)), why)


@dataclass(frozen=True)
class Groups:
    """A partition of trajectories: ``index`` is each one's position in ``keys``, and a key is its values of ``columns``."""

    columns: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    index: Ints


def setting_label(protocol: Protocol, base: Protocol = PAPER) -> str:
    """How a setting differs from the paper's default, in the names of its fields: "history=2", or "default". The posthoc
    threshold is none of it (see ``setting_of``)."""
    pairs = [
        (name, getattr(protocol, name), getattr(base, name))
        for name in Protocol.__struct_fields__
        if name != "gate" or protocol.gate_mode == "inloop"
    ]
    different = [f"{name}={value}" for name, value, usual in pairs if value != usual or name == "gate"]
    return ", ".join(different) or "default"


def groups_by(frame: Frame, *columns: str) -> Groups:
    """Trajectories by setting, fixer and whatever ``columns`` name besides, in the order of their names' ids. A key's first value
    is the setting's label, its second the fixer, so that no number mixes two protocols. Raises AnalysisError for a column that
    is none."""
    wanted = ("fixer", *(name for name in columns if name not in ("setting", "fixer")))
    for name in wanted:
        if name not in NAMED:
            raise AnalysisError(f"{name}: results can be split by {', '.join(NAMED)}")
    codes = [frame.trajectories.setting, *(getattr(frame.trajectories, name) for name in wanted)]
    labels = [tuple(setting_label(protocol) for protocol in frame.settings), *(frame.labels(name) for name in wanted)]
    combined = np.zeros(len(frame.trajectories), np.int64)
    for code, names in zip(codes, labels, strict=True):
        combined = combined * (len(names) + 1) + (code % len(names))  # -1 becomes the last label, "unknown"
    found, index = np.unique(combined, return_inverse=True)
    keys = [_key(int(value), labels) for value in found]
    return Groups(("setting", *wanted), tuple(keys), index.astype(np.int64))


def _key(value: int, labels: Sequence[Sequence[str]]) -> tuple[str, ...]:
    parts = []
    for names in reversed(labels):
        value, code = divmod(value, len(names) + 1)
        parts.append(names[code])
    return tuple(reversed(parts))


def rates_by(tally: Tally, groups: Groups) -> list[Rate]:
    """The tally's rate in every group, in the order of ``groups.keys``."""
    index = groups.index[tally.rows]
    count = len(groups.keys)
    hits = np.bincount(index, tally.hits, minlength=count)
    base = np.bincount(index, tally.base, minlength=count)
    return [Rate(float(n), float(d), tally.of, tally.why) for n, d in zip(hits, base, strict=True)]
