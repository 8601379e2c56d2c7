"""The keys of dialogs, of lists and of fields: each does what its help says, from the keyboard and from the palette."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from beaver_tui.app import Preferences, Start
from beaver_tui.keymap import KEYS, shown_keys
from beaver_tui.screens.help import Help
from beaver_tui.screens.messages import Messages
from beaver_tui.screens.modals import Ask, Choose, Confirm
from beaver_tui.screens.newrun import NewRun
from beaver_tui.screens.runs import Runs
from beaver_tui.widgets.dialog import Act, Choices, Field, Reading, Setting
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.logview import LogView
from beaver_tui.widgets.reach import keys_here
from beaver_tui.widgets.rows import Rows
from beaver_tui.wish import Wish
from tests.support.stores import make_store
from tests.support.workbench import Driver, Way, presses, selected_row, stored, whole_run, workbench


async def asked(bench: Driver, dialog: object) -> list[object]:
    """The dialog is on the screen; its answer will be the list's only entry."""
    answers: list[object] = []
    await bench.app.push_screen(dialog, answers.append)  # type: ignore[arg-type]
    await bench.pilot.pause()
    return answers


# a question


@presses("confirm.yes")
async def test_yes(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, Confirm("Do it?"))
        await do(bench)
        assert answers == [True]


@presses("confirm.no")
async def test_no(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, Confirm("Do it?"))
        await do(bench)
        assert answers == [False]


@presses("button.press")
async def test_the_button_in_focus_is_pressed(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, Confirm("Do it?"))
        await bench.press("shift+tab")
        assert bench.one("#yes").has_focus
        await do(bench)
        await bench.until(lambda: answers, "it was pressed")
        assert answers == [True]


# a choice


@presses("choose.take")
async def test_the_row_under_the_cursor_is_taken(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, Choose("Which?", ["a", "b", "c"], 1))
        await do(bench)
        await bench.until(lambda: answers, "it was taken")
        assert answers == [1]


@presses("choose.leave")
async def test_nothing_is_chosen(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, Choose("Which?", ["a", "b"]))
        await do(bench)
        assert answers == [None]


async def chosen_after(do: Way, tmp_path: Path, start: int) -> int:
    """Where the cursor stands in a choice of a hundred rows, and at the same place in a table of a hundred."""
    make_store(tmp_path, runs=1, cells=100, iterations=1)
    async with workbench(Start(runs=tmp_path), size=(140, 30)) as bench:
        await bench.until(lambda: bench.one(Rows).row_count == 100, "all rows are there")
        await bench.press(*"j" * start)
        await do(bench)
        row = selected_row(bench)
        await asked(bench, Choose("Which?", [str(number) for number in range(100)], start))
        await do(bench)
        chosen = bench.one(Choices).highlighted
        assert (row > start, row < start) == (chosen > start, chosen < start)
        return int(chosen)


@presses("list.down")
async def test_the_next_row(do: Way, tmp_path: Path):
    assert await chosen_after(do, tmp_path, 2) == 3


@presses("list.up")
async def test_the_row_before(do: Way, tmp_path: Path):
    assert await chosen_after(do, tmp_path, 2) == 1


@presses("list.top")
async def test_the_first_row(do: Way, tmp_path: Path):
    assert await chosen_after(do, tmp_path, 5) == 0


@presses("list.bottom")
async def test_the_last_row(do: Way, tmp_path: Path):
    assert await chosen_after(do, tmp_path, 5) == 99


@presses("list.page_down")
async def test_a_page_of_rows_down(do: Way, tmp_path: Path):
    assert 8 < await chosen_after(do, tmp_path, 2) < 40


@presses("list.page_up")
async def test_a_page_of_rows_up(do: Way, tmp_path: Path):
    assert 0 <= await chosen_after(do, tmp_path, 30) < 25


async def column_after(do: Way, start: int, at_fixtures: Path) -> str:
    """The fixer under the cursor of the matrix."""
    async with workbench(whole_run()) as bench:
        await bench.press(*"l" * start)
        await do(bench)
        return str(bench.screen.selected.fixer)


@presses("table.right")
async def test_the_next_column(do: Way, at_fixtures: Path):
    assert await column_after(do, 0, at_fixtures) == "scripted:degenerate"


@presses("table.left")
async def test_the_column_before(do: Way, at_fixtures: Path):
    assert await column_after(do, 1, at_fixtures) == "scripted:good"


# a line to type


