"""Declarations of registers, variables and parameters: PTX ISA 5, "State Spaces, Types, and Variables"."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from engine.devices.cpu.ptx.constants import constant, integer, literal, narrowed, starts_constant
from engine.devices.cpu.ptx.lexer import Cursor
from engine.devices.cpu.ptx.nodes import Float, Imm, Masked, Registers, Symbol, Variable

SPACES = ("const", "global", "local", "param", "shared", "reg", "tex")

LINKAGES = ("extern", "visible", "weak", "common")

_SIZES = {
    "pred": 1,
    **{f"{letter}{bits}": bits // 8 for letter in "bus" for bits in (8, 16, 32, 64)},
    "b128": 16,
    "f16": 2,
    "bf16": 2,
    "f16x2": 4,
    "bf16x2": 4,
    "f32": 4,
    "f64": 8,
}
"""Type to bytes."""

_OPAQUE = ("texref", "samplerref", "surfref")

_MAX_ELEMENTS = 1 << 20
"""Of an initialiser, with the zeros that a short inner row stands for."""

_Element = Imm | Float | Symbol | Masked


@dataclass(slots=True)
class _Attributes:
    """What stands between the space and the name."""

    type: str = ""
    vector: int = 1
    align: int = 0
    managed: bool = False
    unsupported: str = ""


def registers(cursor: Cursor) -> list[Registers]:
    """A .reg declaration after its first word, through the semicolon."""
    shape = _attributes(cursor)
    found = []
    while True:
        name = cursor.name()
        count = None
        if cursor.accept("<"):
            count = literal(cursor)
            cursor.expect(">")
        found.append(Registers(shape.type, name, count, shape.vector))
        if not cursor.accept(","):
            cursor.expect(";")
            return found


def variables(cursor: Cursor, space: str, linkage: str) -> list[Variable]:
    """A variable declaration after its space, through the semicolon."""
    shape = _attributes(cursor)
    found = []
    while True:
        found.append(_declarator(cursor, space, linkage, shape))
        if not cursor.accept(","):
            cursor.expect(";")
            return found


def parameters(cursor: Cursor) -> tuple[Variable, ...]:
    """A parenthesised list of .param or .reg declarations; nothing where no list begins."""
    found: list[Variable] = []
    if not cursor.accept("(") or cursor.accept(")"):
        return ()
    while True:
        space = cursor.take()[1:]
        if space not in ("param", "reg"):
            cursor.at -= 1
            raise cursor.error(f".param or .reg expected before {cursor.shown}")
        found.append(_declarator(cursor, space, "", _attributes(cursor)))
        if not cursor.accept(","):
            cursor.expect(")")
            return tuple(found)


def _attributes(cursor: Cursor) -> _Attributes:
    shape = _Attributes()
    while cursor.word.startswith("."):
        word = cursor.take()[1:]
        if word in _SIZES:
            shape.type = word
        elif word in _OPAQUE:
            shape.type, shape.unsupported = "b64", word
        elif word == "align":
            shape.align = literal(cursor)
        elif word in ("v2", "v4"):
            shape.vector = int(word[1:])
        elif word == "attribute":
            shape.managed |= "managed" in _attribute_words(cursor)
        elif word == "ptr":
            # it describes what the parameter points to, down to an alignment of its own
            _pointee(cursor)
        else:
            cursor.at -= 1
            raise cursor.error(f"unknown type or attribute .{word}")
    if not shape.type:
        raise cursor.error("a type expected")
    return shape


def _attribute_words(cursor: Cursor) -> list[str]:
    cursor.expect("(")
    words, depth = [], 1
    while depth:
        word = cursor.take()
        depth += (word == "(") - (word == ")")
        words.append(word.removeprefix("."))
    return words


def _pointee(cursor: Cursor) -> None:
    if cursor.word in (".const", ".global", ".local", ".shared"):
        cursor.take()
    if cursor.accept(".align"):
        literal(cursor)


def _declarator(cursor: Cursor, space: str, linkage: str, shape: _Attributes) -> Variable:
    name = cursor.name()
    dims: list[int | None] = []
    while cursor.accept("["):
        dims.append(None if cursor.word == "]" else _dimension(cursor))
        cursor.expect("]")
    rows = [dim for dim in dims[1:] if dim is not None]
    if len(rows) < len(dims[1:]):
        raise cursor.error(f"only the first dimension of {name} may be left out")
    element = _SIZES[shape.type]
    # one entry of the first dimension: what an initialiser's outermost braces hold
    row = prod(rows) * shape.vector
    init: tuple[_Element, ...] = ()
    if cursor.accept("="):
        if shape.unsupported:
            _skip_braces(cursor)
        else:
            inner = [*rows, shape.vector] if shape.vector > 1 else rows
            init = tuple(_initialiser(cursor, shape.type, inner if dims else inner[:0]))
    count = dims[0] if dims else 1
    if count is None and init:
        count = -(-len(init) // row)
    size = None if count is None else count * row * element
    if size is not None and len(init) * element > size:
        raise cursor.error(f"{name} has more initialisers than elements")
    align = shape.align or element * shape.vector
    if align & (align - 1):
        raise cursor.error(f"the alignment {align} is no power of two")
    directive = "tex" if space == "tex" else shape.unsupported
    return Variable(
        space="global" if space == "tex" else space,
        type=shape.type,
        name=name,
        size=size,
        align=align,
        init=init,
        linkage=linkage,
        managed=shape.managed,
        unsupported=f".{directive}" if directive else "",
    )


def _initialiser(cursor: Cursor, kind: str, rows: list[int]) -> list[_Element]:
    """A value, or braces around values. ``rows`` are the dimensions inside these braces: a row that ends early is filled."""
    if not cursor.accept("{"):
        return [_element(cursor, kind)]
    found: list[_Element] = []
    while not cursor.accept("}"):
        if cursor.word == "{":
            if not rows:
                raise cursor.error("the initialiser has more braces than the variable has dimensions")
            size = prod(rows)
            inner = _initialiser(cursor, kind, rows[1:])
            if len(inner) > size or len(found) + size > _MAX_ELEMENTS:
                raise cursor.error("the initialiser is too long")
            found += inner + [Imm(0)] * (size - len(inner))
        else:
            found.append(_element(cursor, kind))
        if not cursor.accept(","):
            cursor.expect("}")
            break
    return found


def _element(cursor: Cursor, kind: str) -> _Element:
    if not starts_constant(cursor.word):
        return _symbol(cursor)
    # a number right before a parenthesis is a mask: one byte of the address that follows
    if cursor.texts[cursor.at + 1] == "(" and cursor.word[:1].isdigit():
        mask = literal(cursor)
        shift = (mask & -mask).bit_length() - 1
        if mask <= 0 or shift % 8 or mask >> shift != 0xFF:
            raise cursor.error(f"the mask {mask:#x} is not one byte of an address")
        cursor.expect("(")
        symbol = _symbol(cursor)
        cursor.expect(")")
        return Masked(symbol, shift // 8)
    value = constant(cursor)
    return narrowed(value) if isinstance(value, Float) and kind == "f32" else value


def _symbol(cursor: Cursor) -> Symbol:
    """A variable's or function's address: name, name+4, generic(name)+4 or generic(name+4)."""
    name = cursor.name()
    if name != "generic" or not cursor.accept("("):
        return Symbol(name, _offset(cursor))
    name = cursor.name()
    offset = _offset(cursor)
    cursor.expect(")")
    return Symbol(name, offset + _offset(cursor), generic=True)


def _offset(cursor: Cursor) -> int:
    return integer(cursor) if cursor.word in ("+", "-") else 0


def _dimension(cursor: Cursor) -> int:
    value = integer(cursor)
    if value < 0:
        raise cursor.error(f"a dimension cannot be {value}")
    return value


def _skip_braces(cursor: Cursor) -> None:
    depth = 0
    while True:
        word = cursor.take()
        depth += (word == "{") - (word == "}")
        if not depth:
            return
