"""What ptxas and the disassemblers print, read; and how compiled code judges the losses of a source."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.verdict.compiled import (
    Compiled,
    CompiledKernel,
    Resources,
    compiled,
    mix_of,
    read_ptx,
    read_resources,
    read_sass,
)
from engine.verdict.degeneration import Finding, score
from engine.verdict.degeneration_compiled import ALONE, BOTH, with_compiled
from engine.verdict.instruction_rules import CLASSES

PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4tilePKfPfi' for 'sm_90'
ptxas info    : Function properties for _Z4tilePKfPfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 31 registers, used 1 barriers, 2048 bytes smem
ptxas info    : Compile time = 12.114 ms
ptxas info    : Function properties for helper
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function '_Z5heavyPf' for 'sm_90'
ptxas info    : Function properties for _Z5heavyPf
    96 bytes stack frame, 88 bytes spill stores, 104 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 1024+16 bytes smem, 548 bytes cmem[0]
"""


def test_resources_of_kernels():
    assert read_resources(PTXAS) == {
        "_Z4tilePKfPfi": Resources(registers=31, barriers=1, shared=2048),
        "_Z5heavyPf": Resources(255, 0, 1024, 96, 88, 104),
    }


@pytest.mark.parametrize("text", ["", "nvcc fatal : nothing", PTXAS[:150], "ptxas info    : Used 31 registers"])
def test_what_is_no_report_of_ptxas_has_no_kernels(text: str):
    assert read_resources(text) == {}


CUOBJDUMP = """\
\tcode for sm_90
\t\tFunction : _Z4tilePKfPfi
\t.headerflags\t@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*0000*/                   LDC R1, c[0x0][0x28] ;             /* 0x00000a00ff017b82 */
                                                                      /* 0x000fe20000000800 */
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, [R2.64] ;   /* 0x00000a00ff017b82 */
        /*0020*/               @P1 STS.128 [R3], R4 ;                 /* 0x00000a00ff017b82 */
        /*0030*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;      /* 0x00000a00ff017b82 */
        /*0040*/              @UP0 UBLKCP.S.G [UR4], [UR6], UR8 ;     /* 0x00000a00ff017b82 */
\t\t..........
\t\tFunction : _Z5heavyPf
        /*0000*/                   STL.64 [R1], R2 ;                  /* 0x00000a00ff017b82 */
        /*0010*/                   HMMA.16816.F32 R4, R8, R10, R4 ;   /* 0x00000a00ff017b82 */
"""
NVDISASM = """\
.text._Z4tilePKfPfi:
        .type           _Z4tilePKfPfi,@function
_Z4tilePKfPfi:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, [R2.64] ;
        /*0020*/               @P1 STS.128 [R3], R4 ;
        /*0030*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0040*/              @UP0 UBLKCP.S.G [UR4], [UR6], UR8 ;
.text._Z5heavyPf:
        /*0000*/                   STL.64 [R1], R2 ;
        /*0010*/                   HMMA.16816.F32 R4, R8, R10, R4 ;
"""


@pytest.mark.parametrize("text", [CUOBJDUMP, NVDISASM], ids=["cuobjdump", "nvdisasm"])
def test_opcodes_of_kernels(text: str):
    found = read_sass(text)
    assert found["_Z5heavyPf"] == Counter({"STL.64": 1, "HMMA.16816.F32": 1})
    both = compiled(read_resources(PTXAS), found, "SASS", "SASS")
    tile, heavy = both.kernels
    assert dict(tile.mix) == {"wide_loads": 1, "async_copies": 1, "shared_stores": 1, "barriers": 1}
    assert (tile.instructions, tile.resources.registers) == (5, 31)
    assert dict(heavy.mix) == {"tensor": 1, "local": 1}
    assert (both.registers, both.spills, both.count("tensor")) == (255, 192, 1)


