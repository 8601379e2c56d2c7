"""cvt and cvt.pack: PTX ISA 9.7.9.21 and 9.7.9.22."""

from __future__ import annotations

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.scalar import FLOATS, HALVES, SIGNED, WIDTH, c_type
from engine.devices.cpu.ptx import nodes

TO_INTEGRAL = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
"""Rounding modifiers to the C functions that round alike (rint: the rounding mode is never left changed)."""

ROUNDINGS = ("rn", "rz", "rm", "rp", "rna")
FLOATING = (*FLOATS, *HALVES)
EIGHT_BIT_FLOATS = ("e4m3x2", "e5m2x2")
KNOWN = {*TO_INTEGRAL, *ROUNDINGS, "ftz", "sat", "relu", "satfinite"}


def convert(body: FunctionText, instruction: nodes.Instruction) -> None:
    types = [modifier for modifier in instruction.modifiers if modifier in WIDTH]
    flags = {modifier for modifier in instruction.modifiers if modifier not in WIDTH}
    target, *sources = instruction.operands
    if "pack" in flags:
        _pack(body, instruction, types)
        return
    if len(types) != 2 or not flags <= KNOWN:
        raise Unsupported(instruction.name)
    to, source = types
    rounding = next((flag for flag in ROUNDINGS if flag in flags), "rn")
    if len(sources) == 2:
        text = _two_floats(body, instruction, to, rounding, flags)
    elif to in EIGHT_BIT_FLOATS and source in ("f16x2", "bf16x2") and "satfinite" in flags:
        text = f"cvt_{to}_{source}({body.read(sources[0], source)}, {int('relu' in flags)})"
    elif to in ("f16x2", "bf16x2") and source in EIGHT_BIT_FLOATS:
        text = f"cvt_{to}_{source}({body.read(sources[0], source)})"
        text = f"relu_{to}({text})" if "relu" in flags else text
    elif to == "tf32" and source == "f32":
        text = f"cvt_{rounding}_tf32({body.read(sources[0], 'f32')}, {int('satfinite' in flags)})"
        text = f"relu_tf32({text})" if "relu" in flags else text
    elif (to in FLOATING or to in _INTEGERS) and (source in FLOATING or source in _INTEGERS):
        text = _number(body.read(sources[0], source), to, source, rounding, flags)
    else:
        raise Unsupported(instruction.name)
    if to == "f32" and source in ("bf16", "f64") and body.copy_type(target, "f32") != "f32":
        body.write(target, "b32", f"bits_f32({text})")  # a NaN keeps its bits
    else:
        body.write(target, to, text)


_INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def _number(value: str, to: str, source: str, rounding: str, flags: set[str]) -> str:
    integral = next((TO_INTEGRAL[flag] for flag in TO_INTEGRAL if flag in flags), "")
    if source in HALVES:
        value, source = f"f32_from_{source}({value})", "f32"
    elif "ftz" in flags and source == "f32":
        value = f"flush_f32({value})"
    if source in FLOATS and integral and not (integral == "trunc" and to in _INTEGERS):
        value = f"{integral}{'f' if source == 'f32' else ''}({value})"
    if to in _INTEGERS:
        if source in FLOATS:
            return f"cvt_{to}_{source}({value})"
        if "sat" in flags:
            return f"cvt_sat_{to}_{'s64' if source in SIGNED else 'u64'}({value})"
        return f"({c_type(to)}){value}"
    if "ftz" in flags and (to, source) == ("f64", "f32"):
        value = f"as_f32(canonical_bits_f32({value}))"  # to flush is arithmetic
    text = _to_float(value, to, source, rounding)
    if "ftz" in flags and to == "f32":
        text = f"flush_f32({text})"
    if "sat" in flags:
        text = f"saturate_{to}({text})"
    if "relu" in flags:
        text = f"relu_{to}({text})"
    if "satfinite" in flags:
        text = f"finite_{to}({text})"
    return text


def _to_float(value: str, to: str, source: str, rounding: str) -> str:
    if source in _INTEGERS:
        if to in FLOATS and rounding == "rn":
            return f"({c_type(to)}){value}"
        wide = "s64" if source in SIGNED else "u64"
        return f"cvt_{rounding}_{to}_{wide}({value})"
    if to == source or (to == "f64" and source == "f32"):
        return f"(double){value}" if to != source else value
    if to == "f32":
        return f"(float){value}" if rounding == "rn" else f"cvt_{rounding}_f32_f64({value})"
    return f"cvt_{rounding}_{to}{'_f64' if source == 'f64' else ''}({value})"


def _two_floats(body: FunctionText, instruction: nodes.Instruction, to: str, rounding: str, flags: set[str]) -> str:
    """d = {a, b}: the first source goes to the upper half."""
    if instruction.modifiers[-1] != "f32":
        raise Unsupported(instruction.name)
    upper, lower = (body.read(operand, "f32") for operand in instruction.operands[1:])
    if to in EIGHT_BIT_FLOATS and "satfinite" in flags:
        return f"cvt_{to}_f32({upper}, {lower}, {int('relu' in flags)})"
    if to not in ("f16x2", "bf16x2") or rounding not in ("rn", "rz"):
        raise Unsupported(instruction.name)
    half = to[:-2]
    text = f"pack_x2(cvt_{rounding}_{half}({lower}), cvt_{rounding}_{half}({upper}))"
    text = f"relu_{to}({text})" if "relu" in flags else text
    return f"finite_{to}({text})" if "satfinite" in flags else text


def _pack(body: FunctionText, instruction: nodes.Instruction, types: list[str]) -> None:
    """cvt.pack.sat: two s32 saturated to a narrow type, above them the low bits of a third operand."""
    if len(types) < 2 or types[1] != "s32" or types[0] not in ("u16", "s16", "u8", "s8"):
        raise Unsupported(instruction.name)
    target, upper, lower, *rest = instruction.operands
    width, low = WIDTH[types[0]], f"cvt_sat_{types[0]}_s64"
    mask = (1 << width) - 1
    text = f"({low}({body.read(upper, 's32')}) & {mask}u) << {width} | ({low}({body.read(lower, 's32')}) & {mask}u)"
    if rest:
        text = f"{body.read(rest[0], 'b32')} << {2 * width} | {text}"
    body.write(target, "b32", text)
