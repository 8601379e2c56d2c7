"""Integer instructions, data movement, atomics and barriers in memory, translated and run on this CPU. What is expected is computed
with Python's integers from the manual's words, one element at a time."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable

import pytest

from tests.support.ptx_cases import WIDTHS, Case, Kernels

EDGES = {
    "u16": [0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x1234],
    "u32": [0, 1, 2, 31, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF],
    "u64": [0, 1, 2, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 1, 0x123456789ABCDEF0],
}
COUNTS = [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 0xFFFFFFFF]
RANDOM = random.Random(20)


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (value >> (width - 1) << width)


def typed(value: int, kind: str) -> int:
    """A value of a type from its bits."""
    width = WIDTHS[kind]
    return signed(value, width) if kind[0] == "s" else value & ((1 << width) - 1)


def clamp(value: int, kind: str) -> int:
    width = int(kind[1:])
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind[0] == "s" else (0, (1 << width) - 1)
    return min(max(value, low), high)


def edges(kind: str) -> list[int]:
    return EDGES[f"u{WIDTHS[kind]}"] if WIDTHS[kind] > 8 else [0, 1, 0x7F, 0x80, 0xFF]


CHECKS: dict[str, tuple[Case, list[tuple[int, ...]], Callable[..., object]]] = {}


def check(
    name: str,
    ptx: str,
    sources: str,
    results: str,
    expected: Callable[..., object],
    rows: Iterable[tuple[int, ...]] | None = None,
) -> None:
    """``expected`` takes a row's bits and gives the results' bits, one or a tuple; excess bits are cut."""
    listed = list(rows) if rows is not None else list(itertools.product(*(edges(kind) for kind in sources.split())))
    if len(listed) > 400:
        listed = RANDOM.sample(listed, 400)
    name = name.replace(".", "_")
    assert name not in CHECKS, name
    CHECKS[name] = (Case(name, ptx, sources, results), listed, expected)


def quotient(a: int, b: int) -> int:
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    """Of a division by zero an H200 leaves all ones."""
    return -1 if b == 0 else a - b * quotient(a, b)


for kind in ("u16", "s16", "u32", "s32", "u64", "s64"):
    width = WIDTHS[kind]
    two = f"{kind} {kind}"

    def of(function: Callable[..., int], kind: str = kind) -> Callable[..., int]:
        return lambda *bits: function(*(typed(value, kind) for value in bits))

    check(f"add_{kind}", f"add.{kind} <d>, <a>, <b>;", two, kind, of(lambda a, b: a + b))
    check(f"sub_{kind}", f"sub.{kind} <d>, <a>, <b>;", two, kind, of(lambda a, b: a - b))
    check(f"mul_lo_{kind}", f"mul.lo.{kind} <d>, <a>, <b>;", two, kind, of(lambda a, b: a * b))
    check(f"mul_hi_{kind}", f"mul.hi.{kind} <d>, <a>, <b>;", two, kind, of(lambda a, b, w=width: a * b >> w))
    check(f"mad_lo_{kind}", f"mad.lo.{kind} <d>, <a>, <b>, <c>;", f"{two} {kind}", kind, of(lambda a, b, c: a * b + c))
    check(
        f"mad_hi_{kind}",
        f"mad.hi.{kind} <d>, <a>, <b>, <c>;",
        f"{two} {kind}",
        kind,
        of(lambda a, b, c, w=width: (a * b >> w) + c),
    )
    check(f"div_{kind}", f"div.{kind} <d>, <a>, <b>;", two, kind, of(quotient))
    check(f"rem_{kind}", f"rem.{kind} <d>, <a>, <b>;", two, kind, of(remainder))
    check(f"min_{kind}", f"min.{kind} <d>, <a>, <b>;", two, kind, of(min))
    check(f"max_{kind}", f"max.{kind} <d>, <a>, <b>;", two, kind, of(max))
    check(f"sad_{kind}", f"sad.{kind} <d>, <a>, <b>, <c>;", f"{two} {kind}", kind, of(lambda a, b, c: c + abs(a - b)))
    for count in ("imm", "reg"):
        if count == "reg":
            rows = list(itertools.product(edges(kind), COUNTS))
            check(
                f"shr_{kind}",
                f"shr.{kind} <d>, <a>, <b>;",
                f"{kind} u32",
                kind,
                lambda a, n, k=kind: typed(a, k) >> min(n, 200),
                rows,
            )
            if kind[0] == "u":
                check(
                    f"shl_b{width}",
                    f"shl.b{width} <d>, <a>, <b>;",
                    f"{kind} u32",
                    kind,
                    lambda a, n: a << min(n, 200),
                    rows,
                )
        else:
            check(f"shr3_{kind}", f"shr.{kind} <d>, <a>, 3;", kind, kind, lambda a, k=kind: typed(a, k) >> 3)
    if width < 64:
        wide = f"{kind[0]}{2 * width}"
        check(f"mul_wide_{kind}", f"mul.wide.{kind} <d>, <a>, <b>;", two, wide, of(lambda a, b: a * b))
        check(
            f"mad_wide_{kind}",
            f"mad.wide.{kind} <d>, <a>, <b>, <c>;",
            f"{two} {wide}",
            wide,
            lambda a, b, c, k=kind: typed(a, k) * typed(b, k) + c,
        )
    if kind[0] == "s":
        check(f"abs_{kind}", f"abs.{kind} <d>, <a>;", kind, kind, of(abs))
        check(f"neg_{kind}", f"neg.{kind} <d>, <a>;", kind, kind, of(lambda a: -a))
    for test, holds in {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
        **({"lo": lambda a, b: a < b, "ls": lambda a, b: a <= b} if kind[0] == "u" else {}),
        **({"hi": lambda a, b: a > b, "hs": lambda a, b: a >= b} if kind[0] == "u" else {}),
    }.items():
        check(f"setp_{test}_{kind}", f"setp.{test}.{kind} <d>, <a>, <b>;", two, "pred", of(holds))
    check(f"set_lt_u32_{kind}", f"set.lt.u32.{kind} <d>, <a>, <b>;", two, "u32", of(lambda a, b: -(a < b)))

for kind in ("u16", "u32", "u64"):
    width = WIDTHS[kind]
    bits = f"b{width}"
    check(f"and_{bits}", f"and.{bits} <d>, <a>, <b>;", f"{kind} {kind}", kind, lambda a, b: a & b)
    check(f"or_{bits}", f"or.{bits} <d>, <a>, <b>;", f"{kind} {kind}", kind, lambda a, b: a | b)
    check(f"xor_{bits}", f"xor.{bits} <d>, <a>, <b>;", f"{kind} {kind}", kind, lambda a, b: a ^ b)
    check(f"not_{bits}", f"not.{bits} <d>, <a>;", kind, kind, lambda a: ~a)
    check(f"cnot_{bits}", f"cnot.{bits} <d>, <a>;", kind, kind, lambda a: int(a == 0))
    check(
        f"selp_{bits}",
        f"selp.{bits} <d>, <a>, <b>, <c>;",
        f"{kind} {kind} pred",
        kind,
        lambda a, b, p: a if p else b,
        itertools.product(edges(kind), edges(kind), (0, 1)),
    )
    check(
        f"slct_{bits}_s32",
        f"slct.{bits}.s32 <d>, <a>, <b>, <c>;",
        f"{kind} {kind} u32",
        kind,
        lambda a, b, c: a if signed(c, 32) >= 0 else b,
    )

for name, function in {"and": lambda p, q: p & q, "or": lambda p, q: p | q, "xor": lambda p, q: p ^ q}.items():
    check(
        f"{name}_pred", f"{name}.pred <d>, <a>, <b>;", "pred pred", "pred", function, itertools.product((0, 1), (0, 1))
    )
check("not_pred", "not.pred <d>, <a>;", "pred", "pred", lambda p: 1 - p, [(0,), (1,)])
check("mov_pred", "mov.pred <d>, <a>;", "pred", "pred", lambda p: p, [(0,), (1,)])
check(
    "negated_guard",
    "mov.u32 <d>, 7; @!<a> mov.u32 <d>, <b>;",
    "pred u32",
    "u32",
    lambda p, b: 7 if p else b,
    [(0, 9), (1, 9)],
)

# setp with two results and a third predicate: p = (a < b) op c, q = !(a < b) op c
for name, function in {"and": lambda p, q: p & q, "or": lambda p, q: p | q, "xor": lambda p, q: p ^ q}.items():
    check(
        f"setp_pair_{name}",
        f"setp.lt.{name}.s32 <d>|<e>, <a>, <b>, <c>;",
        "u32 u32 pred",
        "pred pred",
        lambda a, b, c, f=function: (
            f(int(signed(a, 32) < signed(b, 32)), c),
            f(int(signed(a, 32) >= signed(b, 32)), c),
        ),
        itertools.product(edges("u32"), edges("u32"), (0, 1)),
    )
check(
    "setp_negated_third",
    "setp.ne.and.u32 <d>, <a>, <b>, !<c>;",
    "u32 u32 pred",
    "pred",
    lambda a, b, c: int(a != b and not c),
    itertools.product((0, 1), (0, 1), (0, 1)),
)
check(
    "setp_pair_overwrites_its_source",
    "mov.pred %p0, <c>; setp.lt.or.u32 %p0|%p1, <a>, <b>, %p0; mov.pred <d>, %p0; mov.pred <e>, %p1;",
    "u32 u32 pred",
    "pred pred",
    lambda a, b, c: (int(a < b or c), int(a >= b or c)),
    itertools.product((0, 1), (0, 1), (0, 1)),
)


def seen(count: int, width: int) -> int:
    """Of a field's position or length: its low byte by the manual, but all of it on an H200 in the forms of 64 bits."""
    return count & 255 if width == 32 else min(count, 300)


