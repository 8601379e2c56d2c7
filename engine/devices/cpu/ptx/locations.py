"""Source positions: PTX ISA "Debugging Directives: .loc".

A .loc with ``inlined_at`` names the call that it was inlined into by that call's position alone. The call's own .loc stands
earlier in the function, with an ``inlined_at`` of its own when the caller was inlined too: following them gives the whole chain.
"""

from __future__ import annotations

from engine.devices.cpu.ptx.constants import integer, literal
from engine.devices.cpu.ptx.lexer import Cursor
from engine.devices.cpu.ptx.nodes import Loc

_DEPTH = 64
"""Calls of a chain. A call that was inlined into its own position (recursion) would make it longer with every .loc."""

_Position = tuple[int, int, int]


class Locations:
    """The .loc directives of one function, in their order."""

    def __init__(self) -> None:
        self.first: Loc | None = None
        self.current: Loc | None = None
        self._latest: dict[_Position, tuple[Loc, int]] = {}
        # equal positions are one object: a module has many times more directives than places
        self._known: dict[tuple[_Position, int, str | None], Loc] = {}

    def directive(self, cursor: Cursor) -> None:
        """A .loc after its first word. What follows a comma starts with a word, never with the next statement's."""
        position = _position(cursor)
        function: str | None = None
        outer: Loc | None = None
        depth = 0
        while cursor.accept(","):
            word = cursor.name()
            if word == "function_name":
                function = cursor.name()
                if cursor.word == "+":
                    integer(cursor)  # an offset into the string section; the labels that nvcc writes need none
            elif word == "inlined_at":
                call = _position(cursor)
                outer, depth = self._latest.get(call) or (Loc(*call), 1)
                if depth >= _DEPTH:
                    outer, depth = Loc(*call), 1
            else:
                raise cursor.error(f"unknown attribute of .loc: {word}")
        key = (position, id(outer), function)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Loc(*position, outer, function)
        self.current = known
        self.first = self.first or known
        self._latest[position] = (known, depth + 1)


def _position(cursor: Cursor) -> _Position:
    return literal(cursor), literal(cursor), literal(cursor)
