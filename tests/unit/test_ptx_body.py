"""Statements, instructions and operands of function bodies."""

from __future__ import annotations

import pytest

from engine.devices.cpu.ptx.lexer import PtxError
from engine.devices.cpu.ptx.nodes import (
    Address,
    BranchTargets,
    Call,
    Float,
    Imm,
    Instruction,
    Label,
    Minus,
    Operand,
    Pair,
    Prototype,
    Reg,
    Scope,
    Sink,
    Statement,
    Symbol,
    Variable,
    Vector,
)
from engine.devices.cpu.ptx.parser import parse


def body(text: str, head: str = ".func f") -> tuple[Statement, ...]:
    module = parse(f".version 9.0\n.target sm_90\n.address_size 64\n{head} {{\n{text}\n}}")
    (function,) = module.functions.values()
    assert function.body is not None
    return function.body


def one(text: str) -> Instruction:
    (statement,) = body(text)
    assert isinstance(statement, Instruction)
    return statement


def operands(text: str) -> tuple[Operand, ...]:
    return one(text).operands


R1, R2, R3 = (Reg(f"%r{number}") for number in (1, 2, 3))


def test_a_mnemonic_is_its_first_word_and_modifiers():
    found = one("ld.global.L1::no_allocate.L2::128B.v4.f32 %r1, [%r2];")
    assert (found.opcode, found.modifiers) == ("ld", ("global", "L1::no_allocate", "L2::128B", "v4", "f32"))
    assert found.name == "ld.global.L1::no_allocate.L2::128B.v4.f32"
    assert one("ld .global .f32 %r1, [%r2];").name == "ld.global.f32"
    assert one("exit;").operands == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%r1", R1),
        ("%tid.x", Reg("%tid", "x")),
        ("%laneid", Reg("%laneid")),
        ("%r1.b3", Reg("%r1", "b3")),
        ("!%p1", Reg("%p1", None, True)),
        ("_", Sink()),
        ("7", Imm(7)),
        ("-7", Imm(-7)),
        ("0x1f", Imm(31)),
        ("WARP_SZ", Imm(32)),
        ("3*(2+1)", Imm(9)),
        ("0f3F800000", Float(0x3F800000, 32)),
        ("-1.0", Float(0xBFF0000000000000, 64)),
        ("table", Symbol("table")),
        ("table+4", Symbol("table", 4)),
        ("table-4", Symbol("table", -4)),
        ("$L__BB0_1", Symbol("$L__BB0_1")),
        ("%p1|%p2", Pair(Reg("%p1"), Reg("%p2"))),
        ("_|%p2", Pair(Sink(), Reg("%p2"))),
        ("%r1|_", Pair(R1, Sink())),
        ("{%r1, %r2}", Vector((R1, R2))),
        ("{%r1, _, 3, 0f00000000}", Vector((R1, Sink(), Imm(3), Float(0, 32)))),
        ("[%r1]", Address(R1)),
        ("[%r1+8]", Address(R1, 8)),
        ("[%r1+-8]", Address(R1, -8)),
        ("[%r1-8]", Address(R1, -8)),
        ("[%r1 + 4*3]", Address(R1, 12)),
        ("[table]", Address(Symbol("table"))),
        ("[table+8]", Address(Symbol("table"), 8)),
        ("[4096]", Address(Imm(4096))),
        ("[%r1, {%r2, %r3}]", Address(R1, 0, (Vector((R2, R3)),))),
        ("[image, sampler, {%r2}]", Address(Symbol("image"), 0, (Symbol("sampler"), Vector((R2,))))),
    ],
)
def test_an_operand(text: str, expected: Operand):
    assert operands(f"op.b32 {text};") == (expected,)
    assert operands(f"op.b32 %r9, {text}, %r1;") == (Reg("%r9"), expected, R1)


def test_guards():
    assert one("@%p1 bra L;").guard == Reg("%p1")
    assert one("@!%p1 bra L;").guard == Reg("%p1", None, True)
    assert one("bra L;").guard is None


