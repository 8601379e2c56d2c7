"""Control flow: branches, calls, returns, ends. PTX ISA 9.7.12."""

from __future__ import annotations

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.scalar import c_type
from engine.devices.cpu.ptx import nodes

LIBRARY = {
    "vprintf": "ST_param(int32_t, {0}, beaver_vprintf(t, LD_param(uint64_t, {1}), LD_param(uint64_t, {2}), {site}));",
    "__assertfail": (
        "beaver_assertfail(t, LD_param(uint64_t, {0}), LD_param(uint64_t, {1}), LD_param(uint32_t, {2}), "
        "LD_param(uint64_t, {3}), {site});"
    ),
    "malloc": "ST_param(uint64_t, {0}, beaver_malloc(t, LD_param(uint64_t, {1})));",
    "free": "beaver_free(t, LD_param(uint64_t, {0}), {site});",
}
"""Functions of the device runtime: their parameters in order, the returned one first."""

ARGUMENTS = {"vprintf": 3, "__assertfail": 5, "malloc": 2, "free": 1}


def jump(body: FunctionText, name: str) -> str:
    """A C statement that goes to a label; where that closes a loop, the runtime may want to see the thread."""
    target = f"goto {body.label(name)};"
    return f"{{ poll(t, {body.site}); {target} }}" if body.is_behind(name) else target


def branch(body: FunctionText, instruction: nodes.Instruction) -> None:
    target = instruction.operands[0]
    if not isinstance(target, nodes.Symbol):
        raise Unsupported(instruction.name)
    body.line(jump(body, target.name))


def branch_indexed(body: FunctionText, instruction: nodes.Instruction) -> None:
    """brx.idx index, list: an index beyond the list is undefined; here it falls to the last label."""
    index, targets = instruction.operands
    if not isinstance(targets, nodes.Symbol) or targets.name not in body.flat.targets:
        raise Unsupported(instruction.name)
    labels = body.flat.targets[targets.name]
    body.line(f"switch ({body.read(index, 'u32')}) {{")
    for number, name in enumerate(labels):
        body.line(f"{'default' if number == len(labels) - 1 else f'case {number}'}: {jump(body, name)}")
    body.line("}")


def leave(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.lines.extend(body.epilogue)


def end_thread(body: FunctionText, instruction: nodes.Instruction) -> None:
    """exit. A kernel just returns; a function has to unwind its callers, which only a thread with its own stack can."""
    if body.is_kernel:
        leave(body, instruction)
    else:
        body.wait()
        body.line("end_thread(t);")


def trap(body: FunctionText, instruction: nodes.Instruction) -> None:
    body.line(f"trap(t, {body.site});")


def call(body: FunctionText, statement: nodes.Call) -> None:
    """Parameters are passed as pointers to the caller's arrays, returned ones first."""
    if (
        isinstance(statement.target, nodes.Symbol)
        and statement.target.name in LIBRARY
        and not body.names.callee(statement.target.name)
    ):
        _call_library(body, statement, statement.target.name)
        return
    pointers = [_argument(body, operand) for operand in (*statement.returns, *statement.arguments)]
    after = []
    body.line("{")
    for number, operand in enumerate((*statement.returns, *statement.arguments)):
        if pointers[number] is not None:
            continue
        pointers[number] = f"(uint8_t *)&a{number}"
        if number < len(statement.returns):
            body.line(f"uint64_t a{number} = 0;")
            after.append((operand, f"a{number}"))
        else:
            body.line(f"const uint64_t a{number} = {_bits_of(body, operand)};")
    arguments = ", ".join(["t", *(pointer or "" for pointer in pointers)])
    if isinstance(statement.target, nodes.Symbol):
        callee = body.names.callee(statement.target.name)
        if callee is None:
            raise Unsupported(statement.target.name)
        name, count = callee
        if count != len(pointers):
            raise Unsupported(f"a call of {statement.target.name} with {len(pointers)} parameters")
        body.calls.add(name)
        body.line(f"{name}({arguments});")
    else:
        body.wait()
        body.indirect = True
        kinds = ", ".join(["beaver_thread *", *["uint8_t *"] * len(pointers)])
        address = body.read(statement.target, "b64")
        body.line(f"((void (*)({kinds}))call_target(t, {address}, {len(pointers)}, {body.site}))({arguments});")
    for operand, value in after:
        body.write(operand, *_narrowed(body, operand, value))
    body.line("}")


def _narrowed(body: FunctionText, operand: nodes.Operand, value: str) -> tuple[str, str]:
    """The low bits of a 64-bit word, as wide as a register is."""
    known = body.register(operand) if isinstance(operand, nodes.Reg) else None
    if known is None:
        raise Unsupported("a call's result of this form")
    storage = known[1]
    if storage in ("f32", "f64"):
        kind = "b32" if storage == "f32" else "b64"
        return kind, f"({c_type(kind)}){value}"
    return storage, f"({c_type(storage)}){value}"


def _bits_of(body: FunctionText, operand: nodes.Operand) -> str:
    known = body.register(operand) if isinstance(operand, nodes.Reg) else None
    if known is not None and known[1] == "f32":
        return body.read(operand, "b32")
    return body.read(operand, known[1] if known and known[1] != "f64" else "b64")


def _argument(body: FunctionText, operand: nodes.Operand) -> str | None:
    """The pointer to a parameter's array, or None for an operand that is a value."""
    if isinstance(operand, nodes.Symbol) and operand.name in body.parameters and not operand.offset:
        return f"(uint8_t *)({body.parameters[operand.name]})"
    return None


def _call_library(body: FunctionText, statement: nodes.Call, name: str) -> None:
    pointers = [_argument(body, operand) for operand in (*statement.returns, *statement.arguments)]
    if len(pointers) != ARGUMENTS[name] or None in pointers:
        raise Unsupported(f"a call of {name} in this form")
    body.line(LIBRARY[name].format(*pointers, site=body.site))
