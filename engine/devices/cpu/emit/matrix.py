"""Matrix instructions of a warp: mma, wmma, ldmatrix, stmatrix, movmatrix. PTX ISA 9.7.14.

The runtime computes them once per warp; here registers become 32-bit words in arrays and back.
"""

from __future__ import annotations

import re

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.memory import space_of
from engine.devices.cpu.ptx import nodes

ELEMENTS = {
    name: (f"BEAVER_{name.upper()}", width)
    for name, width in (
        *(
            ("f16", 16),
            ("bf16", 16),
            ("tf32", 32),
            ("f32", 32),
            ("f64", 64),
            ("s8", 8),
            ("u8", 8),
            ("s4", 4),
            ("u4", 4),
        ),
        *(("b1", 1), ("s32", 32), ("e4m3", 8), ("e5m2", 8)),
    )
}
"""Element types: the runtime's name and bits."""

MMA_SHAPES = {
    "f16": ("m16n8k8", "m16n8k16"),
    "bf16": ("m16n8k8", "m16n8k16"),
    "tf32": ("m16n8k4", "m16n8k8"),
    "f64": ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"),
    "s8": ("m8n8k16", "m16n8k16", "m16n8k32"),
    "u8": ("m8n8k16", "m16n8k16", "m16n8k32"),
    "s4": ("m8n8k32", "m16n8k32", "m16n8k64"),
    "u4": ("m8n8k32", "m16n8k32", "m16n8k64"),
    "b1": ("m8n8k128", "m16n8k128", "m16n8k256"),
    "e4m3": ("m16n8k16", "m16n8k32"),
    "e5m2": ("m16n8k16", "m16n8k32"),
}
"""By the type of A. The m8n8k4 of f16 spreads over quarters of a warp and is Volta's alone."""

WMMA_SHAPES = {
    "f16": ("m16n16k16", "m32n8k16", "m8n32k16"),
    "bf16": ("m16n16k16", "m32n8k16", "m8n32k16"),
    "tf32": ("m16n16k8",),
    "f64": ("m8n8k4",),
    "s8": ("m16n16k16", "m32n8k16", "m8n32k16"),
    "u8": ("m16n16k16", "m32n8k16", "m8n32k16"),
    "s4": ("m8n8k32",),
    "u4": ("m8n8k32",),
    "b1": ("m8n8k128",),
}

MATRIX_COUNTS = {"x1": 1, "x2": 2, "x4": 4}


def _shape(instruction: nodes.Instruction) -> tuple[str, int, int, int]:
    for modifier in instruction.modifiers:
        found = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", modifier)
        if found:
            return modifier, int(found[1]), int(found[2]), int(found[3])
    raise Unsupported(instruction.name)


def _items(operand: nodes.Operand) -> tuple[nodes.Operand, ...]:
    return operand.items if isinstance(operand, nodes.Vector) else (operand,)


def _words(body: FunctionText, operand: nodes.Operand, kind: str) -> list[str]:
    """C expressions for the 32-bit words of a fragment."""
    if kind != "f64":
        return [body.read(item, "b32") for item in _items(operand)]
    values = [body.read(item, "b64") for item in _items(operand)]
    return [part for value in values for part in (f"(uint32_t){value}", f"(uint32_t)({value} >> 32)")]


def _write_words(body: FunctionText, operand: nodes.Operand, kind: str) -> None:
    """Registers of a fragment from the array d."""
    for number, item in enumerate(_items(operand)):
        if kind == "f64":
            body.write(item, "b64", f"(uint64_t)d[{2 * number + 1}] << 32 | d[{2 * number}]")
        else:
            body.write(item, "b32", f"d[{number}]")


def _count(operand: nodes.Operand, kind: str) -> int:
    return len(_items(operand)) * (2 if kind == "f64" else 1)


