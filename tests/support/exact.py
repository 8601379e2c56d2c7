"""Floating-point arithmetic from its definition: exact rational values, rounded once. Slow, and unlike any implementation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    """An IEEE 754 format. ``nan`` is the NaN that arithmetic makes; None where a NaN's bits are not specified."""

    exponent_bits: int
    mantissa_bits: int
    nan: int | None

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    def is_nan(self, bits: int) -> bool:
        return bits & ~self.sign > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return bits & ~self.sign == self.infinity

    def negative(self, bits: int) -> bool:
        return bool(bits & self.sign)

    def value(self, bits: int) -> Fraction:
        """Of a finite number."""
        exponent, mantissa = (bits & ~self.sign) >> self.mantissa_bits, bits & ((1 << self.mantissa_bits) - 1)
        if exponent:
            mantissa |= 1 << self.mantissa_bits
        scale = max(exponent, 1) - self.bias - self.mantissa_bits
        magnitude = mantissa * (Fraction(2) ** scale)
        return -magnitude if self.negative(bits) else magnitude

    def round(self, exact: Fraction, mode: str = "rn", negative_zero: bool = False) -> int:
        """The bits of an exact value; modes are PTX's, with rna for ties away from zero."""
        negative = exact < 0 or (exact == 0 and negative_zero)
        sign, magnitude = (self.sign if negative else 0), abs(exact)
        if magnitude == 0:
            return sign
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** exponent > magnitude:
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        scaled = magnitude / Fraction(2) ** (exponent - self.mantissa_bits)
        kept, rest = divmod(scaled, 1)
        if mode == "rn":
            kept += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and kept % 2 == 1)
        elif mode == "rna":
            kept += rest >= Fraction(1, 2)
        elif mode == ("rm" if negative else "rp"):
            kept += rest > 0
        if kept >= 1 << (self.mantissa_bits + 1):
            kept, exponent = kept // 2, exponent + 1
        if exponent > self.bias:
            outward = mode in ("rn", "rna") or mode == ("rm" if negative else "rp")
            return sign | (self.infinity if outward else self.infinity - 1)
        if kept < 1 << self.mantissa_bits:  # subnormal
            return sign | int(kept)
        return sign | ((exponent + self.bias) << self.mantissa_bits) + int(kept) - (1 << self.mantissa_bits)

    def flush(self, bits: int) -> int:
        return bits & self.sign if (bits & self.infinity) == 0 else bits


F16 = Format(5, 10, 0x7FFF)
BF16 = Format(8, 7, 0x7FFF)
F32 = Format(8, 23, 0x7FFFFFFF)
F64 = Format(11, 52, None)
TF32 = Format(8, 10, 0x3FFFF)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}

NAN = "nan"
"""A result whose bits do not matter beyond being a NaN's."""


def _nan(kind: Format) -> int | str:
    return NAN if kind.nan is None else kind.nan


def add(kind: Format, a: int, b: int, mode: str = "rn") -> int | str:
    if kind.is_nan(a) or kind.is_nan(b):
        return _nan(kind)
    if kind.is_infinite(a) or kind.is_infinite(b):
        if kind.is_infinite(a) and kind.is_infinite(b) and a != b:
            return _nan(kind)
        return a if kind.is_infinite(a) else b
    exact = kind.value(a) + kind.value(b)
    both = kind.negative(a) and kind.negative(b)
    either = kind.negative(a) or kind.negative(b)
    return kind.round(exact, mode, either if mode == "rm" else both)


def multiply(kind: Format, a: int, b: int, mode: str = "rn") -> int | str:
    if kind.is_nan(a) or kind.is_nan(b):
        return _nan(kind)
    sign = (a ^ b) & kind.sign
    if kind.is_infinite(a) or kind.is_infinite(b):
        zero = (a & ~kind.sign) == 0 or (b & ~kind.sign) == 0
        return _nan(kind) if zero else sign | kind.infinity
    return kind.round(kind.value(a) * kind.value(b), mode, bool(sign))


def divide(kind: Format, a: int, b: int, mode: str = "rn") -> int | str:
    if kind.is_nan(a) or kind.is_nan(b):
        return _nan(kind)
    sign = (a ^ b) & kind.sign
    zero_a, zero_b = (a & ~kind.sign) == 0, (b & ~kind.sign) == 0
    if kind.is_infinite(a) or zero_b:
        both = (kind.is_infinite(a) and kind.is_infinite(b)) or (zero_a and zero_b)
        return _nan(kind) if both else sign | kind.infinity
    if kind.is_infinite(b):
        return sign
    return kind.round(kind.value(a) / kind.value(b), mode, bool(sign))


def fused(kind: Format, a: int, b: int, c: int, mode: str = "rn") -> int | str:
    if kind.is_nan(a) or kind.is_nan(b) or kind.is_nan(c):
        return _nan(kind)
    sign = (a ^ b) & kind.sign
    if kind.is_infinite(a) or kind.is_infinite(b):
        if (a & ~kind.sign) == 0 or (b & ~kind.sign) == 0 or (kind.is_infinite(c) and (c & kind.sign) != sign):
            return _nan(kind)
        return sign | kind.infinity
    if kind.is_infinite(c):
        return c
    exact = kind.value(a) * kind.value(b) + kind.value(c)
    both, either = bool(sign) and kind.negative(c), bool(sign) or kind.negative(c)
    return kind.round(exact, mode, either if mode == "rm" else both)


def square_root(kind: Format, a: int, mode: str = "rn") -> int | str:
    if kind.is_nan(a) or (kind.negative(a) and a != kind.sign):
        return _nan(kind)
    if kind.is_infinite(a) or (a & ~kind.sign) == 0:
        return a
    value = kind.value(a)
    scale = 1 << 700  # far more bits than any format keeps; a remainder shows in the last of them
    whole = math.isqrt(value.numerator * scale * scale // value.denominator)
    exact = Fraction(whole, scale)
    if exact * exact != value:
        exact += Fraction(1, 4 * scale)
    return kind.round(exact, mode)


def minimum(kind: Format, a: int, b: int, nan: bool = False, larger: bool = False) -> int | str:
    """min or max: -0 is below +0, and a number is preferred to NaN unless ``nan``."""
    if (kind.is_nan(a) and kind.is_nan(b)) or (nan and (kind.is_nan(a) or kind.is_nan(b))):
        return _nan(kind)
    if kind.is_nan(a) or kind.is_nan(b):
        return b if kind.is_nan(a) else a

    def order(bits: int) -> int:
        return -(bits & ~kind.sign) - 1 if kind.negative(bits) else bits

    return (max if larger else min)(a, b, key=order)


def convert(bits: int, source: Format, target: Format, mode: str = "rn") -> int | str:
    if source.is_nan(bits):
        return _nan(target)
    sign = target.sign if source.negative(bits) else 0
    if source.is_infinite(bits):
        return sign | target.infinity
    return target.round(source.value(bits), mode, bool(sign))


def to_integer(bits: int, source: Format, target: str, mode: str) -> int:
    """cvt to an integer type: rounded, clamped; PTX ISA's value for NaN."""
    width, signed = int(target[1:]), target[0] == "s"
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    mask = (1 << width) - 1
    if source.is_nan(bits):
        return 1 << (width - 1) if source is F64 or width == 64 else 0
    if source.is_infinite(bits):
        return (low if source.negative(bits) else high) & mask
    value = source.value(bits)
    whole = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](value)
    return min(max(whole, low), high) & mask
