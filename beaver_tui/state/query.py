"""The filter over a list of trajectories: words, and conditions such as ``category:timeout -status:passed longer:10s``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from beaver_tui.state.catalog import CatalogRow
from engine.errors import BeaverError

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
"""Seconds."""


class QueryError(BeaverError):
    """A query that cannot be understood: the message names the word and says what would do."""


Condition = Callable[[CatalogRow], bool]


@dataclass(frozen=True)
class Query:
    """Conditions that must all hold."""

    conditions: tuple[Condition, ...]

    def holds(self, row: CatalogRow) -> bool:
        return all(condition(row) for condition in self.conditions)


def matches(row: CatalogRow, query: str) -> bool:
    """Whether a row is wanted. Raises QueryError."""
    return parse(query).holds(row)


@lru_cache(maxsize=64)
def parse(query: str) -> Query:
    """A query's conditions; all of its words must hold, and a minus before one turns it round. Raises QueryError."""
    return Query(tuple(_condition(word) for word in query.split()))


def _condition(word: str) -> Condition:
    if word.startswith("-") and len(word) > 1:
        inner = _condition(word[1:])
        return lambda row: not inner(row)
    key, colon, value = word.partition(":")
    if not colon or _is_name(key, value):
        return _has_word(word)
    if key not in _KEYS:
        near = difflib.get_close_matches(key, list(_KEYS), n=1)
        hint = f"did you mean {near[0]}:?" if near else f"there are {', '.join(f'{name}:' for name in _KEYS)}"
        raise QueryError(f"{key}: is no condition; {hint}")
    if not value:
        raise QueryError(f"{key}: wants something behind it, such as {key}:{_EXAMPLES[key]}")
    return _KEYS[key](key, value)


def _is_name(key: str, value: str) -> bool:
    """Whether a word with a colon is the beginning of a fixer's name, such as scripted:good, and no condition."""
    return key in _KINDS and bool(value)


_KINDS = frozenset({"scripted", "replay"})
"""What the names of some fixers begin with."""


def _has_word(word: str) -> Condition:
    wanted = word.casefold()
    return lambda row: wanted in f"{row.task}\n{row.fixer}\n{row.name}".casefold()


def _text(key: str, value: str) -> Condition:
    wanted = value.casefold()
    return lambda row: wanted in str(getattr(row, key)).casefold()


def _category(key: str, value: str) -> Condition:
    """Any iteration's category: a list is searched for what happened, not only for what came last."""
    wanted = value.casefold()
    return lambda row: any(wanted in category for category in row.categories)


def _status(key: str, value: str) -> Condition:
    """ "open" and "not-begun"; blanks cannot stand in a word."""
    wanted = value.casefold().replace("-", " ")
    return lambda row: row.status.casefold().startswith(wanted) or wanted in row.status.partition(": ")[2]


def _longer(key: str, value: str) -> Condition:
    seconds = _seconds(key, value)
    return lambda row: row.seconds > seconds


def _shorter(key: str, value: str) -> Condition:
    seconds = _seconds(key, value)
    return lambda row: row.seconds < seconds


def _seconds(key: str, value: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]*)", value)
    if found is None or (found[2] or "s") not in UNITS:
        raise QueryError(f"{key}:{value}: is no duration; write {key}:10s, {key}:2m or {key}:1.5h")
    return float(found[1]) * UNITS[found[2] or "s"]


_KEYS: dict[str, Callable[[str, str], Condition]] = {
    "category": _category,
    "status": _status,
    "fixer": _text,
    "task": _text,
    "device": _text,
    "run": lambda key, value: _text("name", value),
    "longer": _longer,
    "shorter": _shorter,
}

_EXAMPLES = {
    "category": "timeout",
    "status": "stopped",
    "fixer": "human",
    "task": "softmax",
    "device": "cpu",
    "run": "2026",
    "longer": "10s",
    "shorter": "2m",
}