@presses("ask.leave")
async def test_what_was_typed_is_forgotten(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, Ask("What?", "old"))
        await bench.press("x")
        await do(bench)
        assert answers == [None]


@presses("field.take")
async def test_what_is_typed_is_taken(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, Ask("What?", "old"))
        await bench.press("end", "x")
        await do(bench)
        await bench.until(lambda: answers, "it was taken")
        assert answers == ["oldx"]


# the form of a new run

WISH = Wish("sum", "scripted:s", "confirm", "corpus", "cpu", 3, "L2", "fixers.yaml")


@presses("newrun.start")
async def test_the_run_of_the_form_is_asked_for(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, NewRun(WISH))
        await do(bench)
        await bench.until(lambda: answers, "it was asked for")
        assert answers == [WISH]


async def test_a_corpus_that_is_typed_is_asked_for_and_none_is_the_built_in_one(tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, NewRun(Wish("sum")))
        bench.burst("tab", *"~/mine", "enter")
        await bench.until(lambda: answers, "it was asked for")
        assert [wish.corpus for wish in answers] == [str(Path("~/mine").expanduser())]
        answers = await asked(bench, NewRun(Wish("sum")))
        await bench.press("enter")
        assert [wish.corpus for wish in answers] == [None]


@presses("newrun.leave")
async def test_nothing_is_started(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, NewRun(WISH))
        await do(bench)
        assert answers == [None]


@pytest.mark.parametrize(
    ("wish", "problem"),
    [
        (Wish(""), "which task? beaver-tui tasks lists them"),
        (Wish("sum", ""), "which fixer?"),
        (Wish("sum", k=0), "K must be a number from 1 on"),
    ],
)
async def test_what_is_wrong_with_the_form_is_said_in_it(tmp_path: Path, wish: Wish, problem: str):
    async with workbench(Start(runs=tmp_path)) as bench:
        answers = await asked(bench, NewRun(wish))
        await bench.press("ctrl+s")
        assert (answers, bench.text("#problem")) == ([], problem)


@presses("setting.next")
async def test_the_next_value_of_a_setting(do: Way, tmp_path: Path):
    assert await mode_after(do, tmp_path) == "confirm"


@presses("setting.previous")
async def test_the_value_before_round_the_end(do: Way, tmp_path: Path):
    assert await mode_after(do, tmp_path) == "human"


async def mode_after(do: Way, tmp_path: Path) -> str:
    async with workbench(Start(runs=tmp_path)) as bench:
        await asked(bench, NewRun())
        setting = bench.one("#mode", Setting)
        setting.focus()
        await bench.pilot.pause()
        await do(bench)
        return setting.value


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_whole_form_is_seen(tmp_path: Path, size: tuple[int, int]):
    async with workbench(Start(runs=tmp_path), size=size) as bench:
        await asked(bench, NewRun(WISH, "a problem that is said in some more words than fit on a line of eighty cells"))
        form = bench.one(".form")
        assert form.max_scroll_y == 0
        for widget in [*bench.screen.query(Field), *bench.screen.query(Setting), *bench.screen.query(Act)]:
            assert widget.region.size == widget.outer_size and form.region.contains_region(widget.region)


async def test_in_a_tiny_terminal_the_form_follows_the_focus(tmp_path: Path):
    async with workbench(Start(runs=tmp_path), size=(50, 12)) as bench:
        await asked(bench, NewRun(WISH))
        for _ in range(7):
            await bench.press("tab")
        assert bench.one("#start").has_focus
        assert bench.one(".form").region.contains_region(bench.one("#start").region)


# messages


