"""Large logs are worked through beside the event loop, and come out the same."""

from __future__ import annotations

import asyncio
import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.harness.aside import LARGE, aside, in_thread
from engine.text import _CONTROL, _PIECE, plain_text
from tests.support.until import until_async


@pytest.mark.parametrize(("size", "here"), [(0, True), (LARGE - 1, True), (LARGE, False)])
async def test_only_what_is_large_leaves_the_loops_thread(size: int, here: bool):
    assert (await aside(size, threading.get_ident) == threading.get_ident()) is here


async def test_what_it_raises_comes_back():
    with pytest.raises(re.error):
        await aside(LARGE, re.compile, "(")


ENDS = st.lists(
    st.sampled_from(["\x1b[31m", "\x1b", "\x1b]0;t\x07", "\x1bP", "\x9b", "\x00", "\r\n", "\n", "a", "é[m", "\\"])
)


@given(ENDS, ENDS)
def test_a_long_text_is_cleaned_as_if_it_were_cleaned_at_once(before: list[str], after: list[str]):
    """Around the places where it is cut, whatever stands there."""
    text = "x" * (_PIECE - len("".join(before)) - 1) + "".join(before) + "\n" + "".join(after) + "\ny" * _PIECE
    once = _CONTROL.sub("", text.replace("\r\n", "\n"))
    assert plain_text(text) == once


async def test_a_cancellation_waits_for_the_threads_end():
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(10)
        ended.set()

    working = asyncio.create_task(in_thread(work))
    await until_async(begun.is_set, "the thread has begun")
    working.cancel()
    await asyncio.sleep(0)
    assert not working.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert ended.is_set()
