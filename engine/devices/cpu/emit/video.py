"""Video instructions: arithmetic on bytes and halves picked out of registers. PTX ISA 9.7.17 (scalar) and 9.7.18 (SIMD).

Scalar: vadd.dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}
SIMD:   vadd4.dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c; each lane of a and b may be any byte of the pair.
Values are computed with 64 bits, wide enough for every intermediate result.
"""

from __future__ import annotations

import re
from dataclasses import replace

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.ptx import nodes

COMPUTATIONS = {
    "vadd": "{0} + {1}",
    "vsub": "{0} - {1}",
    "vabsdiff": "({0} < {1} ? {1} - {0} : {0} - {1})",
    "vmin": "({0} < {1} ? {0} : {1})",
    "vmax": "({0} > {1} ? {0} : {1})",
    "vset": "({0} {test} {1})",
    "vshl": "{0} << {1}",
    "vshr": "{0} >> {1}",
}
TESTS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
OPCODES = (
    *COMPUTATIONS,
    *(f"{name}{lanes}" for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset") for lanes in "24"),
)


def _part(body: FunctionText, operand: nodes.Operand) -> tuple[str, str]:
    """(C expression of the whole register, selector)."""
    if isinstance(operand, nodes.Reg) and operand.component is not None:
        return body.read(replace(operand, component=None), "b32"), operand.component
    return body.read(operand, "b32"), ""


def _picked(value: str, selector: str, is_signed: bool) -> str:
    """A byte (b0 to b3), a half (h0, h1) or all of a word, extended to 64 bits."""
    width = {"b": 8, "h": 16}.get(selector[:1], 32)
    shift = width * int(selector[1:] or 0)
    moved = f"({value} >> {shift})" if shift else value
    return f"(int64_t)({'int' if is_signed else 'uint'}{width}_t){moved}"


def _types(instruction: nodes.Instruction) -> list[str]:
    types = [flag for flag in instruction.modifiers if flag in ("u32", "s32")]
    return ["u32", *types] if instruction.opcode.startswith("vset") else types


def scalar(body: FunctionText, instruction: nodes.Instruction) -> None:
    flags, types = instruction.modifiers, _types(instruction)
    if len(types) != 3 or not set(flags) <= {"u32", "s32", "sat", "add", "min", "max", "clamp", "wrap", *TESTS}:
        raise Unsupported(instruction.name)
    target, first, second, *rest = instruction.operands
    selector = target.component or "" if isinstance(target, nodes.Reg) else ""
    a = _picked(*_part(body, first), types[1] == "s32")
    b = _picked(*_part(body, second), types[2] == "s32")
    if instruction.opcode in ("vshl", "vshr"):
        b = f"({b} & 31)" if "wrap" in flags else f"(uint32_t)min_u32((uint32_t){b}, 32u)"
    test = next((TESTS[flag] for flag in flags if flag in TESTS), "")
    value = COMPUTATIONS[instruction.opcode].format(a, b, test=test)
    kept_signed = types[0] == "s32"
    if "sat" in flags:
        width = {"b": 8, "h": 16}.get(selector[:1], 32)
        value = f"cvt_sat_{'s' if kept_signed else 'u'}{width}_s64({value})"
    if rest:
        c = body.read(rest[0], "b32")
        if selector:
            value = f"merge_part({value}, {c}, {_mask(selector)}u)"
        elif "add" in flags:
            value = f"(uint32_t)({value}) + {c}"
        elif "min" in flags or "max" in flags:
            value = f"{'min' if 'min' in flags else 'max'}_s64({value}, (int64_t)({'int32_t' if kept_signed else 'uint32_t'}){c})"
    body.write(
        replace(target, component=None) if isinstance(target, nodes.Reg) else target, "b32", f"(uint32_t)({value})"
    )


def _mask(selector: str) -> int:
    width = 8 if selector[0] == "b" else 16
    return ((1 << width) - 1) << width * int(selector[1:])


def _lanes(operand: nodes.Operand, count: int, default: list[int]) -> list[int]:
    """The lanes that a selector such as b7610 or h10 names, lowest lane first."""
    component = operand.component if isinstance(operand, nodes.Reg) else None
    if component is None:
        return default
    found = re.fullmatch(r"[bh](\d+)", component)
    if found is None or any(int(digit) >= 2 * count for digit in found[1]):
        raise Unsupported(f"a selector .{component}")
    return [int(digit) for digit in reversed(found[1])]


def simd(body: FunctionText, instruction: nodes.Instruction) -> None:
    flags, types, count = instruction.modifiers, _types(instruction), int(instruction.opcode[-1])
    if len(types) != 3 or not set(flags) <= {"u32", "s32", "sat", "add", *TESTS} or len(instruction.operands) != 4:
        raise Unsupported(instruction.name)
    target, first, second, third = instruction.operands
    if not isinstance(target, nodes.Reg):
        raise Unsupported(instruction.name)
    width, every = 32 // count, list(range(count))
    (a, _), (b, _), (c, _) = (_part(body, operand) for operand in (first, second, third))
    test = next((TESTS[flag] for flag in flags if flag in TESTS), "")
    letter = "b" if count == 4 else "h"
    results = []
    for lane, (x, y) in enumerate(
        zip(_lanes(first, count, every), _lanes(second, count, [n + count for n in every]), strict=True)
    ):
        left, right = (
            _picked(a if n < count else b, f"{letter}{n % count}", kind == "s32")
            for n, kind in ((x, types[1]), (y, types[2]))
        )
        value = COMPUTATIONS[instruction.opcode[:-1]].format(left, right, test=test)
        if "sat" in flags:
            value = f"cvt_sat_{types[0][0]}{width}_s64({value})"
        results.append((lane, value))
    asked = set(_lanes(target, count, every))
    if "add" in flags:
        cast = f"{'int' if types[0] == 's32' else 'uint'}{width}_t"
        text = " + ".join([c, *(f"(uint32_t)({cast})({value})" for lane, value in results if lane in asked)])
    else:
        mask = (1 << width) - 1
        kept = sum(mask << width * lane for lane in every if lane not in asked)
        parts = [f"(uint32_t)(({value}) & {mask}) << {width * lane}" for lane, value in results if lane in asked]
        text = " | ".join([*([f"{c} & {kept}u"] if kept else []), *parts])
    body.write(replace(target, component=None), "b32", text)
