"""Integer arithmetic, logic and shifts: PTX ISA 9.7.1, 9.7.2 and 9.7.8."""

from __future__ import annotations

from engine.devices.cpu.emit.operation import Operation
from engine.devices.cpu.emit.scalar import BITS, INTEGERS, PACKED_SHORTS, WORDS

NARROW = ("u16", "s16", "u32", "s32")
UNSIGNED_OR_SIGNED_32 = ("u32", "s32")
LOGIC = ("pred", *BITS)
THREE = ("t", "t", "t")
THREE_BITS = ("b", "b", "b")
FIELD = ("t", "u32", "u32")

FAMILIES: dict[str, tuple[Operation, ...]] = {
    "add": (
        Operation(INTEGERS, "{0} + {1}", ("b", "b"), "b"),
        Operation(("s32",), "add_sat_s32({0}, {1})", needs=("sat",)),
        Operation(WORDS, "add_cc_$b({0}, {1}, &carry)", ("b", "b"), "b", needs=("cc",)),
        Operation(PACKED_SHORTS, "add_x2({0}, {1})"),
    ),
    "addc": (
        Operation(WORDS, "addc_$b({0}, {1}, carry)", ("b", "b"), "b"),
        Operation(WORDS, "addc_cc_$b({0}, {1}, &carry)", ("b", "b"), "b", needs=("cc",)),
    ),
    "sub": (
        Operation(INTEGERS, "{0} - {1}", ("b", "b"), "b"),
        Operation(("s32",), "sub_sat_s32({0}, {1})", needs=("sat",)),
        Operation(WORDS, "sub_cc_$b({0}, {1}, &carry)", ("b", "b"), "b", needs=("cc",)),
    ),
    "subc": (
        Operation(WORDS, "subc_$b({0}, {1}, carry)", ("b", "b"), "b"),
        Operation(WORDS, "subc_cc_$b({0}, {1}, &carry)", ("b", "b"), "b", needs=("cc",)),
    ),
    "mul": (
        Operation(INTEGERS, "{0} * {1}", ("b", "b"), "b", needs=("lo",)),
        Operation(INTEGERS, "mul_hi_$t({0}, {1})", needs=("hi",)),
        Operation(NARROW, "($W){0} * {1}", result="w", needs=("wide",)),
    ),
    "mad": (
        Operation(INTEGERS, "{0} * {1} + {2}", THREE_BITS, "b", needs=("lo",)),
        Operation(INTEGERS, "mul_hi_$t({0}, {1}) + {2}", THREE, needs=("hi",)),
        Operation(NARROW, "($W){0} * {1} + {2}", ("t", "t", "w"), "w", needs=("wide",)),
        Operation(("s32",), "add_sat_s32(mul_hi_s32({0}, {1}), {2})", THREE, needs=("hi", "sat")),
        Operation(WORDS, "add_cc_$b({0} * {1}, {2}, &carry)", THREE_BITS, "b", needs=("lo", "cc")),
        Operation(WORDS, "add_cc_$b(mul_hi_$t({0}, {1}), {2}, &carry)", THREE, needs=("hi", "cc")),
    ),
    "madc": (
        Operation(WORDS, "addc_$b({0} * {1}, {2}, carry)", THREE_BITS, "b", needs=("lo",)),
        Operation(WORDS, "addc_$b(mul_hi_$t({0}, {1}), {2}, carry)", THREE, needs=("hi",)),
        Operation(WORDS, "addc_cc_$b({0} * {1}, {2}, &carry)", THREE_BITS, "b", needs=("lo", "cc")),
        Operation(WORDS, "addc_cc_$b(mul_hi_$t({0}, {1}), {2}, &carry)", THREE, needs=("hi", "cc")),
    ),
    "mul24": (Operation(UNSIGNED_OR_SIGNED_32, "mul24_$m_$t({0}, {1})", one_of=("lo", "hi")),),
    "mad24": (
        Operation(UNSIGNED_OR_SIGNED_32, "mul24_$m_$t({0}, {1}) + {2}", THREE, one_of=("lo", "hi")),
        Operation(("s32",), "add_sat_s32(mul24_hi_s32({0}, {1}), {2})", THREE, needs=("hi", "sat")),
    ),
    "sad": (Operation(INTEGERS, "sad_$t({0}, {1}, {2})", THREE),),
    "div": (Operation(INTEGERS, "div_$t({0}, {1})"),),
    "rem": (Operation(INTEGERS, "rem_$t({0}, {1})"),),
    "abs": (Operation(("s16", "s32", "s64"), "abs_$t({0})", ("t",)),),
    "neg": (Operation(("s16", "s32", "s64"), "-{0}", ("b",), "b"),),
    "min": (
        Operation(INTEGERS, "min_$t({0}, {1})", allows=("relu",)),
        Operation(PACKED_SHORTS, "min_$t({0}, {1})", allows=("relu",)),
    ),
    "max": (
        Operation(INTEGERS, "max_$t({0}, {1})", allows=("relu",)),
        Operation(PACKED_SHORTS, "max_$t({0}, {1})", allows=("relu",)),
    ),
    "popc": (Operation(("b32", "b64"), "popc_$t({0})", ("t",), "u32"),),
    "clz": (Operation(("b32", "b64"), "clz_$t({0})", ("t",), "u32"),),
    "bfind": (
        Operation(WORDS, "bfind_$t({0})", ("t",), "u32"),
        Operation(WORDS, "bfind_shiftamt_$t({0})", ("t",), "u32", needs=("shiftamt",)),
    ),
    "fns": (Operation(("b32",), "fns_b32({0}, {1}, {2})", ("b32", "u32", "s32")),),
    "brev": (Operation(("b32", "b64"), "brev_$t({0})", ("t",)),),
    "bfe": (Operation(WORDS, "bfe_$t({0}, {1}, {2})", FIELD),),
    "bfi": (Operation(("b32", "b64"), "bfi_$t({0}, {1}, {2}, {3})", ("t", "t", "u32", "u32")),),
    "szext": (Operation(UNSIGNED_OR_SIGNED_32, "szext_$m_$t({0}, {1})", ("t", "u32"), one_of=("clamp", "wrap")),),
    "bmsk": (Operation(("b32",), "bmsk_$m_b32({0}, {1})", ("u32", "u32"), one_of=("clamp", "wrap")),),
    "dp4a": (
        Operation(UNSIGNED_OR_SIGNED_32, "dp4a_$u_$t({0}, {1}, {2})", ("b32", "b32", "b32"), "b32", type_count=2),
    ),
    "dp2a": (
        Operation(
            UNSIGNED_OR_SIGNED_32,
            "dp2a_$m_$u_$t({0}, {1}, {2})",
            ("b32", "b32", "b32"),
            "b32",
            one_of=("lo", "hi"),
            type_count=2,
        ),
    ),
    "and": (Operation(LOGIC, "{0} & {1}"),),
    "or": (Operation(LOGIC, "{0} | {1}"),),
    "xor": (Operation(LOGIC, "{0} ^ {1}"),),
    "not": (Operation(("pred",), "!{0}", ("t",)), Operation(BITS, "~{0}", ("t",))),
    "cnot": (Operation(BITS, "{0} == 0", ("t",)),),
    "shl": (Operation(BITS, "shl_$t({0}, {1})", ("t", "u32")),),
    "shr": (
        Operation(INTEGERS, "shr_$t({0}, {1})", ("t", "u32")),
        Operation(BITS, "shr_$t({0}, {1})", ("t", "u32")),
    ),
    "shf": (
        Operation(
            ("b32",), "shf_l_$m_b32({0}, {1}, {2})", ("b32", "b32", "u32"), needs=("l",), one_of=("clamp", "wrap")
        ),
        Operation(
            ("b32",), "shf_r_$m_b32({0}, {1}, {2})", ("b32", "b32", "u32"), needs=("r",), one_of=("clamp", "wrap")
        ),
    ),
    "prmt": (
        Operation(("b32",), "prmt_b32({0}, {1}, {2})", ("b32", "b32", "b32")),
        Operation(
            ("b32",),
            "prmt_$m_b32({0}, {1}, {2})",
            ("b32", "b32", "b32"),
            one_of=("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"),
        ),
    ),
}
