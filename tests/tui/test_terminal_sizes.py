"""Small terminals, terminals without colours or signs, and none at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.program import beaver
from tests.support.tasks import write_task
from tests.tui.live import Bench
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


SLOW = """\
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>
// adds up n floats, and says for a while how far it is
float total(const float* x, std::size_t n) {
  for (int second = 0; second < 400; ++second) {
    std::printf("still at it %d\\n", second);
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  float sum = 0.0f;
  for (std::size_t i = 1; i < n; ++i) sum += x[i];
  return sum;
}
"""


def test_a_live_run_is_shown_whole_in_every_size_while_it_goes_on(bench: Bench):
    """A terminal that shrinks to 80 by 24 and grows again while a program prints loses no line and no key."""
    write_task(bench.folder / "corpus", answers={"s": [SLOW]}, spec={"timeouts": {"cpu": {"build": 60, "test": 60}}})
    terminal = bench.start()
    terminal.wait_for("LIVE auto", "testing", "still at it 3", "budget 5 left")
    terminal.resize(80, 24)
    small = terminal.wait_for("LIVE auto", "step 1 of 1", "help", without=("budget",))
    assert max(map(len, small.splitlines())) <= 80
    seen = last_number(small)
    terminal.wait_for(lambda screen: last_number(screen) > seen + 5, "LIVE auto")
    terminal.press("h")
    terminal.wait_for("step 0 of 1", "broken start")
    terminal.resize(140, 42)
    terminal.wait_for("LIVE auto", "step 0 of 1", "testing", "budget")
    terminal.press("l")
    terminal.wait_for("LIVE auto", "step 1 of 1", "still at it", "budget 5 left")
    terminal.press("C-c", "C-c")
    terminal.wait_for("REPLAY", "step 1 of 1")


def last_number(screen: str) -> int:
    """The newest line of the program that is on the screen."""
    return max(map(int, re.findall(r"still at it (\d+)", screen)), default=-1)
