"""The structure of a CUDA source, counted, and what one version of it has lost against another.

A fixer can pass by giving up what made a program fast (the paper's repair by degeneration). That shows in the source: fewer
shared tiles, narrower loads, a launch of one thread. Code that nothing calls any more does not count: a kernel that stays in the
file while a plain loop does its work is lost all the same.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple

from engine.verdict.structure_model import Function, Launch, Site, Sites
from engine.verdict.structure_python import cuda_in_python
from engine.verdict.structure_rules import FEATURES, Feature, Kind
from engine.verdict.structure_sites import find_sites
from engine.verdict.structure_words import extent, is_one

_SEARCHED: Final = frozenset({"asm", "pragma"})
_ALIASED: Final = frozenset({"call", "type", "pointer"})
_CONSTANT: Final = re.compile(r"k[A-Z]\w*|[A-Z][A-Z0-9_]+")
"""How constants are named; other names may be counters that begin at a number."""
_FEATURE: Final = {feature.name: feature for feature in FEATURES}


class Unused(NamedTuple):
    """A function that is defined and that nothing calls or launches."""

    name: str
    line: int


@dataclass(frozen=True)
class Structure:
    """Every feature of the table with its sites, in the order of the source. ``launches`` and ``sites`` leave out what is
    ``unused``. ``constants`` are the numbers with names: sizes of tiles and blocks. ``errors`` holds the lines, from 1, where the
    source did not parse; all else was read around them."""

    sites: Mapping[str, tuple[Site, ...]]
    launches: tuple[Launch, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[Unused, ...] = ()
    errors: tuple[int, ...] = ()

    def count(self, feature: str) -> int:
        return len(self.sites.get(feature, ()))

    def lines(self, feature: str) -> tuple[int, ...]:
        """The lines on which a feature stands, each once."""
        return tuple(dict.fromkeys(site.line for site in self.sites.get(feature, ())))

    def is_approximate(self, feature: str) -> bool:
        """Whether some of it was read as text: in a macro, or where the source did not parse."""
        return any(site.approximate for site in self.sites.get(feature, ()))


@dataclass(frozen=True)
class Change:
    """One feature whose number differs. ``lines_before`` and ``lines_after`` belong to the two sources."""

    feature: str
    words: str
    before: int
    after: int
    kind: Literal["lost", "gained", "fewer", "more"]
    lines_before: tuple[int, ...] = ()
    lines_after: tuple[int, ...] = ()

    @property
    def numbers(self) -> str:
        return f"({self.before} -> {self.after})"

    @property
    def is_loss(self) -> bool:
        """Whether it speaks of a program made slower: an optimisation given up, a fallback taken, nothing run on the GPU."""
        role = _FEATURE[self.feature].role
        if role == "slow":
            return self.after > self.before
        return self.kind == "lost" if role == "needed" else role == "fast" and self.after < self.before

    @property
    def is_gain(self) -> bool:
        """The opposite: an optimisation that came, a fallback that went, a kernel where there was none."""
        return _swapped(self).is_loss


def structure(code: bytes, suffix: str = ".cu") -> Structure:
    """The structure of one CUDA source. Any bytes will do: what does not parse is counted as far as it can be read.

    ``suffix`` is that of the file; of a ".py" the strings that hold CUDA are read, and lines are still those of the file.
    """
    found = find_sites(cuda_in_python(code) if suffix == ".py" else code)
    live = _live(found)
    launches = tuple(
        replace(launch, threads=extent(launch.block, found.values))
        for launch in found.launches
        if launch.function in live
    )
    sites: dict[str, list[Site]] = {feature.name: [] for feature in FEATURES}
    looped = _looped(found)
    defined = {_last_name(function) for function in found.functions}
    for site in [*found.sites, *(shape for launch in launches for shape in _shapes(launch, found, looped))]:
        if site.function in live:
            text = _without_alias(site.text, found.aliases) if site.kind in _ALIASED else site.text
            for name in _features_of(site.kind, text):
                sites[name].append(site)
            if site.kind == "call" and text.rpartition("::")[2] not in defined:
                for name in _features_of("helper", text):
                    sites[name].append(site)
    return Structure(
        sites={name: tuple(sorted(those, key=lambda site: site.line)) for name, those in sites.items() if those},
        launches=launches,
        constants={
            name: value
            for name, values in found.values.items()
            if _CONSTANT.fullmatch(name) and len(values) == 1 and (value := min(values)).isdecimal()
        },
        unused=tuple(
            Unused(function.name, function.line)
            for index, function in enumerate(found.functions)
            if index not in live and function.place != "macro"
        ),
        errors=tuple(dict.fromkeys(found.errors)),
    )


def compare(before: Structure, after: Structure) -> list[Change]:
    """The features whose numbers differ, in the order of the table."""
    return [change for feature in FEATURES if (change := _change(feature, before, after)) is not None]


def constants_changed(before: Structure, after: Structure) -> tuple[str, ...]:
    """The named numbers that both have and that differ: "kTile 128 -> 16". What keeps its form can be slowed down by these."""
    return tuple(
        f"{name} {value} -> {after.constants[name]}"
        for name, value in before.constants.items()
        if after.constants.get(name, value) != value
    )


def findings(changes: Iterable[Change]) -> tuple[str, ...]:
    """What was given up, in short words: "shared tiling lost (2 -> 0)", "128-bit loads fewer (8 -> 2)"."""
    return tuple(f"{change.words} {change.kind} {change.numbers}" for change in changes if change.is_loss)


def _swapped(change: Change) -> Change:
    """The same change seen from the other end."""
    opposite: dict[str, Literal["lost", "gained", "fewer", "more"]] = {
        "lost": "gained",
        "gained": "lost",
        "fewer": "more",
        "more": "fewer",
    }
    return replace(change, before=change.after, after=change.before, kind=opposite[change.kind])


def _change(feature: Feature, before: Structure, after: Structure) -> Change | None:
    old, new = before.count(feature.name), after.count(feature.name)
    if old == new:
        return None
    kind: Literal["lost", "gained", "fewer", "more"] = (
        "lost" if new == 0 else "gained" if old == 0 else "fewer" if new < old else "more"
    )
    return Change(feature.name, feature.words, old, new, kind, before.lines(feature.name), after.lines(feature.name))


@functools.cache
def _patterns(kind: Kind) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (feature.name, re.compile(pattern)) for feature in FEATURES for of, pattern in feature.syntax if of == kind
    )


@functools.lru_cache(maxsize=8192)
def _features_of(kind: Kind, text: str) -> tuple[str, ...]:
    found = (
        name
        for name, pattern in _patterns(kind)
        if (pattern.search(text) if kind in _SEARCHED else pattern.fullmatch(text)) is not None
    )
    return tuple(dict.fromkeys(found))


def _without_alias(text: str, aliases: Mapping[str, str]) -> str:
    first, colons, rest = text.partition("::")
    return f"{aliases[first]}{colons}{rest}" if first in aliases else text


def _live(found: Sites) -> frozenset[int]:
    """The functions that run, as far as names tell, and -1 for what stands outside. A file without any launch is used by another
    one, and all of it lives."""
    words = set(found.mentions)
    alone = all(function.place == "macro" for function in found.functions)
    waiting = {
        index: function
        for index, function in enumerate(found.functions)
        if not function.open and not alone and (found.launches or function.place == "macro")
    }
    live = {index for index in range(len(found.functions)) if index not in waiting}
    for index in live:
        words |= found.functions[index].mentions
    while reached := {index for index, function in waiting.items() if _last_name(function) in words}:
        for index in reached:
            words |= waiting.pop(index).mentions
        live |= reached
    return frozenset({-1, *live})


def _last_name(function: Function) -> str:
    return function.name.rpartition("::")[2]


def _looped(found: Sites) -> frozenset[str]:
    """Names called in loops: a launch in such a function runs in that loop."""
    return frozenset(site.text.rpartition("::")[2] for site in found.sites if site.kind == "call" and site.loop)


def _shapes(launch: Launch, found: Sites, looped: frozenset[str]) -> list[Site]:
    shapes: list[str] = []
    grid, block = is_one(launch.grid, found.values), is_one(launch.block, found.values)
    if grid or block:
        shapes.append("one thread" if grid and block else "one block" if grid else "thread blocks of one")
    around = found.functions[launch.function] if launch.function >= 0 else None
    by_host = around is None or around.place == "host"
    if by_host and (launch.loop or (around is not None and _last_name(around) in looped)):
        shapes.append("loop")
    return [Site("launch_shape", shape, launch.line, launch.function) for shape in shapes]
