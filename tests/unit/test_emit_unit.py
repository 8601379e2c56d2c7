"""What a unit's C text says to the runtime: kernels, variables, shared memory, places in the source, names across modules."""

from __future__ import annotations

import re

import pytest

from engine.devices.cpu.emit import emit_unit, translate_unit
from engine.devices.cpu.emit.sites import quote
from engine.devices.cpu.ptx.parser import parse

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"


def text_of(*modules: str, registers: dict[str, int] | None = None) -> str:
    return emit_unit([parse(HEADER + module) for module in modules], registers or {})


def kernel_row(text: str, name: str) -> dict[str, str]:
    """The fields of a kernel's row in the table."""
    row = re.search(rf'\{{\.name = "{re.escape(name)}", (.*?)\}},\n', text)
    assert row is not None, text
    return dict(re.findall(r"\.(\w+) = (.*?)(?:, (?=\.)|$)", row[1]))


def variable_row(text: str, name: str) -> str:
    row = re.search(rf'\{{\.name = "{re.escape(name)}".*?\}}(?=,|\}})', text)
    assert row is not None, text
    return row[0]


def test_parameters_lie_as_their_alignment_says():
    text = text_of(".visible .entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[12], .param .u16 d) { ret; }")
    assert "params_f_k[] = {{0, 1}, {8, 8}, {16, 12}, {28, 2}};" in text
    assert kernel_row(text, "k")["param_count"] == "4"
    assert kernel_row(text, "k")["param_bytes"] == "30"


def test_a_kernel_knows_its_registers_and_its_largest_block():
    text = text_of(".visible .entry k() .maxntid 16, 8, 1 { ret; } .visible .entry l() { ret; }", registers={"k": 40})
    assert kernel_row(text, "k")["registers"] == "40"
    assert kernel_row(text, "k")["max_threads"] == "128"
    assert kernel_row(text, "l")["registers"] == kernel_row(text, "l")["max_threads"] == "0"


SHARED = """
.shared .align 4 .b8 common[100];
.shared .align 16 .b8 left[64];
.shared .align 4 .b8 right[200];
.visible .entry k() { .reg .b32 %r<3>; mov.u32 %r1, common; st.shared.u32 [left], %r1; ret; }
.visible .entry l() { .reg .b32 %r<3>; mov.u32 %r1, common; st.shared.u32 [right], %r1; ret; }
.visible .entry m() { ret; }
"""


def test_shared_variables_of_different_kernels_may_overlap_but_never_those_of_one():
    text = text_of(SHARED)
    places = {name: int(start) for name, start in re.findall(r"enum \{ v_(\w+) = (\d+) \};", text)}
    assert places == {"common": 1024, "left": 1136, "right": 1124}


def test_static_shared_memory_is_what_the_kernel_reaches():
    text = text_of(SHARED)
    assert [kernel_row(text, name)["static_shared"] for name in "klm"] == ["176", "300", "0"]


def test_shared_memory_of_callees_counts():
    text = text_of(
        """.func f() { .shared .align 8 .b8 inner[40]; .reg .b32 %r<2>; mov.u32 %r1, inner; st.shared.u32 [%r1], 1; ret; }
        .visible .entry k() { call f, (); ret; }"""
    )
    assert kernel_row(text, "k")["static_shared"] == "40"


def test_the_extern_array_lies_where_the_launch_says():
    text = text_of(
        ".extern .shared .align 16 .b8 all[]; .visible .entry k() { .reg .b32 %r<2>; mov.u32 %r1, all; ret; }"
    )
    assert "r1 = (uint32_t)t->block->dynamic_base;" in text
    assert kernel_row(text, "k")["static_shared"] == "0"
    assert kernel_row(text, "k")["dynamic_align"] == "16"


def test_local_memory_is_summed_along_the_deepest_chain_of_calls():
    text = text_of(
        """.func small() { .local .align 4 .b8 d[16]; ret; }
        .func large() { .local .align 4 .b8 d[100]; ret; }
        .visible .entry k() { .local .align 8 .b8 d[24]; call small, (); call large, (); ret; }"""
    )
    row = kernel_row(text, "k")
    assert (row["local_bytes"], row["recursive"]) == (str(32 + 112), "0")