check(
    "add_sat_s32",
    "add.sat.s32 <d>, <a>, <b>;",
    "u32 u32",
    "u32",
    lambda a, b: clamp(signed(a, 32) + signed(b, 32), "s32"),
)
check(
    "sub_sat_s32",
    "sub.sat.s32 <d>, <a>, <b>;",
    "u32 u32",
    "u32",
    lambda a, b: clamp(signed(a, 32) - signed(b, 32), "s32"),
)
check(
    "mad_hi_sat_s32",
    "mad.hi.sat.s32 <d>, <a>, <b>, <c>;",
    "u32 u32 u32",
    "u32",
    lambda a, b, c: clamp((signed(a, 32) * signed(b, 32) >> 32) + signed(c, 32), "s32"),
)
check(
    "min_relu_s32",
    "min.relu.s32 <d>, <a>, <b>;",
    "u32 u32",
    "u32",
    lambda a, b: max(0, min(signed(a, 32), signed(b, 32))),
)

for width in (32, 64):
    kind = f"u{width}"
    mask = (1 << width) - 1
    check(
        f"add_cc_u{width}",
        f"add.cc.u{width} <d>, <a>, <b>; addc.u{width} <e>, 0, 0;",
        f"{kind} {kind}",
        f"{kind} {kind}",
        lambda a, b, w=width: (a + b, a + b >> w),
    )
    check(
        f"sub_cc_u{width}",
        f"sub.cc.u{width} <d>, <a>, <b>; subc.u{width} <e>, 0, 0;",
        f"{kind} {kind}",
        f"{kind} {kind}",
        lambda a, b: (a - b, -(a < b)),
    )
    check(
        f"addc_cc_u{width}",
        f"add.cc.u{width} <d>, <a>, <b>; addc.cc.u{width} <d>, <a>, <c>; addc.u{width} <e>, <c>, 5;",
        f"{kind} {kind} {kind}",
        f"{kind} {kind}",
        lambda a, b, c, w=width: (a + c + (a + b >> w), c + 5 + (a + c + (a + b >> w) >> w)),
    )
    check(
        f"subc_cc_u{width}",
        f"sub.cc.u{width} <d>, <a>, <b>; subc.cc.u{width} <d>, <a>, <c>; subc.u{width} <e>, <c>, 5;",
        f"{kind} {kind} {kind}",
        f"{kind} {kind}",
        lambda a, b, c: (a - c - (a < b), c - 5 - (a - c - (a < b) < 0)),
    )
    check(
        f"madc_u{width}",
        f"mad.lo.cc.u{width} <d>, <a>, <b>, <c>; madc.hi.u{width} <e>, <a>, <b>, <c>;",
        f"{kind} {kind} {kind}",
        f"{kind} {kind}",
        lambda a, b, c, w=width, m=mask: ((a * b & m) + c, (a * b >> w) + c + ((a * b & m) + c >> w)),
    )
    check(
        f"carry_of_a_difference_u{width}",
        f"sub.cc.u{width} <d>, <a>, <b>; addc.u{width} <e>, 0, 0;",
        f"{kind} {kind}",
        f"{kind} {kind}",
        lambda a, b: (a - b, a >= b),
    )
    check(f"popc_b{width}", f"popc.b{width} <d>, <a>;", kind, "u32", lambda a: bin(a).count("1"))
    check(f"clz_b{width}", f"clz.b{width} <d>, <a>;", kind, "u32", lambda a, w=width: w - a.bit_length())
    check(f"brev_b{width}", f"brev.b{width} <d>, <a>;", kind, kind, lambda a, w=width: int(f"{a:0{w}b}"[::-1], 2))
    for sign in "us":

        def highest(a: int, w: int = width, s: str = sign) -> int:
            a = ~a & ((1 << w) - 1) if s == "s" and a >> (w - 1) else a
            return a.bit_length() - 1

        check(f"bfind_{sign}{width}", f"bfind.{sign}{width} <d>, <a>;", kind, "u32", highest)
        check(
            f"bfind_shiftamt_{sign}{width}",
            f"bfind.shiftamt.{sign}{width} <d>, <a>;",
            kind,
            "u32",
            lambda a, w=width, h=highest: -1 if h(a) < 0 else w - 1 - h(a),
        )

        def extract(a: int, position: int, length: int, w: int = width, s: str = sign) -> int:
            position, length = seen(position, w), seen(length, w)
            fill = 0 if s == "u" or length == 0 else a >> min(position + length - 1, w - 1) & 1
            return sum((a >> position + i & 1 if i < length and position + i < w else fill) << i for i in range(w))

        check(
            f"bfe_{sign}{width}",
            f"bfe.{sign}{width} <d>, <a>, <b>, <c>;",
            f"{kind} u32 u32",
            kind,
            extract,
            itertools.product(edges(kind), COUNTS, COUNTS),
        )

    def insert(a: int, b: int, position: int, length: int, w: int = width) -> int:
        position, length = seen(position, w), seen(length, w)
        for i in range(length):
            if position + i < w:
                b = b & ~(1 << position + i) | (a >> i & 1) << position + i
        return b

    check(
        f"bfi_b{width}",
        f"bfi.b{width} <d>, <a>, <b>, <c>, <f>;",
        f"{kind} {kind} u32 u32",
        kind,
        insert,
        itertools.product(edges(kind)[3:7], edges(kind)[5:], COUNTS, COUNTS),
    )

