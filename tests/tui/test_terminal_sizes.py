"""Small terminals, terminals without colours or signs, and none at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.program import beaver
from tests.tui.terminal import Terminal, needs_tmux

pytestmark = needs_tmux

RUN = Path(__file__).parents[1] / "fixtures" / "h200" / "run"
HISTOGRAM = ("replay", RUN, "--task", "histogram_bytes", "--fixer", "scripted:stagnating")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (20, 5)])
def test_a_terminal_that_shrinks_and_grows_shows_all_again(columns: int, rows: int):
    with Terminal(*HISTOGRAM) as terminal:
        before = terminal.wait_for("step 4 of 4", "collect2", "budget 1 left")
        terminal.resize(columns, rows)
        small = terminal.wait_for(lambda screen: "budget" not in screen, "beaver")
        assert max(map(len, small.splitlines())) <= columns
        terminal.press("h")
        terminal.resize(140, 42)
        terminal.wait_for("step 3 of 4", "budget 2 left", "got 1400, want 2067")
        terminal.press("l")
        top = before.splitlines()[0]
        terminal.wait_for("step 4 of 4", "collect2", "budget 1 left", lambda screen: screen.splitlines()[0] == top)


def test_at_80_by_24_the_category_the_steps_and_the_keys_are_there():
    with Terminal(*HISTOGRAM, columns=80, rows=24) as terminal:
        terminal.wait_for("histogram_bytes", "step 4 of 4", "integration", "category_oscillation", "help")
        terminal.press("h")
        terminal.wait_for("step 3 of 4", "functional_correctness")


@pytest.mark.parametrize("arguments", [("--runs", RUN.parent), ("replay", RUN), HISTOGRAM])
def test_every_screen_starts_in_a_tiny_terminal(arguments: tuple[object, ...]):
    with Terminal(*arguments, columns=20, rows=5) as terminal:
        terminal.wait_for("beaver", "help")
        terminal.press("C-q")
        assert terminal.wait_for_exit() == 0


def test_with_no_color_nothing_is_coloured():
    with Terminal(*HISTOGRAM, environment={"NO_COLOR": "1", "COLORTERM": "truecolor"}) as terminal:
        terminal.wait_for("step 4 of 4", "integration", "collect2")
        used = set(re.findall(r"[34]8;2;(\d+);(\d+);(\d+)", terminal.styled))
        assert used
        assert all(red == green == blue for red, green, blue in used), used


@pytest.mark.parametrize("arguments", [("--runs", RUN.parent), ("replay", RUN), HISTOGRAM])
def test_ascii_draws_with_ascii_alone(arguments: tuple[object, ...]):
    with Terminal(*arguments, "--ascii") as terminal:
        assert terminal.wait_for("beaver", "REPLAY" if arguments is HISTOGRAM else "44").isascii()


def test_help_and_questions_in_ascii_too():
    with Terminal(*HISTOGRAM, "--ascii") as terminal:
        terminal.wait_for("step 4 of 4")
        terminal.press("?")
        assert terminal.wait_for("Unified or side by side").isascii()
        terminal.press("Escape")
        terminal.wait_for("step 4 of 4", without=("Unified or side",))
        terminal.press("F")
        assert terminal.wait_for("A new trajectory from step 4").isascii()


def test_a_terminal_that_can_do_nothing_is_told_so():
    with Terminal(*HISTOGRAM, environment={"TERM": "dumb"}) as terminal:
        assert terminal.wait_for_exit() == 2
        assert "TERM" in terminal.screen


def test_without_a_terminal_the_error_says_what_works_without():
    done = beaver(*HISTOGRAM)
    assert done.code == 2
    assert done.err == "beaver-tui: the workbench needs a terminal; beaver-tui --batch runs without one\n"