def test_a_kernel_whose_callee_calls_itself_is_recursive():
    text = text_of(
        ".func f() { call f, (); ret; } .visible .entry k() { call f, (); ret; } .visible .entry l() { ret; }"
    )
    assert kernel_row(text, "k")["recursive"] == "1"
    assert kernel_row(text, "l")["recursive"] == "0"


def test_variables_have_kinds_bytes_and_addresses():
    text = text_of(
        """.visible .global .align 4 .u32 numbers[4] = {1, 258};
        .visible .const .align 8 .f64 half = 0d3FE0000000000000;
        .global .attribute(.managed) .align 4 .u32 everywhere;"""
    )
    assert "init_v_numbers[6] = {1, 0, 0, 0, 2, 1};" in text
    assert "init_v_half[8] = {0, 0, 0, 0, 0, 0, 224, 63};" in text
    assert ".size = 16, .align = 4, .kind = BEAVER_GLOBAL_VARIABLE, .address = &v_numbers" in variable_row(
        text, "numbers"
    )
    assert ".kind = BEAVER_CONSTANT_VARIABLE" in variable_row(text, "half")
    everywhere = variable_row(text, "everywhere")
    assert ".kind = BEAVER_MANAGED_VARIABLE" in everywhere
    assert ".init" not in everywhere


def test_addresses_in_initialisers_become_relocations():
    text = text_of(
        """.global .align 4 .b8 table[16];
        .func f() { ret; }
        .global .align 8 .u64 pointers[3] = {generic(table)+8, f, 5};
        .global .align 1 .b8 bytes[2] = {0xFF(table), 0xFF00(table)};"""
    )
    assert "{.offset = 0, .addend = 8, .shift = 0, .width = 8, .variable = &v_table}" in text
    assert "{.offset = 8, .addend = 0, .shift = 0, .width = 8, .function = (void (*)(void))f_f}" in text
    assert "{.offset = 1, .addend = 0, .shift = 1, .width = 1, .variable = &v_table}" in text
    assert ".relocation_count = 2" in variable_row(text, "pointers")


def test_a_name_that_nobody_defines_leaves_zeros_in_an_initialiser():
    text = text_of(".extern .func pure(); .visible .global .align 8 .u64 methods[2] = {pure, 7};")
    assert ".relocations" not in variable_row(text, "methods")


LOCATED = """
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  .loc 1 10 0
  ld.param.u64 %rd1, [p];
  .loc 1 12 3
  .loc 2 99 1, function_name $L__info, inlined_at 1 12 3
  ld.global.u32 %r1, [%rd1];
  .loc 3 7 1, function_name $L__info, inlined_at 1 13 3
  st.global.u32 [%rd1], %r1;
  .loc 1 0 3
  st.global.u32 [%rd1+4], %r1;
  ret;
}
.file 1 "/home/user/main.cu"
.file 2 "/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include/sm_20_atomic_functions.hpp"
.file 3 "/home/user/helpers.cuh"
"""


def places(text: str) -> list[str]:
    return re.findall(r"^    \{(\".*?\", \".*?\", \d+, \d+)\},$", text, re.MULTILINE)


def test_a_place_is_the_innermost_line_outside_the_toolkit():
    assert places(text_of(LOCATED)) == [
        '"/home/user/main.cu", "k", 10, 0',
        '"/home/user/main.cu", "k", 12, 16',
        '"/home/user/helpers.cuh", "k", 7, 32',
        '"/home/user/helpers.cuh", "k", 7, 48',
    ]


def test_places_are_listed_only_where_they_can_be_reported():
    text = text_of(".visible .entry k() { .reg .b32 %r<3>; add.u32 %r1, %r2, 1; add.u32 %r2, %r1, 1; ret; }")
    assert len(places(text)) == 1  # the kernel's own