for mode in ("lo", "hi"):
    shift = 0 if mode == "lo" else 16
    check(
        f"mul24_{mode}_u32",
        f"mul24.{mode}.u32 <d>, <a>, <b>;",
        "u32 u32",
        "u32",
        lambda a, b, s=shift: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> s,
    )
    check(
        f"mul24_{mode}_s32",
        f"mul24.{mode}.s32 <d>, <a>, <b>;",
        "u32 u32",
        "u32",
        lambda a, b, s=shift: signed(a, 24) * signed(b, 24) >> s,
    )
check(
    "mad24_lo_s32",
    "mad24.lo.s32 <d>, <a>, <b>, <c>;",
    "u32 u32 u32",
    "u32",
    lambda a, b, c: signed(a, 24) * signed(b, 24) + c,
)


def nth_set(mask: int, base: int, n: int) -> int:
    """The algorithm of the manual."""
    n = signed(n, 32)
    if n == 0:
        return base if mask >> base & 1 else -1
    position, count = base, abs(n) - 1
    while 0 <= position < 32:
        if mask >> position & 1:
            if count == 0:
                return position
            count -= 1
        position += 1 if n > 0 else -1
    return -1


check(
    "fns_b32",
    "fns.b32 <d>, <a>, <b>, <c>;",
    "u32 u32 u32",
    "u32",
    nth_set,
    itertools.product(edges("u32"), (0, 3, 17, 31), (0, 1, 2, 5, -1 & 0xFFFFFFFF, -3 & 0xFFFFFFFF)),
)

