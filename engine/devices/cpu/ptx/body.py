"""Function bodies: statements, instructions and their operands. See PTX ISA 4 ("Syntax") and 9.7 ("Instructions")."""

from __future__ import annotations

from engine.devices.cpu.ptx.constants import constant, integer, starts_constant
from engine.devices.cpu.ptx.declarations import SPACES, parameters, registers, variables
from engine.devices.cpu.ptx.lexer import Cursor
from engine.devices.cpu.ptx.locations import Locations
from engine.devices.cpu.ptx.names import ScopeNames
from engine.devices.cpu.ptx.nodes import (
    Address,
    BranchTargets,
    Call,
    Imm,
    Instruction,
    Label,
    Loc,
    Minus,
    Operand,
    Pair,
    Prototype,
    Reg,
    Scope,
    Sink,
    Statement,
    Symbol,
    Variable,
    Vector,
)

_SINK = Sink()

_DEPTH = 200
"""Of nested scopes. nvcc nests two: a call's parameters and an inline asm's braces."""


class BodyParser:
    """The parser of one function's body."""

    def __init__(self, cursor: Cursor, params: tuple[Variable, ...]) -> None:
        self._cursor = cursor
        self._locations = Locations()
        self._ordinal = 0
        self._scopes = [ScopeNames()]
        self._scopes[0].add(params)
        # operands and mnemonics repeat all the time: each is taken apart once
        self._registers: dict[str, Reg] = {}
        self._mnemonics: dict[str, tuple[str, tuple[str, ...]]] = {}

    @property
    def first_loc(self) -> Loc | None:
        return self._locations.first

    def statements(self) -> tuple[Statement, ...]:
        """Everything between the braces, which the cursor stands before, and the closing one."""
        cursor = self._cursor
        cursor.expect("{")
        if len(self._scopes) > _DEPTH:
            raise cursor.error("scopes are nested too deeply")
        self._scopes.append(ScopeNames())
        found: list[Statement] = []
        while not cursor.accept("}"):
            word = cursor.word
            if word == "{":
                found.append(Scope(self.statements()))
            elif word == "@":
                found.append(self._guarded())
            elif word == ";":
                cursor.take()
            elif word.startswith("."):
                found += self._directive()
            elif cursor.texts[cursor.at + 1] == ":":
                found.append(self._labelled())
            else:
                found.append(self._instruction(None))
        self._scopes.pop()
        return tuple(found)

    def _directive(self) -> list[Statement]:
        cursor = self._cursor
        word = cursor.take()[1:]
        if word == "loc":
            self._locations.directive(cursor)
            return []
        if word == "reg":
            declared = registers(cursor)
            self._scopes[-1].add(declared)
            return list(declared)
        if word == "pragma":
            skip_statement(cursor)
            return []
        if word in SPACES:
            found = variables(cursor, word, "")
            self._scopes[-1].add(found)
            return list(found)
        cursor.at -= 1
        raise cursor.error(f"unknown directive .{word}")

    def _labelled(self) -> Statement:
        cursor = self._cursor
        name = cursor.name()
        cursor.expect(":")
        if cursor.accept(".branchtargets") or cursor.accept(".calltargets"):
            labels = [cursor.name()]
            while cursor.accept(","):
                labels.append(cursor.name())
            cursor.expect(";")
            return BranchTargets(name, tuple(labels))
        if cursor.accept(".callprototype"):
            returns = parameters(cursor)
            cursor.expect("_")
            params = parameters(cursor)
            skip_statement(cursor)  # .noreturn and .abi_preserve may follow
            return Prototype(name, returns, params)
        return Label(name)

    def _guarded(self) -> Statement:
        cursor = self._cursor
        cursor.expect("@")
        guard = self._negatable()
        if cursor.word == "{":
            raise cursor.error("a predicate guards one instruction, not a scope")
        return self._instruction(guard)

    def _negatable(self) -> Reg:
        cursor = self._cursor
        negated = cursor.accept("!")
        register = self._register(cursor.take())
        if register is None:
            cursor.at -= 1
            raise cursor.error(f"a predicate register expected before {cursor.shown}")
        return Reg(register.name, register.component, True) if negated else register

    def _instruction(self, guard: Reg | None) -> Instruction | Call:
        cursor = self._cursor
        texts = cursor.texts
        line = cursor.lines[cursor.at]
        word = cursor.take()
        mnemonic = self._mnemonics.get(word)
        if mnemonic is None:
            mnemonic = self._mnemonics[word] = self._mnemonic(word)
        while texts[cursor.at].startswith("."):
            mnemonic = (mnemonic[0], (*mnemonic[1], *cursor.take()[1:].split(".")))
        opcode, modifiers = mnemonic
        ordinal = self._ordinal
        self._ordinal += 1
        if opcode == "call":
            return self._call(guard, ordinal, line)
        operands = []
        if texts[cursor.at] != ";":
            operands.append(self._operand())
            while texts[cursor.at] == ",":
                cursor.at += 1
                operands.append(self._operand())
        if texts[cursor.at] != ";":
            raise cursor.error(f"';' expected before {cursor.shown}")
        cursor.at += 1
        return Instruction(opcode, modifiers, tuple(operands), guard, self._locations.current, ordinal, line)

    def _mnemonic(self, word: str) -> tuple[str, tuple[str, ...]]:
        opcode, *modifiers = word.split(".")
        if not opcode.isidentifier():
            self._cursor.at -= 1
            raise self._cursor.error(f"an instruction expected before {word!r}")
        return opcode, tuple(modifiers)

    def _call(self, guard: Reg | None, ordinal: int, line: int) -> Call:
        cursor = self._cursor
        returns: tuple[Operand, ...] = ()
        arguments: tuple[Operand, ...] = ()
        prototype = None
        if cursor.word == "(":
            returns = self._call_list()
            cursor.expect(",")
        name = cursor.take()
        target = self._register(name) or Symbol(name)
        if cursor.accept(","):
            if cursor.word == "(":
                arguments = self._call_list()
                if cursor.accept(","):
                    prototype = cursor.name()
            else:
                prototype = cursor.name()
        cursor.expect(";")
        return Call(returns, target, arguments, prototype, guard, self._locations.current, ordinal, line)

    def _call_list(self) -> tuple[Operand, ...]:
        cursor = self._cursor
        cursor.expect("(")
        found: list[Operand] = []
        while not cursor.accept(")"):
            found.append(self._scalar())
            if not cursor.accept(","):
                cursor.expect(")")
                break
        return tuple(found)

    def _operand(self) -> Operand:
        cursor = self._cursor
        word = cursor.texts[cursor.at]
        if word == "[":
            return self._address()
        first: Operand = self._vector() if word == "{" else self._scalar()
        if cursor.texts[cursor.at] == "|":
            cursor.at += 1
            return Pair(first, self._scalar())
        return first

    def _vector(self) -> Vector:
        cursor = self._cursor
        cursor.expect("{")
        items = [self._scalar()]
        while cursor.accept(","):
            items.append(self._scalar())
        cursor.expect("}")
        return Vector(tuple(items))

    def _scalar(self) -> Operand:
        cursor = self._cursor
        word = cursor.texts[cursor.at]
        register = self._registers.get(word)
        if register is not None:
            cursor.at += 1
            return register
        if word == "!":
            return self._negatable()
        if word == "-" and (negative := self._register(cursor.texts[cursor.at + 1])) is not None:
            cursor.at += 2
            return Minus(negative)
        if starts_constant(word):
            return constant(cursor)
        if word == "_":
            cursor.at += 1
            return _SINK
        if not word or not (word[0].isalpha() or word[0] in "%_$") or word == "%":
            raise cursor.error(f"an operand expected before {cursor.shown}")
        cursor.at += 1
        register = self._register(word)
        if register is not None:
            return register
        if "." in word:
            cursor.at -= 1
            raise cursor.error(f"{word!r} is no register")
        return Symbol(word, integer(cursor) if cursor.word in ("+", "-") else 0)

    def _address(self) -> Address:
        cursor = self._cursor
        cursor.expect("[")
        base = Imm(integer(cursor)) if starts_constant(cursor.word) else self._base()
        offset = integer(cursor) if cursor.word in ("+", "-") else 0
        extra = []
        while cursor.accept(","):
            extra.append(self._vector() if cursor.word == "{" else self._scalar())
        cursor.expect("]")
        return Address(base, offset, tuple(extra))

    def _base(self) -> Reg | Symbol:
        name = self._cursor.name()
        return self._register(name) or Symbol(name)

    def _register(self, word: str) -> Reg | None:
        """The register that ``word`` names, or None: it has a %, or the innermost declaration of the name is a register's.
        Inline asm declares registers without a %."""
        known = self._registers.get(word)
        if known is not None:
            return known
        name, _, component = word.partition(".")
        if name.startswith("%"):
            known = self._registers[word] = Reg(name, component or None)
            return known
        for scope in reversed(self._scopes):
            is_register = scope.is_register(name)
            if is_register is not None:
                return Reg(name, component or None) if is_register else None
        return None


def skip_statement(cursor: Cursor) -> None:
    """Move behind the next semicolon."""
    while cursor.take() != ";":
        pass
