"""Waiting and thinking: the pure parts of the chat fixer."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.fixers.retry import CAP_SECONDS, backoff, retry_after
from engine.fixers.thinking import ThinkSplitter

NOW = 1_800_000_000.0


@pytest.mark.parametrize(("failures", "least"), [(1, 0.5), (2, 1.0), (3, 2.0), (7, 30.0), (8, 30.0), (10_000, 30.0)])
def test_waits_double_up_to_a_cap_and_half_of_each_is_jitter(failures: int, least: float) -> None:
    assert backoff(failures, 0.0) == least
    assert backoff(failures, 0.999) == pytest.approx(2 * least, rel=0.01)
    assert backoff(failures, 0.999) <= CAP_SECONDS


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": formatdate(NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(NOW + 30, localtime=False)}, 30.0),  # a date in "-0000"
        ({"retry-after": formatdate(NOW - 3600, usegmt=True)}, 0.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "3"}, 3.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_what_a_service_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


def split(pieces: list[str]) -> tuple[str, str, str, str]:
    """(answer, thinking) at the end, and what a watcher was shown of both."""
    splitter = ThinkSplitter()
    shown = [found for piece in pieces for found in splitter.feed(piece)] + splitter.end()
    answer, thinking = splitter.final()
    return answer, thinking, "".join(t for t, m in shown if not m), "".join(t for t, m in shown if m)


@pytest.mark.parametrize(
    ("reply", "answer", "thinking"),
    [
        ("int x;", "int x;", ""),
        ("\n\n  int x;\n", "\n\n  int x;\n", ""),
        ("<think>hm</think>int x;", "int x;", "hm"),
        ("<thinking>hm</thinking>\nint x;", "int x;", "hm"),
        ("<think>a</think>\n<think>b</think>\nint x;", "int x;", "ab"),
        ("<think></think>int x;", "int x;", ""),
        ("<think>if (a </ b)</think>x", "x", "if (a </ b)"),
        ("<think>never closed", "", "never closed"),
        ("<thi", "<thi", ""),
        ("a <think>b</think>", "", "a <think>b"),  # a closing tag with no block open: the template's
        ("if (a < b) x();", "if (a < b) x();", ""),
        ("<<<1, 2>>>", "<<<1, 2>>>", ""),
        ("", "", ""),
    ],
)
def test_thinking_is_taken_out(reply: str, answer: str, thinking: str) -> None:
    assert split([reply])[:2] == (answer, thinking)


PARTS = ["<think>", "</think>", "<thinking>", "<", "</", "th", "think>", "\n", "x"]


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join), st.data())
def test_it_does_not_matter_where_a_reply_is_cut(reply: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), max_size=8)))
    pieces = [reply[i:j] for i, j in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
    assert split(pieces) == split([reply])


@given(st.text(max_size=200).filter(lambda text: "think" not in text))
def test_a_reply_without_thinking_keeps_its_every_character(reply: str) -> None:
    assert split(list(reply)) == (reply, "", reply, "")