for mode in ("clamp", "wrap"):

    def extend(a: int, count: int, is_signed: bool, mode: str = mode) -> int:
        if count >= 32 and mode == "clamp":
            return a
        count &= 31
        field = a & ((1 << count) - 1)
        return field - (1 << count) if is_signed and count and field >> (count - 1) else field

    check(
        f"szext_{mode}_u32",
        f"szext.{mode}.u32 <d>, <a>, <b>;",
        "u32 u32",
        "u32",
        lambda a, n, e=extend: e(a, n, False),
        itertools.product(edges("u32"), COUNTS),
    )
    check(
        f"szext_{mode}_s32",
        f"szext.{mode}.s32 <d>, <a>, <b>;",
        "u32 u32",
        "u32",
        lambda a, n, e=extend: e(a, n, True),
        itertools.product(edges("u32"), COUNTS),
    )

    def ones(start: int, count: int, mode: str = mode) -> int:
        if mode == "wrap":
            start, count = start & 31, count & 31
        return sum(1 << i for i in range(32) if start <= i < start + count)

    check(
        f"bmsk_{mode}_b32", f"bmsk.{mode}.b32 <d>, <a>, <b>;", "u32 u32", "u32", ones, itertools.product(COUNTS, COUNTS)
    )

    def funnel(low: int, high: int, count: int, left: bool, mode: str = mode) -> int:
        count = min(count, 32) if mode == "clamp" else count & 31
        pair = high << 32 | low
        return pair << count >> 32 if left else pair >> count

    rows = list(itertools.product((0x12345678, 0xFFFFFFFF), (0x9ABCDEF0, 0), COUNTS))
    check(
        f"shf_l_{mode}_b32",
        f"shf.l.{mode}.b32 <d>, <a>, <b>, <c>;",
        "u32 u32 u32",
        "u32",
        lambda a, b, c, f=funnel: f(a, b, c, True),
        rows,
    )
    check(
        f"shf_r_{mode}_b32",
        f"shf.r.{mode}.b32 <d>, <a>, <b>, <c>;",
        "u32 u32 u32",
        "u32",
        lambda a, b, c, f=funnel: f(a, b, c, False),
        rows,
    )

