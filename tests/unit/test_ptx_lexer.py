"""Tokens of PTX text: what is one token, what is skipped, and that lines are counted through it all."""

from __future__ import annotations

import pytest

from engine.devices.cpu.ptx.lexer import Cursor, PtxError


def tokens(text: str) -> list[str]:
    return [word for word in Cursor(text).texts if word]


@pytest.mark.parametrize(
    "text",
    [
        "ld.global.L1::no_allocate.L2::128B.v4.f32",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes",
        "tex.2d.v4.f32.s32",
        "%tid.x",
        "%r17",
        "$L__BB0_1",
        "_ZN5thrust4sortIPiEEvT_S2_",
        "_",
        ".shared::cta",
        ".b32",
        "0xFFFFFFFFFFFFFFFFU",
        "0b101U",
        "0f3F800000",
        "0d400921FB54442D18",
        "017",
        "42U",
        "1.5e-3",
        "2.",
        "1e10",
        '"a \\"quoted\\" // name"',
        "<<",
        "!=",
        "||",
        "::",
    ],
)
def test_one_token(text: str):
    assert tokens(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%p1|%p2", ["%p1", "|", "%p2"]),
        ("@!%p1", ["@", "!", "%p1"]),
        ("[%rd1+-8]", ["[", "%rd1", "+", "-", "8", "]"]),
        ("%r<69>;", ["%r", "<", "69", ">", ";"]),
        ("L1:bra", ["L1", ":", "bra"]),
        ("5%3", ["5", "%3"]),
        ("0XFF(x)", ["0XFF", "(", "x", ")"]),
        ("é", ["é"]),
    ],
)
def test_several_tokens(text: str, expected: list[str]):
    assert tokens(text) == expected


def test_comments_are_skipped_and_lines_are_counted_through_them():
    cursor = Cursor('a // b /* c\n/* d\n"e" */ f\n"g // h"\ni')
    assert [(word, line) for word, line in zip(cursor.texts, cursor.lines, strict=True) if word] == [
        ("a", 1),
        ("f", 3),
        ('"g // h"', 4),
        ("i", 5),
    ]


def test_debug_sections_are_skipped_and_lines_are_counted_through_them():
    cursor = Cursor("a\n\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 95,90\n\t}\nb")
    assert [word for word in cursor.texts if word] == ["a", "b"]
    assert cursor.lines[1] == 7


def test_an_error_names_the_line_and_shows_it():
    cursor = Cursor("one\n  two three\n")
    cursor.take()
    cursor.take()
    with pytest.raises(PtxError, match=r"^PTX line 2: ';' expected before 'three': two three$"):
        cursor.expect(";")


def test_the_end_of_the_text_is_an_error():
    cursor = Cursor("one\n")
    cursor.take()
    with pytest.raises(PtxError, match="PTX line 2: the text ends too early"):
        cursor.take()
