"""What a report says, before anybody decides how it looks: tables of cells that know their value and their words.

A number that does not exist is a cell with its reason; no cell ever holds NaN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.text import plain_text

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Shown:
    """A cell: ``value`` for programs (None when there is none), ``text`` for people. Both are free of control sequences."""

    text: str
    value: str | int | float | None = None
    why: str = ""
    """The reason why there is no value; empty when there is one."""


@dataclass(frozen=True)
class Table:
    """``name`` is for programs, ``title`` for people. ``columns`` and cells may hold names from outside. ``note`` says what the
    numbers divide by, or what is left out."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Shown, ...], ...]
    note: str = ""
    headline: bool = False
    """Whether it is shown in full however long it is."""


@dataclass(frozen=True)
class Curve:
    """A line over settings of an axis. ``points`` are (x, y), y a share; ``spread`` an interval for each, where there is one."""

    name: str
    points: tuple[tuple[float, float], ...]
    spread: tuple[tuple[float, float] | None, ...] = ()


@dataclass(frozen=True)
class Strip:
    """One trajectory as its categories, in order. ``stop`` is its stop reason."""

    task: str
    fixer: str
    categories: tuple[str, ...]
    stop: str = ""


@dataclass(frozen=True)
class Heat:
    """A matrix of shares: ``shares[a][b]`` is None in a row without a denominator, ``counts[a]`` is that denominator."""

    names: tuple[str, ...]
    shares: tuple[tuple[float | None, ...], ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Ranks:
    """The rank of every fixer at every setting, None where it was not measured; ties share their mean rank."""

    settings: tuple[str, ...]
    ranks: Mapping[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class Section:
    """Tables under one heading, and what can be drawn of them."""

    title: str
    tables: tuple[Table, ...] = ()
    curves: tuple[Curve, ...] = ()
    strips: tuple[Strip, ...] = ()
    heat: Heat | None = None
    ranks: Ranks | None = None
    note: str = ""


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    sections: tuple[Section, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    """What heads it: runs, corpus, device, in words."""

    @property
    def tables(self) -> list[Table]:
        return [table for section in self.sections for table in section.tables]


_UNSEEN = re.compile("[\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Characters without a shape: they turn the direction of writing, hide, or are no text that a file can hold."""


def clean(text: str) -> str:
    """Outside text as one line without control sequences; what cannot be seen is an escape."""
    return " ".join(_UNSEEN.sub(_escaped, plain_text(text)).split())


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("ascii", "backslashreplace").decode()


def words(text: str) -> Shown:
    """Text, possibly from outside."""
    return Shown(clean(text), clean(text))


def missing(why: str) -> Shown:
    """What is not there, and why."""
    return Shown(f"n/a ({clean(why)})", None, clean(why))


def count(number: int) -> Shown:
    return Shown(str(int(number)), int(number))


def number(value: float | None, digits: int = 2, unit: str = "", why: str = "not measured") -> Shown:
    """A figure with its unit; None, NaN and infinities are not there."""
    if value is None or not math.isfinite(value):
        return missing(why)
    return Shown(f"{value:.{digits}f}{unit}", round(float(value), 6))


def share(value: float | None, why: str = "nothing to divide by", digits: int = 1) -> Shown:
    """A fraction as percent."""
    if value is None or not math.isfinite(value):
        return missing(why)
    return Shown(f"{100 * value:.{digits}f} %", round(float(value), 6))


def interval(low: float | None, high: float | None, why: str = "no interval") -> Shown:
    """A pair of fractions as percent. As a value it is text: a cell of a CSV file has one."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return missing(why)
    text = f"{100 * low:.1f} to {100 * high:.1f} %"
    return Shown(text, text)


def counted(counts: Mapping[str, int]) -> Shown:
    """ "3 missing, 1 infra", the most frequent first."""
    parts = [f"{number} {name}" for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return words(", ".join(parts) or "none")


def table(name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[Shown]], note: str = "") -> Table:
    """A Table of sequences; raises ValueError for a row of another length than the columns."""
    if any(len(row) != len(columns) for row in rows):
        raise ValueError(f"table {name}: a row has another number of cells than there are columns")
    return Table(name, title, tuple(words(column).text for column in columns), tuple(map(tuple, rows)), note)