@pytest.mark.parametrize("name", ['a"b\\c', "tab\there", "what??!", "naïve.cu"])
def test_any_file_name_is_a_c_string(name: str):
    literal = quote(name)
    assert re.fullmatch(r'"(?:[ !#->@-\[\]-~]|\\[0-7]{3})*"', literal)
    data = re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), literal[1:-1].encode())
    assert data.decode() == name


UNKNOWN = """
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %q;
  .loc 1 5 1
  setp.eq.u32 %q, %r1, 1;
  @%q wgmma.fence.sync.aligned;
  mov.u32 %r1, %pm0;
  ret;
}
.file 1 "/home/user/main.cu"
"""


def test_what_is_unsupported_stops_where_it_is_reached_and_nowhere_else():
    made = translate_unit([parse(HEADER + UNKNOWN)], {})
    assert [(item.function, item.what, item.file, item.line) for item in made.unsupported] == [
        ("k", "wgmma.fence.sync.aligned", "/home/user/main.cu", 5),
        ("k", "%pm0", "/home/user/main.cu", 5),
    ]
    assert re.search(
        r'if \(v_q\) unsupported\(t, "warpgroup matrix multiplication \(wgmma\.fence\.sync\.aligned\)", S\(\d+\)\);',
        made.text,
    )
    assert made.text.count("unsupported(t,") == 2


def test_a_function_that_nobody_defines_is_unsupported_by_its_name():
    made = translate_unit(
        [
            parse(
                HEADER + ".extern .func cudaLaunchDeviceV2(); .visible .entry k() { call cudaLaunchDeviceV2, (); ret; }"
            )
        ],
        {},
    )
    assert [item.what for item in made.unsupported] == ["cudaLaunchDeviceV2"]


CALLER = """
.extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .align 4 .u32 total;
.func helper() { ret; }
.global .align 4 .u32 hidden;
.visible .entry k() {
  .reg .b32 %r<3>;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], 4; call (b), twice, (a); ld.param.b32 %r1, [b]; }
  st.global.u32 [total], %r1; st.global.u32 [hidden], %r1; call helper, (); ret; }
"""
CALLEE = """
.visible .global .align 4 .u32 total = 3;
.global .align 4 .u32 hidden;
.func helper() { ret; }
.visible .func (.param .b32 r) twice(.param .b32 x) {
  .reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; st.global.u32 [hidden], %r1;
  call helper, (); ret; }
"""


def test_a_link_joins_extern_names_and_keeps_local_ones_apart():
    made = translate_unit([parse(HEADER + CALLER), parse(HEADER + CALLEE)], {})
    assert made.unsupported == []
    assert "f_twice(t, " in made.text
    assert made.text.count('{.name = "total"') == 1
    assert made.text.count('{.name = "hidden"') == 2
    first, second = re.findall(r"ST_global\(uint32_t, (\w+hidden)", made.text)
    assert {first, second} == {"v_hidden", "v1_hidden"}
    assert "static void f_helper(" in made.text
    assert "static void f1_helper(" in made.text


def test_of_weak_definitions_one_is_kept_and_a_strong_one_wins():
    weak = ".weak .global .align 4 .u32 x = 1; .weak .func f() { ret; }"
    strong = ".visible .global .align 4 .u32 x = 2;"
    text = text_of(weak, weak, strong)
    assert text.count('{.name = "x"') == 1
    assert "init_v_x[1] = {2};" in text
    assert text.count("static void f_f(beaver_thread *t)\n") == 1


def test_a_call_through_a_pointer_reaches_only_functions_whose_address_was_taken():
    text = text_of(
        """.func a(.param .b32 x) { ret; } .func b(.param .b32 x) { ret; } .func c(.param .b32 x) { ret; }
        .global .align 8 .u64 table[1] = {b};
        .visible .entry k() {
          .reg .b64 %rd<3>; mov.u64 %rd1, a;
          { .param .b32 x; proto: .callprototype _ (.param .b32 _); call %rd1, (x), proto; } ret; }"""
    )
    listed = text[text.index("callable[] = {") : text.index("{NULL, 0}")]
    assert re.findall(r"\)(f_\w), 1", listed) == ["f_a", "f_b"]
    assert kernel_row(text, "k")["recursive"] == "1"
