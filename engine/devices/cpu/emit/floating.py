"""Floating-point arithmetic in single, double and half precision: PTX ISA 9.7.3 to 9.7.5.

Approximate instructions are computed exactly here; their special values are kept.
"""

from __future__ import annotations

from engine.devices.cpu.emit.operation import Operation
from engine.devices.cpu.emit.scalar import FLOATS, HALVES, PACKED_HALVES

HALF = HALVES + PACKED_HALVES
DIRECTED = ("rz", "rm", "rp")
USUAL = ("rn", "ftz", "sat")
ONE = ("t",)
THREE = ("t", "t", "t")


_MULTIPLY_FTZ = Operation(("f32",), "mul_ftz_f32(flush_f32({0}), flush_f32({1}))", needs=("ftz",), allows=("rn", "sat"))


def _basic(name: str, operator: str) -> tuple[Operation, ...]:
    return (
        *([_MULTIPLY_FTZ] if name == "mul" else []),
        Operation(FLOATS, f"{{0}} {operator} {{1}}", allows=USUAL),
        Operation(FLOATS, f"{name}_$m_$t({{0}}, {{1}})", one_of=DIRECTED, allows=("ftz", "sat")),
        Operation(HALF, f"{name}_$t({{0}}, {{1}})", allows=USUAL),
        Operation(("f32x2",), f"{name}_f32x2({{0}}, {{1}})", allows=("rn", "ftz")),
        Operation(("f32x2",), f"{name}_$m_f32x2({{0}}, {{1}})", one_of=DIRECTED, allows=("ftz",)),
    )


def _extreme(name: str) -> tuple[Operation, ...]:
    """min and max: .NaN asks for NaN when any source is one, .xorsign.abs compares magnitudes."""
    return (
        Operation((*FLOATS, *HALF), f"{name}_$t({{0}}, {{1}})", allows=("ftz",)),
        Operation(("f32", *HALF), f"{name}_nan_$t({{0}}, {{1}})", needs=("NaN",), allows=("ftz",)),
        Operation(("f32", *HALF), f"{name}_xorsign_abs_$t({{0}}, {{1}})", needs=("xorsign", "abs"), allows=("ftz",)),
        Operation(
            ("f32", *HALF), f"{name}_nan_xorsign_abs_$t({{0}}, {{1}})", needs=("NaN", "xorsign", "abs"), allows=("ftz",)
        ),
        Operation(("f32",), f"{name}_f32({name}_f32({{0}}, {{1}}), {{2}})", THREE, allows=("ftz",)),
        Operation(
            ("f32",), f"{name}_nan_f32({name}_nan_f32({{0}}, {{1}}), {{2}})", THREE, needs=("NaN",), allows=("ftz",)
        ),
    )


_FUSED = (
    Operation(
        ("f32",),
        "fma_ftz_f32(flush_f32({0}), flush_f32({1}), flush_f32({2}))",
        THREE,
        needs=("ftz",),
        allows=("rn", "sat"),
    ),
    Operation((*FLOATS, *HALF), "fma_$t({0}, {1}, {2})", THREE, allows=(*USUAL, "relu")),
    Operation(FLOATS, "fma_$m_$t({0}, {1}, {2})", THREE, one_of=DIRECTED, allows=("ftz", "sat")),
    Operation(("f32x2",), "fma_f32x2({0}, {1}, {2})", THREE, allows=("rn", "ftz")),
    Operation(("f32x2",), "fma_$m_f32x2({0}, {1}, {2})", THREE, one_of=DIRECTED, allows=("ftz",)),
)


def _contracted(a: str, c: str) -> tuple[Operation, ...]:
    """What contraction.py makes of a product and a sum: fma with the sign of a factor or of the addend changed."""
    return (
        Operation(
            ("f32",),
            f"fma_ftz_f32({a.format('flush_f32({0})')}, flush_f32({{1}}), {c.format('flush_f32({2})')})",
            THREE,
            needs=("rn", "ftz"),
            allows=("sat",),
        ),
        Operation(
            FLOATS, f"fma_$t({a.format('{0}')}, {{1}}, {c.format('{2}')})", THREE, needs=("rn",), allows=("sat",)
        ),
        Operation(
            HALF,
            f"fma_$t({a.format('{0}').replace('-', 'neg_$t')}, {{1}}, {c.format('{2}').replace('-', 'neg_$t')})",
            THREE,
            needs=("rn",),
            allows=("ftz", "sat"),
        ),
    )


