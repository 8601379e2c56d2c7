"""A source file as the lines that a compiler counts, every character of it seen, its words coloured."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaver_tui.state.sourcetext import MOST_LEXED, plain_source, source_text
from beaver_tui.state.visible import visible_output

KERNEL = b"""\
__global__ void add(const float* x, int n) {
    #pragma unroll
    for (int i = threadIdx.x; i < n; ++i) y[i] = __ldg(x) + 1.5f;  // one
}
add<<<1, 32>>>(x, n); std::vector<std::vector<std::vector<int>>> deep(n);
"""


def words(code: bytes, line: int, file: str = "solution.cu") -> dict[str, str]:
    source = source_text(code, file)
    text = source.lines[line - 1]
    return {text[token.start : token.end]: token.kind for token in source.tokens[line - 1]}


def test_cuda_is_told_from_c():
    first = words(KERNEL, 1)
    assert (first["__global__"], first["void"], first["add"], first["const"]) == ("cuda", "type", "function", "keyword")
    assert set(words(KERNEL, 2).values()) == {"preprocessor"}
    third = words(KERNEL, 3)
    assert (third["for"], third["threadIdx"], third["__ldg"]) == ("keyword", "cuda", "cuda")
    assert (third["1.5f"], third["i"], third["// one"]) == ("number", "name", "comment")


def test_the_marks_of_a_launch_are_not_the_end_of_a_template():
    launch = words(KERNEL, 5)
    assert (launch["<<<"], launch[">>>"]) == ("cuda", "cuda")
    assert words(b"vector<vector<vector<int>>> v;", 1)[">"] == "operator"
    assert words(b'puts("<<<");', 1)['"'] == "string"


def test_a_comment_goes_on_over_blank_lines():
    code = b"/* a\n\n\nb */ int x;"
    assert words(code, 1) == {"/* a": "comment"}
    assert words(code, 4) == {"b */": "comment", "int": "type", "x": "name", ";": "operator"}


def test_other_languages_are_coloured_by_their_name_and_unknown_ones_are_not():
    assert words(b"def f(): pass", 1, "check.py")["def"] == "keyword"
    assert words(b"all: run", 1, "notes.unheard-of") == {}


def test_lines_are_those_that_a_compiler_counts():
    code = b"one\r\ntwo\rstill two\n\x0cthree\xe2\x80\xa8still three\n\n"
    assert source_text(code).lines == ("one", "two\\rstill two", "\\x0cthree\\u2028still three", "")
    assert source_text(b"").lines == ()


def test_what_cannot_be_seen_is_written_out():
    line = 'char s[] = "\x1b]52;c;aGk=\x07[/b]\x00\u202e\U0001f600"; // \xe9'.encode() + b"\xff\tx"
    shown = source_text(line).lines[0]
    assert shown == 'char s[] = "\\x1b]52;c;aGk=\\x07[/b]\\x00\\u202e\U0001f600"; // \xe9\\xff'.ljust(64) + "x"


@given(st.binary(max_size=300))
def test_any_bytes_are_lines_of_printable_text_with_tokens_in_order(code: bytes):
    source = source_text(code)
    assert source.lines == plain_source(code).lines
    assert len(source.tokens) == len(source.lines) == code.count(b"\n") + (not code.endswith(b"\n") and code != b"")
    for line, tokens in zip(source.lines, source.tokens, strict=True):
        assert visible_output(line) == line
        ends = [0, *(token.end for token in tokens)]
        assert all(end <= token.start < token.end <= len(line) for end, token in zip(ends, tokens, strict=False))


@pytest.mark.parametrize(
    "code",
    [
        b"\n" * 20_000,
        b"f(" + b" \n" * 20_000,
        b"a" + b" " * 60_000 + b"b",
        b'R"(\n' * 40_000,
    ],
    ids=["blank lines", "blanks", "one long line", "open strings"],
)
def test_no_source_holds_the_lexer_up(code: bytes):
    """Each of these takes pygments more than twenty seconds."""
    began = time.thread_time()
    source_text(code)
    assert time.thread_time() - began < 3


def test_a_very_large_file_is_shown_plain():
    assert not any(source_text(b"int x;\n" * (MOST_LEXED // 7 + 1)).tokens)
