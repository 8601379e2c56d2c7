"""What waits for a screen: tests believe it."""

from __future__ import annotations

import pytest

from tests.tui.terminal import Terminal, needs_tmux

pytestmark = needs_tmux


def test_a_screen_that_is_there_for_a_moment_is_found():
    moments = iter([False, True])
    with Terminal(program=["cat"]) as terminal:
        terminal.type("here")
        assert terminal.wait_for("here", lambda screen: next(moments, False)).startswith("here")


def test_what_never_comes_is_named_and_what_has_ended_is_not_waited_for():
    message = r"(?s)ended with 0: never on the screen: \['there'\].*over"
    with Terminal(program=["echo", "over"]) as terminal, pytest.raises(AssertionError, match=message):
        terminal.wait_for("there")
