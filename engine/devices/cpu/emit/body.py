"""The C text of one function while it is written: registers, operands, places in the source.

A register is a C local. Its storage is that of its declared type, but an untyped register that mostly holds floats (newer
compilers declare all registers so) is stored as one: a bit cast at every use would cost more than the arithmetic.

NaNs. A GPU's f32 arithmetic makes the NaN 0x7fffffff, x86 another one. Making each result canonical would double the cost of
arithmetic, so it is done where the bits of a register show (a store, an integer use), for registers that arithmetic has
written. What was only loaded and moved keeps its bits, as on a GPU.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Protocol

from engine.devices.cpu.emit.flatten import Flat
from engine.devices.cpu.emit.scalar import SIGNED, WIDTH, bits, c_type
from engine.devices.cpu.emit.special import special_register
from engine.devices.cpu.emit.usage import made_by_arithmetic, read_registers, registers_of, storage_types
from engine.devices.cpu.ptx import nodes


class Unsupported(Exception):
    """An instruction or name without a translation: the program may hold it but must not reach it."""


class SymbolTable(Protocol):
    """What a function's module says about names that the function does not declare."""

    def address(self, name: str) -> str | None:
        """A C expression for the address of a variable or function, in its own space; None for an unknown name."""

    def is_shared(self, name: str) -> bool:
        """Whether the name is that of a variable in shared memory."""

    def callee(self, name: str) -> tuple[str, int] | None:
        """The C name of a function that is defined, and how many parameters it returns and takes; None for other names."""


def identifier(name: str) -> str:
    """A C name for a register, label or variable: %r1 is r1; anything less plain gets a prefix that no helper has."""
    if re.fullmatch(r"%[a-zA-Z]+\d+", name):
        return name[1:]
    return "v_" + re.sub(r"\W", "_", name.removeprefix("%"))


