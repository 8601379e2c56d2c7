"""Keys that arrive together: each goes to what has the focus when all before it is done, and none is lost.

A key that ends a field, a dialog or a screen is followed at once by one that is meant for what is below it, and a key that opens
one by what is to be typed there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.events import Paste

from beaver_tui.screens.modals import Ask, Choose, Confirm
from beaver_tui.screens.newrun import NewRun
from beaver_tui.screens.runs import Runs
from beaver_tui.screens.workbench import Workbench
from beaver_tui.widgets.dialog import Dialog
from beaver_tui.widgets.rows import Rows
from tests.support.until import until_async
from tests.support.workbench import Driver, selected_row, stored, workbench
from tests.tui.terminal import Terminal, needs_tmux

pytestmark = pytest.mark.usefixtures("at_fixtures")

ROUNDS = 8


def at_step(number: int) -> Callable[[Driver], bool]:
    """The workbench stands at this step, with no dialog over it."""
    return lambda bench: isinstance(bench.screen, Workbench) and bench.screen.session.position == number


def at_row(number: int) -> Callable[[Driver], bool]:
    """The list of runs has its cursor here, with no dialog over it."""
    return lambda bench: isinstance(bench.screen, Runs) and selected_row(bench) == number


@dataclass(frozen=True)
class Burst:
    """``keys`` arrive at once; then ``reached`` must hold. ``back`` are pressed one by one before the next round."""

    keys: tuple[str, ...]
    reached: Callable[[Driver], bool]
    back: tuple[str, ...]
    home: bool = True
    """From the list of runs, else from the last of four steps of a trajectory."""


BURSTS = {
    "the filter of the runs": Burst(
        ("/", *"histogram fixer:stagnating", "enter", "enter"), at_step(4), ("q", "/", "escape", "g")
    ),
    "a filter that is left": Burst(("/", *"gemm", "escape", "g", "j", "j"), at_row(2), ("g",)),
    "a screen that is opened": Burst(("j", "j", "enter", "h", "h"), at_step(1), ("q", "g")),
    "a screen that is left": Burst(("enter", "q", "j"), at_row(1), ("g",)),
    "help": Burst(("?", "j", "q", "j", "j"), at_row(2), ("g",)),
    "a form": Burst(("n", *"softmax_rows", "tab", *"scripted", "escape", "j"), at_row(1), ("g",)),
    "a search": Burst(("/", *"bins", "enter", "h"), at_step(3), ("l",), home=False),
    "a search that is left": Burst(("/", *"bins", "escape", "h"), at_step(3), ("l",), home=False),
    "the filter of a log": Burst(("tab", "f", *"error", "enter", "h"), at_step(3), ("l", "shift+tab"), home=False),
    "a line to type": Burst((":", "1", "enter", "l"), at_step(2), ("$",), home=False),
    "a line to type that is left": Burst((":", "1", "escape", "h"), at_step(3), ("l",), home=False),
    "a table": Burst(("e", "enter", "h"), at_step(3), ("l",), home=False),
    "one line after the other": Burst((":", "1", "enter", ":", "3", "enter", "h"), at_step(2), ("$",), home=False),
}


@pytest.mark.parametrize("burst", BURSTS.values(), ids=BURSTS.keys())
async def test_keys_that_were_typed_ahead_reach_what_has_the_focus_next(burst: Burst):
    start = None if burst.home else stored("histogram_bytes", "stagnating")
    async with workbench(start) as bench:
        for number in range(ROUNDS):
            bench.burst(*burst.keys)
            await bench.until(lambda: burst.reached(bench), f"round {number}: {burst.keys}")
            await bench.press(*burst.back)


DIALOGS = {
    "yes": (lambda: Confirm("Do it?"), ("y",), True),
    "a button": (lambda: Confirm("Do it?"), ("shift+tab", "enter"), True),
    "a line": (lambda: Ask("What?"), (*"words", "enter"), "words"),
    "a row": (lambda: Choose("Which?", ["one", "two", "three"]), ("j", "j", "k", "enter"), 1),
}


@pytest.mark.parametrize(("dialog", "keys", "answer"), DIALOGS.values(), ids=DIALOGS.keys())
async def test_the_key_after_an_answer_is_for_the_screen_below(
    dialog: Callable[[], Dialog[object]], keys: tuple[str, ...], answer: object
):
    async with workbench() as bench:
        for number in range(ROUNDS):
            answers: list[object] = []
            await bench.app.push_screen(dialog(), answers.append)
            bench.burst(*keys, "j", "j")
            await bench.until(lambda: at_row(2)(bench), f"round {number}")
            assert answers == [answer]
            await bench.press("g")


async def test_what_a_form_complains_of_leaves_the_keys_behind_to_its_field():
    async with workbench() as bench:
        for _ in range(ROUNDS):
            bench.burst("n", "enter", *"abc")
            await bench.until(lambda: isinstance(bench.screen, NewRun) and bench.one("#task").value == "abc", "typed")
            assert "which task?" in bench.text("#problem")
            await bench.press("escape")


async def test_pasted_text_waits_for_its_field():
    async with workbench() as bench:
        bench.burst("/")
        bench.app.post_message(Paste("gemm"))
        bench.burst("enter", "j")
        await bench.until(lambda: bench.one(Rows).row_count == 3 and selected_row(bench) == 1, "filtered, and moved")


async def test_a_pane_that_is_stuck_does_not_keep_the_keys():
    """What a key does may take longer than anybody waits: the key behind it is heeded all the same, and the first is not lost."""
    async with workbench() as bench:
        goes_on = asyncio.Event()
        bench.one(Rows).call_later(goes_on.wait)
        bench.burst("j", "ctrl+c")
        await until_async(lambda: bench.told, "what ctrl+c says")
        assert selected_row(bench) == 0
        goes_on.set()
        await bench.until(lambda: at_row(1)(bench), "moved")


async def test_behind_a_pane_that_is_stuck_one_wait_is_enough_for_all_keys():
    """Each key was waited for by itself: with a key held down ctrl+c came a minute late."""
    seconds = []
    for keys in (("j",), ("j",) * 6):
        async with workbench() as bench:
            goes_on = asyncio.Event()
            bench.one(Rows).call_later(goes_on.wait)
            began = time.monotonic()
            bench.burst(*keys, "ctrl+c")
            await until_async(lambda: bench.told, "what ctrl+c says")
            seconds.append(time.monotonic() - began)
            goes_on.set()
    assert seconds[1] < 3 * seconds[0]


@needs_tmux
def test_in_a_terminal_a_filter_and_two_enters_are_one_burst():
    with Terminal("--runs", Path("h200").absolute()) as terminal:
        terminal.wait_for("44 trajectories")
        for _ in range(ROUNDS):
            terminal.press("/", *"histogram", "Space", *"fixer:stagnating", "Enter", "Enter")
            terminal.wait_for("step 4 of 4", "REPLAY", "histogram_bytes · scripted:stagnating")
            terminal.press("q", "/", "Escape")  # last: with a key at once behind it, it is alt with that key
            terminal.wait_for("44 trajectories", without=("1 of 44",))
