"""Constants and constant expressions: PTX ISA 4.5. They are evaluated where they stand, in 64 bits."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable

from engine.devices.cpu.ptx.lexer import Cursor
from engine.devices.cpu.ptx.nodes import Float, Imm

_LOWEST, _SPAN = -(1 << 63), 1 << 64

_DEPTH = 100
"""Of parentheses: compilers write one or two."""

WARP_SIZE = "WARP_SZ"
"""The only named constant of the language."""


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * _divide(a, b)


_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "*": (10, operator.mul),
    "/": (10, _divide),
    "%": (10, _remainder),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "<<": (8, lambda a, b: a << (b & 63)),
    ">>": (8, lambda a, b: a >> (b & 63)),
    "<": (7, lambda a, b: int(a < b)),
    ">": (7, lambda a, b: int(a > b)),
    "<=": (7, lambda a, b: int(a <= b)),
    ">=": (7, lambda a, b: int(a >= b)),
    "==": (6, lambda a, b: int(a == b)),
    "!=": (6, lambda a, b: int(a != b)),
    "&": (5, operator.and_),
    "^": (4, operator.xor),
    "|": (3, operator.or_),
    "&&": (2, lambda a, b: int(bool(a) and bool(b))),
    "||": (1, lambda a, b: int(bool(a) or bool(b))),
}
"""Operator to (how tightly it binds, what it does), as in C."""

_UNARY: dict[str, Callable[[int], int]] = {
    "+": operator.pos,
    "-": operator.neg,
    "~": operator.invert,
    "!": lambda a: int(not a),
}


def starts_constant(word: str) -> bool:
    """Whether a constant, not a name, begins here."""
    return word[:1].isdigit() or word in _UNARY or word in ("(", WARP_SIZE)


def constant(cursor: Cursor) -> Imm | Float:
    """A constant expression. Decimal floats have 64 bits: PTX narrows them where they are used."""
    sign = 0
    if cursor.word == "-" and _is_float(cursor.texts[cursor.at + 1]):
        cursor.take()
        sign = 1
    if _is_float(cursor.word):
        value = _float(cursor.take())
        return Float(value.bits ^ sign << (value.width - 1), value.width)
    return Imm(integer(cursor))


def integer(cursor: Cursor) -> int:
    """An integer constant expression, as a signed value when it has one: from -2^63 to 2^64 - 1."""
    return _choice(cursor, 0)


def narrowed(value: Float) -> Float:
    """A decimal float where 32 bits are wanted, rounded to nearest even."""
    if value.width == 32:
        return value
    (number,) = struct.unpack("<d", value.bits.to_bytes(8, "little"))
    try:
        packed = struct.pack("<f", number)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if number > 0 else float("-inf"))
    return Float(int.from_bytes(packed, "little"), 32)


def _choice(cursor: Cursor, depth: int) -> int:
    value = _binary(cursor, 0, depth)
    if cursor.accept("?"):
        yes = _choice(cursor, depth + 1)
        cursor.expect(":")
        no = _choice(cursor, depth + 1)
        return yes if value else no
    return value


def _binary(cursor: Cursor, weakest: int, depth: int) -> int:
    value = _unary(cursor, depth)
    while (entry := _BINARY.get(cursor.word)) is not None and entry[0] > weakest:
        symbol = cursor.take()
        right = _binary(cursor, entry[0], depth)
        if not right and symbol in ("/", "%"):
            raise cursor.error("a constant is divided by zero")
        value = _wrapped(entry[1](value, right))
    return value


def _unary(cursor: Cursor, depth: int) -> int:
    if depth > _DEPTH:
        raise cursor.error("the constant expression is nested too deeply")
    word = cursor.word
    if (function := _UNARY.get(word)) is not None:
        cursor.take()
        return _wrapped(function(_unary(cursor, depth + 1)))
    if word == "(":
        cursor.take()
        if cursor.word in (".s64", ".u64"):
            unsigned = cursor.take() == ".u64"
            cursor.expect(")")
            value = _unary(cursor, depth + 1)
            return value % _SPAN if unsigned else (value - _LOWEST) % _SPAN + _LOWEST
        value = _choice(cursor, depth + 1)
        cursor.expect(")")
        return value
    if word == WARP_SIZE:
        cursor.take()
        return 32
    return literal(cursor)


def literal(cursor: Cursor) -> int:
    """One unsigned integer, where the grammar has no expression: whatever follows stays."""
    text = cursor.word.removesuffix("U")
    try:
        value = int(text, 8 if text.startswith("0") and text.isdigit() else 0)
    except ValueError:
        raise cursor.error(f"a constant expected before {cursor.shown}") from None
    if value >= _SPAN:
        raise cursor.error("the constant has more than 64 bits")
    cursor.take()
    return value


def _wrapped(value: int) -> int:
    return value if _LOWEST <= value < _LOWEST + 3 * (_SPAN // 2) else value % _SPAN


def _is_float(word: str) -> bool:
    if not word[:1].isdigit() or word[:2] in ("0x", "0X", "0b", "0B"):
        return False
    return word[1:2] in tuple("fFdD") or "." in word or "e" in word or "E" in word


def _float(word: str) -> Float:
    if word[1:2] in tuple("fF"):
        return Float(int(word[2:], 16), 32)
    if word[1:2] in tuple("dD"):
        return Float(int(word[2:], 16), 64)
    return Float(int.from_bytes(struct.pack("<d", float(word)), "little"), 64)