class FunctionText:
    def __init__(self, flat: Flat, names: SymbolTable, is_kernel: bool) -> None:
        self.flat = flat
        self.names = names
        self.is_kernel = is_kernel
        self.name_site: Callable[[], str] = lambda: "NULL"
        """Gives a C expression for the place of the present instruction."""
        self.lines: list[str] = []
        self.used: dict[str, str] = {}
        """C name to C type of the registers that occur, in order of first use."""
        self.carries = False
        self.waits = False
        """Whether a thread that runs this may wait for another one."""
        self.in_loop = False
        """Whether the present instruction may run again: a load may then be what a thread spins on."""
        self.calls: set[str] = set()
        """C names of the functions that are called by name."""
        self.indirect = False
        self.sources = read_registers(flat)
        self.position = 0
        """Of the present statement."""
        self.labels = {
            statement.name: position
            for position, statement in enumerate(flat.statements)
            if isinstance(statement, nodes.Label)
        }
        self.epilogue: list[str] = ["return;"]
        """What a return does."""
        self.locals: dict[str, str] = {}
        """C expressions for the addresses of what lies in the frame: local variables and copied parameters."""
        self.parameters: dict[str, str] = {}
        """C expressions (pointers) for the parameters that ld.param and st.param name."""
        self.storage = storage_types(flat)
        self.arithmetic = made_by_arithmetic(flat)
        self._registers: dict[str, tuple[str, str]] = {}
        self._taken: set[str] = set()
        self._label_names: dict[str, str] = {}

    @property
    def site(self) -> str:
        return self.name_site()

    def line(self, text: str) -> None:
        self.lines.append(text)

    def wait(self) -> None:
        self.waits = True

    def look(self) -> None:
        """Before a look at memory that others change: one that is repeated lets the others run."""
        if self.in_loop:
            self.waits = True
            self.line(f"look(t, {self.site});")

    def unique(self, name: str) -> str:
        """A C name that nothing else in the function has: two names of PTX may differ only in what C does not allow."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def label(self, name: str) -> str:
        """The C name of a label: $L__BB0_1 is L_BB0_1."""
        if name not in self._label_names:
            self._label_names[name] = self.unique("L_" + re.sub(r"\W", "_", name.removeprefix("$L__")))
        return self._label_names[name]

    def is_behind(self, name: str) -> bool:
        """Whether a jump to this label goes backward. Raises Unsupported for a label that is not there."""
        if name not in self.labels:
            raise Unsupported(f"a jump to {name}")
        return self.labels[name] <= self.position

    def is_read(self, operand: nodes.Operand) -> bool:
        """Whether any instruction uses what is written to this destination."""
        return not self.sources.isdisjoint(registers_of((operand,)))

    def register(self, register: nodes.Reg) -> tuple[str, str] | None:
        """(C name, storage type) of a declared register."""
        key = register.name if register.component is None else f"{register.name}.{register.component}"
        known = self._registers.get(key)
        if known is None and key in self.flat.registers:
            known = self.unique(identifier(key)), self.storage[key]
            self._registers[key] = known
            self.used[known[0]] = c_type(known[1])
        return known

    # ---- reading

    def read(self, operand: nodes.Operand, kind: str) -> str:
        """A C expression of type c_type(kind), safe to stand in any context. Raises Unsupported."""
        match operand:
            case nodes.Reg():
                text = self._read_register(operand, kind)
                return f"!{text}" if operand.negated else text
            case nodes.Imm():
                return integer(operand.value, kind)
            case nodes.Float():
                return floating(operand, kind)
            case nodes.Symbol():
                address = self.symbol(operand)
                text = address if WIDTH[kind] == 64 else f"({c_type(bits(kind))}){address}"
                return f"as_{kind}({text})" if kind in ("f32", "f64") else text
        raise Unsupported(f"operand {type(operand).__name__}")

    def _read_register(self, operand: nodes.Reg, kind: str) -> str:
        known = self.register(operand)
        if known is None:
            special = special_register(operand.name, operand.component)
            if special is None:
                raise Unsupported(operand.name)
            text = special[1] if WIDTH[special[0]] == WIDTH[kind] else f"({c_type(bits(kind))}){special[1]}"
            return f"as_{kind}({text})" if kind in ("f32", "f64") else text
        name, storage = known
        if storage == kind:
            return name
        if kind in ("f32", "f64"):
            if WIDTH[storage] != WIDTH[kind]:
                raise Unsupported(f"{kind} in a register of {WIDTH[storage]} bits")
            return f"as_{kind}({name})"
        if storage in ("f32", "f64"):
            name = f"{'canonical_bits' if operand.name in self.arithmetic else 'bits'}_{storage}({name})"
        if WIDTH[storage] == WIDTH[kind] and kind not in SIGNED:
            return name
        return f"({c_type(kind)}){name}"

    def symbol(self, operand: nodes.Symbol) -> str:
        """The address that ``mov`` gives, as a C expression of 64 bits."""
        if operand.name in self.locals:
            address = self.locals[operand.name]
        else:
            known = self.names.address(operand.name)
            if known is None:
                raise Unsupported(operand.name)
            address = f"shared_window({known})" if operand.generic and self.names.is_shared(operand.name) else known
        return f"({address} + {operand.offset})" if operand.offset else address

    def address(self, operand: nodes.Operand) -> str:
        """The address of a memory operand; that of a 32-bit register wraps at 32 bits, as the hardware's does."""
        if not isinstance(operand, nodes.Address) or operand.extra:
            raise Unsupported("a memory operand of this form")
        base = operand.base
        if isinstance(base, nodes.Imm):
            return integer(base.value + operand.offset, "u64")
        if isinstance(base, nodes.Symbol):
            return self.symbol(nodes.Symbol(base.name, base.offset + operand.offset, base.generic))
        known = self.register(base)
        text = self._read_register(base, "b32" if known and WIDTH[known[1]] <= 32 else "b64")
        if operand.offset == 0:
            return text
        return f"{text} {'+' if operand.offset > 0 else '-'} {abs(operand.offset)}u"

    # ---- writing

    def write(self, operand: nodes.Operand, kind: str, expression: str) -> None:
        """Assign an expression of type c_type(kind): to a wider register its value is extended as its sign says."""
        self.line(self.assignment(operand, kind, expression))

    def assignment(self, operand: nodes.Operand, kind: str, expression: str) -> str:
        if isinstance(operand, nodes.Sink):
            return f"(void)({expression});"
        if not isinstance(operand, nodes.Reg):
            raise Unsupported(f"a destination of kind {type(operand).__name__}")
        known = self.register(operand)
        if known is None:
            raise Unsupported(operand.name)
        name, storage = known
        if storage == kind:
            return f"{name} = {expression};"
        if WIDTH[storage] < WIDTH[kind]:
            raise Unsupported(f"{kind} in a register of {WIDTH[storage]} bits")
        if kind in ("f32", "f64"):
            if WIDTH[storage] != WIDTH[kind]:
                raise Unsupported(f"{kind} in a register of {WIDTH[storage]} bits")
            return f"{name} = canonical_bits_{kind}({expression});"
        if storage in ("f32", "f64"):
            if WIDTH[storage] != WIDTH[kind]:
                raise Unsupported(f"{kind} in a register of {WIDTH[storage]} bits")
            return f"{name} = as_{storage}({expression});"
        if WIDTH[storage] > WIDTH[kind]:
            return f"{name} = ({c_type(kind)})({expression});"
        return f"{name} = {expression};"

    def copy_type(self, target: nodes.Operand, kind: str) -> str:
        """The type by which a value of type ``kind`` is best copied to a register: where only its bits matter, the register's."""
        if isinstance(target, nodes.Reg):
            known = self.register(target)
            if known is not None and WIDTH[known[1]] == WIDTH[kind]:
                return known[1]
        return kind if kind in SIGNED else bits(kind)

    def store_type(self, source: nodes.Operand, kind: str) -> str:
        """The type by which a register's value goes to memory: as bits where a NaN must be made canonical first."""
        if isinstance(source, nodes.Reg) and source.name in self.arithmetic:
            return bits(kind)
        return self.copy_type(source, kind)


