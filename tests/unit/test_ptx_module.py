"""Modules: directives at the top, functions with what limits them, source positions, and damage."""

from __future__ import annotations

import random

import pytest

from engine.devices.cpu.ptx.lexer import PtxError
from engine.devices.cpu.ptx.nodes import Instruction, Loc, Module
from engine.devices.cpu.ptx.parser import parse

HEAD = ".version 9.0\n.target sm_90a, debug\n.address_size 64\n"


def module(text: str) -> Module:
    return parse(HEAD + text)


def locs(text: str) -> list[Loc | None]:
    body = module(f".func f {{ {text} }}").functions["f"].body
    return [one.loc for one in body or () if isinstance(one, Instruction)]


def test_version_and_target():
    found = module("")
    assert (found.version, found.target) == ("9.0", "sm_90a")


def test_files_are_known_by_number_wherever_they_stand():
    found = module('.file 1 "a.cu"\n.func f { .loc 2 5 3\nret; }\n.file 2 "/usr/b c.h", 12345, 678\n')
    assert found.files == {1: "a.cu", 2: "/usr/b c.h"}


def test_names_of_files_are_unescaped():
    assert module(r'.file 1 "\303\251\\ \"x\".cu"').files == {1: 'é\\ "x".cu'}


def test_a_definition_replaces_a_declaration_and_not_the_other_way_round():
    declared, defined = ".func (.param .b32 r) f (.param .b32 a);", ".func (.param .b32 r) f (.param .b32 a) { ret; }"
    for text in (declared + defined, defined + declared):
        assert module(text).functions["f"].body is not None
    for text in (".extern .global .u32 x; .global .u32 x = 5;", ".global .u32 x = 5; .extern .global .u32 x;"):
        assert len(module(text).variables["x"].init) == 1


def test_the_limits_of_a_kernel():
    found = module(
        ".visible .entry k (.param .u64 p) .maxntid 32, 4 .minnctapersm 2 .maxnreg 64 .explicitcluster "
        '.reqnctapercluster 2, 1, 1 .pragma "nounroll"; { ret; }'
    ).functions["k"]
    assert (found.kind, found.linkage) == ("entry", "visible")
    assert (found.max_threads, found.min_blocks, found.cluster) == ((32, 4), 2, (2, 1, 1))
    assert module(".entry k .reqntid 64, 1, 1 { ret; }").functions["k"].max_threads == (64, 1, 1)
    bare = module(".entry k { ret; }").functions["k"]
    assert (bare.max_threads, bare.min_blocks, bare.cluster) == ((), 0, ())


def test_functions_keep_their_linkage():
    found = module(".extern .func g () .noreturn; .weak .func f { ret; }")
    assert {name: (one.kind, one.linkage, one.body is None) for name, one in found.functions.items()} == {
        "g": ("func", "extern", True),
        "f": ("func", "weak", False),
    }


def test_aliases():
    assert module(".func f { ret; } .func g; .alias g, f;").aliases == {"g": "f"}


def test_a_position_holds_until_the_next_one():
    first, second, third = locs("ret; .loc 1 5 3\nret; ret;")
    assert first is None
    assert second == third == Loc(1, 5, 3)
    assert second is third, "one object for one place"


def test_the_first_position_is_the_functions():
    function = module(".func f { .loc 1 5 0\n.loc 1 6 0\nret; }").functions["f"]
    assert function.loc == Loc(1, 5, 0)


def test_positions_do_not_leak_into_the_next_function():
    found = module(".func f { .loc 1 5 3\nret; } .func g { ret; }").functions["g"].body
    assert found is not None
    assert isinstance(found[0], Instruction)
    assert found[0].loc is None


def test_an_inlined_position_leads_to_its_call():
    (found,) = locs(".loc 1 9 1\n.loc 2 5 3, function_name $L__info_string0, inlined_at 1 9 1\nret;")
    assert found == Loc(2, 5, 3, Loc(1, 9, 1), "$L__info_string0")


def test_levels_of_inlining_are_joined():
    (found,) = locs(
        ".loc 1 9 1\n.loc 2 5 3, function_name $s0, inlined_at 1 9 1\n.loc 3 7 7, function_name $s1+12, inlined_at 2 5 3\nret;"
    )
    assert found == Loc(3, 7, 7, Loc(2, 5, 3, Loc(1, 9, 1), "$s0"), "$s1")


