"""The palette: every action of the screen and of the pane in focus, found by its words, done where the focus was."""

from __future__ import annotations

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from beaver_tui.keymap import KEYS
from beaver_tui.palette import Actions
from beaver_tui.widgets.codeview import CodeView
from beaver_tui.widgets.reach import keys_here
from tests.support.workbench import Driver, stored, whole_run, workbench

pytestmark = pytest.mark.usefixtures("at_fixtures")


async def actions(bench: Driver) -> list[str]:
    """The ids of what the palette offers, in its order."""
    helps = [hit.help async for hit in Actions(bench.app.screen).discover()]
    here = keys_here(bench.app, bench.app.screen, bench.app.focused)
    return [next(key.id for key in here if key.help == text) for text in helps]


async def test_it_holds_every_action_of_the_runs():
    async with workbench() as bench:
        assert await actions(bench) == ids("list", "table", "runs", "app")


async def test_it_holds_every_action_of_the_matrix():
    async with workbench(whole_run()) as bench:
        assert await actions(bench) == ids("list", "table", "sweep", "app")


@pytest.mark.parametrize(
    ("pane", "scopes"), [("#diff", ("diff", "text")), ("#log-test", ("log", "text")), ("#code", ("text",))]
)
async def test_it_holds_every_action_of_the_pane_in_focus_the_nearest_first(pane: str, scopes: tuple[str, ...]):
    async with workbench(stored("image_luma", "stagnating")) as bench:
        if pane == "#code":
            await bench.press("t")
        bench.one(pane).focus()
        await bench.pilot.pause()
        assert await actions(bench) == ids(*scopes, "workbench", "app")


async def test_it_holds_every_action_of_the_comparison():
    async with workbench() as bench:
        await bench.press("x", "j", "x", "c")
        assert await actions(bench) == ids("diff", "text", "compare", "app")


def ids(*scopes: str) -> list[str]:
    return [key.id for scope in scopes for key in KEYS if key.scope == scope and key.id != "app.palette"]


async def test_an_action_is_found_by_its_words_and_done_in_the_pane_that_had_the_focus():
    async with workbench(stored("image_luma", "stagnating")) as bench:
        bench.screen.go(3)
        await bench.press("t")
        view = bench.one(CodeView)
        view.focus()
        await bench.press("g", "ctrl+p")
        assert isinstance(bench.screen, CommandPalette)
        await bench.press(*"the", "space", *"last", "space", *"line")
        options = bench.one("CommandList")
        await bench.until(lambda: options.option_count == 1, "it was found")
        await bench.press("enter")
        await bench.until(lambda: view.cursor == view.row_count - 1, "it was done")


async def test_the_cursor_stands_as_in_every_field():
    async with workbench() as bench:
        await bench.press("ctrl+p")
        field = bench.one("CommandInput", Input)
        assert (field.has_focus, field.cursor_blink, field._cursor_visible) == (True, False, True)


async def test_what_nothing_matches_says_so():
    async with workbench() as bench:
        await bench.press("ctrl+p", *"zzzz")
        options = bench.one("CommandList")
        await bench.until(lambda: options.option_count == 1, "it has looked")
        assert "No matches" in str(options.get_option_at_index(0).prompt)
