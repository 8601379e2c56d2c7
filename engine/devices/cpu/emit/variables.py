"""Device variables: their slots, initial bytes and relocations."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.devices.cpu.emit.link import Definition, Linked
from engine.devices.cpu.emit.scalar import WIDTH
from engine.devices.cpu.emit.sites import quote
from engine.devices.cpu.ptx import nodes

KINDS = {"global": "BEAVER_GLOBAL_VARIABLE", "const": "BEAVER_CONSTANT_VARIABLE"}


@dataclass(slots=True)
class Image:
    """The initial bytes of a variable, without zeros at the end, and the addresses in it as C initialisers."""

    data: bytes
    relocations: list[str] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    """C names of the functions that it points to."""


def image(definition: Definition, linked: Linked) -> Image:
    """What nobody defines (a pure virtual function's place in a table, for one) has address 0."""
    variable = definition.node
    assert isinstance(variable, nodes.Variable)
    width = WIDTH[variable.type] // 8
    data, made = bytearray(), Image(b"")
    for number, value in enumerate(variable.init):
        part = 0
        match value:
            case nodes.Imm():
                part = value.value & ((1 << 8 * width) - 1)
            case nodes.Float():
                part = value.bits & ((1 << 8 * width) - 1)
            case nodes.Symbol():
                _relocate(made, definition, linked, value, number * width, 0, width)
            case nodes.Masked():
                _relocate(made, definition, linked, value.symbol, number * width, value.shift, width)
        data += part.to_bytes(width, "little")
    made.data = bytes(data).rstrip(b"\0")
    return made


def _relocate(
    made: Image, definition: Definition, linked: Linked, symbol: nodes.Symbol, offset: int, shift: int, width: int
) -> None:
    target = linked.find(definition.module, symbol.name)
    if target is None:
        return
    fields = [f".offset = {offset}", f".addend = {symbol.offset}", f".shift = {shift}", f".width = {width}"]
    if isinstance(target.node, nodes.Function):
        made.functions.add(target.name)
        fields.append(f".function = (void (*)(void)){target.name}")
    else:
        fields.append(f".variable = &{target.name}")
    made.relocations.append("{" + ", ".join(fields) + "}")


def c_bytes(data: bytes) -> str:
    """An array initialiser; a string where it is long, for compilers read long lists slowly."""
    if len(data) <= 64:
        return "{" + ", ".join(str(byte) for byte in data) + "}"
    return "\n".join(
        '    "' + "".join(f"\\{byte:03o}" for byte in data[start : start + 32]) + '"'
        for start in range(0, len(data), 32)
    )


def describe(definition: Definition, made: Image) -> tuple[str, str]:
    """C text of a variable's data, and its row of the table."""
    variable, name = definition.node, definition.name
    assert isinstance(variable, nodes.Variable)
    text = []
    fields = [
        f".name = {quote(variable.name)}",
        f".size = {variable.size or 0}",
        f".align = {variable.align}",
        f".kind = {'BEAVER_MANAGED_VARIABLE' if variable.managed else KINDS[variable.space]}",
        f".address = &{name}",
    ]
    if made.data:
        text.append(f"static const uint8_t init_{name}[{len(made.data)}] = {c_bytes(made.data)};")
        fields.append(f".init = init_{name}, .init_size = {len(made.data)}")
    if made.relocations:
        text.append(f"static const beaver_relocation relocations_{name}[] = {{{', '.join(made.relocations)}}};")
        fields.append(f".relocations = relocations_{name}, .relocation_count = {len(made.relocations)}")
    return "\n".join(text), "{" + ", ".join(fields) + "}"
