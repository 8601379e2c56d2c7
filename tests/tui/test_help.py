"""Help: every action of the pane in focus and of its screen, with its keys, read from the table that binds them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from textual.widgets import Static

from beaver_tui.glyphs import category_sign
from beaver_tui.keymap import KEYS, SCOPES, shown_keys
from beaver_tui.screens.help import Help
from beaver_tui.widgets.dialog import Reading
from engine.verdict.categories import Category
from tests.support.workbench import Driver, stored, whole_run, workbench

pytestmark = pytest.mark.usefixtures("at_fixtures")


def lines(bench: Driver) -> list[str]:
    """What help says, one action a line."""
    assert isinstance(bench.screen, Help)
    console = Console(width=160, file=io.StringIO())
    for part in bench.screen.query(Static):
        console.print(part.content)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


def wanted(*scopes: str) -> list[str]:
    found: list[str] = []
    for scope in scopes:
        found.append(SCOPES[scope])
        found += [f"{shown_keys(key.id, first=False)} {key.help}" for key in KEYS if key.scope == scope]
    return found


@pytest.mark.parametrize("pane", ["#diff", "#log-test"])
async def test_every_action_of_the_workbench_and_the_pane_in_focus(pane: str):
    async with workbench(stored("image_luma", "stagnating")) as bench:
        bench.one(pane).focus()
        await bench.press("question_mark")
        assert [line for line in lines(bench) if line in wanted(*SCOPES)] == wanted(
            "diff" if pane == "#diff" else "log", "text", "workbench", "app"
        )


async def test_every_action_of_the_runs():
    async with workbench() as bench:
        await bench.press("f1")
        assert [line for line in lines(bench) if line in wanted(*SCOPES)] == wanted("list", "table", "runs", "app")


async def test_every_action_of_the_matrix():
    async with workbench(whole_run()) as bench:
        await bench.press("f1")
        assert [line for line in lines(bench) if line in wanted(*SCOPES)] == wanted("list", "table", "sweep", "app")


async def test_every_action_of_the_comparison():
    async with workbench() as bench:
        await bench.press("x", "j", "x", "c", "f1")
        assert [line for line in lines(bench) if line in wanted(*SCOPES)] == wanted("diff", "text", "compare", "app")


async def test_every_category_with_its_sign():
    async with workbench() as bench:
        await bench.press("f1")
        said = " ".join(lines(bench))
        assert [category for category in Category if f"{category_sign(category)} {category}" not in said] == []


@pytest.mark.parametrize("key", ["f1", "question_mark"])
async def test_the_key_of_help_leaves_it_too(key: str):
    async with workbench() as bench:
        await bench.press("f1", key)
        assert not isinstance(bench.screen, Help)


async def test_help_is_scrolled():
    async with workbench(stored("image_luma", "stagnating"), size=(80, 24)) as bench:
        await bench.press("f1", "j", "j", "j")
        body = bench.one(Reading)
        assert body.scroll_offset.y == 3
        await bench.press("k")
        assert body.scroll_offset.y == 2
