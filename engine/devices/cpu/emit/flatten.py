"""A function's body without its nested scopes: one list of statements, every name in it unique.

Inline assembly and call sequences open scopes whose registers, parameters and labels may shadow or repeat outer ones. Names that
clash get a number appended; equal declarations of scopes that follow each other share one name, for nobody sees the
difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from engine.devices.cpu.ptx import nodes


@dataclass(slots=True)
class Flat:
    """``registers`` maps names to types; ``variables`` holds what the body declares in param, local, shared, global or const."""

    statements: list[nodes.Instruction | nodes.Call | nodes.Label] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, nodes.Variable] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of brx.idx, by the name of its .branchtargets."""


def flatten(function: nodes.Function) -> Flat:
    """The body of a function that has one."""
    work = _Work(Flat())
    work.open.update(parameter.name for parameter in (*function.returns, *function.params))
    work.scope(function.body or (), {})
    return work.flat


COMPONENTS = "xyzw"


class _Work:
    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.open: set[str] = set()
        self.labels: set[str] = set()

    def scope(self, body: tuple[nodes.Statement, ...], outer: dict[str, str]) -> None:
        """``outer`` are the names that the enclosing scopes gave another spelling."""
        names = dict(outer)
        declared = self._declare_all(body, names)
        for statement in body:
            match statement:
                case nodes.Scope():
                    self.scope(statement.body, names)
                case nodes.Label():
                    self.flat.statements.append(nodes.Label(names.get(statement.name, statement.name)))
                case nodes.BranchTargets():
                    labels = tuple(names.get(label, label) for label in statement.labels)
                    self.flat.targets[names.get(statement.name, statement.name)] = labels
                case nodes.Instruction():
                    self.flat.statements.append(_rename_instruction(statement, names) if names else statement)
                case nodes.Call():
                    self.flat.statements.append(_rename_call(statement, names) if names else statement)
        self.open.difference_update(declared)

    def _declare_all(self, body: tuple[nodes.Statement, ...], names: dict[str, str]) -> list[str]:
        declared = []
        for statement in body:
            match statement:
                case nodes.Registers():
                    for name in register_names(statement):
                        unique = self._unique(name, statement.type, names)
                        self.flat.registers[unique] = statement.type
                        declared.append(unique)
                case nodes.Variable():
                    unique = self._unique(statement.name, (statement.space, statement.size, statement.align), names)
                    self.flat.variables[unique] = replace(statement, name=unique)
                    declared.append(unique)
                case nodes.Label() | nodes.BranchTargets():
                    unique = _number(statement.name, names, lambda name: name not in self.labels)
                    self.labels.add(unique)
        return declared

    def _unique(self, name: str, kind: object, names: dict[str, str]) -> str:
        unique = _number(name, names, lambda candidate: candidate not in self.open and self._alike(candidate, kind))
        self.open.add(unique)
        return unique

    def _alike(self, name: str, kind: object) -> bool:
        """Whether ``name`` is free, or was declared alike by a scope that has ended."""
        if name in self.flat.registers:
            return self.flat.registers[name] == kind
        if name in self.flat.variables:
            known = self.flat.variables[name]
            return known.space == "param" and (known.space, known.size, known.align) == kind
        return True


def _number(name: str, names: dict[str, str], free: Callable[[str], bool]) -> str:
    unique, number = name, 0
    while not free(unique):
        number += 1
        unique = f"{name}__{number}"
    if unique != name:
        names[name] = unique
    else:
        names.pop(name, None)
    return unique


def register_names(declared: nodes.Registers) -> Iterator[str]:
    """The scalar registers that a .reg directive declares."""
    numbered = (
        [declared.name] if declared.count is None else [f"{declared.name}{number}" for number in range(declared.count)]
    )
    for name in numbered:
        if declared.vector == 1:
            yield name
        else:
            yield from (f"{name}.{component}" for component in COMPONENTS[: declared.vector])


def _rename_instruction(instruction: nodes.Instruction, names: dict[str, str]) -> nodes.Instruction:
    return replace(
        instruction,
        operands=tuple(_rename(operand, names) for operand in instruction.operands),
        guard=None if instruction.guard is None else _rename_register(instruction.guard, names),
    )


def _rename_call(call: nodes.Call, names: dict[str, str]) -> nodes.Call:
    return replace(
        call,
        returns=tuple(_rename(operand, names) for operand in call.returns),
        arguments=tuple(_rename(operand, names) for operand in call.arguments),
        target=_rename_register(call.target, names) if isinstance(call.target, nodes.Reg) else call.target,
        guard=None if call.guard is None else _rename_register(call.guard, names),
    )


def _rename_register(register: nodes.Reg, names: dict[str, str]) -> nodes.Reg:
    return replace(register, name=names[register.name]) if register.name in names else register


def _rename(operand: nodes.Operand, names: dict[str, str]) -> nodes.Operand:
    match operand:
        case nodes.Reg():
            return _rename_register(operand, names)
        case nodes.Symbol():
            return _rename_symbol(operand, names)
        case nodes.Address():
            return replace(operand, base=_rename_base(operand.base, names))
        case nodes.Vector():
            return nodes.Vector(tuple(_rename(item, names) for item in operand.items))
        case nodes.Pair():
            return nodes.Pair(_rename(operand.first, names), _rename(operand.second, names))
    return operand


def _rename_symbol(symbol: nodes.Symbol, names: dict[str, str]) -> nodes.Symbol:
    return replace(symbol, name=names[symbol.name]) if symbol.name in names else symbol


def _rename_base(
    base: nodes.Reg | nodes.Symbol | nodes.Imm, names: dict[str, str]
) -> nodes.Reg | nodes.Symbol | nodes.Imm:
    if isinstance(base, nodes.Reg):
        return _rename_register(base, names)
    return _rename_symbol(base, names) if isinstance(base, nodes.Symbol) else base
