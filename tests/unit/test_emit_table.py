"""Every form of every opcode in the table has the C helpers that it names."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

from engine.devices.cpu import emit
from engine.devices.cpu.emit.atomics import OPERATIONS
from engine.devices.cpu.emit.flags import c_flags
from engine.devices.cpu.emit.operation import Operation
from engine.devices.cpu.emit.scalar import WIDTH, bits, double_width
from engine.devices.cpu.emit.table import FAMILIES, RULES
from engine.devices.cpu.ptx import nodes

RUNTIME = Path(emit.__file__).parent.parent / "runtime"
EVERYTHING = ("ftz", "sat", "relu")


def forms(opcode: str, operation: Operation) -> list[nodes.Instruction]:
    """One instruction for each type, chosen modifier and wrapper."""
    wrappers = [(), *((flag,) for flag in EVERYTHING if flag in operation.allows)]
    made = []
    for kind, chosen, wrapper in itertools.product(operation.types, operation.one_of or ("",), wrappers):
        for before in [("u32",), ("s32",)] if operation.type_count == 2 else [()]:
            flags = (*operation.needs, *([chosen] if chosen else []), *wrapper, *before, kind)
            meaning = {
                "t": kind,
                "u": (*before, kind)[0],
                "b": bits(kind),
                "w": double_width(kind) if "w" in (operation.result, *operation.sources) else "",
            }
            operands = [register(meaning.get(source, source)) for source in (operation.result, *operation.sources)]
            made.append(nodes.Instruction(opcode, flags, tuple(operands), None, None, len(made), 1))
    return made


def register(kind: str) -> nodes.Reg:
    return nodes.Reg(f"%{'pred' if kind == 'pred' else kind}")


def unit_of(instructions: list[nodes.Instruction]) -> emit.Translation:
    declared = tuple(
        nodes.Registers(kind if kind in ("pred", "f32", "f64") else f"b{max(width, 16)}", f"%{kind}", None)
        for kind, width in WIDTH.items()
    )
    functions = {}
    for number in range(0, len(instructions), 50):
        name = f"k{number}"
        functions[name] = nodes.Function(
            "entry", name, (), (), (*declared, *instructions[number : number + 50]), "visible"
        )
    return emit.translate_unit([nodes.Module("9.0", "sm_90", functions=functions)], {})


def test_every_form_of_the_table_compiles(tmp_path: Path):
    instructions = [
        item for opcode, family in FAMILIES.items() for operation in family for item in forms(opcode, operation)
    ]
    address = nodes.Address(nodes.Reg("%b64"))
    for operation, kinds in OPERATIONS.items():
        for kind, space in itertools.product(kinds, ("global", "shared")):
            value = register(kind)
            operands = (value, address, value, *([value] if operation == "cas" else []))
            instructions.append(
                nodes.Instruction("atom", (space, operation, kind), operands, None, None, len(instructions), 1)
            )
    made = unit_of(instructions)
    assert made.unsupported == []
    (tmp_path / "forms.c").write_text(made.text)
    command = ["gcc", *c_flags(made.text), "-O1", f"-I{RUNTIME}", "-c", "-o", "/dev/null", "forms.c"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr[:3000]


def test_an_opcode_is_in_one_place():
    assert not RULES.keys() & FAMILIES.keys()


def test_an_unknown_modifier_is_never_ignored():
    made = unit_of([nodes.Instruction("add", ("strange", "u32"), (nodes.Reg("%b32"),) * 3, None, None, 0, 1)])
    assert [item.what for item in made.unsupported] == ["add.strange.u32"]


def test_the_helpers_are_clean_under_every_warning(tmp_path: Path):
    source = tmp_path / "all.c"
    source.write_text('#include "kernel_ops.h"\n')
    flags = [flag for flag in c_flags("") if flag != "-w"]
    command = ["gcc", *flags, "-Wall", "-Wextra", "-Werror", f"-I{RUNTIME}", "-c", "-o", "/dev/null", str(source)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr[:3000]
