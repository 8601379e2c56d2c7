"""Two versions of a file: which lines changed, which words of them, and what lines cannot show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaver_tui.state.difftext import Diff, diff, folded, unified
from beaver_tui.state.matching import MOST_EDITS, alike, changed_words, matches

LOOP = b"int m;\nfor (int i = tid; i <= cols; i += n)\n    m = max(m, row[i]);\nreturn m;\n"
FIXED = b"int m;\nfor (int i = tid; i < cols; i += n)\n    m = max(m, row[i]);\n__syncthreads();\nreturn m;\n"

files = st.lists(st.sampled_from([b"a\n", b"b\n", b"}\n", b"\n", b"c \n", b"c\r\n", b"d"])).map(b"".join)


def shown(found: Diff) -> list[str]:
    marks = {"equal": " ", "add": "+", "remove": "-", "fold": "@"}
    return [marks[row.kind] + (row.right if row.kind == "add" else row.left) for row in unified(found)]


def test_a_changed_line_is_one_row_with_its_changed_words():
    found = diff(LOOP, FIXED)
    changed = found.rows[1]
    assert (changed.kind, changed.old, changed.new) == ("change", 2, 2)
    assert [changed.left[slice(*span)] for span in changed.left_words] == ["="]
    assert changed.right_words == ()
    assert (found.added, found.removed, found.hunks) == (2, 1, (1, 3))


def test_the_unified_view_shows_what_went_before_what_came():
    assert shown(diff(LOOP, FIXED)) == [
        " int m;",
        "-for (int i = tid; i <= cols; i += n)",
        "+for (int i = tid; i < cols; i += n)",
        "     m = max(m, row[i]);",
        "+__syncthreads();",
        " return m;",
    ]


@given(files, files)
def test_both_sides_are_whole_and_counted(before: bytes, after: bytes):
    found = diff(before, after, context=None)
    lefts = [(row.old, row.left) for row in found.rows if row.old is not None]
    rights = [(row.new, row.right) for row in found.rows if row.new is not None]
    assert lefts == list(enumerate([line.removesuffix("\r") for line in _lines(before)], 1))
    assert rights == list(enumerate([line.removesuffix("\r") for line in _lines(after)], 1))
    assert (len(rights) - len(lefts)) == found.added - found.removed
    assert all(found.rows[hunk].kind not in ("equal", "fold") for hunk in found.hunks)
    both = unified(found)
    assert sum(row.kind == "add" for row in both) == found.added
    assert sum(row.kind == "remove" for row in both) == found.removed


@given(files, files)
def test_folding_hides_unchanged_rows_alone(before: bytes, after: bytes):
    whole, short = diff(before, after, context=None), diff(before, after, context=1)
    assert short == folded(whole, 1)
    assert [row for row in short.rows if row.kind not in ("equal", "fold")] == [
        row for row in whole.rows if row.kind != "equal"
    ]
    hidden = sum(int(row.left.split()[0]) for row in short.rows if row.kind == "fold")
    assert hidden + sum(row.kind != "fold" for row in short.rows) == len(whole.rows)


def _lines(code: bytes) -> list[str]:
    lines = code.decode().split("\n")
    return lines[:-1] if lines[-1] == "" else lines


@given(st.lists(st.sampled_from("abc{}"), max_size=14), st.lists(st.sampled_from("abc{}"), max_size=14))
def test_matches_are_equal_lines_in_order(old: list[str], new: list[str]):
    at = (0, 0)
    for i, j, size in matches(old, new):
        assert i >= at[0] and j >= at[1]
        assert size > 0 and old[i : i + size] == new[j : j + size]
        at = (i + size, j + size)


def test_lines_that_are_nowhere_unique_are_matched_by_a_shortest_edit():
    old = ["{", "x", "}", "{", "x", "}"] * 50
    new = [*old[:100], "y", *old[100:200], *old[203:]]
    assert sum(size for _, _, size in matches(old, new)) == len(old) - 3


def test_two_files_with_little_in_common_are_given_up_in_good_time():
    old, new = [f"{n % 7}" for n in range(6000)], [f"{n % 5}" for n in range(6000)]
    assert len(old) > 2 * MOST_EDITS and matches(old, new) == [(0, 0, 5)]


def test_a_line_is_beside_the_one_that_it_became():
    assert alike(["int a = f(x);"], ["// new", "int a = g(x);", "return;"]) == [(0, 1)]
    assert alike(["alpha"], ["omega"]) == []
    assert alike(["const int r = at(x, y);"], ["float4 q = as(*out, 4);"]) == [], "punctuation makes no two lines alike"
    assert alike(["})"], ["});", "})"]) == [(0, 1)]


def test_words_are_pointed_at_only_where_lines_have_most_in_common():
    left, right = "int a = f(x, y);", "int a = f(x, z, z);"
    olds, news = changed_words(left, right)
    assert [left[a:b] for a, b in olds] == ["y"]
    assert [right[a:b] for a, b in news] == ["z, z"]
    assert changed_words("one two three", "four five six") == ((), ())


def test_very_long_lines_are_compared_as_a_whole_but_for_what_they_begin_and_end_with():
    left = "x = {" + "".join(f"{n}, " for n in range(3000)) + "};"
    right = "x = {" + "".join(f"{n}, " for n in range(3000, 0, -1)) + "};"
    olds, news = changed_words(left, right)
    assert len(olds) == len(news) == 1 and olds[0][0] == news[0][0] == len("x = {")


@pytest.mark.parametrize(
    ("before", "after", "note"),
    [
        (b"a\n", b"a\n", "no differences"),
        (b"a\nb\n", b"a\r\nb\r\n", "only line ends differ"),
        (b"a\r\nb\n", b"a\nb\r\n", "only line ends differ"),
        (b"a\n", b"a", "no newline at end after"),
        (b"a", b"a\n", "no newline at end before"),
        (b"a", b"b", "no newline at end"),
        (b"a\r\n", b"b\n", "line ends differ"),
        (b"\tx\n", b"        x\n", "lines that look the same differ in white space"),
        (b"a\n", b"b\n", ""),
        (b"", b"a\n", ""),
    ],
)
def test_what_rows_cannot_show_is_said(before: bytes, after: bytes, note: str):
    assert diff(before, after).note == note


def test_white_space_can_be_ignored():
    before, after = b"if (x) {\n  y();\n}\n", b"if (x)  {\n\ty( );\n}\n"
    assert diff(before, after).added == 2
    ignored = diff(before, after, ignore_space=True)
    assert (ignored.added, ignored.removed, ignored.note) == (0, 0, "only white space differs")
