"""A function's body without its nested scopes: one list of statements, every name in it unique.

Inline assembly and call sequences open scopes whose registers, parameters and labels may shadow or repeat outer ones. Names that
clash get a number appended. Parameters of scopes that follow each other share their arrays: a long function would need much stack
otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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
    work.taken.update(parameter.name for parameter in (*function.returns, *function.params))
    work.scope(function.body or (), {})
    return work.flat


COMPONENTS = "xyzw"


class _Work:
    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.taken: set[str] = set()
        self.numbers: Counter[str] = Counter()
        self.free_parameters: dict[tuple[str, int | None, int], list[str]] = {}
        """Names of parameters whose scopes have ended, by (name as written, size, alignment)."""

    def scope(self, body: tuple[nodes.Statement, ...], outer: dict[str, str]) -> None:
        """``outer`` are the names that the enclosing scopes gave another spelling."""
        names = dict(outer)
        parameters = self._declare(body, names)
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
        for key, name in parameters:
            self.free_parameters.setdefault(key, []).append(name)

    def _declare(
        self, body: tuple[nodes.Statement, ...], names: dict[str, str]
    ) -> list[tuple[tuple[str, int | None, int], str]]:
        """Give every name that ``body`` declares a spelling; the result are its parameters."""
        parameters = []
        for statement in body:
            match statement:
                case nodes.Registers():
                    for name in register_names(statement):
                        self.flat.registers[self._unique(name, names)] = statement.type
                case nodes.Variable(space="param"):
                    key = statement.name, statement.size, statement.align
                    free = self.free_parameters.get(key)
                    unique = names[statement.name] = free.pop() if free else self._unique(statement.name, names)
                    self.flat.variables[unique] = replace(statement, name=unique)
                    parameters.append((key, unique))
                case nodes.Variable():
                    unique = self._unique(statement.name, names)
                    self.flat.variables[unique] = replace(statement, name=unique)
                case nodes.Label() | nodes.BranchTargets():
                    self._unique(statement.name, names)
        return parameters

    def _unique(self, name: str, names: dict[str, str]) -> str:
        """``name``, with a number where another declaration has it; ``names`` is told."""
        unique = name
        while unique in self.taken:
            self.numbers[name] += 1
            unique = f"{name}__{self.numbers[name]}"
        self.taken.add(unique)
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
