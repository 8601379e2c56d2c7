"""What the walk over a source finds, before anything is counted: sites, launches, functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from engine.verdict.structure_rules import Kind

Place = Literal["kernel", "device", "host", "macro"]


class Site(NamedTuple):
    """One thing found. ``line`` counts from 1. ``function`` is its place in ``Sites.functions``, -1 outside of all; ``loop`` says
    that it stands in a loop; ``approximate`` that it was read as text, from a macro or from what did not parse."""

    kind: Kind
    text: str
    line: int
    function: int = -1
    loop: bool = False
    approximate: bool = False


@dataclass(frozen=True)
class Launch:
    """One launch and its configuration as the source has it, empty where nothing is given. ``how`` is "<<<>>>" or the name of
    the function that launches. ``threads`` is the number of threads of a block, 0 where the source does not tell."""

    kernel: str
    grid: str
    block: str
    shared: str
    stream: str
    line: int
    how: str = "<<<>>>"
    loop: bool = False
    function: int = -1
    threads: int = 0

    @property
    def configuration(self) -> str:
        """The launch in one line, whatever its spelling: "softmax_kernel<<<rows, 256, 0, stream>>>"."""
        parts = [self.grid, self.block, self.shared, self.stream]
        while parts and not parts[-1]:
            parts.pop()
        return f"{self.kernel}<<<{', '.join(part or '0' for part in parts)}>>>"


@dataclass
class Function:
    """A function or macro that the source defines. ``open``: code elsewhere may call it. ``mentions``: the words of its body."""

    name: str
    place: Place
    line: int
    open: bool
    mentions: set[str] = field(default_factory=set)


@dataclass
class Sites:
    """All that one walk found. ``values`` holds what a name is given anywhere ({"grid": {"(1)", "dim3(rows)"}}), ``aliases`` the
    other names of types and namespaces, ``mentions`` the words outside of functions, ``errors`` the lines that did not parse."""

    sites: list[Site] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    mentions: set[str] = field(default_factory=set)
    values: dict[str, set[str]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    errors: list[int] = field(default_factory=list)
