"""Variables, parameters and registers: sizes, alignment and initialisers."""

from __future__ import annotations

import pytest

from engine.devices.cpu.ptx.lexer import PtxError
from engine.devices.cpu.ptx.nodes import Float, Function, Imm, Masked, Registers, Symbol, Variable
from engine.devices.cpu.ptx.parser import parse

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def declared(text: str) -> Variable:
    (variable,) = parse(HEAD + text).variables.values()
    return variable


def function(text: str) -> Function:
    (found,) = parse(HEAD + text).functions.values()
    return found


@pytest.mark.parametrize(
    ("text", "size", "align"),
    [
        (".global .u32 x;", 4, 4),
        (".global .align 16 .b8 x[10];", 10, 16),
        (".global .f64 x[3];", 24, 8),
        (".const .b16 x[2][3];", 12, 2),
        (".shared .v4 .f32 x[2];", 32, 16),
        (".global .align 4 .v2 .u8 x;", 2, 4),
        (".global .b128 x;", 16, 16),
        (".global .f16x2 x;", 4, 4),
        (".extern .shared .align 16 .b8 x[];", None, 16),
        (".extern .global .u32 x[][4];", None, 4),
    ],
)
def test_size_and_alignment_in_bytes(text: str, size: int | None, align: int):
    variable = declared(text)
    assert (variable.size, variable.align) == (size, align)


@pytest.mark.parametrize("linkage", ["extern", "visible", "weak", "common", ""])
def test_linkage_and_space(linkage: str):
    variable = declared(f"{'.' * bool(linkage)}{linkage} .global .u32 x;")
    assert (variable.linkage, variable.space, variable.type) == (linkage, "global", "u32")


def test_several_names_share_a_declaration():
    variables = parse(HEAD + ".shared .align 8 .b8 a[64], b[4], c;").variables
    assert [(one.name, one.size, one.align) for one in variables.values()] == [("a", 64, 8), ("b", 4, 8), ("c", 1, 8)]


@pytest.mark.parametrize(
    ("text", "init"),
    [
        (".global .u32 x = 5;", (Imm(5),)),
        (".global .b8 x[4] = {1, 0xFF, -1};", (Imm(1), Imm(255), Imm(-1))),
        (".global .s32 x[2][3] = {{1}, {2, 3}};", (Imm(1), Imm(0), Imm(0), Imm(2), Imm(3), Imm(0))),
        (".global .s32 x[2][2][2] = {{{1}}, {{2}, {3}}};", tuple(map(Imm, (1, 0, 0, 0, 2, 0, 3, 0)))),
        (".global .s32 x[2][2] = {1, 2, 3};", (Imm(1), Imm(2), Imm(3))),
        (".global .v2 .u32 x = {1, 2};", (Imm(1), Imm(2))),
        (".global .v2 .u32 x[2] = {{1, 2}, {3, 4}};", (Imm(1), Imm(2), Imm(3), Imm(4))),
        (
            ".global .f32 x[3] = {1.5, 0f3F800000, -0.5};",
            (Float(0x3FC00000, 32), Float(0x3F800000, 32), Float(0xBF000000, 32)),
        ),
        (".global .f64 x = 1.5;", (Float(0x3FF8000000000000, 64),)),
        (".global .u64 x = y;", (Symbol("y"),)),
        (".global .u64 x = y+16;", (Symbol("y", 16),)),
        (".global .u64 x = y-4;", (Symbol("y", -4),)),
        (".global .u64 x = generic(y);", (Symbol("y", 0, True),)),
        (".global .u64 x = generic(y)+8;", (Symbol("y", 8, True),)),
        (".global .u64 x[2] = {generic(y+8)-4, 7};", (Symbol("y", 4, True), Imm(7))),
        (
            ".global .u8 x[3] = {0xFF(y), 0xFF00(generic(y)+4), 0XFF00000000000000(generic(y+4))};",
            (Masked(Symbol("y"), 0), Masked(Symbol("y", 4, True), 1), Masked(Symbol("y", 4, True), 7)),
        ),
        (".global .u32 x = 0xFF;", (Imm(255),)),
        (".global .u32 x = (3+4)*2;", (Imm(14),)),
    ],
)
def test_initialisers(text: str, init: tuple[object, ...]):
    assert declared(text).init == init


def test_an_initialiser_gives_the_size_that_is_left_out():
    assert declared(".global .u16 x[] = {1, 2, 3};").size == 6
    assert declared(".global .u16 x[][2] = {{1}, {2}, {3}};").size == 12


def test_a_managed_variable_is_marked():
    assert declared(".global .attribute(.managed) .align 4 .u32 x = 5;").managed
    assert not declared(".global .attribute(.unified(1, 2)) .u32 x;").managed


@pytest.mark.parametrize(
    ("text", "directive"),
    [
        (".global .texref x;", ".texref"),
        (".global .surfref x;", ".surfref"),
        (".global .samplerref x = { addr_mode_0 = wrap, filter_mode = linear };", ".samplerref"),
        (".tex .u64 x;", ".tex"),
    ],
)
def test_textures_are_marked_unsupported(text: str, directive: str):
    assert declared(text).unsupported == directive


def test_parameters_of_a_kernel():
    params = function(
        ".entry k(.param .u64 .ptr .global .align 1 p, .param .align 8 .b8 s[24], .param .f32 f) { ret; }"
    ).params
    assert [(one.name, one.type, one.size, one.align) for one in params] == [
        ("p", "u64", 8, 8),
        ("s", "b8", 24, 8),
        ("f", "f32", 4, 4),
    ]


def test_parameters_and_results_of_a_function():
    found = function(".func (.param .align 8 .b8 r[16]) f (.param .b32 a, .param .b64 b) { ret; }")
    assert [(one.space, one.name, one.size) for one in found.returns] == [("param", "r", 16)]
    assert [one.name for one in found.params] == ["a", "b"]
    assert function(".func f () { ret; }").params == ()
    assert function(".func f { ret; }").returns == ()


def test_registers():
    body = function(".func f { .reg .b32 %r<3>, t; .reg .v4 .f32 v; .reg .pred p; ret; }").body
    assert body is not None
    assert body[:4] == (
        Registers("b32", "%r", 3),
        Registers("b32", "t", None),
        Registers("f32", "v", None, 4),
        Registers("pred", "p", None),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".global .u32 x[2] = {1, 2, 3};", "more initialisers than elements"),
        (".global .u32 x[2] = {{1}};", "more braces"),
        (".global .u32 x[2][2] = {{1, 2, 3}};", "too long"),
        (".global .u32 x[2][99999999] = {{1}};", "too long"),
        (".global .u32 x[2][];", "first dimension"),
        (".global .u32 x[-1];", "cannot be -1"),
        (".global .align 3 .u32 x;", "power of two"),
        (".global x;", "a type expected"),
        (".global .u33 x;", "unknown type or attribute .u33"),
        (".global .u8 x = 0xFF1(y);", "not one byte"),
        (".global .u32 x", "';' expected before the end of the text"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str):
    with pytest.raises(PtxError, match=said):
        parse(HEAD + text)
