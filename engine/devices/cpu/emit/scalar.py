"""PTX's fundamental types (PTX ISA 5.2) and the C types that hold their values."""

from __future__ import annotations

WIDTH = {
    "pred": 8,
    **{f"{kind}{width}": width for kind in "bus" for width in (8, 16, 32, 64)},
    "b128": 128,
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "f16x2": 32,
    "bf16x2": 32,
    "s16x2": 32,
    "u16x2": 32,
    "f32x2": 64,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "e4m3x2": 16,
    "e5m2x2": 16,
}
"""Bits of a value. A predicate takes a byte that is 0 or 1."""

SIGNED = ("s8", "s16", "s32", "s64")
INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
WORDS = ("u32", "s32", "u64", "s64")
BITS = ("b16", "b32", "b64")
FLOATS = ("f32", "f64")
HALVES = ("f16", "bf16")
PACKED_HALVES = ("f16x2", "bf16x2")
PACKED_SHORTS = ("u16x2", "s16x2")


def c_type(name: str) -> str:
    """The C type of an expression of this type; formats that C has no type for travel as their bits."""
    if name == "f32":
        return "float"
    if name == "f64":
        return "double"
    if name == "b128":
        return "unsigned __int128"
    return f"int{WIDTH[name]}_t" if name in SIGNED else f"uint{WIDTH[name]}_t"


def double_width(name: str) -> str:
    """The type that holds a product of two values: s32 gives s64."""
    return name[0] + str(WIDTH[name] * 2)


def bits(name: str) -> str:
    """The untyped type of the same width: f32 gives b32."""
    return name if name == "pred" else f"b{WIDTH[name]}"