def test_the_latest_position_of_a_call_is_the_caller():
    first, second = locs(
        ".loc 1 9 1\n.loc 2 5 3, inlined_at 1 9 1\n.loc 3 7 7, inlined_at 2 5 3\nret;"
        ".loc 1 10 1\n.loc 2 5 3, inlined_at 1 10 1\n.loc 3 7 7, inlined_at 2 5 3\nret;"
    )
    assert first == Loc(3, 7, 7, Loc(2, 5, 3, Loc(1, 9, 1)))
    assert second == Loc(3, 7, 7, Loc(2, 5, 3, Loc(1, 10, 1)))


def test_a_call_without_a_position_of_its_own_ends_the_chain():
    (found,) = locs(".loc 2 5 3, inlined_at 1 9 1\nret;")
    assert found == Loc(2, 5, 3, Loc(1, 9, 1))


def test_coming_back_from_recursion_finds_the_level_again():
    """A template that calls itself has one position at every level."""
    down = (
        ".loc 1 7 3\n.loc 1 4 8, function_name $a, inlined_at 1 7 3\n.loc 1 4 8, function_name $b, inlined_at 1 4 8\n"
    )
    deepest, middle, top = locs(
        f"{down}.loc 1 4 8, function_name $c, inlined_at 1 4 8\nret;"
        ".loc 1 4 8, function_name $b, inlined_at 1 4 8\nret;"
        ".loc 1 4 8, function_name $a, inlined_at 1 7 3\nret;"
    )
    a = Loc(1, 4, 8, Loc(1, 7, 3), "$a")
    assert top == a
    assert middle == Loc(1, 4, 8, a, "$b")
    assert deepest == Loc(1, 4, 8, Loc(1, 4, 8, a, "$b"), "$c")


def test_chains_stay_short_whatever_the_text_says():
    again = "".join(f".loc 1 5 3, function_name $f{number}, inlined_at 1 5 3\n" for number in range(2000))
    (found,) = locs(f"{again}ret;")
    depth = 0
    while found is not None:
        found, depth = found.inlined_at, depth + 1
    assert 1 < depth < 100


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ".version and .target are missing"),
        (".version 9.0\n", ".version and .target are missing"),
        (HEAD.replace("64", "32"), "addresses of 32 bits"),
        (HEAD + "mov.u32 %r1, 1;", "PTX line 4: a directive expected before 'mov.u32'"),
        (HEAD + ".bogus x;", "unknown directive .bogus"),
        (HEAD + ".reg .b32 x;", "unknown directive .reg"),
        (HEAD + ".visible .bogus x;", "unknown directive .bogus"),
        (HEAD + ".entry k .maxbogus 5 { ret; }", "unknown directive .maxbogus"),
        (HEAD + ".entry k .minnctapersm 1, 2 { ret; }", ".minnctapersm has 2 numbers"),
        (HEAD + ".func f (.global .u32 x) { ret; }", ".param or .reg expected"),
        (HEAD + ".file 1 a.cu", "name in quotes"),
        (HEAD + ".func f { .loc 1 2 3, bogus 1\nret; }", "unknown attribute of .loc: bogus"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str):
    with pytest.raises(PtxError, match=said):
        parse(text)


def test_damaged_text_is_an_error_or_goes_unnoticed_but_never_crashes():
    text = HEAD + (
        '.file 1 "a.cu"\n.global .align 4 .b8 x[2][3] = {{1}, {2, 0xFF(y)}};\n.global .u64 z = generic(x)+8;\n'
        ".visible .entry k(.param .u64 p)\n.maxntid 32, 1, 1\n{\n.reg .b32 %r<9>;\n.loc 1 5 3\n"
        ".loc 1 6 3, function_name $L0, inlined_at 1 5 3\n@!%p1 bra L1;\nsetp.lt.s32 %p1|%p2, %r1, -5;\n"
        "ld.global.v2.f32 {%r1, _}, [%rd1+-8];\nL1:\n{ .reg .b32 t;\ncall.uni (r), f, (a, 0f3F800000);\n}\n"
        "P: .callprototype (.param .b32 _) _ ();\nT: .branchtargets L1;\nret;\n}\n.section .debug_str\n{\n.b8 1\n}\n"
    )
    parse(text)
    dice = random.Random(1)
    pool = '{}()[]<>;,.:"@!|-~%$_?=09azAZ\n\\/*\0é²'
    refused = 0
    for _ in range(3000):
        damaged = list(text)
        for _ in range(dice.randint(1, 4)):
            place = dice.randrange(len(damaged))
            damaged[place : place + dice.randint(0, 3)] = dice.choice(pool) * dice.choice([0, 1, 1, 1, 500])
        try:
            parse("".join(damaged))
        except PtxError:
            refused += 1
    assert 1000 < refused < 3000
