"""How far a result may be from the recorded one: "f32 ulp 2", "f64 relative 1e-12 absolute 1e-15", "any order", or nothing.

After the type come measures with their bounds; one of them must hold. Results are hexadecimal words with the digits of their type. NaNs equal each other under a tolerance, infinities only themselves.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

MOST_SHOWN = 6


@dataclass(frozen=True)
class Format:
    """An IEEE-like format: ``bits`` in all, ``fraction`` of them below the exponent."""

    bits: int
    fraction: int

    def is_nan(self, word: int) -> bool:
        magnitude = word & ((1 << (self.bits - 1)) - 1)
        infinity = ((1 << (self.bits - 1 - self.fraction)) - 1) << self.fraction
        return magnitude > infinity

    def ordinal(self, word: int) -> int:
        """Neighbouring numbers have neighbouring ordinals; both zeros have 0."""
        magnitude = word & ((1 << (self.bits - 1)) - 1)
        return -magnitude if word >> (self.bits - 1) else magnitude

    def value(self, word: int) -> float:
        if (self.bits, self.fraction) == (16, 7):  # bf16 is the upper half of an f32
            return FORMATS["f32"].value(word << 16)
        layout, number = {16: ("<H", "<e"), 32: ("<I", "<f"), 64: ("<Q", "<d")}[self.bits]
        return float(struct.unpack(number, struct.pack(layout, word))[0])


FORMATS = {"f16": Format(16, 10), "bf16": Format(16, 7), "f32": Format(32, 23), "f64": Format(64, 52)}


def close(tolerance: str, expected: str, got: str) -> bool:
    """Whether two hexadecimal words are near enough."""
    name, *bounds = tolerance.split()
    form = FORMATS[name]
    if len(expected) != form.bits // 4 or len(got) != len(expected):
        return False
    a, b = int(expected, 16), int(got, 16)
    if form.is_nan(a) or form.is_nan(b):
        return form.is_nan(a) and form.is_nan(b)
    return any(
        _within(form, measure, float(bound), a, b) for measure, bound in zip(bounds[::2], bounds[1::2], strict=True)
    )


def _within(form: Format, measure: str, bound: float, a: int, b: int) -> bool:
    if measure == "ulp":
        return abs(form.ordinal(a) - form.ordinal(b)) <= bound
    if measure not in ("absolute", "relative"):
        raise ValueError(f"no such measure: {measure}")
    x, y = form.value(a), form.value(b)
    if math.isinf(x) or math.isinf(y):
        return x == y
    return abs(x - y) <= bound * (abs(x) if measure == "relative" else 1.0)


def differences(tolerance: str, expected: Sequence[str], got: Sequence[str]) -> list[str]:
    """What differs, in words: at most a few, then a count. Empty when the results agree."""
    if tolerance == "any order":
        tolerance, expected, got = "", sorted(expected), sorted(got)
    want, have = _words(expected), _words(got)
    if [place for place, _ in want] != [place for place, _ in have]:
        return [*(f"recorded: {line}" for line in expected), *(f"here: {line}" for line in got)]
    wrong = [
        f"{place}: recorded {a}, here {b}"
        for (place, a), (_, b) in zip(want, have, strict=True)
        if a != b and not (tolerance and _is_number(a) and _is_number(b) and close(tolerance, a, b))
    ]
    return [*wrong[:MOST_SHOWN], f"{len(wrong)} of {len(want)} differ"] if len(wrong) > MOST_SHOWN else wrong


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4}|[0-9a-f]{8}|[0-9a-f]{16}", word) is not None


def _words(lines: Sequence[str]) -> list[tuple[str, str]]:
    """All words with their places: the label of their line, and their number since that label."""
    found, label, number = [], "", 0
    for line in lines:
        head, colon, rest = line.rpartition(": ")
        if colon and not line.startswith(" "):
            label, number, line = head, 0, rest
        for word in line.split():
            found.append((f"{label} [{number}]".strip(), word))
            number += 1
    return found