def multiply(body: FunctionText, instruction: nodes.Instruction) -> None:
    """mma.sync and wmma.mma: D = A * B + C."""
    body.wait()
    flags = instruction.modifiers
    is_wmma = instruction.opcode == "wmma"
    shape, m, n, k = _shape(instruction)
    types = [modifier for modifier in flags if modifier in ELEMENTS]
    if is_wmma and len(types) == 2:  # the floating-point form names D and C only
        types = [types[0], "f16", "f16", types[1]]
    allowed = (WMMA_SHAPES if is_wmma else MMA_SHAPES).get(types[1] if len(types) == 4 else "", ())
    strange = [flag for flag in flags if flag.startswith(("sp", "kind", "block_scale", "scale_vec"))]
    if shape not in allowed or strange or len(instruction.operands) != 4:
        raise Unsupported(instruction.name)
    d_type, a_type, b_type, c_type = types
    layouts = [flag for flag in flags if flag in ("row", "col")]
    d, a, b, c = instruction.operands
    fields = {
        "m": m,
        "n": n,
        "k": k,
        "d": ELEMENTS[d_type][0],
        "a": ELEMENTS[a_type][0],
        "b": ELEMENTS[b_type][0],
        "c": ELEMENTS[c_type][0],
        "a_col": int(layouts[:1] == ["col"]),
        "b_row": int(layouts[1:2] == ["row"]),
        "satfinite": int("satfinite" in flags),
        "fragments": int(is_wmma),
        "bit_op": int("and" in flags),
    }
    body.line(
        "{ static const beaver_mma_shape shape = {"
        + ", ".join(f".{name} = {value}" for name, value in fields.items())
        + "};"
    )
    for name, operand, kind in (("a", a, a_type), ("b", b, b_type), ("c", c, c_type)):
        body.line(f"const uint32_t {name}[] = {{{', '.join(_words(body, operand, kind))}}};")
    body.line(f"uint32_t d[{_count(d, d_type)}]; beaver_mma(t, &shape, d, a, b, c, {body.site});")
    _write_words(body, d, d_type)
    body.line("}")


def wmma(body: FunctionText, instruction: nodes.Instruction) -> None:
    if "load" in instruction.modifiers or "store" in instruction.modifiers:
        _transfer(body, instruction)
    else:
        multiply(body, instruction)


def _transfer(body: FunctionText, instruction: nodes.Instruction) -> None:
    """wmma.load.{a,b,c} and wmma.store.d."""
    body.wait()
    flags = instruction.modifiers
    is_load = "load" in flags
    shape, m, n, k = _shape(instruction)
    kind = next((flag for flag in reversed(flags) if flag in ELEMENTS), "")
    which = flags[1]
    inputs = {shape for shapes in WMMA_SHAPES.values() for shape in shapes}
    if kind not in ELEMENTS or shape not in (WMMA_SHAPES.get(kind, ()) if which in ("a", "b") else inputs):
        raise Unsupported(instruction.name)
    fragment, address, *stride = instruction.operands
    if not is_load:
        fragment, address = address, fragment
    rows, columns = {"a": (m, k), "b": (k, n)}.get(which, (m, n))
    row_major = "row" in flags
    step = body.read(stride[0], "u32") if stride else str(columns if row_major else rows)
    space = {"global": "'g'", "shared": "'s'", "generic": "0"}.get(space_of(instruction))
    if space is None:
        raise Unsupported(instruction.name)
    words = _count(fragment, kind)
    body.line(
        f"{{ static const beaver_wmma_tile tile = {{.rows = {rows}, .cols = {columns}, .row_major = {int(row_major)}, "
        f".type = {ELEMENTS[kind][0]}, .words = {words}, .space = {space}}};"
    )
    if is_load:
        body.line(f"uint32_t d[{words}]; beaver_wmma_load(t, &tile, d, {body.address(address)}, {step}, {body.site});")
        _write_words(body, fragment, kind)
    else:
        body.line(f"const uint32_t s[] = {{{', '.join(_words(body, fragment, kind))}}};")
        body.line(f"beaver_wmma_store(t, &tile, s, {body.address(address)}, {step}, {body.site});")
    body.line("}")


def _matrices(body: FunctionText, instruction: nodes.Instruction, operand: nodes.Operand) -> tuple[int, str, int]:
    """How many 8 x 8 matrices, their shared address, and whether they are transposed."""
    flags = instruction.modifiers
    count = next((MATRIX_COUNTS[flag] for flag in flags if flag in MATRIX_COUNTS), 0)
    if not count or "m8n8" not in flags or flags[-1] != "b16":
        raise Unsupported(instruction.name)
    address = body.address(operand)
    if space_of(instruction) != "shared":
        address = f"shared_offset({address})"
    return count, f"(uint32_t)({address})", int("trans" in flags)


def load_matrices(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    target, source = instruction.operands
    count, address, transposed = _matrices(body, instruction, source)
    body.line(f"{{ uint32_t d[{count}]; beaver_ldmatrix(t, {address}, {count}, {transposed}, d, {body.site});")
    _write_words(body, target, "b16")
    body.line("}")


def store_matrices(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.wait()
    target, source = instruction.operands
    count, address, transposed = _matrices(body, instruction, target)
    body.line(f"{{ const uint32_t s[] = {{{', '.join(_words(body, source, 'b16'))}}};")
    body.line(f"beaver_stmatrix(t, {address}, {count}, {transposed}, s, {body.site}); }}")


def transpose(body: FunctionText, instruction: nodes.Instruction) -> None:
    """movmatrix.sync.aligned.m8n8.trans.b16"""
    body.wait()
    target, source = instruction.operands
    body.write(target, "b32", f"beaver_movmatrix(t, {body.read(source, 'b32')}, {body.site})")