OPCODES = {
    "tensor": (
        [
            "HMMA.16816.F32",
            "IMMA.16832.S8.S8",
            "HGMMA.64x64x16.F32",
            "QGMMA.64x8x32.F32.E4M3.E4M3",
            "DMMA.884",
            "UTCHMMA",
        ],
        ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"],
    ),
    "wide_loads": (
        ["LDG.E.128", "LDG.E.128.CONSTANT", "LD.E.128"],
        ["ld.global.v4.f32", "ld.global.nc.v4.u32", "ld.global.v2.u64"],
    ),
    "loads_64": (["LDG.E.64", "LDG.E.64.CONSTANT"], ["ld.global.v2.f32", "ld.global.f64"]),
    "loads": (["LDG.E", "LDG.E.U8.CONSTANT"], ["ld.global.f32", "ld.global.nc.u8"]),
    "wide_stores": (["STG.E.128"], ["st.global.v4.f32"]),
    "async_copies": (
        ["LDGSTS.E.BYPASS.128", "UBLKCP.S.G", "UTMALDG.2D"],
        ["cp.async.cg.shared.global", "cp.async.bulk.tensor.2d.shared::cluster.global.tile"],
    ),
    "matrix_loads": (["LDSM.16.M88.4"], ["ldmatrix.sync.aligned.m8n8.x4.shared.b16"]),
    "shared_loads": (["LDS.128", "LDS"], ["ld.shared.f32"]),
    "barriers": (["BAR.SYNC.DEFER_BLOCKING", "BAR.RED.POPC.DEFER_BLOCKING"], ["bar.sync", "barrier.sync"]),
    "shuffles": (["SHFL.BFLY", "REDUX.SUM"], ["shfl.sync.bfly.b32", "redux.sync.add.s32"]),
    "atomics": (
        ["RED.E.ADD.F32.FTZ.RN.STRONG.GPU", "ATOMG.E.ADD", "REDG.E.ADD"],
        ["red.global.add.f32", "atom.global.add.u32"],
    ),
    "shared_atomics": (["ATOMS.ADD", "ATOMS.POPC.INC.32"], ["atom.shared.add.u32", "red.shared.add.u32"]),
    "float": (["FFMA", "FADD.FTZ"], ["fma.rn.f32", "add.f32"]),
    "half": (["HFMA2.MMA", "HADD2"], ["fma.rn.f16x2"]),
    "double": (["DFMA", "DADD"], ["fma.rn.f64", "add.f64"]),
    "local": (["LDL.LU", "STL.64"], ["ld.local.f32", "st.local.v2.f32"]),
    "": (
        ["IMAD.WIDE", "CS2R", "LDC.64", "LDGDEPBAR", "DEPBAR.LE", "EXIT"],
        ["mov.u32", "cp.async.commit_group", "cp.async.wait_group", "ret.uni"],
    ),
}


@pytest.mark.parametrize("name", OPCODES)
def test_an_opcode_has_the_first_class_that_matches(name: str):
    for language, opcodes in zip(("SASS", "PTX"), OPCODES[name], strict=True):
        for opcode in opcodes:
            expected = {name: 1} if name else {}
            assert dict(mix_of({opcode: 1}, language)) == expected, opcode  # type: ignore[arg-type]


def test_every_class_has_an_example():
    assert set(OPCODES) - {""} <= {row.name for row in CLASSES}


PTX = """\
.version 9.0
.visible .entry _Z1kPf(
\t.param .u64 .ptr .align 1 _Z1kPf_param_0
)
{
\tld.param.u64 \t%rd1, [_Z1kPf_param_0];
\tld.global.v4.f32 \t{%f1, %f2, %f3, %f4}, [%rd1];
@%p1\tbra \t$L__BB0_2;
\t@%p2 st.shared.f32 \t[%r1], %f1;
\tbar.sync \t0;
\tret;
}
"""


def test_ptx_where_nothing_disassembles():
    (kernel,) = compiled({}, read_ptx(PTX), "PTX for sm_90", "PTX").kernels
    assert (kernel.name, dict(kernel.mix)) == ("_Z1kPf", {"wide_loads": 1, "shared_stores": 1, "barriers": 1})


def code(registers: int = 32, spilled: int = 0, **mix: int) -> Compiled:
    return Compiled((CompiledKernel("k", Resources(registers, spill_stores=spilled), mix, sum(mix.values())),), "SASS")


def lost(kind: str, after: int = 0) -> Finding:
    return Finding(kind, kind, 4, after, 1.0, 0.5)


def test_compiled_code_confirms_a_loss():
    (found,) = with_compiled((lost("tensor_cores"),), code(tensor=8), code(float=90))
    assert (found.seen_in, found.kind) == (BOTH, "tensor_cores")


def test_compiled_code_refutes_a_loss_that_a_header_makes_up_for():
    assert with_compiled((lost("vector_loads"),), code(wide_loads=8), code(wide_loads=6)) == ()


def test_what_the_source_has_less_of_is_not_refuted():
    """Unrolling makes many instructions of few."""
    found = (lost("warp_shuffles", after=1),)
    assert with_compiled(found, code(shuffles=8), code(shuffles=8)) == found


def test_what_the_baseline_does_not_show_is_not_refuted():
    found = (lost("vector_loads"),)
    assert with_compiled(found, code(loads=8), code(loads=8)) == found


def test_compiled_code_adds_what_only_it_shows():
    found = with_compiled((), code(tensor=8), code(registers=40, spilled=400, float=90))
    assert [(one.kind, one.seen_in) for one in found] == [("tensor_cores", ALONE), ("spills", ALONE)]
    assert 0.8 < score(found) < 1


def test_fewer_instructions_of_a_kind_are_no_loss():
    assert with_compiled((), code(wide_loads=60), code(wide_loads=11)) == ()


def test_a_few_more_registers_are_no_loss():
    assert with_compiled((), code(registers=40), code(registers=96)) == ()
    assert [one.kind for one in with_compiled((), code(registers=64), code(registers=168))] == ["registers"]


def test_shuffles_make_up_for_shared_memory_in_compiled_code_too():
    assert with_compiled((), code(shared_loads=9), code(shuffles=5)) == ()


def test_without_kernels_nothing_is_refuted():
    found = (lost("tensor_cores"),)
    assert with_compiled(found, Compiled((), "SASS"), code(tensor=8)) == found
