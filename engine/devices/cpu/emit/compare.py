"""setp, set, selp, slct and lop3 with a predicate: PTX ISA 9.7.6 to 9.7.8."""

from __future__ import annotations

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.scalar import FLOATS, HALVES, PACKED_HALVES, WIDTH
from engine.devices.cpu.ptx import nodes

INTEGER_TESTS = {
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "lo": "{0} < {1}",
    "ls": "{0} <= {1}",
    "hi": "{0} > {1}",
    "hs": "{0} >= {1}",
}

FLOAT_TESTS = {
    "eq": "{0} == {1}",
    "ne": "__builtin_islessgreater({0}, {1})",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "equ": "!__builtin_islessgreater({0}, {1})",
    "neu": "{0} != {1}",
    "ltu": "!({0} >= {1})",
    "leu": "!({0} > {1})",
    "gtu": "!({0} <= {1})",
    "geu": "!({0} < {1})",
    "num": "!__builtin_isunordered({0}, {1})",
    "nan": "__builtin_isunordered({0}, {1})",
}
"""Those that end in u are true when an operand is NaN. C's comparisons are false then, so they are negated opposites."""

COMBINATIONS = {"and": "&", "or": "|", "xor": "^"}


def set_predicate(body: FunctionText, instruction: nodes.Instruction) -> None:
    """setp d|q, a, b{, c}: d is the test, q its negation, both combined with c."""
    target, *operands = instruction.operands
    kind = instruction.modifiers[-1]
    first, second = (target.first, target.second) if isinstance(target, nodes.Pair) else (target, None)
    if kind in PACKED_HALVES:
        tests = _tests_of_halves(body, instruction, operands)
    else:
        test = _test(body, instruction, kind, *(body.read(operand, kind) for operand in operands[:2]))
        tests = (test, f"!({test})")
    operator, third = _combination(body, instruction, operands)
    values = [f"({test}) {operator} {third}" if operator else test for test in tests]
    if second is None:
        body.write(first, "pred", values[0])
    else:  # both are read before either is written: a destination may be c
        body.line(f"{{ const uint8_t test = {values[0]}, other = {values[1]};")
        body.write(first, "pred", "test")
        body.write(second, "pred", "other")
        body.line("}")


def set_value(body: FunctionText, instruction: nodes.Instruction) -> None:
    """set.CmpOp d, a, b{, c}: all ones or 1.0 where the test holds, else 0."""
    target, *operands = instruction.operands
    types = [modifier for modifier in instruction.modifiers if modifier in WIDTH]
    if len(types) != 2:
        raise Unsupported(instruction.name)
    to, kind = types
    operator, third = _combination(body, instruction, operands)
    if kind in PACKED_HALVES:
        tests = [
            f"(({test}) {operator} {third})" if operator else f"({test})"
            for test in _tests_of_halves(body, instruction, operands)
        ]
        one = _ONE[kind[:-2]] if to == kind else "0xffffu"
        body.write(target, to, " | ".join(f"({test} ? {one} : 0u) << {16 * half}" for half, test in enumerate(tests)))
        return
    test = _test(body, instruction, kind, *(body.read(operand, kind) for operand in operands[:2]))
    test = f"(({test}) {operator} {third})" if operator else f"({test})"
    one = _ONE.get(to, "-1")
    body.write(target, to, f"{test} ? {one} : {'0.0f' if to == 'f32' else '0'}")


_ONE = {"f32": "1.0f", "f16": "0x3c00u", "bf16": "0x3f80u"}


def _test(body: FunctionText, instruction: nodes.Instruction, kind: str, a: str, b: str) -> str:
    name = instruction.modifiers[0]
    if kind in HALVES:
        a, b = f"f32_from_{kind}({a})", f"f32_from_{kind}({b})"
        a, b = (f"flush_half({a})", f"flush_half({b})") if "ftz" in instruction.modifiers else (a, b)
    elif "ftz" in instruction.modifiers:
        a, b = f"flush_f32({a})", f"flush_f32({b})"
    tests = FLOAT_TESTS if kind in FLOATS or kind in HALVES else INTEGER_TESTS
    if name not in tests:
        raise Unsupported(instruction.name)
    return tests[name].format(a, b)


def _tests_of_halves(
    body: FunctionText, instruction: nodes.Instruction, operands: list[nodes.Operand]
) -> tuple[str, str]:
    kind = instruction.modifiers[-1]
    a, b = (body.read(operand, kind) for operand in operands[:2])
    low = _test(body, instruction, kind[:-2], f"(uint16_t){a}", f"(uint16_t){b}")
    return low, _test(body, instruction, kind[:-2], f"(uint16_t)({a} >> 16)", f"(uint16_t)({b} >> 16)")


def _combination(body: FunctionText, instruction: nodes.Instruction, operands: list[nodes.Operand]) -> tuple[str, str]:
    operator = next((COMBINATIONS[flag] for flag in instruction.modifiers[1:] if flag in COMBINATIONS), "")
    if bool(operator) != (len(operands) == 3):
        raise Unsupported(instruction.name)
    return operator, body.read(operands[2], "pred") if operator else ""


def select(body: FunctionText, instruction: nodes.Instruction) -> None:
    target, a, b, predicate = instruction.operands
    kind = body.copy_type(target, instruction.modifiers[-1])
    body.write(target, kind, f"{body.read(predicate, 'pred')} ? {body.read(a, kind)} : {body.read(b, kind)}")


def select_by_sign(body: FunctionText, instruction: nodes.Instruction) -> None:
    """slct: a where c >= 0 (which NaN is not), else b."""
    target, a, b, sign = instruction.operands
    types = [modifier for modifier in instruction.modifiers if modifier in WIDTH]
    if len(types) != 2 or types[1] not in ("s32", "f32"):
        raise Unsupported(instruction.name)
    value = body.read(sign, types[1])
    kind = body.copy_type(target, types[0])
    value = f"flush_f32({value})" if "ftz" in instruction.modifiers else value
    body.write(target, kind, f"{value} >= 0 ? {body.read(a, kind)} : {body.read(b, kind)}")


def logic_of_three(body: FunctionText, instruction: nodes.Instruction) -> None:
    """lop3, with or without a predicate: lop3.BoolOp d|p, a, b, c, table, q."""
    target, *operands = instruction.operands
    if len(operands) != (5 if isinstance(target, nodes.Pair) else 4):
        raise Unsupported(instruction.name)
    values = [body.read(operand, "b32") for operand in operands[:4]]
    text = f"lop3_b32({', '.join(values)})"
    if not isinstance(target, nodes.Pair):
        if instruction.modifiers != ("b32",):
            raise Unsupported(instruction.name)
        body.write(target, "b32", text)
        return
    if instruction.modifiers[0] not in ("and", "or"):
        raise Unsupported(instruction.name)
    operator = COMBINATIONS[instruction.modifiers[0]]
    body.line(
        f"{{ const uint32_t value = {text}; const uint8_t test = (value != 0) {operator} {body.read(operands[4], 'pred')};"
    )
    body.write(target.first, "b32", "value")
    body.write(target.second, "pred", "test")
    body.line("}")
