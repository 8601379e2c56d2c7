"""Floating-point instructions and conversions, translated and run on this CPU. What is expected is computed with exact rational
numbers that are rounded once (tests/support/exact.py)."""

from __future__ import annotations

import itertools
import math
import operator
import random
import struct
from collections.abc import Callable, Iterable

import pytest

from tests.support import exact
from tests.support.exact import BF16, F16, F32, F64, FORMATS, NAN, TF32, Format
from tests.support.ptx_cases import WIDTHS, Case, Kernels

pytestmark = pytest.mark.slow
RANDOM = random.Random(30)
LIMIT = 300
"""Rows of a case."""


def edges(kind: Format) -> list[int]:
    """Zeros, subnormal and normal limits, ones, ties, infinities, NaNs of both signs."""
    one = kind.bias << kind.mantissa_bits
    positive = [
        0,
        1,
        (1 << kind.mantissa_bits) - 1,
        1 << kind.mantissa_bits,
        one - 1,
        one,
        one + 1,
        one + (1 << kind.mantissa_bits - 1),
        one + (3 << kind.mantissa_bits),
        kind.infinity - 1,
        kind.infinity,
        kind.infinity + 1,
        kind.infinity + (1 << kind.mantissa_bits - 1) + 5,
    ]
    return [bits | sign for bits in positive for sign in (0, kind.sign)]


