"""Bounded capture: head, tail, exact counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.harness.capture import Capture
from engine.text import _CONTROL, plain_text


def test_a_short_log_is_kept_whole():
    capture = Capture()
    capture.feed(b"one\n")
    capture.feed(b"two\n")
    assert capture.text() == "one\ntwo\n"
    assert capture.excerpt().tail == ""


def test_a_flood_keeps_its_ends_and_its_size():
    capture = Capture(head=100, tail=100)
    for number in range(10_000):
        capture.feed(f"line {number}\n".encode())
    text = capture.text()
    assert text.startswith("line 0\n")
    assert text.endswith("line 9999\n")
    assert f"{capture.omitted} bytes left out" in text
    assert capture.total == sum(len(f"line {number}\n") for number in range(10_000))


@given(st.lists(st.binary(max_size=40)), st.integers(1, 30), st.integers(1, 30))
def test_what_is_kept_and_what_is_left_out_add_up(chunks, head, tail):
    capture = Capture(head, tail)
    for chunk in chunks:
        capture.feed(chunk)
    whole = b"".join(chunks)
    kept_head, kept_tail = capture._parts()
    assert whole.startswith(kept_head)
    assert whole.endswith(kept_tail)
    assert len(kept_head) + len(kept_tail) + capture.omitted == len(whole) == capture.total


@given(st.lists(st.binary(max_size=50), max_size=30), st.integers(1, 40))
def test_an_excerpt_never_exceeds_its_size(chunks, size):
    capture = Capture(64, 64)
    for chunk in chunks:
        capture.feed(chunk)
    excerpt = capture.excerpt(size)
    assert excerpt.bytes == len(b"".join(chunks))
    assert len(excerpt.head) <= 2 * size
    assert len(excerpt.tail) <= size


def test_terminal_controls_are_removed():
    hostile = "a\x1b[2Jb\x1b]52;c;ZXZpbA==\x07c\x1b]0;title\x1b\\d\x00e\x9b31mf\rg\r\nh\ti"
    assert plain_text(hostile) == "abcde31mf\ng\nh\ti"


def test_an_unfinished_escape_at_the_end_is_removed():
    assert plain_text("ok\x1b[31") == "ok"
    assert plain_text("ok\x1b]52;c;abc") == "ok"


@given(st.text())
def test_plain_text_holds_no_control_character(text):
    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F for c in plain_text(text))


def test_a_flood_of_escapes_is_cleaned_at_once():
    """Each run of control sequences is one replacement: a candidate that prints nothing else must not keep the harness busy."""
    assert plain_text("\x1b" * 1_000_000) == ""
    assert plain_text("a\x1b\x1b[31m\x01\x02\x1b]52;c;x\x07b") == "ab"
    matches = _CONTROL.findall("\x1b" * 1000 + "ok" + "\x00" * 1000)
    assert len(matches) == 2
