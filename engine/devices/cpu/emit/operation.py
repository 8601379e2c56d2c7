"""Instructions that compute one value from others, as data: the C expression of each form of an opcode."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from engine.devices.cpu.emit.body import FunctionText, Unsupported
from engine.devices.cpu.emit.scalar import WIDTH, bits, c_type, double_width
from engine.devices.cpu.ptx import nodes

FLUSHED = ("f32", "f16", "f16x2", "bf16", "bf16x2", "f32x2")
"""Types on which .ftz has an effect."""


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One form of an opcode.

    ``form`` is C: {0}, {1}, ... are the sources; $t is the instruction's (last) type, $u the one before it, $b the untyped type
    of the same width, $W the C type of twice the width, $m the modifier that was taken from ``one_of``.
    Kinds of sources and result are types, or t, u, b, w (twice the width) with the same meaning.
    """

    types: tuple[str, ...]
    form: str
    sources: tuple[str, ...] = ("t", "t")
    result: str = "t"
    needs: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    """Modifiers that may be there. ftz, sat and relu wrap the form, the others are its default."""
    type_count: int = 1


@dataclass(frozen=True, slots=True)
class Template:
    """An Operation for given modifiers: ready to be filled in."""

    text: str
    sources: tuple[str, ...]
    result: str


@cache
def choose(family: tuple[Operation, ...], modifiers: tuple[str, ...], sources: int) -> Template | None:
    """The form of a family that these modifiers ask for, or None."""
    types = [modifier for modifier in modifiers if modifier in WIDTH]
    flags = [modifier for modifier in modifiers if modifier not in WIDTH]
    for operation in family:
        if len(operation.sources) != sources or len(types) != operation.type_count or types[-1] not in operation.types:
            continue
        left = [flag for flag in flags if flag not in operation.needs]
        if len(left) != len(flags) - len(operation.needs):
            continue
        chosen = [flag for flag in left if flag in operation.one_of]
        if len(chosen) != (1 if operation.one_of else 0):
            continue
        left = [flag for flag in left if flag not in operation.one_of]
        if all(flag in operation.allows for flag in left):
            return _template(operation, types, chosen[0] if chosen else "", left)
    return None


def _template(operation: Operation, types: list[str], chosen: str, flags: list[str]) -> Template:
    kind = types[-1]

    def resolve(name: str) -> str:
        match name:
            case "t":
                return kind
            case "u":
                return types[0]
            case "b":
                return bits(kind)
            case "w":
                return double_width(kind)
        return name

    text = operation.form.replace("$t", kind).replace("$u", types[0]).replace("$b", bits(kind)).replace("$m", chosen)
    if "$W" in text:
        text = text.replace("$W", c_type(double_width(kind)))
    sources, result = tuple(resolve(name) for name in operation.sources), resolve(operation.result)
    if "ftz" in flags:
        for number, source in enumerate(sources):
            if source in FLUSHED:
                text = text.replace(f"{{{number}}}", f"flush_{source}({{{number}}})")
        if result in FLUSHED:
            text = f"flush_{result}({text})"
    for flag, wrapper in (("sat", "saturate"), ("relu", "relu")):
        if flag in flags:
            text = f"{wrapper}_{result}({text})"
    return Template(text, sources, result)


def emit_operation(body: FunctionText, instruction: nodes.Instruction, family: tuple[Operation, ...]) -> None:
    """Raises Unsupported when no form of the family fits."""
    target, *operands = instruction.operands
    template = choose(family, instruction.modifiers, len(operands))
    if template is None:
        raise Unsupported(instruction.name)
    values = [body.read(operand, kind) for operand, kind in zip(operands, template.sources, strict=True)]
    body.carries = body.carries or "carry" in template.text
    body.write(target, template.result, template.text.format(*values))
