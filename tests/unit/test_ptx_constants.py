"""Constants and constant expressions of PTX ISA 4.5."""

from __future__ import annotations

import struct

import pytest

from engine.devices.cpu.ptx.constants import constant, integer, narrowed
from engine.devices.cpu.ptx.lexer import Cursor, PtxError
from engine.devices.cpu.ptx.nodes import Float, Imm


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("42U", 42),
        ("0x2a", 42),
        ("0X2AU", 42),
        ("052", 42),
        ("0b101010", 42),
        ("0", 0),
        ("-1", -1),
        ("+7", 7),
        ("- -7", 7),
        ("0xFFFFFFFFFFFFFFFF", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("~0", -1),
        ("!0", 1),
        ("WARP_SZ", 32),
        ("WARP_SZ-1", 31),
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("10-4-3", 3),
        ("-7/2", -3),
        ("-7 % 2", -1),
        ("1<<4|1", 17),
        ("6&3^1", 3),
        ("1<2&&2<1", 0),
        ("3>=3||0", 1),
        ("2==2?10:20", 10),
        ("0?10:1?20:30", 20),
        ("1<<63", 2**63),
        ("(1<<63)<<1", 0),
        ("(.s64)0xFFFFFFFFFFFFFFFF", -1),
        ("(.u64)-1", 2**64 - 1),
    ],
)
def test_integers(text: str, value: int):
    cursor = Cursor(text)
    assert integer(cursor) == value
    assert cursor.word == "", "all of it was read"
    cursor = Cursor(text)
    assert constant(cursor) == Imm(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0f3F800000", Float(0x3F800000, 32)),
        ("0F3f800000", Float(0x3F800000, 32)),
        ("-0f3F800000", Float(0xBF800000, 32)),
        ("0d3FF0000000000000", Float(0x3FF0000000000000, 64)),
        ("-0d0000000000000000", Float(1 << 63, 64)),
        ("1.5", Float(0x3FF8000000000000, 64)),
        ("-2.", Float(0xC000000000000000, 64)),
        ("1e3", Float(0x408F400000000000, 64)),
    ],
)
def test_floats(text: str, value: Float):
    cursor = Cursor(text)
    assert constant(cursor) == value
    assert cursor.word == ""


@pytest.mark.parametrize("number", [1.5, 0.1, -3.4e38, 1e-45, 1e-60])
def test_a_decimal_float_is_rounded_to_32_bits(number: float):
    bits = int.from_bytes(struct.pack("<d", number), "little")
    assert narrowed(Float(bits, 64)) == Float(int.from_bytes(struct.pack("<f", number), "little"), 32)


def test_a_decimal_float_too_large_for_32_bits_is_infinite():
    bits = int.from_bytes(struct.pack("<d", -1e300), "little")
    assert narrowed(Float(bits, 64)) == Float(0xFF800000, 32)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1/0", "divided by zero"),
        ("08", "a constant expected"),
        ("x", "a constant expected"),
        ("(1", "'\\)' expected"),
        ("0x10000000000000000", "more than 64 bits"),
        ("(" * 5000, "nested too deeply"),
        ("-" * 5000, "nested too deeply"),
    ],
)
def test_what_is_no_constant_says_so(text: str, said: str):
    with pytest.raises(PtxError, match=said):
        integer(Cursor(text))
