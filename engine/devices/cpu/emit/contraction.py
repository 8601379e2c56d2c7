"""a * b + c in one rounding, where ptxas makes it so.

A mul or add without a rounding modifier may be contracted (PTX ISA 9.7.3), and ptxas does it: products whose every use is a plain
add or sub of the same basic block, alike in type and .ftz, vanish into them. Of two products that meet in one sum the first
operand's is contracted. Compiled with -fmad=false, PTX says .rn throughout, and nothing is. The rules were read off the machine
code of ptxas 13.0 for sm_90.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from engine.devices.cpu.emit.flatten import Flat
from engine.devices.cpu.emit.usage import reads_of, writes_of
from engine.devices.cpu.ptx import nodes

Statement = nodes.Instruction | nodes.Call | nodes.Label

CONTRACTED = ("f32", "f64", "f16", "f16x2", "bf16", "bf16x2")
ENDS = ("bra", "brx", "ret", "exit", "trap")
"""Opcodes after which another basic block begins."""

# fms and fnma are no opcodes of PTX: a * b - c and c - a * b
FUSED = {("add", 0): "fma", ("add", 1): "fma", ("sub", 0): "fms", ("sub", 1): "fnma"}
"""By the sum's opcode and which of its operands is the product."""


def contract(flat: Flat) -> None:
    """Replace the sums of ``flat`` that ptxas would contract. The products stay: nobody reads them any more."""
    if not any(_is_product(statement) for statement in flat.statements):
        return
    reads = Counter(name for statement in flat.statements for name in reads_of(statement))
    writes = Counter(name for statement in flat.statements for name in writes_of(statement))
    for start, end in _blocks(flat):
        _contract_block(flat.statements, start, end, reads, writes)


def _contract_block(
    statements: list[Statement], start: int, end: int, reads: Counter[str], writes: Counter[str]
) -> None:
    available: dict[str, nodes.Instruction] = {}
    products: dict[str, nodes.Instruction] = {}
    products_of: dict[str, list[str]] = defaultdict(list)
    """The products by their factors: looking through all of them at every statement takes seconds for an unrolled kernel."""
    sums: dict[str, list[int]] = defaultdict(list)
    """The positions of the sums that could take in a product."""
    for position in range(start, end):
        statement = statements[position]
        for name in _products_in(statement, available):
            sums[name].append(position)
        for factor in writes_of(statement):
            for name in products_of.pop(factor, ()):
                available.pop(name, None)  # a factor has another value now
        if _is_product(statement):
            assert isinstance(statement, nodes.Instruction)
            name = next(writes_of(statement))
            if writes[name] == 1:
                available[name] = products[name] = statement
                for factor in reads_of(statement):
                    products_of[factor].append(name)
    vanishing = {name for name, places in sums.items() if len(places) == reads[name]}
    for position in sorted({position for name in vanishing for position in sums[name]}):
        first, second = _operand_names(statements[position])
        if first in vanishing and second in vanishing:
            vanishing.discard(second)
    for name in vanishing:
        for position in sums[name]:
            statements[position] = _fuse(statements[position], name, products[name])


def _fuse(statement: Statement, name: str, product: nodes.Instruction) -> nodes.Instruction:
    assert isinstance(statement, nodes.Instruction)
    target, first, second = statement.operands
    which = 0 if isinstance(first, nodes.Reg) and first.name == name else 1
    other = second if which == 0 else first
    _, a, b = product.operands
    return replace(
        statement,
        opcode=FUSED[statement.opcode, which],
        modifiers=("rn", *statement.modifiers),
        operands=(target, a, b, other),
    )


def _is_product(statement: Statement) -> bool:
    return (
        isinstance(statement, nodes.Instruction)
        and statement.opcode == "mul"
        and _is_binary(statement)
        and statement.modifiers[-1] in CONTRACTED
        and statement.modifiers[:-1] in ((), ("ftz",))
        and statement.guard is None
    )


def _is_binary(statement: nodes.Instruction) -> bool:
    """Whether it has a type, a register to write and two sources: PTX that a program carries need not be right."""
    return bool(statement.modifiers) and len(statement.operands) == 3 and isinstance(statement.operands[0], nodes.Reg)


def _operand_names(statement: Statement) -> tuple[str, str]:
    assert isinstance(statement, nodes.Instruction)
    first, second = (operand.name if isinstance(operand, nodes.Reg) else "" for operand in statement.operands[1:])
    return first, second


def _products_in(statement: Statement, products: dict[str, nodes.Instruction]) -> Iterator[str]:
    """The products that a plain sum may take in; none where both operands are the same one."""
    if not isinstance(statement, nodes.Instruction) or statement.opcode not in ("add", "sub"):
        return
    if not _is_binary(statement):
        return
    flags, kind = statement.modifiers[:-1], statement.modifiers[-1]
    if kind not in CONTRACTED or not set(flags) <= {"ftz", "sat"}:
        return
    names = _operand_names(statement)
    if names[0] == names[1]:
        return
    for name in names:
        product = products.get(name)
        if product is not None and product.modifiers[-1] == kind and ("ftz" in product.modifiers) == ("ftz" in flags):
            yield name


def _blocks(flat: Flat) -> Iterator[tuple[int, int]]:
    start = 0
    for position, statement in enumerate(flat.statements):
        if isinstance(statement, nodes.Label) or (
            isinstance(statement, nodes.Instruction) and statement.opcode in ENDS
        ):
            yield start, position + 1
            start = position + 1
    yield start, len(flat.statements)