def numbers(kind: Format, count: int) -> list[int]:
    """Random finite numbers near one another, where sums cancel and rounding has work."""
    one = kind.bias << kind.mantissa_bits
    near = [one + RANDOM.randrange(-4 << kind.mantissa_bits, 4 << kind.mantissa_bits) for _ in range(count // 2)]
    far = [RANDOM.randrange(kind.infinity) for _ in range(count - len(near))]
    return [bits | RANDOM.choice((0, kind.sign)) for bits in near + far]


def rows_of(kind: Format, count: int) -> list[tuple[int, ...]]:
    special = list(itertools.product(edges(kind), repeat=count))
    special = RANDOM.sample(special, min(len(special), LIMIT * 2 // 3))
    return special + [tuple(numbers(kind, 8)[:count]) for _ in range(LIMIT // 3)]


Expected = Callable[..., int | str]
CHECKS: dict[str, tuple[Case, list[tuple[int, ...]], Expected, Format | None, int]] = {}


def check(
    name: str,
    ptx: str,
    sources: str,
    result: str,
    expected: Expected,
    rows: Iterable[tuple[int, ...]],
    kind: Format | None = None,
    ulps: int = 0,
) -> None:
    """``kind`` is the result's format, where NAN may be expected, or an error of some units in the last place is allowed."""
    assert name not in CHECKS, name
    CHECKS[name] = (Case(name, ptx, sources, result), list(rows), expected, kind or FORMATS.get(result), ulps)


def saturate(kind: Format, bits: int | str) -> int:
    if not isinstance(bits, int) or kind.is_nan(bits) or kind.negative(bits):
        return 0
    return min(bits, kind.bias << kind.mantissa_bits)


MODES = ("rn", "rz", "rm", "rp")
for (name, kind), mode in itertools.product({"f32": F32, "f64": F64}.items(), MODES):
    two, three = f"{name} {name}", f"{name} {name} {name}"
    for operation, function in {"add": exact.add, "mul": exact.multiply, "div": exact.divide}.items():
        check(
            f"{operation}_{mode}_{name}",
            f"{operation}.{mode}.{name} <d>, <a>, <b>;",
            two,
            name,
            lambda a, b, f=function, k=kind, m=mode: f(k, a, b, m),
            rows_of(kind, 2),
        )
    check(
        f"sub_{mode}_{name}",
        f"sub.{mode}.{name} <d>, <a>, <b>;",
        two,
        name,
        lambda a, b, k=kind, m=mode: exact.add(k, a, b if k.is_nan(b) else b ^ k.sign, m),
        rows_of(kind, 2),
    )
    check(
        f"fma_{mode}_{name}",
        f"fma.{mode}.{name} <d>, <a>, <b>, <c>;",
        three,
        name,
        lambda a, b, c, k=kind, m=mode: exact.fused(k, a, b, c, m),
        rows_of(kind, 3),
    )
    check(
        f"sqrt_{mode}_{name}",
        f"sqrt.{mode}.{name} <d>, <a>;",
        name,
        name,
        lambda a, k=kind, m=mode: exact.square_root(k, a, m),
        rows_of(kind, 1),
    )
    check(
        f"rcp_{mode}_{name}",
        f"rcp.{mode}.{name} <d>, <a>;",
        name,
        name,
        lambda a, k=kind, m=mode: exact.divide(k, k.bias << k.mantissa_bits, a, m),
        rows_of(kind, 1),
    )


def tiny_or(kind: Format, exact_value: exact.Fraction, bits: int) -> int:
    """.ftz: what is subnormal before it is rounded becomes a zero of its sign."""
    return bits & kind.sign if abs(exact_value) < exact.Fraction(2) ** (1 - kind.bias) else bits


def finite(*bits: int) -> bool:
    return not any(F32.is_nan(one) or F32.is_infinite(one) for one in bits)


def product_ftz(a: int, b: int) -> int | str:
    a, b = F32.flush(a), F32.flush(b)
    found = exact.multiply(F32, a, b)
    return tiny_or(F32, F32.value(a) * F32.value(b), found) if finite(a, b) else found


def fused_ftz(a: int, b: int, c: int, mode: str = "rn") -> int | str:
    a, b, c = F32.flush(a), F32.flush(b), F32.flush(c)
    found = exact.fused(F32, a, b, c, mode)
    return tiny_or(F32, F32.value(a) * F32.value(b) + F32.value(c), found) if finite(a, b, c) else found


SMALL = [(a, b) for a in (0x00800000, 0x80800001, 0x01000000) for b in (0x3F7FFFFF, 0x3F800000, 0x3F000000, 0xBEFFFFFF)]
check("mul_ftz_f32", "mul.ftz.f32 <d>, <a>, <b>;", "f32 f32", "f32", product_ftz, rows_of(F32, 2) + SMALL)
check(
    "fma_ftz_f32",
    "fma.rn.ftz.f32 <d>, <a>, <b>, <c>;",
    "f32 f32 f32",
    "f32",
    fused_ftz,
    rows_of(F32, 3) + [(*two, 0) for two in SMALL],
)
check(
    "add_ftz_f32",
    "add.ftz.f32 <d>, <a>, <b>;",
    "f32 f32",
    "f32",
    lambda a, b: F32.flush(exact.add(F32, F32.flush(a), F32.flush(b))),
    rows_of(F32, 2),
)
for operation, function in {"add": exact.add, "mul": exact.multiply}.items():
    check(
        f"{operation}_sat_f32",
        f"{operation}.sat.f32 <d>, <a>, <b>;",
        "f32 f32",
        "f32",
        lambda a, b, f=function: saturate(F32, f(F32, a, b)),
        rows_of(F32, 2),
    )
check(
    "fma_rz_ftz_sat_f32",
    "fma.rz.ftz.sat.f32 <d>, <a>, <b>, <c>;",
    "f32 f32 f32",
    "f32",
    lambda a, b, c: saturate(F32, fused_ftz(a, b, c, "rz")),
    rows_of(F32, 3),
)
check(
    "fma_f32x2",
    "mov.b64 %rd4, {<a>, <b>}; mov.b64 %rd5, {<c>, <f>}; fma.rn.f32x2 %rd4, %rd4, %rd5, %rd4; mov.b64 {%r1, <d>}, %rd4;",
    "f32 f32 f32 f32",
    "f32",
    lambda a, b, c, d: exact.fused(F32, b, d, b),
    rows_of(F32, 4),
)


def exchange(kind: Format, a: int, b: int, larger: bool, nan: bool, by_magnitude: bool) -> int | str:
    if not by_magnitude:
        return exact.minimum(kind, a, b, nan, larger)
    found = exact.minimum(kind, a & ~kind.sign, b & ~kind.sign, nan, larger)
    return found if isinstance(found, str) or kind.is_nan(found) else found ^ ((a ^ b) & kind.sign)


for name, kind in FORMATS.items():
    for operation, nan, by_magnitude in itertools.product(("min", "max"), (False, True), (False, True)):
        if name == "f64" and (nan or by_magnitude):
            continue
        flags = (".NaN" if nan else "") + (".xorsign.abs" if by_magnitude else "")
        check(
            f"{operation}{flags.replace('.', '_')}_{name}",
            f"{operation}{flags}.{name} <d>, <a>, <b>;",
            f"{name} {name}",
            name,
            lambda a, b, k=kind, o=operation, n=nan, m=by_magnitude: exchange(k, a, b, o == "max", n, m),
            rows_of(kind, 2),
        )
check(
    "max_of_three_f32",
    "max.f32 <d>, <a>, <b>, <c>;",
    "f32 f32 f32",
    "f32",
    lambda a, b, c: exact.minimum(F32, exact.minimum(F32, a, b, larger=True), c, larger=True),
    rows_of(F32, 3),
)


def signs_of(kind: Format, a: int, changed: int) -> int | str:
    """neg and abs are arithmetic to an H200: a NaN becomes the canonical one; in f64 it stays, quieted."""
    if not kind.is_nan(a):
        return changed
    return kind.nan if kind.nan is not None else a | 1 << kind.mantissa_bits - 1


# half precision: one rounding each, pairs element by element
for name, kind in {"f16": F16, "bf16": BF16}.items():
    one = kind.bias << kind.mantissa_bits
    for operation, function in {
        "add": lambda a, b, k=kind: exact.add(k, a, b),
        "sub": lambda a, b, k=kind: exact.add(k, a, b if k.is_nan(b) else b ^ k.sign),
        "mul": lambda a, b, k=kind: exact.multiply(k, a, b),
    }.items():
        check(
            f"{operation}_{name}",
            f"{operation}.{name} <d>, <a>, <b>;",
            f"{name} {name}",
            name,
            function,
            rows_of(kind, 2),
        )
        check(
            f"{operation}_{name}x2",
            f"mov.b32 %r1, {{<a>, <b>}}; mov.b32 %r2, {{<b>, <c>}}; {operation}.{name}x2 %r1, %r1, %r2; mov.b32 {{%h0, <d>}}, %r1;",
            f"{name} {name} {name}",
            name,
            lambda a, b, c, f=function: f(b, c),
            rows_of(kind, 3),
        )
    fused = rows_of(kind, 3) + [(a, b, c ^ kind.sign) for a, b, c in rows_of(kind, 3)]
    check(
        f"fma_rn_{name}",
        f"fma.rn.{name} <d>, <a>, <b>, <c>;",
        f"{name} {name} {name}",
        name,
        lambda a, b, c, k=kind: exact.fused(k, a, b, c),
        fused,
    )
    check(
        f"fma_rn_relu_{name}",
        f"fma.rn.relu.{name} <d>, <a>, <b>, <c>;",
        f"{name} {name} {name}",
        name,
        lambda a, b, c, k=kind: 0 if not k.is_nan(found := exact.fused(k, a, b, c)) and k.negative(found) else found,
        fused,
    )
    check(
        f"neg_{name}",
        f"neg.{name} <d>, <a>;",
        name,
        name,
        lambda a, k=kind: signs_of(k, a, a ^ k.sign),
        rows_of(kind, 1),
    )
    check(
        f"abs_{name}",
        f"abs.{name} <d>, <a>;",
        name,
        name,
        lambda a, k=kind: signs_of(k, a, a & ~k.sign),
        rows_of(kind, 1),
    )
    check(
        f"fma_sat_{name}x2" if name == "f16" else f"fma_{name}x2",
        f"mov.b32 %r1, {{<a>, <a>}}; mov.b32 %r2, {{<b>, <b>}}; mov.b32 %r3, {{<c>, <c>}}; fma.rn{'.sat' if name == 'f16' else ''}.{name}x2 %r1, %r1, %r2, %r3; mov.b32 {{%h0, <d>}}, %r1;",
        f"{name} {name} {name}",
        name,
        lambda a, b, c, k=kind: saturate(k, exact.fused(k, a, b, c)) if k is F16 else exact.fused(k, a, b, c),
        fused,
    )
    for test in ("lt", "geu", "nan"):
        check(
            f"setp_{test}_{name}",
            f"setp.{test}.{name} <d>, <a>, <b>;",
            f"{name} {name}",
            "pred",
            lambda a, b, k=kind, t=test: int(TESTS[t](k, a, b)),
            rows_of(kind, 2),
        )
    check(
        f"set_gt_{name}x2",
        f"mov.b32 %r1, {{<a>, <b>}}; mov.b32 %r2, {{<b>, <a>}}; set.gt.{name}x2.{name}x2 <d>, %r1, %r2;",
        f"{name} {name}",
        "u32",
        lambda a, b, k=kind, o=one: (o if TESTS["gt"](k, a, b) else 0) | (o if TESTS["gt"](k, b, a) else 0) << 16,
        rows_of(kind, 2),
    )
    check(
        f"setp_pair_{name}x2",
        f"mov.b32 %r1, {{<a>, <b>}}; mov.b32 %r2, {{<b>, <a>}}; setp.le.{name}x2 %p0|<d>, %r1, %r2;",
        f"{name} {name}",
        "pred",
        lambda a, b, k=kind: int(TESTS["le"](k, b, a)),
        rows_of(kind, 2),
    )


def comparison(holds: Callable[[object, object], bool], of_nan: bool) -> Callable[[Format, int, int], bool]:
    def test(kind: Format, a: int, b: int) -> bool:
        if kind.is_nan(a) or kind.is_nan(b):
            return of_nan
        return holds(
            *(math.copysign(math.inf, -kind.negative(x)) if kind.is_infinite(x) else kind.value(x) for x in (a, b))
        )

    return test


ORDERED = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
TESTS = {
    **{name: comparison(function, False) for name, function in ORDERED.items()},
    **{f"{name}u": comparison(function, True) for name, function in ORDERED.items()},
    "num": comparison(lambda a, b: True, False),
    "nan": comparison(lambda a, b: False, True),
}
for (name, kind), test in itertools.product({"f32": F32, "f64": F64}.items(), TESTS):
    check(
        f"setp_{test}_{name}",
        f"setp.{test}.{name} <d>, <a>, <b>;",
        f"{name} {name}",
        "pred",
        lambda a, b, k=kind, t=test: int(TESTS[t](k, a, b)),
        rows_of(kind, 2),
    )
check(
    "setp_lt_ftz_f32",
    "setp.lt.ftz.f32 <d>, <a>, <b>;",
    "f32 f32",
    "pred",
    lambda a, b: int(TESTS["lt"](F32, F32.flush(a), F32.flush(b))),
    rows_of(F32, 2),
)
check(
    "set_leu_f32_f32",
    "set.leu.f32.f32 <d>, <a>, <b>;",
    "f32 f32",
    "f32",
    lambda a, b: 0x3F800000 if TESTS["leu"](F32, a, b) else 0,
    rows_of(F32, 2),
)
check(
    "set_eq_u32_f32",
    "set.eq.u32.f32 <d>, <a>, <b>;",
    "f32 f32",
    "u32",
    lambda a, b: 0xFFFFFFFF if TESTS["eq"](F32, a, b) else 0,
    rows_of(F32, 2),
)
check(
    "slct_f32_f32",
    "slct.f32.f32 <d>, <a>, <b>, <c>;",
    "f32 f32 f32",
    "f32",
    lambda a, b, c: a if TESTS["ge"](F32, c, 0) else b,
    rows_of(F32, 3),
)

for name, kind in {"f32": F32, "f64": F64}.items():
    check(
        f"neg_{name}",
        f"neg.{name} <d>, <a>;",
        name,
        name,
        lambda a, k=kind: signs_of(k, a, a ^ k.sign),
        rows_of(kind, 1),
    )
    check(
        f"abs_{name}",
        f"abs.{name} <d>, <a>;",
        name,
        name,
        lambda a, k=kind: signs_of(k, a, a & ~k.sign),
        rows_of(kind, 1),
    )
    check(
        f"copysign_{name}",
        f"copysign.{name} <d>, <a>, <b>;",
        f"{name} {name}",
        name,
        lambda a, b, k=kind: b & ~k.sign | a & k.sign,
        rows_of(kind, 2),
    )
    for test, holds in {
        "finite": lambda k, a: not k.is_nan(a) and not k.is_infinite(a),
        "infinite": lambda k, a: k.is_infinite(a),
        "number": lambda k, a: not k.is_nan(a),
        "notanumber": lambda k, a: k.is_nan(a),
        "normal": lambda k, a: (a & ~k.sign) == 0 or 0 < (a & k.infinity) < k.infinity,
        "subnormal": lambda k, a: (a & k.infinity) == 0 and (a & ~k.sign) != 0,
    }.items():
        check(
            f"testp_{test}_{name}",
            f"testp.{test}.{name} <d>, <a>;",
            name,
            "pred",
            lambda a, k=kind, h=holds: int(h(k, a)),
            rows_of(kind, 1),
        )

# a NaN that was only moved keeps its bits; one that arithmetic made has a GPU's
check(
    "payload_survives_moves",
    "{ .reg .f32 x; mov.f32 x, <a>; setp.eq.u32 %p0, 0, 0; selp.f32 <d>, x, 0f00000000, %p0; }",
    "f32",
    "f32",
    lambda a: a,
    rows_of(F32, 1),
)
check(
    "nan_made_by_arithmetic_through_a_move",
    "{ .reg .f32 x, y; add.f32 x, <a>, <b>; mov.f32 y, x; mov.b32 %r1, y; mov.b32 <d>, %r1; }",
    "f32 f32",
    "f32",
    lambda a, b: exact.add(F32, a, b),
    rows_of(F32, 2),
)
check(
    "constants",
    "{ .reg .f32 x; mov.f32 x, 0f7F800000; add.f32 x, x, 0f3DCCCCCD; min.f32 <d>, x, <a>; }",
    "f32",
    "f32",
    lambda a: exact.minimum(F32, 0x7F800000, a),
    rows_of(F32, 1),
)
check(
    "double_constants",
    "{ .reg .f64 x; mov.f64 x, 0d3FB999999999999A; add.f64 <d>, x, 0dBFB999999999999A; }",
    "f64",
    "f64",
    lambda a: 0,
    [(0,)],
)

# products that ptxas contracts, and one that it does not
SUMS = {
    "product_first": ("mul.{0} x, <a>, <b>; add.{0} <d>, x, <c>;", lambda k, a, b, c: exact.fused(k, a, b, c)),
    "product_subtracted": (
        "mul.{0} x, <a>, <b>; sub.{0} <d>, <c>, x;",
        lambda k, a, b, c: exact.fused(k, negative(k, a), b, c),
    ),
    "addend_subtracted": (
        "mul.{0} x, <a>, <b>; sub.{0} <d>, x, <c>;",
        lambda k, a, b, c: exact.fused(k, a, b, negative(k, c)),
    ),
    "rounded_product": (
        "mul.rn.{0} x, <a>, <b>; add.{0} <d>, x, <c>;",
        lambda k, a, b, c: p if (p := exact.multiply(k, a, b)) == NAN else exact.add(k, p, c),
    ),
}


def negative(kind: Format, bits: int) -> int:
    return bits if kind.is_nan(bits) else bits ^ kind.sign


for (name, kind), (what, (ptx, function)) in itertools.product(FORMATS.items(), SUMS.items()):
    check(
        f"{what}_{name}",
        f"{{ .reg .{'b16' if kind.width == 16 else name} x; {ptx.format(name)} }}",
        f"{name} {name} {name}",
        name,
        lambda a, b, c, f=function, k=kind: f(k, a, b, c),
        rows_of(kind, 3),
    )

# ---- conversions


def nan_of(bits: int, source: Format, target: Format) -> int | str:
    """What an H200 makes of a NaN: from f64, and from bf16 to f32, its sign and upper bits stay; else it is the canonical one."""
    if target is F64:
        return NAN
    if source is F64:
        cut = (bits & (1 << 52) - 1) >> 52 - target.mantissa_bits
        return (target.sign if source.negative(bits) else 0) | target.infinity | cut | 1 << target.mantissa_bits - 1
    return bits << 16 if (source, target) == (BF16, F32) else target.nan


FLOATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
for (source, wide), (target, narrow) in itertools.product(FLOATS.items(), repeat=2):
    modes = MODES if narrow.width < wide.width or (source, target) in (("f16", "bf16"), ("bf16", "f16")) else ("",)
    if source == target:
        continue
    for mode in modes:
        special = [(bits,) for bits in edges(wide) + numbers(wide, 150)]
        if narrow.width < wide.width:  # exact values, ties and their neighbours
            for bits in edges(narrow) + numbers(narrow, 60):
                value = exact.convert(bits, narrow, wide)
                if isinstance(value, int):
                    half = 1 << wide.mantissa_bits - narrow.mantissa_bits - 1
                    special += [((value + step) & ((1 << wide.width) - 1),) for step in (0, half - 1, half, half + 1)]
        check(
            f"cvt_{mode or 'exact'}_{target}_{source}",
            f"cvt{'.' + mode if mode else ''}.{target}.{source} <d>, <a>;",
            source,
            target,
            lambda a, w=wide, n=narrow, m=mode: nan_of(a, w, n) if w.is_nan(a) else exact.convert(a, w, n, m or "rn"),
            special,
        )
for (source, kind), target, mode in itertools.product(
    FLOATS.items(), ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"), ("rni", "rzi", "rmi", "rpi")
):
    limit = kind.round(exact.Fraction(2) ** (int(target[1:]) - 1))
    near = [limit + step for step in (-2, -1, 0, 1, 2, 1 << kind.mantissa_bits)]
    halves = [kind.round(exact.Fraction(n, 2)) for n in range(-7, 8)]
    check(
        f"cvt_{mode}_{target}_{source}",
        f"cvt.{mode}.{target}.{source} <d>, <a>;",
        source,
        target if target[1:] != "8" else "u16",
        lambda a, k=kind, t=target, m=mode: widened(exact.to_integer(a, k, t, m), t),
        [
            (bits & ~kind.sign | sign if bits else 0,)
            for bits in edges(kind) + near + halves + numbers(kind, 40)
            for sign in (0, kind.sign)
        ],
    )


def widened(bits: int, kind: str) -> int:
    """What a 16-bit register shows of an 8-bit result."""
    return (bits - 256) & 0xFFFF if kind == "s8" and bits & 0x80 else bits


INTEGER_EDGES = [
    0,
    1,
    2,
    3,
    1 << 24,
    (1 << 24) + 1,
    (1 << 24) + 3,
    (1 << 53) + 1,
    (1 << 31) - 1,
    65503,
    65504,
    65519,
    65520,
    2049,
    257,
    4097,
]
for (target, kind), source, mode in itertools.product(
    FLOATS.items(), ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"), MODES
):
    width = int(source[1:])
    values = {value & ((1 << width) - 1) for value in INTEGER_EDGES + [-value for value in INTEGER_EDGES]}
    values |= {RANDOM.getrandbits(width) >> RANDOM.randrange(width) for _ in range(60)} | {
        1 << (width - 1),
        (1 << width) - 1,
    }

    def from_integer(a: int, kind: Format = kind, source: str = source, mode: str = mode, width: int = width) -> int:
        a &= (1 << width) - 1
        return kind.round(exact.Fraction(a - (a >> (width - 1) << width) if source[0] == "s" else a), mode)

    check(
        f"cvt_{mode}_{target}_{source}",
        f"cvt.{mode}.{target}.{source} <d>, <a>;",
        source.replace("8", "16"),
        target,
        from_integer,
        [(value,) for value in sorted(values)],
    )

check(
    "cvt_rni_f32",
    "cvt.rni.f32.f32 <d>, <a>;",
    "f32",
    "f32",
    lambda a: (
        a
        if F32.is_infinite(a)
        else F32.nan
        if F32.is_nan(a)
        else F32.round(exact.Fraction(round(F32.value(a))), "rn", F32.negative(a))
    ),
    [(b,) for b in edges(F32)] + [(F32.round(exact.Fraction(n, 2)),) for n in range(-9, 10)],
)
check(
    "cvt_sat_f32_f64",
    "cvt.rn.sat.f32.f64 <d>, <a>;",
    "f64",
    "f32",
    lambda a: saturate(F32, exact.convert(a, F64, F32)),
    rows_of(F64, 1),
)
check(
    "cvt_ftz_f64_f32",
    "cvt.ftz.f64.f32 <d>, <a>;",
    "f32",
    "f64",
    lambda a: 0x7FFFFFFFE0000000 if F32.is_nan(a) else exact.convert(F32.flush(a), F32, F64),
    rows_of(F32, 1),
)
check(
    "cvt_ftz_s32_f32",
    "cvt.rpi.ftz.s32.f32 <d>, <a>;",
    "f32",
    "s32",
    lambda a: exact.to_integer(F32.flush(a), F32, "s32", "rpi"),
    rows_of(F32, 1),
)
check(
    "cvt_rn_relu_f16_f32",
    "cvt.rn.relu.f16.f32 <d>, <a>;",
    "f32",
    "f16",
    lambda a: 0 if F32.negative(a) and not F32.is_nan(a) else exact.convert(a, F32, F16),
    rows_of(F32, 1),
)
for pair, half in {"f16x2": F16, "bf16x2": BF16}.items():
    check(
        f"cvt_rn_{pair}_f32",
        f"cvt.rn.{pair}.f32 <d>, <a>, <b>;",
        "f32 f32",
        "u32",
        lambda a, b, h=half: exact.convert(a, F32, h) << 16 | exact.convert(b, F32, h),
        rows_of(F32, 2),
    )
for mode in ("rna", "rn", "rz"):
    check(
        f"cvt_{mode}_tf32_f32",
        f"cvt.{mode}.tf32.f32 <d>, <a>;",
        "f32",
        "u32",
        lambda a, m=mode: (
            (a if m == "rna" else 0x7FFFFFFF) & ~0x1FFF if F32.is_nan(a) else exact.convert(a, F32, TF32, m) << 13
        ),
        rows_of(F32, 1),
    )

E4M3, E5M2 = Format(4, 3, 0x7F), Format(5, 2, 0x7F)


def eight_bits(bits: int, source: Format, name: str) -> int:
    """Saturating conversion; e4m3 uses the exponent of infinity for numbers, its largest being 448."""
    sign = 0x80 if source.negative(bits) else 0
    if source.is_nan(bits):
        return 0x7F
    limit, top = (exact.Fraction(448), 0x7E) if name == "e4m3" else (exact.Fraction(57344), 0x7B)
    if source.is_infinite(bits) or abs(source.value(bits)) >= limit:
        return sign | top
    value = source.value(bits)
    if name == "e4m3" and abs(value) >= 256:  # beyond what the format would hold with an infinity: scale by 2
        return (E4M3.round(value / 2, "rn", bool(sign))) + 8
    return (E4M3 if name == "e4m3" else E5M2).round(value, "rn", bool(sign))


for name in ("e4m3", "e5m2"):
    wide = [exact.F32.round(exact.Fraction(n, 64)) for n in range(0, 500, 7)] + [
        F32.round(exact.Fraction(n))
        for n in (240, 255, 256, 272, 400, 431, 432, 440, 447, 448, 463, 464, 465, 500, 57343, 57344, 61440)
    ]
    check(
        f"cvt_{name}x2_f32",
        f"cvt.rn.satfinite.{name}x2.f32 <d>, <a>, <b>;",
        "f32 f32",
        "u16",
        lambda a, b, n=name: eight_bits(a, F32, n) << 8 | eight_bits(b, F32, n),
        rows_of(F32, 2) + [(a, a ^ F32.sign) for a in wide],
    )
    check(
        f"cvt_{name}x2_f16x2",
        f"mov.b32 %r1, {{<a>, <b>}}; cvt.rn.satfinite.{name}x2.f16x2 <d>, %r1;",
        "f16 f16",
        "u16",
        lambda a, b, n=name: eight_bits(b, F16, n) << 8 | eight_bits(a, F16, n),
        rows_of(F16, 2),
    )

    def to_half(a: int, name: str = name) -> int:
        sign = (a & 0x80) << 8
        if a & 0x7F == 0x7F or (name == "e5m2" and a & 0x7F > 0x7C):
            return 0x7FFF
        if name == "e4m3" and a & 0x78 == 0x78:
            return sign | F16.round(exact.Fraction(2) ** 8 * exact.Fraction(8 + (a & 7), 8))
        return exact.convert(a, E4M3 if name == "e4m3" else E5M2, F16)

    check(
        f"cvt_f16x2_{name}x2",
        f"cvt.rn.f16x2.{name}x2 %r1, <a>; mov.b32 {{%h0, <d>}}, %r1;",
        "u16",
        "f16",
        lambda a, f=to_half: f(a >> 8),
        [(a << 8,) for a in range(256)],
    )

# ---- approximations: the exact value within two units in the last place, and the manual's special values


def f32_of(value: float) -> int:
    try:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return 0xFF800000 if value < 0 else 0x7F800000


def float_of(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def approximate(function: Callable[[float], float], special: dict[int, int]) -> Expected:
    def of(a: int) -> int:
        if F32.is_nan(a):
            return 0x7FFFFFFF
        return special[a] if a in special else f32_of(function(float_of(a)))

    return of


INF, MINUS_INF, MINUS_ZERO, QNAN = 0x7F800000, 0xFF800000, 0x80000000, 0x7FFFFFFF
SAMPLES = [(0,), (MINUS_ZERO,), (INF,), (MINUS_INF,), (QNAN,)] + [
    (f32_of(x),) for x in (0.1, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 10.0, 100.25)
]
SIGNED_SAMPLES = SAMPLES + [(bits | F32.sign,) for (bits,) in SAMPLES[5:]]
check(
    "sin_approx_f32",
    "sin.approx.f32 <d>, <a>;",
    "f32",
    "f32",
    approximate(math.sin, {INF: QNAN, MINUS_INF: QNAN, MINUS_ZERO: MINUS_ZERO}),
    SIGNED_SAMPLES,
    ulps=2,
)
check(
    "cos_approx_f32",
    "cos.approx.f32 <d>, <a>;",
    "f32",
    "f32",
    approximate(math.cos, {INF: QNAN, MINUS_INF: QNAN}),
    SIGNED_SAMPLES,
    ulps=2,
)
check(
    "ex2_approx_f32",
    "ex2.approx.f32 <d>, <a>;",
    "f32",
    "f32",
    approximate(lambda x: 2.0**x, {INF: INF, MINUS_INF: 0}),
    SIGNED_SAMPLES,
    ulps=2,
)
check(
    "lg2_approx_f32",
    "lg2.approx.f32 <d>, <a>;",
    "f32",
    "f32",
    approximate(math.log2, {0: MINUS_INF, MINUS_ZERO: MINUS_INF, INF: INF, MINUS_INF: QNAN}),
    SAMPLES,
    ulps=2,
)
check(
    "lg2_approx_of_negative_numbers",
    "lg2.approx.f32 <d>, <a>;",
    "f32",
    "f32",
    lambda a: QNAN,
    [(bits | F32.sign,) for (bits,) in SAMPLES[5:]],
)
check("tanh_approx_f32", "tanh.approx.f32 <d>, <a>;", "f32", "f32", approximate(math.tanh, {}), SIGNED_SAMPLES, ulps=2)
check(
    "rsqrt_approx_f32",
    "rsqrt.approx.f32 <d>, <a>;",
    "f32",
    "f32",
    approximate(lambda x: 1 / math.sqrt(x), {0: INF, MINUS_ZERO: MINUS_INF, INF: 0, MINUS_INF: QNAN}),
    SAMPLES,
    ulps=2,
)
check(
    "sqrt_approx_ftz_f32",
    "sqrt.approx.ftz.f32 <d>, <a>;",
    "f32",
    "f32",
    lambda a: exact.square_root(F32, F32.flush(a)),
    rows_of(F32, 1),
)
check(
    "rcp_approx_ftz_f32",
    "rcp.approx.ftz.f32 <d>, <a>;",
    "f32",
    "f32",
    lambda a: F32.flush(exact.divide(F32, 0x3F800000, F32.flush(a))),
    rows_of(F32, 1),
)
check(
    "div_full_f32",
    "div.full.f32 <d>, <a>, <b>;",
    "f32 f32",
    "f32",
    lambda a, b: exact.divide(F32, a, b),
    rows_of(F32, 2),
)
BIG = f32_of(2.0**126)


def divide_approximately(a: int, b: int) -> int | str:
    if BIG < b & ~F32.sign < F32.infinity and not F32.is_nan(a):
        return QNAN if F32.is_infinite(a) else (a ^ b) & F32.sign
    return exact.divide(F32, a, b)


check("div_approx_f32", "div.approx.f32 <d>, <a>, <b>;", "f32 f32", "f32", divide_approximately, rows_of(F32, 2))


def upper(a: int) -> int:
    return F64.flush(a) & ~0xFFFFFFFF


check(
    "rcp_approx_ftz_f64",
    "rcp.approx.ftz.f64 <d>, <a>;",
    "f64",
    "f64",
    lambda a: (
        0x7FFFFFFF00000000
        if F64.is_nan(upper(a))
        else F64.flush(exact.divide(F64, F64.bias << 52, upper(a))) & ~0xFFFFFFFF
    ),
    rows_of(F64, 1),
)
for name, kind in {"f16": F16, "bf16": BF16}.items():
    points = [kind.round(exact.Fraction(n, 8)) for n in range(-40, 41)]

    def through_double(function: Callable[[float], float], kind: Format = kind) -> Expected:
        return lambda a: kind.round(
            exact.Fraction(function(float(kind.value(a)))), "rn", kind.negative(a) and function(0.0) == 0
        )

    check(
        f"ex2_approx_{name}",
        f"ex2.approx{'.ftz' if name == 'bf16' else ''}.{name} <d>, <a>;",
        name,
        name,
        through_double(lambda x: 2.0**x),
        [(p,) for p in points],
    )
    check(
        f"tanh_approx_{name}",
        f"tanh.approx.{name} <d>, <a>;",
        name,
        name,
        through_double(math.tanh),
        [(p,) for p in points],
    )

# f32 addition in memory flushes subnormal numbers in global memory only
for space, place in {"global": "pool", "shared": "tile"}.items():

    def added(a: int, b: int, flushes: bool = space == "global") -> int | str:
        return F32.flush(exact.add(F32, F32.flush(a), F32.flush(b))) if flushes else exact.add(F32, a, b)

    check(
        f"atom_{space}_add_f32",
        f"st.{space}.b32 [{place}], <a>; atom.{space}.add.f32 %r1, [{place}], <b>; ld.{space}.b32 <d>, [{place}];",
        "f32 f32",
        "f32",
        added,
        rows_of(F32, 2),
    )
check(
    "atom_add_f64",
    "st.global.b64 [pool], <a>; red.global.add.f64 [pool], <b>; ld.global.b64 <d>, [pool];",
    "f64 f64",
    "f64",
    lambda a, b: exact.add(F64, a, b),
    rows_of(F64, 2),
)
check(
    "atom_add_noftz_f16",
    "st.global.b16 [pool], <a>; atom.global.add.noftz.f16 %h0, [pool], <b>; ld.global.b16 <d>, [pool];",
    "f16 f16",
    "f16",
    lambda a, b: exact.add(F16, a, b),
    rows_of(F16, 2),
)
check(
    "atom_add_v2_f32",
    "st.global.v2.b32 [pool], {<a>, <b>}; red.global.add.v2.f32 [pool], {<b>, <a>}; ld.global.b32 <d>, [pool+4];",
    "f32 f32",
    "f32",
    lambda a, b: F32.flush(exact.add(F32, F32.flush(a), F32.flush(b))),
    rows_of(F32, 2),
)

GLOBALS = ".global .align 16 .b8 pool[64]; .shared .align 16 .b8 tile[64];"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    return Kernels([case for case, *_ in CHECKS.values()], tmp_path_factory.mktemp("ops"), GLOBALS)


def agree(found: int, wanted: int | str, kind: Format | None, ulps: int) -> bool:
    if wanted == NAN:
        return kind is not None and kind.is_nan(found)
    assert isinstance(wanted, int)
    if kind is not None and ulps and not kind.is_nan(wanted) and (found ^ wanted) & kind.sign == 0:
        return abs(found - wanted) <= ulps
    return found == wanted


@pytest.mark.parametrize("name", CHECKS)
def test_instruction_rounds_the_exact_result(kernels: Kernels, name: str) -> None:
    case, rows, expected, kind, ulps = CHECKS[name]
    wanted = [expected(*row) for row in rows]
    for untyped in (False, True) if case.has_floats else (False,):
        for row, (found,), one in zip(rows, kernels.run(name, rows, untyped), wanted, strict=True):
            if isinstance(one, int):
                one &= (1 << WIDTHS[case.results]) - 1
            assert agree(found, one, kind, ulps), (
                f"{case.ptx} of {[hex(v) for v in row]} gives {found:#x}, not {one if isinstance(one, str) else hex(one)}"
            )
