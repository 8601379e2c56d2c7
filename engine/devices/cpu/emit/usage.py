"""How a function uses its registers: what each is best stored as, which may hold a NaN of x86's, which are read at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from engine.devices.cpu.emit.flatten import Flat
from engine.devices.cpu.emit.scalar import WIDTH, bits
from engine.devices.cpu.ptx import nodes

COPIES = ("mov", "selp", "slct")
"""Instructions whose f32 result has the payload of a source."""

SILENT = ("ld", "ldu", "st", "mov", "selp", "shfl", "atom", "red", "call", "mma", "wmma", "cvta", "copysign")
"""Instructions whose types do not tell how a register is mostly used."""


def registers_of(operands: Iterable[nodes.Operand]) -> Iterator[str]:
    for operand in operands:
        match operand:
            case nodes.Reg():
                yield operand.name
            case nodes.Address(base=nodes.Reg(name=name)):
                yield name
            case nodes.Vector():
                yield from registers_of(operand.items)
            case nodes.Pair():
                yield from registers_of((operand.first, operand.second))


def storage_types(flat: Flat) -> dict[str, str]:
    """The type that each register is stored as."""
    storage = {name: kind if kind in ("f32", "f64", "pred") else bits(kind) for name, kind in flat.registers.items()}
    votes: Counter[str] = Counter()
    for statement in flat.statements:
        if not isinstance(statement, nodes.Instruction) or statement.opcode in SILENT:
            continue
        types = [modifier for modifier in statement.modifiers if modifier in WIDTH]
        if statement.opcode in ("cvt", "set", "slct") and len(types) == 2:
            votes.update({name: _vote(types[0]) for name in registers_of(statement.operands[:1])})
            votes.update({name: _vote(types[1]) for name in registers_of(statement.operands[1:])})
        elif types:
            votes.update({name: _vote(types[-1]) for name in registers_of(statement.operands)})
    for name, count in votes.items():
        if count > 0 and storage.get(name) in ("b32", "b64"):
            storage[name] = "f32" if storage[name] == "b32" else "f64"
    return storage


def _vote(kind: str) -> int:
    return 1 if kind in ("f32", "f64") else -1


def made_by_arithmetic(flat: Flat) -> set[str]:
    """The registers that may hold an f32 that arithmetic made, and so a NaN that is not the GPU's. cvt.f32.bf16 and
    cvt.f32.f64 are no arithmetic: an H200 hands the upper bits of a NaN on, and so does x86."""
    found: set[str] = set()
    copies: list[tuple[str, list[str]]] = []
    for statement in flat.statements:
        if not isinstance(statement, nodes.Instruction) or not statement.operands:
            continue
        if statement.opcode in COPIES:
            target, *sources = list(registers_of(statement.operands)) or [""]
            copies.append((target, sources))
        elif statement.opcode not in SILENT and _result_type(statement) == "f32":
            found.update(registers_of(statement.operands[:1]))
    growing = True
    while growing:
        added = {target for target, sources in copies if target not in found and not found.isdisjoint(sources)}
        found |= added
        growing = bool(added)
    return found


def _result_type(instruction: nodes.Instruction) -> str:
    types = [modifier for modifier in instruction.modifiers if modifier in WIDTH]
    if instruction.opcode in ("cvt", "set"):
        return "" if types[-1:] in ([], ["bf16"], ["f64"]) else types[0]
    return types[-1] if types else ""


READ_FIRST = ("st", "red", "bra", "brx", "bar", "barrier", "nanosleep", "cp")
"""Opcodes whose first operand may be no destination."""


def reads_of(statement: nodes.Instruction | nodes.Call | nodes.Label) -> Iterator[str]:
    """The registers that a statement reads; some that it only writes may be among them."""
    if isinstance(statement, nodes.Label):
        return
    if statement.guard is not None:
        yield statement.guard.name
    if isinstance(statement, nodes.Call):
        yield from registers_of((statement.target, *statement.arguments))
    else:
        first = statement.operands[:1]
        reads_first = statement.opcode in READ_FIRST or isinstance(first[0] if first else None, nodes.Address)
        yield from registers_of(statement.operands if reads_first else statement.operands[1:])


def writes_of(statement: nodes.Instruction | nodes.Call | nodes.Label) -> Iterator[str]:
    """The registers that a statement writes."""
    match statement:
        case nodes.Call():
            yield from registers_of(statement.returns)
        case nodes.Instruction(opcode=opcode, operands=(nodes.Reg() | nodes.Vector() | nodes.Pair() as first, *_)):
            if opcode not in READ_FIRST or opcode in ("bar", "barrier"):
                yield from registers_of((first,))


def read_registers(flat: Flat) -> set[str]:
    """The registers that some statement reads."""
    return {name for statement in flat.statements for name in reads_of(statement)}