@presses("app.messages")
async def test_what_was_told_can_be_read_again(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        bench.app.notify("the first [b]")
        bench.app.notify("the second", severity="error")
        await do(bench)
        assert isinstance(bench.screen, Messages)
        view = bench.one(LogView)
        rows = [view.row_text(row) for row in range(view.row_count)]
        assert [row.partition("  ")[2] for row in rows] == ["the first [b]", "error: the second"]
        await bench.press("M")
        assert isinstance(bench.screen, Runs)


@presses("messages.leave")
async def test_the_messages_are_left(do: Way, tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        await bench.press("M")
        assert str(bench.one("Label").content) == "Nothing was told yet."
        await do(bench)
        assert isinstance(bench.screen, Runs)


async def test_a_run_that_cannot_begin_comes_back_as_a_form_that_says_why(tmp_path: Path):
    wish = Wish("softmax_rows", "scripted:nobody", device="cpu")
    async with workbench(Start(runs=tmp_path, wish=wish)) as bench:
        await bench.until(lambda: isinstance(bench.screen, NewRun), "the form is back")
        assert bench.told == ["beginning softmax_rows with scripted:nobody ..."]
        assert "nobody" in bench.text("#problem")
        assert [bench.one(f"#{name}", Input).value for name in ("task", "fixer")] == ["softmax_rows", "scripted:nobody"]
        assert list(tmp_path.iterdir()) == []


# help


async def scrolled(do: Way, start: int) -> int:
    async with workbench(stored("image_luma", "stagnating"), size=(80, 24)) as bench:
        await bench.press("f1", *"j" * start)
        await do(bench)
        return int(bench.one(Reading).scroll_offset.y)


@presses("help.down")
async def test_help_one_line_down(do: Way, at_fixtures: Path):
    assert await scrolled(do, 2) == 3


@presses("help.up")
async def test_help_one_line_up(do: Way, at_fixtures: Path):
    assert await scrolled(do, 2) == 1


@presses("help.page_down")
async def test_help_a_page_down(do: Way, at_fixtures: Path):
    assert await scrolled(do, 0) > 10


@presses("help.page_up")
async def test_help_a_page_up(do: Way, at_fixtures: Path):
    assert await scrolled(do, 14) < 4


@presses("help.leave")
async def test_help_is_left(do: Way, at_fixtures: Path):
    async with workbench() as bench:
        await bench.press("f1")
        await do(bench)
        assert not isinstance(bench.screen, Help)


# all dialogs


def dialogs() -> dict[str, object]:
    return {
        "confirm": lambda: Confirm("Do it?"),
        "choose": lambda: Choose("Which?", ["a", "b"]),
        "ask": lambda: Ask("What?"),
        "newrun": NewRun,
        "messages": lambda: Messages([]),
    }


OWN = {
    "confirm.yes": "f4",
    "confirm.no": "f6",
    "choose.take": "f4",
    "choose.leave": "f6",
    "ask.leave": "f6",
    "field.take": "f4",
    "newrun.start": "f4",
    "newrun.leave": "f6",
    "messages.leave": "f6",
    "app.help": "f2",
    "app.palette": "f3",
}


@pytest.mark.parametrize("name", dialogs())
async def test_a_dialog_heeds_a_persons_own_keys_and_shows_them(tmp_path: Path, name: str):
    own = tmp_path / "keymap.yaml"
    own.write_text("".join(f"{action}: {key}\n" for action, key in OWN.items()))
    async with workbench(Start(runs=tmp_path), Preferences(keymap=own)) as bench:
        answers = await asked(bench, dialogs()[name]())  # type: ignore[operator]
        shown = " ".join(str(each.content) for each in bench.screen.query(KeyLine))
        shown += " ".join(str(each.label) for each in bench.screen.query(Act))
        here = [key for key in keys_here(bench.app, bench.screen, bench.app.focused) if key.id in OWN]
        missing = [key.id for key in here if key.shown and key.scope != "app" and OWN[key.id] not in shown]
        assert missing == []
        await bench.press("escape")
        assert answers == [], "the old key does nothing"
        await bench.press("f2")
        assert isinstance(bench.screen, Help)
        assert bench.screen.keys == keys_here(bench.app, bench.app.screen_stack[-2], bench.app.screen_stack[-2].focused)
        await bench.press("f2", "f6")
        assert answers and not answers[0]


@pytest.mark.parametrize("name", dialogs())
async def test_no_dialog_has_a_key_that_is_not_in_the_table(tmp_path: Path, name: str):
    known = {key.id for key in KEYS}
    typing = {binding.action for binding in Input.BINDINGS} - {"submit"}  # type: ignore[union-attr]
    async with workbench(Start(runs=tmp_path)) as bench:
        await asked(bench, dialogs()[name]())  # type: ignore[operator]
        for _ in range(8):
            bindings = [active.binding for active in bench.screen.active_bindings.values()]
            assert [each for each in bindings if each.id not in known and each.action not in typing] == []
            await bench.press("tab")


async def test_a_button_names_its_key(tmp_path: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        await asked(bench, Confirm("Do it?", "Leave", "Stay"))
        labels = [str(button.label) for button in bench.screen.query(Act)]
        assert labels == [f"Leave ({shown_keys('confirm.yes')})", f"Stay ({shown_keys('confirm.no')})"]
