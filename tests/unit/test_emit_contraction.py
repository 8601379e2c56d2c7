"""Which products and sums become one fma: what the machine code of ptxas 13.0 for sm_90 shows."""

from __future__ import annotations

import pytest

from engine.devices.cpu.emit.contraction import contract
from engine.devices.cpu.emit.flatten import flatten
from engine.devices.cpu.ptx import nodes
from engine.devices.cpu.ptx.parser import parse

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .f32 %f<20>; .reg .f64 %d<20>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .pred %q;"


def sums(body: str) -> list[str]:
    """What became of each add and sub: its opcode and, where contracted, its factors and its addend."""
    flat = flatten(parse(f"{HEADER}.visible .entry k() {{ {REGISTERS} {body} ret; }}").functions["k"])
    contract(flat)
    found = []
    for item in flat.statements:
        if isinstance(item, nodes.Instruction) and item.opcode in ("add", "sub", "fma", "fms", "fnma"):
            names = [operand.name.lstrip("%") for operand in item.operands[1:] if isinstance(operand, nodes.Reg)]
            found.append(" ".join([item.opcode, *names]) if item.opcode[0] == "f" else item.opcode)
    return found


STORE = "st.global.f32 [%rd1], "


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5;", ["fma f1 f2 f5"]),
        ("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f5, %f3;", ["fma f1 f2 f5"]),
        ("mul.f32 %f3, %f1, %f2; sub.f32 %f4, %f3, %f5;", ["fms f1 f2 f5"]),
        ("mul.f64 %d3, %d1, %d2; sub.f64 %d4, %d5, %d3;", ["fnma d1 d2 d5"]),
        ("mul.f16x2 %r3, %r1, %r2; add.f16x2 %r4, %r3, %r5;", ["fma r1 r2 r5"]),
        ("mul.ftz.f32 %f3, %f1, %f2; add.ftz.sat.f32 %f4, %f3, %f5;", ["fma f1 f2 f5"]),
        ("mul.f32 %f3, %f1, %f2; @%q add.f32 %f4, %f3, %f5;", ["fma f1 f2 f5"]),
        # of two products the first operand's
        ("mul.f32 %f3, %f1, %f2; mul.f32 %f4, %f5, %f6; add.f32 %f7, %f4, %f3;", ["fma f5 f6 f3"]),
        # every use is such a sum
        ("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5; sub.f32 %f6, %f5, %f3;", ["fma f1 f2 f5", "fnma f1 f2 f5"]),
        (f"mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5; {STORE} %f3;", ["add"]),
        # the other product, when the first is needed anyway
        (
            f"mul.f32 %f3, %f1, %f2; mul.f32 %f4, %f5, %f6; add.f32 %f7, %f3, %f4; {STORE} %f3;",
            ["fma f5 f6 f3"],
        ),
        ("mul.rn.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5;", ["add"]),
        ("mul.f32 %f3, %f1, %f2; add.rn.f32 %f4, %f3, %f5;", ["add"]),
        ("mul.sat.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5;", ["add"]),
        ("mul.ftz.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5;", ["add"]),
        ("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f3;", ["add"]),
        ("@%q mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5;", ["add"]),
        ("mul.f32 %f3, %f1, %f2; LATER: add.f32 %f4, %f3, %f5;", ["add"]),
        # a factor or the product has another value by then
        ("mul.f32 %f3, %f1, %f2; mov.f32 %f1, %f6; add.f32 %f4, %f3, %f5;", ["add"]),
        ("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f5; mov.f32 %f3, %f6; add.f32 %f7, %f3, %f5;", ["add", "add"]),
        ("mul.f32 %f3, %f1, %f2; add.f32 %f1, %f3, %f5;", ["fma f1 f2 f5"]),
        ("mul.lo.s32 %r3, %r1, %r2; add.s32 %r4, %r3, %r5;", ["add"]),
    ],
)
def test_contraction(body: str, expected: list[str]):
    assert sums(body) == expected