# ---- constants


def integer(value: int, kind: str) -> str:
    """An integer constant, wrapped to the type; for a float register that is moved to, its bits."""
    if kind in ("f32", "f64"):
        return f"as_{kind}({integer(value, bits(kind))})"
    if kind == "pred":
        return str(int(value != 0))
    width = WIDTH[kind]
    value &= (1 << width) - 1
    if kind in SIGNED:
        value -= (value >> (width - 1)) << width
        if value == -(1 << (width - 1)):
            return f"INT{width}_MIN"
        return f"{value}{'ll' if width == 64 else ''}" if value >= 0 else f"({value}{'ll' if width == 64 else ''})"
    return f"{value}{'ull' if width == 64 else 'u'}"


def floating(constant: nodes.Float, kind: str) -> str:
    """A float constant, exact; one that has no decimal spelling by its bits."""
    data = constant.bits
    if kind in ("f32", "f64") and constant.width != WIDTH[kind]:
        (value,) = struct.unpack("<f" if constant.width == 32 else "<d", data.to_bytes(constant.width // 8, "little"))
        data = int.from_bytes(struct.pack("<f" if kind == "f32" else "<d", value), "little")
    if kind not in ("f32", "f64"):
        return integer(data, kind)
    exponent = (data >> 23) & 0xFF if kind == "f32" else (data >> 52) & 0x7FF
    if exponent == (0xFF if kind == "f32" else 0x7FF):
        return f"as_{kind}({integer(data, bits(kind))})"
    (value,) = struct.unpack("<f" if kind == "f32" else "<d", data.to_bytes(WIDTH[kind] // 8, "little"))
    text = f"{value:.9g}" if kind == "f32" else f"{value:.17g}"
    text += "" if "." in text or "e" in text else ".0"
    text += "f" if kind == "f32" else ""
    return f"({text})" if text.startswith("-") else text