for table in (0x00, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1B, 0xFF):

    def looked_up(a: int, b: int, c: int, table: int = table) -> int:
        return sum((table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i for i in range(32))

    check(f"lop3_b32_{table:02x}", f"lop3.b32 <d>, <a>, <b>, <c>, {table};", "u32 u32 u32", "u32", looked_up)
check(
    "lop3_or_b32_with_predicate",
    "lop3.or.b32 <d>|<e>, <a>, <b>, <c>, 0x80, <f>;",
    "u32 u32 u32 pred",
    "u32 pred",
    lambda a, b, c, q: (a & b & c, int((a & b & c) != 0 or q)),
    itertools.product((0, 5), (1, 4), (4, 8), (0, 1)),
)


def permute(a: int, b: int, selector: int) -> int:
    data = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    chosen = [selector >> 4 * i & 15 for i in range(4)]
    return int.from_bytes(bytes(0xFF * (data[n & 7] >> 7) if n & 8 else data[n] for n in chosen), "little")


check(
    "prmt_b32",
    "prmt.b32 <d>, <a>, <b>, <c>;",
    "u32 u32 u32",
    "u32",
    permute,
    itertools.product(
        (0x12F45678, 0x80FF017F), (0x9ABCDEF0,), (0x3210, 0x7654, 0x0123, 0xBA98, 0xFEDC, 0x5410, 0x1FF0)
    ),
)
BYTES = {
    "f4e": lambda n: [n, n + 1, n + 2, n + 3],
    "b4e": lambda n: [n, (n - 1) % 8, (n - 2) % 8, (n - 3) % 8],
    "rc8": lambda n: [n] * 4,
    "ecl": lambda n: [max(i, n) for i in range(4)],
    "ecr": lambda n: [min(i, n) for i in range(4)],
    "rc16": lambda n: [2 * (n & 1), 2 * (n & 1) + 1] * 2,
}
for mode, picked in BYTES.items():
    check(
        f"prmt_b32_{mode}",
        f"prmt.b32.{mode} <d>, <a>, <b>, <c>;",
        "u32 u32 u32",
        "u32",
        lambda a, b, n, p=picked: permute(a, b, sum(byte << 4 * i for i, byte in enumerate(p(n & 3)))),
        itertools.product((0x03020100, 0xFFFEFDFC), (0x07060504,), range(8)),
    )

for left, right in itertools.product("us", "us"):

    def dot(a: int, b: int, c: int, bits_a: int, first: int, pairs: int, left: str = left, right: str = right) -> int:
        for i in range(pairs):
            x, y = a >> bits_a * i, b >> 8 * (first + i)
            x = signed(x, bits_a) if left == "s" else x & ((1 << bits_a) - 1)
            c += x * (signed(y, 8) if right == "s" else y & 255)
        return c

    name = f"{left}32_{right}32"
    types = f"{left}32.{right}32"
    check(
        f"dp4a_{name}",
        f"dp4a.{types} <d>, <a>, <b>, <c>;",
        "u32 u32 u32",
        "u32",
        lambda a, b, c, d=dot: d(a, b, c, 8, 0, 4),
    )
    check(
        f"dp2a_lo_{name}",
        f"dp2a.lo.{types} <d>, <a>, <b>, <c>;",
        "u32 u32 u32",
        "u32",
        lambda a, b, c, d=dot: d(a, b, c, 16, 0, 2),
    )
    check(
        f"dp2a_hi_{name}",
        f"dp2a.hi.{types} <d>, <a>, <b>, <c>;",
        "u32 u32 u32",
        "u32",
        lambda a, b, c, d=dot: d(a, b, c, 16, 2, 2),
    )


def halves(function: Callable[[int, int], int], is_signed: bool) -> Callable[[int, int], int]:
    def of_both(a: int, b: int) -> int:
        pairs = [(a >> s & 0xFFFF, b >> s & 0xFFFF) for s in (0, 16)]
        low, high = (function(*(signed(x, 16) if is_signed else x for x in pair)) & 0xFFFF for pair in pairs)
        return low | high << 16

    return of_both


SHORT_PAIRS = [(a | b << 16, c | d << 16) for a, b, c, d in itertools.product((0, 0x7FFF, 0x8000, 0xFFFF), repeat=4)]
for kind in ("u16x2", "s16x2"):
    for name, function in {"min": min, "max": max, "add": lambda a, b: a + b}.items():
        check(
            f"{name}_{kind}",
            f"{name}.{kind} <d>, <a>, <b>;",
            "u32 u32",
            "u32",
            halves(function, kind[0] == "s"),
            SHORT_PAIRS,
        )
check(
    "max_relu_s16x2",
    "max.s16x2.relu <d>, <a>, <b>;",
    "u32 u32",
    "u32",
    halves(lambda a, b: max(a, b, 0), True),
    SHORT_PAIRS,
)

# conversions between integers: cut or extended, saturated on demand
for source, target in itertools.product(("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"), repeat=2):
    if source == target:
        continue
    inner, outer = max(WIDTHS[source], 16), max(WIDTHS[target], 16)
    check(
        f"cvt_{target}_{source}",
        f"cvt.{target}.{source} <d>, <a>;",
        f"u{inner}",
        f"u{outer}",
        lambda a, s=source, t=target: typed(typed(a, s), t),
    )
    check(
        f"cvt_sat_{target}_{source}",
        f"cvt.sat.{target}.{source} <d>, <a>;",
        f"u{inner}",
        f"u{outer}",
        lambda a, s=source, t=target: clamp(typed(a, s), t),
    )
check("cvt_s32_s8_of_a_wide_register", "cvt.s32.s8 <d>, <a>;", "u32", "u32", lambda a: signed(a, 8))
check(
    "cvt_pack_sat_s16",
    "cvt.pack.sat.s16.s32 <d>, <a>, <b>;",
    "u32 u32",
    "u32",
    lambda a, b: (clamp(signed(a, 32), "s16") & 0xFFFF) << 16 | clamp(signed(b, 32), "s16") & 0xFFFF,
)
check(
    "cvt_pack_sat_u8",
    "cvt.pack.sat.u8.s32.b32 <d>, <a>, <b>, <c>;",
    "u32 u32 u32",
    "u32",
    lambda a, b, c: c << 16 | clamp(signed(a, 32), "u8") << 8 | clamp(signed(b, 32), "u8"),
)

# moves, packing, addresses
check("mov_b64_pack", "mov.b64 <d>, {<a>, <b>};", "u32 u32", "u64", lambda a, b: b << 32 | a)
check("mov_b64_unpack", "mov.b64 {<d>, <e>}, <a>;", "u64", "u32 u32", lambda a: (a, a >> 32))
check("mov_b32_unpack", "mov.b32 {%h0, <d>}, <a>;", "u32", "u16", lambda a: a >> 16)
check(
    "mov_b64_pack_of_four",
    "mov.b64 <d>, {<a>, <b>, <b>, <a>};",
    "u16 u16",
    "u64",
    lambda a, b: a | b << 16 | b << 32 | a << 48,
)
check("mov_b32_of_a_float_constant", "mov.b32 <d>, 0f3FC00000;", "u32", "u32", lambda a: 0x3FC00000, [(0,)])
check(
    "tid_and_ntid",
    "mov.u32 <d>, %tid.x; mov.u32 <e>, %ntid.x;",
    "u32",
    "u32 u32",
    lambda a: (a, 40),
    [(i,) for i in range(40)],
)
check(
    "laneid_and_masks",
    "mov.u32 <d>, %laneid; mov.u32 <e>, %lanemask_gt;",
    "u32",
    "u32 u32",
    lambda a: (a % 32, (0xFFFFFFFF << a % 32) & ~(1 << a % 32)),
    [(i,) for i in range(40)],
)
check(
    "lanemask_le_and_ge",
    "mov.u32 <d>, %lanemask_le; mov.u32 <e>, %lanemask_ge;",
    "u32",
    "u32 u32",
    lambda a: ((2 << a % 32) - 1, -1 << a % 32),
    [(i,) for i in range(40)],
)

# memory: sizes, extension, vectors, spaces
check(
    "ld_s8_extends",
    "{ .reg .b64 %g; mov.u64 %g, pool; st.global.u32 [%g], <a>; ld.global.s8 <d>, [%g+1]; }",
    "u32",
    "u32",
    lambda a: signed(a >> 8, 8),
)
check("ld_u16_into_64_bits", "st.global.u32 [pool], <a>; ld.global.u16 <d>, [pool+2];", "u32", "u64", lambda a: a >> 16)
check(
    "st_u8_of_a_wide_register",
    "st.global.u32 [pool], 0; st.global.u8 [pool+1], <a>; ld.global.u32 <d>, [pool];",
    "u32",
    "u32",
    lambda a: (a & 255) << 8,
)
check(
    "ld_v4",
    "st.global.v2.u32 [pool], {<a>, <b>}; st.global.v2.u32 [pool+8], {<b>, 5}; ld.global.v4.u32 {%r1, %r2, <e>, %r3}, [pool]; add.u32 <d>, %r3, %r1;",
    "u32 u32",
    "u32 u32",
    lambda a, b: (a + 5, b),
)
check(
    "ld_vector_with_a_sink",
    "st.global.v2.u32 [pool], {<a>, <b>}; ld.global.v2.u32 {_, <d>}, [pool];",
    "u32 u32",
    "u32",
    lambda a, b: b,
)
check(
    "shared_memory",
    "mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, 4, %r1; st.shared.u32 [%r1+16], <a>; ld.shared.u32 <d>, [%r1+16];",
    "u32",
    "u32",
    lambda a: a,
)
check(
    "generic_shared",
    "mov.u32 %r1, tile; cvt.u64.u32 %rd4, %r1; cvta.shared.u64 %rd4, %rd4; st.u32 [%rd4+4], <a>; ld.shared.u32 <d>, [tile+4];",
    "u32",
    "u32",
    lambda a: a,
)
check(
    "cvta_to_shared", "cvta.shared.u64 %rd4, <a>; cvta.to.shared.u64 <d>, %rd4;", "u64", "u64", lambda a: a & 0xFFFFFFFF
)
check(
    "local_memory",
    ".local .align 16 .b8 spill[32]; mov.u64 %rd4, spill; cvta.local.u64 %rd5, %rd4; st.local.u64 [%rd4+8], <a>; ld.u64 <d>, [%rd5+8];",
    "u64",
    "u64",
    lambda a: a,
)
check(
    "volatile_and_ordered",
    "st.volatile.global.u32 [pool], <a>; ld.relaxed.gpu.global.u32 %r1, [pool]; st.release.gpu.global.u32 [pool], %r1; ld.acquire.sys.global.u32 <d>, [pool]; fence.acq_rel.gpu; membar.sys;",
    "u32",
    "u32",
    lambda a: a,
)
check(
    "b128",
    "{ .reg .b128 %q; mov.b128 %q, {<a>, <b>}; st.global.b128 [pool], %q; ld.global.v2.u64 {<e>, <d>}, [pool]; }",
    "u64 u64",
    "u64 u64",
    lambda a, b: (b, a),
)
check(
    "initialised_variables",
    "ld.global.u32 <d>, [table+4]; ld.const.u8 %h0, [letters+1]; cvt.u32.u16 <e>, %h0;",
    "u32",
    "u32 u32",
    lambda a: (22, 98),
    [(0,)],
)
check(
    "isspacep",
    """mov.u64 %rd4, pool; isspacep.global <d>, %rd4; isspacep.const %p0, %rd4; not.pred %p0, %p0; and.pred <d>, <d>, %p0;
    mov.u64 %rd5, letters; cvta.const.u64 %rd5, %rd5; isspacep.const <e>, %rd5;
    isspacep.global %p1, %rd5; not.pred %p1, %p1; and.pred <e>, <e>, %p1;""",
    "u32",
    "pred pred",
    lambda a: (1, 1),
    [(0,)],
)
check(
    "cp_async_pads_with_zeros",
    "st.global.v2.u32 [pool], {<a>, <b>}; mov.u32 %r1, tile; cvta.global.u64 %rd4, pool; cp.async.ca.shared.global [%r1], [%rd4], 8, 5; cp.async.commit_group; cp.async.wait_group 0; ld.shared.v2.u32 {<d>, <e>}, [tile];",
    "u32 u32",
    "u32 u32",
    lambda a, b: (a, b & 255),
)

# atomics: the old value is given back, the new one stands in memory; both spaces, for they are different code
ATOMS = {
    "add_u32": ("u32", lambda old, b: old + b),
    "add_u64": ("u64", lambda old, b: old + b),
    "min_s32": ("u32", lambda old, b: min(signed(old, 32), signed(b, 32))),
    "max_s32": ("u32", lambda old, b: max(signed(old, 32), signed(b, 32))),
    "min_u32": ("u32", min),
    "max_u64": ("u64", max),
    "min_s64": ("u64", lambda old, b: min(signed(old, 64), signed(b, 64))),
    "inc_u32": ("u32", lambda old, b: 0 if old >= b else old + 1),
    "dec_u32": ("u32", lambda old, b: b if old == 0 or old > b else old - 1),
    "and_b32": ("u32", lambda old, b: old & b),
    "or_b64": ("u64", lambda old, b: old | b),
    "xor_b32": ("u32", lambda old, b: old ^ b),
    "exch_b64": ("u64", lambda old, b: b),
}
for (name, (kind, function)), (space, place) in itertools.product(
    ATOMS.items(), {"global": "pool", "shared": "tile"}.items()
):
    operation, suffix = name.split("_")
    check(
        f"atom_{space}_{name}",
        f"st.{space}.{kind} [{place}], <a>; atom.{space}.{operation}.{suffix} <d>, [{place}], <b>; ld.{space}.{kind} <e>, [{place}];",
        f"{kind} {kind}",
        f"{kind} {kind}",
        lambda a, b, f=function: (a, f(a, b)),
    )
for width in (16, 32, 64):
    check(
        f"atom_cas_b{width}",
        f"st.global.u{width} [pool], <a>; atom.global.cas.b{width} <d>, [pool], <b>, <c>; ld.global.u{width} <e>, [pool];",
        f"u{width} u{width} u{width}",
        f"u{width} u{width}",
        lambda a, b, c: (a, c if a == b else a),
    )
check(
    "red_generic_add",
    "st.global.u32 [pool], <a>; mov.u64 %rd4, pool; red.add.u32 [%rd4], <b>; ld.global.u32 <d>, [pool];",
    "u32 u32",
    "u32",
    lambda a, b: a + b,
)
check(
    "atom_cas_b128",
    "{ .reg .b128 %q<4>; mov.b128 %q0, {<a>, <b>}; st.global.b128 [pool], %q0; mov.b128 %q1, {<a>, <c>}; mov.b128 %q2, {7, 9}; atom.global.cas.b128 %q3, [pool], %q1, %q2; mov.b128 {%rd4, <d>}, %q3; ld.global.u64 <e>, [pool]; }",
    "u64 u64 u64",
    "u64 u64",
    lambda a, b, c: (b, 7 if b == c else a),
)

# mbarrier: two arrivals end a phase; parity tells
check(
    "mbarrier_phases",
    "mbarrier.init.shared.b64 [tile], 2; mbarrier.arrive.shared.b64 %rd4, [tile]; mbarrier.pending_count.b64 <d>, %rd4; mbarrier.arrive.shared.b64 _, [tile]; mbarrier.inval.shared.b64 [tile]; mov.u32 <e>, <a>;",
    "u32",
    "u32 u32",
    lambda a: (2, a),
)
check(
    "mbarrier_counts_down_and_starts_again",
    """mbarrier.init.shared.b64 [tile], 3; mbarrier.arrive.shared.b64 _, [tile]; mbarrier.arrive.shared.b64 %rd4, [tile];
    mbarrier.pending_count.b64 <d>, %rd4; mbarrier.arrive.shared.b64 _, [tile]; mbarrier.arrive.shared.b64 %rd5, [tile];
    mbarrier.pending_count.b64 <e>, %rd5;""",
    "u32",
    "u32 u32",
    lambda a: (2, 3),
)
check(
    "mbarrier_drop_and_count",
    "mbarrier.init.shared.b64 [tile], 3; mbarrier.arrive_drop.shared.b64 _, [tile]; mbarrier.arrive.shared.b64 _, [tile], 2; mbarrier.arrive.shared.b64 %rd4, [tile]; mbarrier.pending_count.b64 <d>, %rd4;",
    "u32",
    "u32",
    lambda a: 2,
)

# control: loops, calls, recursion, switches, scopes that repeat names
check(
    "loop",
    "mov.u32 <d>, 0; and.b32 %r1, <a>, 15; LOOP: add.u32 <d>, <d>, %r1; setp.eq.u32 %p0, %r1, 0; @%p0 bra DONE; sub.u32 %r1, %r1, 1; bra LOOP; DONE:",
    "u32",
    "u32",
    lambda a: sum(range((a & 15) + 1)),
)
check(
    "brx",
    "and.b32 %r1, <a>, 3; LIST: .branchtargets A0, A1, A2, A1; brx.idx %r1, LIST; A0: mov.u32 <d>, 10; bra END; A1: mov.u32 <d>, 11; bra END; A2: mov.u32 <d>, 12; END:",
    "u32",
    "u32",
    lambda a: (10, 11, 12, 11)[a & 3],
)
# the compiler moves what it thinks is rare, here all behind a trap, to a section of its own
check(
    "accesses_in_unlikely_code",
    "setp.eq.u32 %p0, <a>, 0xDEADBEE0; @!%p0 bra USUAL; st.global.u32 [pool], 1; trap; USUAL: st.global.u32 [pool+4], <a>; mov.u64 %rd4, pool; isspacep.const %p1, %rd4; @%p1 trap; ld.global.u32 <d>, [pool+4];",
    "u32",
    "u32",
    lambda a: a,
)
check(
    "scopes_shadow_names",
    "{ .reg .u32 x; mov.u32 x, <a>; { .reg .u64 x; mov.u64 x, 3; cvt.u32.u64 <d>, x; } add.u32 <d>, <d>, x; } { .reg .u16 x; mov.u16 x, 1; cvt.u32.u16 <e>, x; }",
    "u32",
    "u32 u32",
    lambda a: (a + 3, 1),
)
check(
    "labels_of_two_scopes",
    "{ setp.eq.u32 %p0, <a>, 0; @%p0 bra L; mov.u32 <d>, 1; bra M; L: mov.u32 <d>, 2; M: } { setp.eq.u32 %p0, <a>, 1; @%p0 bra L; mov.u32 <e>, 3; bra M; L: mov.u32 <e>, 4; M: }",
    "u32",
    "u32 u32",
    lambda a: (2 if a == 0 else 1, 4 if a == 1 else 3),
)
CALL = ".param .b32 p0; .param .b32 p1; .param .b64 r; st.param.b32 [p0], <a>; st.param.b32 [p1], <b>;"
check(
    "call_by_name",
    f"{{ {CALL} call (r), multiply, (p0, p1); ld.param.b64 <d>, [r]; }}",
    "u32 u32",
    "u64",
    lambda a, b: a * b,
)
check(
    "recursion_with_frames",
    "{ .param .b32 p; .param .b32 r; and.b32 %r1, <a>, 31; st.param.b32 [p], %r1; call (r), triangle, (p); ld.param.b32 <d>, [r]; }",
    "u32",
    "u32",
    lambda a: (a & 31) * ((a & 31) + 1) // 2,
)
check("call_with_registers", "call (<d>), plus_one, (<a>);", "u32", "u32", lambda a: a + 1)
check(
    "alloca",
    "alloca.u64 %rd4, 64, 32; st.local.u64 [%rd4+56], <a>; ld.local.u64 <d>, [%rd4+56]; and.b64 <e>, %rd4, 31;",
    "u64",
    "u64 u64",
    lambda a: (a, 0),
)

GLOBALS = """
.global .align 16 .b8 pool[64];
.global .align 4 .u32 table[3] = {11, 22};
.const .align 1 .b8 letters[4] = {97, 98, 99};
.shared .align 16 .b8 tile[8192];
.func (.param .b64 r) multiply(.param .b32 a, .param .b32 b) {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u32 %r0, [a]; ld.param.u32 %r1, [b]; mul.wide.u32 %rd0, %r0, %r1; st.param.b64 [r], %rd0; ret; }
.func (.reg .b32 r) plus_one(.reg .b32 a) { add.u32 r, a, 1; ret; }
.func (.param .b32 r) triangle(.param .b32 n) {
  .local .align 8 .b8 kept[8]; .reg .b32 %r<5>; .reg .b64 %rd<2>; .reg .pred %p;
  ld.param.u32 %r0, [n]; mov.u64 %rd0, kept; st.local.u32 [%rd0], %r0; setp.eq.u32 %p, %r0, 0; @%p bra NONE;
  { .param .b32 p; .param .b32 q; sub.u32 %r1, %r0, 1; st.param.b32 [p], %r1; call (q), triangle, (p); ld.param.b32 %r2, [q]; }
  ld.local.u32 %r3, [%rd0]; add.u32 %r2, %r2, %r3; st.param.b32 [r], %r2; ret;
  NONE: st.param.b32 [r], 0; ret; }
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    return Kernels([case for case, _, _ in CHECKS.values()], tmp_path_factory.mktemp("ops"), GLOBALS)


@pytest.mark.parametrize("name", CHECKS)
def test_instruction_gives_what_the_manual_says(kernels: Kernels, name: str) -> None:
    case, rows, expected = CHECKS[name]
    found = kernels.run(name, rows)
    for row, values in zip(rows, found, strict=True):
        wanted = expected(*row)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        cut = tuple(
            int(value) & ((1 << WIDTHS[kind]) - 1) for value, kind in zip(wanted, case.results.split(), strict=True)
        )
        assert values == cut, f"{case.ptx} of {[hex(value) for value in row]}"
