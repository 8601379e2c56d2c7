"""Source positions: PTX ISA "Debugging Directives: .loc".

A .loc with ``inlined_at`` names the call that it was inlined into by that call's position alone. The call's own .loc stands
earlier in the function, with an ``inlined_at`` of its own when the caller was inlined too: following them gives the whole chain.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.devices.cpu.ptx.constants import integer, literal
from engine.devices.cpu.ptx.lexer import Cursor
from engine.devices.cpu.ptx.nodes import Loc

_DEPTH = 64
"""Calls of a chain. What would be longer is cut off: such a text was not written by a compiler."""

_Position = tuple[int, int, int]


class Locations:
    """The .loc directives of one function, in their order."""

    def __init__(self) -> None:
        self.first: Loc | None = None
        self.current: Loc | None = None
        self._latest: dict[_Position, Loc] = {}
        # equal places are one object: a module has many times more directives than places
        self._known: dict[tuple[_Position, int, str | None], Loc] = {}

    def directive(self, cursor: Cursor) -> None:
        """A .loc after its first word."""
        position = _position(cursor)
        function: str | None = None
        call: _Position | None = None
        while cursor.accept(","):
            word = cursor.name()
            if word == "function_name":
                function = cursor.name()
                if cursor.word == "+":
                    integer(cursor)  # an offset into the string section; the labels that nvcc writes need none
            elif word == "inlined_at":
                call = _position(cursor)
            else:
                raise cursor.error(f"unknown attribute of .loc: {word}")
        self.current = self._place(position, function, call)
        self.first = self.first or self.current
        self._latest[position] = self.current

    def _place(self, position: _Position, function: str | None, call: _Position | None) -> Loc:
        if call is None:
            return self._loc(position, None, function)
        # Back from a callee: the place is one of those around it. Only this tells the levels of a recursion apart, which all
        # have one position (function templates that call themselves do that).
        for one in _chain(self.current):
            if _at(one) == position and one.function == function and one.inlined_at and _at(one.inlined_at) == call:
                return one
        outer = self._latest.get(call)
        if outer is None or sum(1 for _ in _chain(outer)) >= _DEPTH:
            outer = self._loc(call, None, None)
        return self._loc(position, outer, function)

    def _loc(self, position: _Position, outer: Loc | None, function: str | None) -> Loc:
        key = (position, id(outer), function)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Loc(*position, outer, function)
        return known


def _chain(loc: Loc | None) -> Iterator[Loc]:
    while loc is not None:
        yield loc
        loc = loc.inlined_at


def _at(loc: Loc) -> _Position:
    return loc.file, loc.line, loc.column


def _position(cursor: Cursor) -> _Position:
    return literal(cursor), literal(cursor), literal(cursor)
