"""Which kernels need a thread of their own for each CUDA thread: those whose threads may wait for each other."""

from __future__ import annotations

import re

import pytest

from engine.devices.cpu.emit import emit_unit
from engine.devices.cpu.ptx.parser import parse

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n.global .align 4 .u32 flag;\n.shared .align 8 .b64 barrier;\n"
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .b16 %h<3>;"


def text_of(body: str, functions: str = "") -> str:
    return emit_unit([parse(f"{HEADER}{functions}.visible .entry k() {{ {REGISTERS} {body} ret; }}")], {})


def waits(body: str, functions: str = "") -> bool:
    return ".block = NULL" in text_of(body, functions)


@pytest.mark.parametrize(
    "instruction",
    [
        "bar.sync 0;",
        "barrier.cta.sync 1, 64;",
        "bar.arrive 1, 64;",
        "bar.red.popc.u32 %r1, 0, %p1;",
        "bar.warp.sync -1;",
        "barrier.cluster.arrive;",
        "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
        "vote.sync.all.pred %p1, %p2, -1;",
        "match.any.sync.b32 %r1, %r2, -1;",
        "redux.sync.add.s32 %r1, %r2, -1;",
        "activemask.b32 %r1;",
        "elect.sync %r1|%p1, -1;",
        "nanosleep.u32 100;",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r1,%r2,%r3,%r4};",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
        "mbarrier.try_wait.parity.shared.b64 %p1, [barrier], 0;",
        "{ proto: .callprototype _ (); call %rd1, (), proto; }",
    ],
)
def test_waits(instruction: str):
    assert waits(instruction)


@pytest.mark.parametrize(
    "instruction",
    [
        "add.u32 %r1, %r2, 1;",
        "atom.global.add.u32 %r1, [flag], 1;",
        "ld.volatile.global.u32 %r1, [flag];",
        "membar.gl;",
        "mbarrier.arrive.shared.b64 _, [barrier];",
        "cp.async.wait_all;",
        "trap;",
        "exit;",
    ],
)
def test_never_waits(instruction: str):
    assert not waits(instruction)


SPIN = "AGAIN: {} setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;"


@pytest.mark.parametrize(
    "look",
    [
        "ld.volatile.global.u32 %r1, [flag];",
        "ld.acquire.gpu.global.u32 %r1, [flag];",
        "ld.relaxed.sys.u32 %r1, [%rd1];",
        "atom.global.cas.b32 %r1, [flag], 0, 1;",
        "atom.global.exch.b32 %r1, [flag], 1;",
    ],
)
def test_a_loop_around_a_look_at_memory_may_be_a_spin(look: str):
    text = text_of(SPIN.format(look))
    assert ".block = NULL" in text
    assert re.search(r"look\(t, S\(\d+\)\);\n    r1 = ", text)


def test_a_loop_of_atomics_whose_result_nobody_reads_is_no_spin():
    assert not waits(
        "AGAIN: atom.global.add.u32 %r5, [flag], 1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra AGAIN;"
    )
    assert not waits(SPIN.format("red.global.add.u32 [flag], 1; ld.global.u32 %r1, [flag];"))


def test_a_look_after_the_loop_is_no_spin():
    text = text_of(SPIN.format("add.u32 %r1, %r1, 1;") + "ld.volatile.global.u32 %r1, [flag];")
    assert ".block = NULL" not in text
    assert "look(t" not in text


def test_waiting_is_inherited_from_callees():
    functions = ".func inner() { bar.sync 0; ret; } .func outer() { call inner, (); ret; } .func other() { ret; }"
    assert waits("call outer, ();", functions)
    assert not waits("call other, ();", functions)


def test_a_function_may_be_called_in_a_loop():
    functions = ".func (.param .b32 r) seen() { .reg .b32 %r<2>; ld.volatile.global.u32 %r1, [flag]; st.param.b32 [r], %r1; ret; }"
    assert waits("{ .param .b32 r; call (r), seen, (); }", functions)


def test_exit_unwinds_callers_only_with_a_stack_of_its_own():
    assert waits("call quit, ();", ".func quit() { exit; }")


def test_jumps_backward_let_the_runtime_see_the_thread():
    text = text_of(
        "setp.eq.u32 %p1, %r1, 0; @%p1 bra END; AGAIN: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra AGAIN; END:"
    )
    assert re.search(r"if \(p1\) \{ poll\(t, S\(\d+\)\); goto L_AGAIN; \}", text)
    assert "if (p1) goto L_END;" in text


def test_a_kernel_that_never_waits_has_a_function_for_a_whole_block():
    text = text_of("add.u32 %r1, %r2, 1;")
    assert "static void block_f_k(beaver_thread *t) { FOR_EACH_THREAD(t) f_k(t); }" in text
    assert ".thread = f_k, .block = block_f_k" in text
