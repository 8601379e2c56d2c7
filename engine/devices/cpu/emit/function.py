"""The C function of one PTX function: its frame, its registers, its statements."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from engine.devices.cpu.emit import control, table
from engine.devices.cpu.emit.body import FunctionText, SymbolTable, Unsupported, identifier
from engine.devices.cpu.emit.contraction import contract
from engine.devices.cpu.emit.features import with_feature
from engine.devices.cpu.emit.flatten import Flat
from engine.devices.cpu.emit.scalar import c_type
from engine.devices.cpu.emit.sites import Sites, place, quote
from engine.devices.cpu.ptx import nodes

FRAME_ALIGNMENT = 16
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, StopIteration)
"""What a rule may raise for operands or modifiers that the manual does not allow for the opcode. ptxas refuses such text, but a
program can carry PTX that no ptxas has seen."""

INLINED = 100
"""Instructions: a kernel of more is not inlined into the loop over the threads of a block, where it would stand twice."""


@dataclass(slots=True)
class Emitted:
    """What a function became. ``waits`` does not count its callees yet."""

    name: str
    text: str
    waits: bool
    calls: set[str]
    indirect: bool
    frame: int
    """Bytes of local memory."""
    size: int
    """Instructions."""
    site: str
    unsupported: list[tuple[str, str, int]] = field(default_factory=list)
    """(mnemonic or name, file, line)"""


def parameter_name(number: int, returns: int) -> str:
    return f"out{number}" if number < returns else f"in{number - returns}"


def signature(name: str, function: nodes.Function) -> str:
    """The C declaration of a function: the thread, then a pointer for each parameter, returned ones first."""
    if function.kind == "entry":
        return f"static void {name}(beaver_thread *t)"
    count = len(function.returns) + len(function.params)
    names = (parameter_name(number, len(function.returns)) for number in range(count))
    return f"static void {name}({', '.join(['beaver_thread *t', *(f'uint8_t *{item}' for item in names)])})"


def align(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def parameter_layout(function: nodes.Function) -> tuple[list[tuple[int, int]], int]:
    """(offset, size) of each parameter of a kernel, and the bytes of all."""
    layout, end = [], 0
    for variable in function.params:
        start = align(end, variable.align)
        layout.append((start, variable.size or 0))
        end = start + (variable.size or 0)
    return layout, end


class FunctionEmitter:
    def __init__(
        self, name: str, function: nodes.Function, flat: Flat, names: SymbolTable, files: dict[int, str], sites: Sites
    ):
        self.name, self.function, self.files, self.sites = name, function, files, sites
        self.flat = flat
        contract(flat)
        self.place: tuple[str, int] = place(function.loc, files) or ("", 0)
        for variable in (*function.returns, *function.params):
            if variable.space == "reg":
                flat.registers[variable.name] = variable.type
        self.body = FunctionText(flat, names, function.kind == "entry")
        self.unsupported: list[tuple[str, str, int]] = []
        self.prologue: list[str] = []

    def emit(self) -> Emitted:
        body, function = self.body, self.function
        first_site = self._site(0)
        frame = self._place_variables(first_site)
        repeated = _in_loops(body)
        for position, statement in enumerate(self.flat.statements):
            if isinstance(statement, nodes.Label):
                body.line(f"{body.label(statement.name)}:;")
                continue
            body.position = position
            body.in_loop = repeated[position] or not body.is_kernel
            self.place = place(statement.loc, self.files) or self.place
            body.name_site = partial(self._site, statement.ordinal)
            self._statement(statement)
        size = sum(not isinstance(statement, nodes.Label) for statement in self.flat.statements)
        inline = " __attribute__((always_inline)) inline" if body.is_kernel and size <= INLINED else ""
        if body.lines[-len(body.epilogue) :] != body.epilogue:
            body.lines.extend(body.epilogue)
        lines = [*self._registers(), *self.prologue, *body.lines]
        header = signature(self.name, function).replace("static", f"static{inline}", 1)
        text = "\n".join([header, "{", *(item if item.startswith("L_") else f"    {item}" for item in lines), "}"])
        return Emitted(
            self.name, text, body.waits, body.calls, body.indirect, frame, size, first_site, self.unsupported
        )

    def _site(self, ordinal: int) -> str:
        file, line = self.place
        return f"S({self.sites.number(file, self.function.name, line, ordinal)})"

    def _statement(self, statement: nodes.Instruction | nodes.Call) -> None:
        """Unsupported instructions end the program where it reaches them, and nowhere else."""
        body, mark, guard = self.body, len(self.body.lines), ""
        try:
            guard = "" if statement.guard is None else body.read(statement.guard, "pred")
            if isinstance(statement, nodes.Call):
                control.call(body, statement)
            else:
                table.emit(body, statement)
        except Unsupported as problem:
            what = str(problem)
        except MALFORMED:
            what = statement.name if isinstance(statement, nodes.Instruction) else "call"
        else:
            what = ""
        if what:
            del body.lines[mark:]
            body.line(f"unsupported(t, {quote(with_feature(what))}, {body.site});")
            self.unsupported.append((what, *self.place))
        if guard and len(body.lines) > mark:
            written = body.lines[mark:]
            del body.lines[mark:]
            if len(written) == 1:
                body.line(f"if ({guard}) {written[0]}")
            else:
                body.lines.extend([f"if ({guard}) {{", *written, "}"])

    # ---- the frame

    def _place_variables(self, site: str) -> int:
        """Decide where parameters and local variables lie; the result is the size of the frame in local memory."""
        body, function, frame = self.body, self.function, 0
        widest = FRAME_ALIGNMENT
        shown = set(_addresses_taken(self.flat))
        copies: list[str] = []

        def in_frame(variable: nodes.Variable) -> int:
            nonlocal frame, widest
            start = align(frame, variable.align)
            frame, widest = start + (variable.size or 0), max(widest, variable.align)
            body.locals[variable.name] = f"(uint64_t)(uintptr_t)(frame + {start})"
            return start

        for variable in self.flat.variables.values():
            if variable.space == "local":
                in_frame(variable)
            elif variable.space == "param" and variable.name in shown:
                body.parameters[variable.name] = f"frame + {in_frame(variable)}"
            elif variable.space == "param":
                name = body.parameters[variable.name] = body.unique(identifier(variable.name))
                size = max(variable.size or 0, 8)
                self.prologue.append(f"_Alignas({max(variable.align, 8)}) uint8_t {name}[{size}];")
        if function.kind == "entry":
            for variable, (offset, _) in zip(function.params, parameter_layout(function)[0], strict=True):
                body.parameters[variable.name] = f"params + {offset}" if offset else "params"
                body.locals[variable.name] = f"(uint64_t)(uintptr_t)({body.parameters[variable.name]})"
        else:
            for number, variable in enumerate((*function.returns, *function.params)):
                pointer = parameter_name(number, len(function.returns))
                body.parameters[variable.name] = pointer
                if variable.name in shown:
                    body.parameters[variable.name] = f"frame + {(start := in_frame(variable))}"
                    copies.append(f"memcpy(frame + {start}, {pointer}, {variable.size});")
                if variable.space == "reg":
                    self._register_parameter(variable, pointer, number < len(function.returns))
        frame = align(frame, FRAME_ALIGNMENT)
        entry = []
        if function.kind == "entry" and function.params:
            entry.append("const uint8_t *const params = t->block->params;")
        if function.kind != "entry":
            entry.append(f"check_stack(t, {site});")
        if frame or self._moves_stack():
            entry.append("uint8_t *const caller_top = t->local_top;")
            body.epilogue.insert(len(body.epilogue) - 1, "t->local_top = caller_top;")
        if frame:
            entry.append(f"uint8_t *const frame = enter_frame(t, {frame}, {widest}, {site});")
        self.prologue[:0] = [*entry, *copies]
        return frame

    def _moves_stack(self) -> bool:
        return any(isinstance(item, nodes.Instruction) and item.opcode == "alloca" for item in self.flat.statements)

    def _register_parameter(self, variable: nodes.Variable, pointer: str, is_result: bool) -> None:
        """A parameter in a register is copied in at the start, or out at every return."""
        name, storage = self.body.register(nodes.Reg(variable.name)) or ("", "")
        if is_result:
            self.body.epilogue.insert(0, f"ST_param({c_type(storage)}, {pointer}, {name});")
        else:
            self.prologue.append(f"{name} = LD_param({c_type(storage)}, {pointer});")

    def _registers(self) -> Iterator[str]:
        """Registers start at zero: PTX may read what it never wrote, where C must not."""
        by_type: dict[str, list[str]] = {}
        for name, kind in self.body.used.items():
            by_type.setdefault(kind, []).append(name)
        for kind, names in by_type.items():
            for some in _batches(names, 12):
                yield f"{kind} {', '.join(f'{name} = 0' for name in some)};"
        if self.body.carries:
            yield "uint32_t carry = 0;"


def _batches(names: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]


def _addresses_taken(flat: Flat) -> Iterator[str]:
    """Names whose address an instruction computes, rather than what lies there."""
    for statement in flat.statements:
        if isinstance(statement, nodes.Instruction):
            yield from (operand.name for operand in statement.operands if isinstance(operand, nodes.Symbol))


def _in_loops(body: FunctionText) -> list[bool]:
    """For each statement, whether a later jump goes back to a label before it."""
    count = len(body.flat.statements)
    changes = [0] * (count + 1)
    for position, statement in enumerate(body.flat.statements):
        if not isinstance(statement, nodes.Instruction) or statement.opcode not in ("bra", "brx"):
            continue
        targets = [operand.name for operand in statement.operands if isinstance(operand, nodes.Symbol)]
        for name in [label for target in targets for label in body.flat.targets.get(target, (target,))]:
            start = body.labels.get(name, count)
            if start <= position:
                changes[start] += 1
                changes[position + 1] -= 1
    return [depth > 0 for depth in itertools.accumulate(changes[:-1])]
