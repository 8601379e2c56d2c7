"""Registers, operands and frames of one function's C text."""

from __future__ import annotations

import re

from engine.devices.cpu.emit import emit_unit
from engine.devices.cpu.emit.flatten import flatten
from engine.devices.cpu.ptx import nodes
from engine.devices.cpu.ptx.parser import parse

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"


def text_of(body: str, parameters: str = ".param .u64 p") -> str:
    return emit_unit([parse(f"{HEADER}.visible .entry k({parameters}) {{ {body} ret; }}")], {})


def lines_of(body: str) -> list[str]:
    text = text_of(body)
    function = text[text.index("f_k(beaver_thread *t)\n{") :]
    return [line.strip() for line in function[: function.index("\n}")].splitlines()]


def test_an_untyped_register_that_holds_floats_is_a_float():
    lines = lines_of(".reg .b32 %r<5>; add.rn.f32 %r1, %r2, %r3; mul.f32 %r2, %r1, 0f3F800000; add.u32 %r4, %r4, 1;")
    floats = next(line for line in lines if line.startswith("float "))
    assert sorted(re.findall(r"(\w+) = 0", floats)) == ["r1", "r2", "r3"]
    assert "r1 = r2 + r3;" in lines
    assert "r2 = r1 * 1.0f;" in lines
    assert "r4 = r4 + 1u;" in lines


def test_a_nan_becomes_canonical_where_its_bits_show_and_only_if_arithmetic_made_it():
    lines = lines_of(
        """.reg .f32 %f<5>; .reg .b64 %rd<2>;
        ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd1+4], %f1; add.f32 %f2, %f1, %f1; mov.f32 %f3, %f2;
        st.global.f32 [%rd1+8], %f3;"""
    )
    stores = [re.sub(r", S\(\d+\)", "", line) for line in lines if line.startswith("ST_global")]
    assert stores == ["ST_global(float, rd1 + 4u, f1);", "ST_global(uint32_t, rd1 + 8u, canonical_bits_f32(f3));"]


def test_names_that_c_cannot_spell_stay_apart():
    lines = lines_of(".reg .b32 a$b, a_b, %int, t; mov.u32 a$b, 1; mov.u32 a_b, 2; mov.u32 %int, 3; mov.u32 t, 4;")
    assigned = [line.split(" = ")[0] for line in lines if re.fullmatch(r"\w+ = \du;", line)]
    assert len(assigned) == len(set(assigned)) == 4
    assert not {"int", "t"} & set(assigned)


def test_addresses_in_32_bits_wrap_and_shared_ones_are_constants():
    lines = lines_of(
        ".shared .align 4 .b8 s[64]; .reg .b32 %r<4>; ld.shared.u32 %r1, [%r2+-8]; ld.shared.u32 %r3, [s+12];"
    )
    assert any(line.startswith("r1 = LD_shared(uint32_t, r2 - 8u, ") for line in lines)
    assert any(line.startswith("r3 = LD_shared(uint32_t, (v_k_s + 12), ") for line in lines)


def test_a_frame_is_given_back_at_every_return():
    lines = lines_of(".local .align 16 .b8 d[20]; .reg .pred %p; .reg .b64 %rd<2>; mov.u64 %rd1, d; @%p ret;")
    assert any(line.startswith("uint8_t *const frame = enter_frame(t, 32, 16, ") for line in lines)
    assert lines.count("t->local_top = caller_top;") == lines.count("return;") == 2
    assert "rd1 = (uint64_t)(uintptr_t)(frame + 0);" in lines


def test_a_kernel_without_local_memory_has_no_frame():
    assert "local_top" not in text_of(".reg .b32 %r<2>; mov.u32 %r1, 0;")


def test_a_functions_parameter_whose_address_is_taken_moves_to_the_frame():
    text = emit_unit(
        [
            parse(
                HEADER
                + """.func f(.param .align 8 .b8 big[64]) { .reg .b64 %rd<3>; .reg .b32 %r<2>;
                mov.b64 %rd1, big; ld.param.u32 %r1, [big+8]; ret; }"""
            )
        ],
        {},
    )
    assert "memcpy(frame + 0, in0, 64);" in text
    assert "rd1 = (uint64_t)(uintptr_t)(frame + 0);" in text
    assert "r1 = LD_param(uint32_t, frame + 0 + 8);" in text


def test_a_vector_to_one_register_file_is_one_checked_access():
    lines = lines_of(".reg .f32 %f<5>; .reg .b64 %rd<2>; ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];")
    assert sum("global_bytes(t, rd1, 16, BEAVER_READ, " in line for line in lines) == 1
    assert "f4 = m[3];" in lines


def test_results_are_extended_to_wider_registers_by_their_sign():
    lines = lines_of(
        ".reg .b32 %r<4>; .reg .b64 %rd<3>; ld.global.s8 %r1, [%rd1]; ld.global.u8 %r2, [%rd1]; cvt.s16.s32 %r3, %r2;"
    )
    assert any(line.startswith("r1 = (int8_t)(LD_global(int8_t, rd1, ") for line in lines)
    assert any(line.startswith("r2 = (uint8_t)(LD_global(uint8_t, rd1, ") for line in lines)
    assert "r3 = (int16_t)((int16_t)(int32_t)r2);" in lines


def function_of(body: str) -> nodes.Function:
    return parse(f"{HEADER}.visible .entry k() {{ {body} ret; }}").functions["k"]


def test_scopes_keep_equal_names_apart():
    flat = flatten(
        function_of(
            ".reg .b32 x; mov.u32 x, 0; { .reg .b64 x; mov.u64 x, 1; } { .reg .b32 x; mov.u32 x, 2; } mov.u32 x, 3;"
        )
    )
    written = [
        item.operands[0].name
        for item in flat.statements
        if isinstance(item, nodes.Instruction) and item.opcode == "mov"
    ]
    assert len(set(written)) == 3
    assert written[0] == written[3] == "x"
    assert flat.registers[written[1]] == "b64"


def test_labels_of_a_scope_are_its_own():
    flat = flatten(function_of("{ bra L; L: } { bra L; L: } bra L; L:"))
    labels = [item.name for item in flat.statements if isinstance(item, nodes.Label)]
    targets = [
        item.operands[0].name
        for item in flat.statements
        if isinstance(item, nodes.Instruction) and item.opcode == "bra"
    ]
    assert labels == targets
    assert len(set(labels)) == 3


def test_call_sequences_share_their_parameter_arrays():
    call = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 1; ld.param.b32 %r1, [b]; }"
    flat = flatten(function_of(f".reg .b32 %r<2>; {call} {call} {{ .param .b64 a; st.param.b64 [a], 1; }}"))
    assert sorted((item.name, item.size) for item in flat.variables.values()) == [("a", 4), ("a__1", 8), ("b", 4)]
