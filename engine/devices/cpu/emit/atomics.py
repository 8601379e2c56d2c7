"""atom, red and fences: PTX ISA 9.7.13.4 to 9.7.13.7.

Threads of one block share an OS thread, so shared memory needs no atomic instruction of the host.
"""

from __future__ import annotations

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.memory import VECTORS, check_modifiers, space_of
from engine.devices.cpu.emit.scalar import WIDTH, bits, c_type
from engine.devices.cpu.ptx import nodes

_HALVES = ("f16", "bf16", "f16x2", "bf16x2")

OPERATIONS: dict[str, tuple[str, ...]] = {
    "add": ("u32", "s32", "u64", "s64", "f32", "f64", *_HALVES),
    "min": ("u32", "s32", "u64", "s64", *_HALVES),
    "max": ("u32", "s32", "u64", "s64", *_HALVES),
    "inc": ("u32",),
    "dec": ("u32",),
    "and": ("b32", "b64"),
    "or": ("b32", "b64"),
    "xor": ("b32", "b64"),
    "exch": ("b32", "b64", "b128"),
    "cas": ("b16", "b32", "b64", "b128"),
}
"""Which types each operation takes; addition of s32 is that of u32, and so on (see _name)."""

ORDERS = ("relaxed", "acquire", "release", "acq_rel")


def atomic(body: FunctionText, instruction: nodes.Instruction) -> None:
    """atom d, [a], b{, c} and red [a], b."""
    check_modifiers(instruction, *OPERATIONS, *ORDERS, *VECTORS, "noftz")
    operation = next((modifier for modifier in instruction.modifiers if modifier in OPERATIONS), "")
    kind = next((modifier for modifier in reversed(instruction.modifiers) if modifier in WIDTH), "")
    if kind not in OPERATIONS.get(operation, ()):
        raise Unsupported(instruction.name)
    target, address, *values = (
        instruction.operands if instruction.opcode == "atom" else (nodes.Sink(), *instruction.operands)
    )
    space, name = space_of(instruction), f"{operation}_{_name(operation, kind)}"
    if space not in ("global", "shared", "generic"):
        raise Unsupported(instruction.name)
    if body.is_read(target):
        body.look()
    vector = next((VECTORS[modifier] for modifier in instruction.modifiers if modifier in VECTORS), 1)
    prefix = "shared_atom" if space == "shared" else "atom"
    kept = "b" + str(WIDTH[kind])
    if vector == 1:
        operands = [body.read(value, _argument(kind)) for value in values[: 2 if operation == "cas" else 1]]
        place = f"ATOMIC_{space}({body.address(address)}, {WIDTH[kind] // 8}, {body.site})"
        text = f"{prefix}_{name}({', '.join([place, *operands])})"
        body.write(target, kept, text) if not isinstance(target, nodes.Sink) else body.line(f"{text};")
        return
    if not isinstance(values[0], nodes.Vector):
        raise Unsupported(instruction.name)
    size = WIDTH[kind] // 8
    body.line(f"{{ uint8_t *m = ATOMIC_{space}({body.address(address)}, {size * vector}, {body.site});")
    body.line(f"const {c_type(kept)} b[] = {{{', '.join(body.read(value, kept) for value in values[0].items)}}};")
    items = target.items if isinstance(target, nodes.Vector) else [nodes.Sink()] * vector
    for number, item in enumerate(items):
        value = f"as_{kind}(b[{number}])" if kind in ("f32", "f64") else f"b[{number}]"
        text = f"{prefix}_{name}(m + {number * size}, {value})"
        body.write(item, kept, text) if not isinstance(item, nodes.Sink) else body.line(f"{text};")
    body.line("}")


def _name(operation: str, kind: str) -> str:
    """Two's complement addition does not ask for the sign."""
    return kind.replace("s", "u") if operation == "add" and kind in ("s32", "s64") else kind


def _argument(kind: str) -> str:
    return kind if kind in ("f32", "f64", "s32", "s64") else bits(kind)


def fence(body: FunctionText, instruction: nodes.Instruction) -> None:
    """membar and fence. Proxies other than the generic one do not exist here: their fences have nothing to order."""
    if "proxy" in instruction.modifiers or any(
        modifier.startswith(("proxy", "mbarrier_init")) for modifier in instruction.modifiers
    ):
        return
    order = "ACQ_REL" if {"acq_rel", "acquire", "release"} & set(instruction.modifiers) else "SEQ_CST"
    body.line(f"__atomic_thread_fence(__ATOMIC_{order});")
