"""From a reply to the candidate."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from engine.candidate import exact_bytes, line_changes


def test_lines_added_and_removed():
    assert line_changes(b"a\nb\nc\n", b"a\nx\ny\nc\n") == (2, 1)
    assert line_changes(b"", b"a\n") == (1, 0)
    assert line_changes(b"a\n", b"a\n") == (0, 0)


def test_hundreds_of_thousands_of_equal_lines_cost_no_minutes():
    began = time.process_time()
    assert line_changes(b"int x;\n" * 50, b"}{;\n" * 200_000) == (200_000, 50)
    assert time.process_time() - began < 2.0


@given(st.binary(max_size=200))
def test_a_persons_exact_bytes_survive(content: bytes):
    assert exact_bytes(content.decode("utf-8", "surrogateescape")) == content


def test_a_lone_surrogate_from_a_model_becomes_a_question_mark():
    assert exact_bytes("a\ud800b") == b"a?b"
