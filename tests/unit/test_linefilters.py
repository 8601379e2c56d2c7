"""The last step before the terminal: lines as widgets drew them, and what may leave."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color

from beaver_tui.linefilters import AsciiLines, HarmlessLines, ascii_text

BLACK = Color(0, 0, 0)


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x00", "\x9b31m", "\x07", "\u202e", "\udcff", "\r"])
def test_nothing_leaves_that_a_terminal_obeys_or_cannot_take(hostile: str):
    (left,) = HarmlessLines().apply([Segment(f"before{hostile}after")], BLACK)
    assert left.text.isprintable()
    assert left.text.startswith("before")
    assert left.text.endswith("after")
    assert left.text.encode()


def test_a_line_that_is_harmless_stays_the_same_object():
    segment = Segment("float x[N][M];  │ ✓ 🦫")
    assert HarmlessLines().apply([segment], BLACK) == [segment]


@pytest.mark.parametrize(
    ("drawn", "left"),
    [
        ("┏━ a ┃ b", "+- a | b"),
        ("“quoted” … 3 × 4 − 1", '"quoted" . 3 x 4 - 1'),
        ("café 🦫 日本", "caf? ?? ????"),
        ("plain", "plain"),
    ],
)
def test_ascii_stands_in_for_every_sign_in_as_many_cells(drawn: str, left: str):
    assert ascii_text(drawn) == left
    assert cell_len(left) == cell_len(drawn)
    assert [segment.text for segment in AsciiLines().apply([Segment(drawn)], BLACK)] == [left]
