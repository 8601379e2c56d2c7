"""The keys of the panes of text, and those that work everywhere."""

from __future__ import annotations

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from beaver_tui.screens.help import Help
from beaver_tui.screens.runs import Runs
from beaver_tui.widgets.codeview import CodeView
from beaver_tui.widgets.diffview import DiffView
from beaver_tui.widgets.logview import LogView
from tests.support.workbench import Driver, Way, presses, stored, workbench

pytestmark = pytest.mark.usefixtures("at_fixtures")


def four_steps():
    return stored("image_luma", "stagnating")


async def in_the_code(bench: Driver, row: int) -> CodeView:
    """The code pane in focus with its cursor in a row; the file has 40 lines, of which 26 are in view."""
    bench.screen.go(3)
    await bench.press("t")
    view = bench.one(CodeView)
    view.focus()
    view.cursor = row
    await bench.pilot.pause()
    assert view.row_count == 40
    return view


async def cursor_after(do: Way, row: int) -> int:
    async with workbench(four_steps()) as bench:
        view = await in_the_code(bench, row)
        await do(bench)
        return int(view.cursor)


@presses("text.down")
async def test_one_line_down(do: Way):
    assert await cursor_after(do, 5) == 6


@presses("text.up")
async def test_one_line_up(do: Way):
    assert await cursor_after(do, 5) == 4


@presses("text.page_down")
async def test_one_page_down(do: Way):
    assert 20 < await cursor_after(do, 0) < 39


@presses("text.page_up")
async def test_one_page_up(do: Way):
    assert 0 < await cursor_after(do, 39) < 20


@presses("text.top")
async def test_the_first_line(do: Way):
    assert await cursor_after(do, 17) == 0


@presses("text.bottom")
async def test_the_last_line(do: Way):
    assert await cursor_after(do, 17) == 39


async def side_after(do: Way, start: int) -> int:
    """How far lines are moved to the left in a narrow terminal."""
    async with workbench(four_steps(), size=(80, 24)) as bench:
        view = await in_the_code(bench, 0)
        view.scroll_to(x=start, animate=False)
        await bench.pilot.pause()
        await do(bench)
        return int(view.scroll_offset.x)


@presses("text.left")
async def test_to_the_left_in_long_lines(do: Way):
    assert await side_after(do, 10) == 0


@presses("text.right")
async def test_to_the_right_in_long_lines(do: Way):
    assert await side_after(do, 0) > 5


@presses("text.search")
async def test_what_is_searched_for_is_under_the_cursor(do: Way):
    async with workbench(four_steps()) as bench:
        view = await in_the_code(bench, 0)
        await do(bench)
        assert isinstance(bench.app.focused, Input)
        await bench.press(*"blockidx", "enter")
        assert "blockIdx" in view.row_text(view.cursor)


async def hits(do: Way, start: int) -> tuple[list[int], int]:
    """The rows with a hit, and the row after a key in the row of the hit ``start``."""
    async with workbench(four_steps()) as bench:
        view = await in_the_code(bench, 0)
        view.search("int")
        rows = view.matching("int")
        view.cursor = rows[start]
        await do(bench)
        return rows, int(view.cursor)


@presses("text.next_hit")
async def test_the_next_hit(do: Way):
    rows, cursor = await hits(do, 0)
    assert cursor == rows[1]


@presses("text.previous_hit")
async def test_the_hit_before(do: Way):
    rows, cursor = await hits(do, 1)
    assert cursor == rows[0]


@presses("text.copy")
async def test_a_line_is_copied(do: Way):
    async with workbench(four_steps()) as bench:
        view = await in_the_code(bench, 18)
        await do(bench)
        assert bench.app.clipboard == view.row_text(18) != ""


# logs


@presses("log.filter")
async def test_only_lines_that_match(do: Way):
    async with workbench(four_steps()) as bench:
        bench.screen.go(3)
        log = bench.one("#log-build", LogView)
        log.focus()
        await bench.pilot.pause()
        before = log.row_count
        await do(bench)
        await bench.press(*"error", "enter")
        assert 0 < log.row_count < before
        assert all("error" in log.row_text(row).lower() for row in range(log.row_count))


@presses("log.choose")
async def test_a_line_of_a_log_leads_to_its_source(do: Way):
    async with workbench(four_steps()) as bench:
        bench.screen.go(3)
        await bench.pilot.pause()
        log = bench.one("#log-build", LogView)
        log.focus()
        log.search("solution.cu(19)")
        await bench.pilot.pause()
        await do(bench)
        assert bench.one("#view").current == "code"
        assert bench.one(CodeView).cursor == 18


# diffs


@presses("diff.split")
async def test_side_by_side_and_back(do: Way):
    async with workbench(four_steps()) as bench:
        view = bench.one(DiffView)
        before = view.split
        await do(bench)
        assert view.split is not before
        await do(bench)
        assert view.split is before


async def rows_after(do: Way) -> tuple[int, int]:
    """How many rows a diff has before and after a key."""
    async with workbench(four_steps()) as bench:
        view = bench.one(DiffView)
        before = view.row_count
        await do(bench)
        return before, view.row_count


@presses("diff.more")
async def test_more_unchanged_lines(do: Way):
    before, after = await rows_after(do)
    assert after > before


@presses("diff.less")
async def test_fewer_unchanged_lines(do: Way):
    before, after = await rows_after(do)
    assert after < before


@presses("diff.whitespace")
async def test_changes_of_white_space_are_ignored_and_shown(do: Way):
    async with workbench(four_steps()) as bench:
        view = bench.one(DiffView)
        view.show(b"int a;\nint b;\n", b"int  a;\nint b;\n")
        await bench.pilot.pause()
        assert view.diff.added == 1
        await do(bench)
        assert view.diff.added == 0
        await do(bench)
        assert view.diff.added == 1


# everywhere


@presses("app.help")
async def test_the_keys_of_what_has_the_focus(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        assert isinstance(bench.screen, Help)
        assert bench.screen.scopes == ["diff", "text", "workbench", "app"]


@presses("app.palette")
async def test_every_action_by_name(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        assert isinstance(bench.screen, CommandPalette)


@presses("app.quit")
async def test_the_app_is_left(do: Way):
    async with workbench() as bench:
        await do(bench)
        assert not bench.app.is_running


@presses("app.back")
async def test_back_to_the_screen_before(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        assert isinstance(bench.screen, Runs)


@presses("app.next_pane")
async def test_the_next_pane(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        assert bench.app.focused is bench.one("#log-test")


@presses("app.previous_pane")
async def test_the_pane_before(do: Way):
    async with workbench(four_steps()) as bench:
        await bench.press("tab")
        await do(bench)
        assert bench.app.focused is bench.one("#diff")


@presses("app.theme")
async def test_the_themes_in_turn(do: Way):
    async with workbench() as bench:
        seen = [bench.app.theme]
        for _ in range(4):
            await do(bench)
            seen.append(bench.app.theme)
        assert seen == ["lodge", "night", "okabe", "river", "lodge"]