def test_ordinals_count_instructions_and_lines_are_the_texts():
    found = body("mov.u32 %r1, 1;\nL:\n{\n.reg .b32 t; add.u32 %r1,\n%r1, 2;\n}\ncall f;\nret;")
    inner = found[2]
    assert isinstance(inner, Scope)
    coded = [found[0], *inner.body[1:], *found[3:]]
    assert [(one.ordinal, one.line) for one in coded if isinstance(one, Instruction | Call)] == [
        (0, 5),
        (1, 8),
        (2, 11),
        (3, 12),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call f;", ((), Symbol("f"), (), None)),
        ("call.uni f;", ((), Symbol("f"), (), None)),
        ("call (r), f;", ((Symbol("r"),), Symbol("f"), (), None)),
        ("call f, (a, b);", ((), Symbol("f"), (Symbol("a"), Symbol("b")), None)),
        ("call.uni (r), f, (a);", ((Symbol("r"),), Symbol("f"), (Symbol("a"),), None)),
        ("call (r), f, ();", ((Symbol("r"),), Symbol("f"), (), None)),
        ("call (%r1), f, (%r2, 5);", ((R1,), Symbol("f"), (R2, Imm(5)), None)),
        ("call (r), %rd1, (a), proto;", ((Symbol("r"),), Reg("%rd1"), (Symbol("a"),), "proto")),
        ("call %rd1, proto;", ((), Reg("%rd1"), (), "proto")),
    ],
)
def test_calls(text: str, expected: tuple[object, ...]):
    (call,) = body(text)
    assert isinstance(call, Call)
    assert (call.returns, call.target, call.arguments, call.prototype) == expected
    (guarded,) = body(f"@!%p1 {text}")
    assert isinstance(guarded, Call)
    assert guarded.guard == Reg("%p1", None, True)


def test_labels_and_lists_of_targets():
    assert body("L: ret;")[0] == Label("L")
    assert body("T: .branchtargets L1, L2;") == (BranchTargets("T", ("L1", "L2")),)
    assert body("T: .calltargets f, g;") == (BranchTargets("T", ("f", "g")),)


def test_prototypes():
    (found,) = body("P : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[8]) .noreturn;")
    assert isinstance(found, Prototype)
    assert [(one.type, one.size) for one in found.returns] == [("b32", 4)]
    assert [(one.type, one.size) for one in found.params] == [("b64", 8), ("b8", 8)]
    (bare,) = body("P: .callprototype _ ();")
    assert bare == Prototype("P", (), ())


def test_variables_of_a_body():
    (found,) = body(".local .align 8 .b8 __local_depot0[24];")
    assert found == Variable("local", "b8", "__local_depot0", 24, 8)


def test_a_name_without_percent_is_a_register_where_it_was_declared_as_one():
    found = body("{ .reg .b32 t, s<2>; mov.b32 t, s1; mov.b32 t, s2; } mov.b32 %r1, t;")
    inner, outer = found
    assert isinstance(inner, Scope)
    assert [one.operands for one in inner.body if isinstance(one, Instruction)] == [
        (Reg("t"), Reg("s1")),
        (Reg("t"), Symbol("s2")),
    ]
    assert isinstance(outer, Instruction)
    assert outer.operands == (R1, Symbol("t"))


def test_the_innermost_declaration_of_a_name_counts():
    (_, inner) = body(".reg .b32 x; { .param .b32 x; st.param.b32 [x], %r1; }")
    assert isinstance(inner, Scope)
    store = inner.body[1]
    assert isinstance(store, Instruction)
    assert store.operands[0] == Address(Symbol("x"))


def test_vector_registers_have_components_and_register_parameters_are_registers():
    (_, found) = body(".reg .v2 .f32 v; add.f32 a, v.x, b;", ".func (.reg .f32 a) f (.reg .f32 b)")
    assert isinstance(found, Instruction)
    assert found.operands == (Reg("a"), Reg("v", "x"), Reg("b"))


def test_pragmas_are_passed_over():
    assert body('.pragma "nounroll", "used_bytes_mask 15";') == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mov.u32 %r1, ;", "an operand expected before ';'"),
        ("mov.u32 %r1 %r2;", "';' expected before '%r2'"),
        ("mov.u32 %r1, [%r2;", "']' expected"),
        ("mov.u32 %r1, {};", "an operand expected"),
        ("@%p1 { ret; }", "guards one instruction"),
        ("@p1 ret;", "a predicate register expected"),
        ("5 ret;", "an instruction expected before '5'"),
        ("mov.u32 %r1, a.b;", "is no register"),
        (".bogus 1;", "unknown directive .bogus"),
        ("{" * 1000, "nested too deeply"),
        ("ret; ", "text ends too early"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str):
    source = f".version 9.0\n.target sm_90\n.func f {{ {text}"
    with pytest.raises(PtxError, match=said):
        parse(source)


def test_a_negated_factor_is_read_like_any_operand():
    vmad = one("vmad.s32.s32.s32 %r1, -%r2.h0, %r3.h1, -%r4;")
    assert vmad.operands == (Reg("%r1"), Minus(Reg("%r2", "h0")), Reg("%r3", "h1"), Minus(Reg("%r4")))
    assert one("add.s32 %r1, %r2, -4;").operands[2] == Imm(-4)
