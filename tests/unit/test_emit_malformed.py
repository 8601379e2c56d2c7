"""PTX that no ptxas has seen: host code may put any text where nvcc puts its own. It is the candidate's fault, and never this
machine's: an instruction ends the program where it is reached, a text that cannot be read is told when a kernel is launched."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engine.devices.cpu import emit
from engine.devices.cpu.emit.flags import c_flags
from engine.devices.cpu.fatbin import Unit
from engine.devices.cpu.ptx.parser import parse
from engine.devices.cpu.translate import HEADERS, TranslationError, source

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;"

INSTRUCTIONS = [
    "@%p9 ret;",
    "@%p9 add.u32 %r1, %r2, %r3;",
    "ld.global %r1, [%rd1];",
    "st.global [%rd1], %r1;",
    "mul.f32 1;",
    "mul %f1, %f2, %f3;",
    "add %f1, %f2, %f3;",
    "add.f32 %f1, %f2;",
    "add.f32;",
    "mul.f32 %f1, %f2;",
    "mul.f32 [%rd1], %f2, %f3;",
    "cvt.rn %f1, %r1;",
    "cvt %f1;",
    "set %r1, %r2;",
    "mov;",
    "mov.v2 {%r1, %r2};",
    "bra 1;",
    "brx.idx;",
    "bar;",
    "bar.sync;",
    "shfl.sync.b32 %r1;",
    "atom.add;",
    "red.global %r1;",
    "mbarrier;",
    "cp.async.bulk;",
    "mma.sync.aligned;",
    "wmma.load;",
    "setp.lt %p1;",
    "selp %r1;",
    "lop3.b32 %r1;",
    "vadd.u32 %r1;",
    "vmad.s32.s32.s32 %r1, -%r2.h0, %r3.h1, %r1;",
    "add.s32 %r1, -%r2, %r3;",
    "barrier.cluster.wait;",
    "createpolicy;",
    "isspacep %p1, %rd1;",
    "cvta;",
    "vote.sync;",
    "fence;",
]


def unit(*bodies: str) -> Unit:
    kernels = "\n".join(f".visible .entry k{number}() {{ {body} ret; }}" for number, body in enumerate(bodies))
    return Unit("key", False, [("90", f"{HEADER}{kernels}")])


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_a_malformed_instruction_leaves_the_other_kernels_alone(instruction: str):
    text = source(unit(f"{REGISTERS} {instruction}", "trap;"))
    assert '.name = "k1"' in text


def test_malformed_instructions_compile_and_are_named_where_they_are_reached(tmp_path: Path):
    made = emit.translate_unit([parse(unit(*(f"{REGISTERS} {item}" for item in INSTRUCTIONS)).ptx[0][1])], {})
    (tmp_path / "kernels.c").write_text(made.text)
    command = ["gcc", *c_flags(made.text), f"-I{HEADERS}", "-c", "-o", "/dev/null", "kernels.c"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr[:3000]
    named = {item.what for item in made.unsupported}
    assert {"%p9", "ld.global", "mul.f32", "cvt.rn", "atom.add"} <= named


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        f"{HEADER}.visible .entry k() {{ add.u32",
        f"{HEADER}.global .b32 v = ;",
        f"{HEADER}.visible .entry k() {'{' * 5000}",
    ],
)
def test_text_that_is_no_ptx_is_told_of_the_unit(text: str):
    with pytest.raises(TranslationError, match=r"^holds PTX that the CPU device cannot read: "):
        source(Unit("key", False, [("90", text)]))
