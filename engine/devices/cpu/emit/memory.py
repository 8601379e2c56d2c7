"""Loads, stores, moves and addresses: PTX ISA 9.7.9."""

from __future__ import annotations

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.scalar import WIDTH, bits, c_type
from engine.devices.cpu.ptx import nodes

SPACES = {
    "global": "global",
    "const": "global",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared",
    "local": "local",
    "param": "param",
    "param::entry": "param",
    "param::func": "param",
}
"""State spaces to the C functions that check them. Constant variables lie in device memory; a cluster is one block."""

VOLATILE = ("volatile", "relaxed", "acquire", "release", "mmio", "cv")

IGNORED = {
    *("weak", "cta", "cluster", "gpu", "sys", "nc", "ca", "cg", "cs", "lu", "wb", "wt", "unified"),
    *("L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"),
    *("L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"),
}
"""Scopes, and what is said to caches: every access here is coherent."""

VECTORS = {"v2": 2, "v4": 4, "v8": 8}


def space_of(instruction: nodes.Instruction) -> str:
    """The state space that an instruction names, or generic."""
    return next((SPACES[modifier] for modifier in instruction.modifiers if modifier in SPACES), "generic")


def check_modifiers(instruction: nodes.Instruction, *known: str) -> None:
    """Raises Unsupported for a modifier that means something we do not know of."""
    for modifier in instruction.modifiers:
        if modifier not in IGNORED and modifier not in SPACES and modifier not in WIDTH and modifier not in known:
            raise Unsupported(instruction.name)


def load(body: FunctionText, instruction: nodes.Instruction) -> None:
    check_modifiers(instruction, *VOLATILE, *VECTORS)
    target, address = instruction.operands[:2]
    targets = target.items if isinstance(target, nodes.Vector) else (target,)
    if _is_volatile(instruction) and space_of(instruction) not in ("local", "param"):
        body.look()
    moved, of_type = _moved_type(instruction, {body.copy_type(item, instruction.modifiers[-1]) for item in targets})
    if len(targets) == 1:
        body.write(target, moved, f"LD_{_arguments(body, instruction, address, of_type)})")
    else:
        body.line(f"{{ const {of_type} *m = (const {of_type} *){_pointer(body, instruction, address, len(targets))};")
        for number, item in enumerate(targets):
            if not isinstance(item, nodes.Sink):
                body.write(item, moved, f"m[{number}]")
        body.line("}")
    if "acquire" in instruction.modifiers:
        body.line("__atomic_thread_fence(__ATOMIC_ACQUIRE);")


def store(body: FunctionText, instruction: nodes.Instruction) -> None:
    check_modifiers(instruction, *VOLATILE, *VECTORS)
    address, source = instruction.operands[:2]
    sources = source.items if isinstance(source, nodes.Vector) else (source,)
    if "release" in instruction.modifiers:
        body.line("__atomic_thread_fence(__ATOMIC_RELEASE);")
    moved, of_type = _moved_type(instruction, {body.store_type(item, instruction.modifiers[-1]) for item in sources})
    values = [body.read(item, moved) for item in sources]
    if len(sources) == 1:
        body.line(f"ST_{_arguments(body, instruction, address, of_type)}, {values[0]});")
    else:
        pointer = _pointer(body, instruction, address, len(sources))
        assignments = " ".join(f"m[{number}] = {value};" for number, value in enumerate(values))
        body.line(f"{{ {of_type} *m = ({of_type} *){pointer}; {assignments} }}")


def _is_volatile(instruction: nodes.Instruction) -> bool:
    return any(modifier in VOLATILE for modifier in instruction.modifiers)


def _moved_type(instruction: nodes.Instruction, wanted: set[str]) -> tuple[str, str]:
    """The type that all elements of an access travel by, of PTX and of C; as bits where their registers differ."""
    moved = wanted.pop() if len(wanted) == 1 else bits(instruction.modifiers[-1])
    return moved, f"volatile {c_type(moved)}" if _is_volatile(instruction) else c_type(moved)


def _arguments(body: FunctionText, instruction: nodes.Instruction, address: nodes.Operand, of_type: str) -> str:
    """What follows LD_ and ST_ for one value: the space, and all arguments but the value."""
    space = space_of(instruction)
    if space == "param":
        return f"param({of_type}, {parameter(body, address, WIDTH[instruction.modifiers[-1]] // 8)}"
    return f"{space}({of_type}, {body.address(address)}, {body.site}"