FAMILIES: dict[str, tuple[Operation, ...]] = {
    "add": _basic("add", "+"),
    "sub": _basic("sub", "-"),
    "mul": _basic("mul", "*"),
    "fma": _FUSED,
    "mad": _FUSED,
    "fms": _contracted("{}", "-({})"),
    "fnma": _contracted("-({})", "{}"),
    "min": _extreme("min"),
    "max": _extreme("max"),
    "div": (
        Operation(("f32",), "div_approx_f32({0}, {1})", needs=("approx",), allows=("ftz",)),
        Operation(("f32",), "{0} / {1}", allows=("rn", "full", "ftz")),
        Operation(("f64",), "{0} / {1}", allows=("rn",)),
        Operation(FLOATS, "div_$m_$t({0}, {1})", one_of=DIRECTED, allows=("ftz",)),
    ),
    "rcp": (
        Operation(("f32",), "1.0f / {0}", ONE, allows=("rn", "approx", "ftz")),
        Operation(("f64",), "rcp_approx_ftz_f64({0})", ONE, needs=("approx", "ftz")),
        Operation(("f64",), "1.0 / {0}", ONE, allows=("rn",)),
        Operation(FLOATS, "div_$m_$t(1.0f, {0})", ONE, one_of=DIRECTED, allows=("ftz",)),
    ),
    "sqrt": (
        Operation(("f32",), "sqrtf({0})", ONE, allows=("rn", "approx", "ftz")),
        Operation(("f64",), "sqrt({0})", ONE, allows=("rn",)),
        Operation(FLOATS, "sqrt_$m_$t({0})", ONE, one_of=DIRECTED, allows=("ftz",)),
    ),
    "rsqrt": (
        Operation(("f32",), "rsqrt_approx_f32({0})", ONE, needs=("approx",), allows=("ftz",)),
        Operation(("f64",), "rsqrt_approx_ftz_f64({0})", ONE, needs=("approx", "ftz")),
        Operation(("f64",), "1.0 / sqrt({0})", ONE, needs=("approx",)),
    ),
    "sin": (Operation(("f32",), "sinf({0})", ONE, needs=("approx",), allows=("ftz",)),),
    "cos": (Operation(("f32",), "cosf({0})", ONE, needs=("approx",), allows=("ftz",)),),
    "lg2": (Operation(("f32",), "log2f({0})", ONE, needs=("approx",), allows=("ftz",)),),
    "ex2": (
        Operation(("f32",), "exp2f({0})", ONE, needs=("approx",), allows=("ftz",)),
        Operation(HALF, "ex2_$t({0})", ONE, needs=("approx",), allows=("ftz",)),
    ),
    "tanh": (
        Operation(("f32",), "tanhf({0})", ONE, needs=("approx",)),
        Operation(HALF, "tanh_$t({0})", ONE, needs=("approx",)),
    ),
    "neg": (
        Operation(("f32",), "-{0}", ONE, allows=("ftz",)),
        Operation(("f64",), "neg_f64({0})", ONE),
        Operation(HALF, "neg_$t({0})", ONE, allows=("ftz",)),
    ),
    "abs": (
        Operation(("f32",), "fabsf({0})", ONE, allows=("ftz",)),
        Operation(("f64",), "abs_f64({0})", ONE),
        Operation(HALF, "abs_$t({0})", ONE, allows=("ftz",)),
    ),
    "copysign": (
        Operation(("f32",), "({0} & 0x80000000u) | ({1} & 0x7fffffffu)", ("b32", "b32"), "b32"),
        Operation(("f64",), "copysign({1}, {0})"),
    ),
    "testp": (
        Operation(
            FLOATS,
            "testp_$m_$t({0})",
            ONE,
            "pred",
            one_of=("finite", "infinite", "number", "notanumber", "normal", "subnormal"),
        ),
    ),
}