def _pointer(body: FunctionText, instruction: nodes.Instruction, address: nodes.Operand, count: int) -> str:
    """A host pointer to ``count`` elements."""
    space, size = space_of(instruction), WIDTH[instruction.modifiers[-1]] // 8 * count
    if space == "param":
        return f"({parameter(body, address, size)})"
    flags = "BEAVER_WRITE" if instruction.opcode == "st" else "BEAVER_READ"
    return f"{space}_bytes(t, {body.address(address)}, {size}, {flags}, {body.site})"


def parameter(body: FunctionText, operand: nodes.Operand, size: int) -> str:
    """A pointer to a parameter. One that is named lies where its declaration says; an address in a register is checked."""
    if not isinstance(operand, nodes.Address):
        raise Unsupported("a parameter of this form")
    if isinstance(operand.base, nodes.Symbol):
        place = body.parameters.get(operand.base.name)
        if place is None:
            raise Unsupported(operand.base.name)
        offset = operand.base.offset + operand.offset
        return f"{place} + {offset}" if offset else place
    return f"param_bytes(t, {body.address(operand)}, {size}, BEAVER_READ, {body.site})"


def move(body: FunctionText, instruction: nodes.Instruction) -> None:
    """mov of values, of addresses, and packing and unpacking of vectors."""
    target, source = instruction.operands
    kind = instruction.modifiers[-1]
    if instruction.modifiers[:-1] not in ((), ("v2",), ("v4",)) or kind not in WIDTH:
        raise Unsupported(instruction.name)
    if isinstance(source, nodes.Vector) and isinstance(target, nodes.Vector):
        values = ", ".join(body.read(item, bits(kind)) for item in source.items)
        body.line(f"{{ const {c_type(bits(kind))} m[] = {{{values}}};")  # all are read before one is written
        for number, item in enumerate(target.items):
            body.write(item, bits(kind), f"m[{number}]")
        body.line("}")
    elif isinstance(source, nodes.Vector):
        width = WIDTH[kind] // len(source.items)
        parts = [body.read(item, f"b{width}") for item in source.items]
        wide = c_type(bits(kind))
        text = " | ".join(
            f"({wide}){part} << {number * width}" if number else f"({wide}){part}" for number, part in enumerate(parts)
        )
        body.write(target, bits(kind), text)
    elif isinstance(target, nodes.Vector):
        width = WIDTH[kind] // len(target.items)
        body.line(f"{{ const {c_type(bits(kind))} m = {body.read(source, bits(kind))};")
        for number, item in enumerate(target.items):
            if not isinstance(item, nodes.Sink):
                part = f"m >> {number * width}" if number else "m"
                body.write(item, f"b{width}", f"({c_type(f'b{width}')})({part})")
        body.line("}")
    else:
        copied = body.copy_type(target, kind)
        body.write(target, copied, body.read(source, copied))


def convert_address(body: FunctionText, instruction: nodes.Instruction) -> None:
    """cvta: only shared addresses differ from generic ones."""
    target, source = instruction.operands
    kind = instruction.modifiers[-1]
    value = body.read(source, "b64" if kind == "u64" else "b32")
    if space_of(instruction) == "shared":
        value = f"shared_offset({value})" if "to" in instruction.modifiers else f"shared_window({value})"
    body.write(target, bits(kind), value)


def is_space(body: FunctionText, instruction: nodes.Instruction) -> None:
    target, source = instruction.operands
    name = instruction.modifiers[0].partition("::")[0]
    if name not in ("global", "shared", "local", "const", "param"):
        raise Unsupported(instruction.name)
    body.write(target, "pred", f"is_space(t, {body.read(source, 'b64')}, '{name[0]}')")


def allocate(body: FunctionText, instruction: nodes.Instruction) -> None:
    """alloca ptr, size{, alignment}: local memory until the function returns."""
    target, size, *alignment = instruction.operands
    align = body.read(alignment[0], "u32") if alignment else "16u"
    body.write(target, "b64", f"allocate_local(t, {body.read(size, 'u64')}, {align}, {body.site})")


def save_stack(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.write(instruction.operands[0], "b64", "(uint64_t)(uintptr_t)t->local_top")


def restore_stack(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.line(f"t->local_top = (uint8_t *)(uintptr_t){body.read(instruction.operands[0], 'b64')};")
