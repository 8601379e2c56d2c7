"""The table of the lists: rows made when they are seen, a cursor that stays on its row, cells cut to their column."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from beaver_tui.widgets.rows import WIDEST, Column, Rows, widest

SIZE = (40, 12)


class Table(App[None]):
    """Rows with the cells "name N" and N, and what the table has said."""

    def __init__(self, **options: object) -> None:
        super().__init__()
        self.rows = Rows(**options)  # type: ignore[arg-type]
        self.made: list[str] = []
        self.said: list[str] = []
        self.word = "name"

    def compose(self) -> ComposeResult:
        yield self.rows

    def on_mount(self) -> None:
        self.rows.set_columns([Column(Text("what")), Column(Text("n"), right=True)])
        self.rows.focus()

    def cells(self, key: str) -> list[Text]:
        self.made.append(key)
        return [Text(f"{self.word} {key}"), Text(key)]

    def on_rows_moved(self) -> None:
        self.said.append("moved")

    def on_rows_chosen(self) -> None:
        self.said.append("chosen")


async def filled(pilot: Pilot[None], count: int) -> Table:
    app = pilot.app
    assert isinstance(app, Table)
    keys = [str(number) for number in range(count)]
    app.rows.fill(keys, app.cells, widest([(f"name {key}", key) for key in keys]))
    await pilot.pause()
    return app


def lines(app: Table) -> list[str]:
    """What is drawn, line by line."""
    return [app.rows.render_line(y).text for y in range(app.rows.size.height)]


async def test_of_a_long_list_only_what_is_seen_is_made():
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 100_000)
        assert len(set(app.made)) <= SIZE[1]
        await pilot.press("G")
        await pilot.pause()
        assert len(set(app.made)) <= 2 * SIZE[1]
        assert lines(app)[-1].split() == ["name", "99999", "99999"]
        assert app.rows.cursor_row == 99_999


@pytest.mark.parametrize(
    ("keys", "row"),
    [("j", 1), ("jjk", 1), ("k", 0), ("G", 49), ("Gg", 0), (["pagedown"], 11), (["pagedown", "pageup"], 0)],
)
async def test_the_keys_of_the_other_panes_move_the_cursor(keys: list[str], row: int):
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 50)
        await pilot.press(*keys)
        assert app.rows.cursor_row == row
        assert f"name {row} " in "\n".join(lines(app)), "the cursor is on the screen"


async def test_the_cursor_and_its_place_stay_when_rows_come_before_it():
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 60)
        await pilot.press(*"jjjjjjjjjjjjjjjjjjjj")
        drawn = next(y for y, line in enumerate(lines(app)) if "name 20 " in line)
        keys = ["new", *(str(number) for number in range(60))]
        app.said.clear()
        app.rows.fill(keys, app.cells, [8, 3])
        await pilot.pause()
        assert (app.rows.cursor_key, app.rows.cursor_row) == ("20", 21)
        assert "name 20 " in lines(app)[drawn]
        assert not app.said, "the same row is under the cursor"


async def test_a_row_that_is_gone_leaves_the_cursor_at_the_first():
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 30)
        await pilot.press("G")
        app.rows.fill(["3", "4"], app.cells, [8, 3])
        await pilot.pause()
        assert app.rows.cursor_key == "3"
        assert "name 3 " in lines(app)[1]


async def test_a_changed_row_is_drawn_anew_in_a_column_as_wide_as_it_needs():
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 5)
        app.word = "a longer name"
        app.rows.change("2")
        await pilot.pause()
        assert [line.split() for line in lines(app)[1:4]] == [
            ["name", "0", "0"],
            ["name", "1", "1"],
            ["a", "longer", "name", "2", "2"],
        ]
        assert {line.rstrip()[-1] for line in lines(app)[1:4]} == {"0", "1", "2"}
        assert len({len(line.rstrip()) for line in lines(app)[1:4]}) == 1, "the second column has moved for all rows"


async def test_a_cell_that_is_too_wide_is_cut_with_a_sign():
    async with Table().run_test(size=(WIDEST + 20, 12)) as pilot:
        app = await filled(pilot, 1)
        app.word = "x" * 10_000
        app.rows.change("0")
        await pilot.pause()
        assert lines(app)[1].rstrip().endswith("\u2026  0")
        assert app.rows.virtual_size.width < WIDEST + 10


async def test_a_click_moves_the_cursor_and_another_one_chooses():
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 5)
        await pilot.click(Rows, offset=(3, 3))
        assert (app.rows.cursor_row, "chosen" in app.said) == (2, False)
        await pilot.click(Rows, offset=(3, 3))
        assert app.said[-1] == "chosen"
        app.said.clear()
        await pilot.click(Rows, offset=(3, 0))
        await pilot.click(Rows, offset=(3, 9))
        assert not app.said, "neither the header nor the room below the last row is a row"


async def test_a_cell_of_a_wide_table_is_brought_into_view_beside_the_fixed_column():
    async with Table(by_cell=True, fixed=1).run_test(size=(24, 8)) as pilot:
        app = pilot.app
        app.rows.set_columns([Column(Text("task")), *(Column(Text(f"fixer {number}")) for number in range(9))])
        app.rows.fill(["a", "b"], lambda key: [Text(key), *(Text(f"{key}{number}") for number in range(9))])
        await pilot.press("j", *"llllllll")
        assert (app.rows.cursor_key, app.rows.cursor_column) == ("b", 8)
        header, _, row = lines(app)[:3]
        assert header.split()[0] == "task" and "fixer 7" in header
        assert row.split()[0] == "b" and "b7" in row
        await pilot.press(*"hhhhhhhh")
        assert "fixer 0" in lines(app)[0]


@pytest.mark.parametrize(
    "act", [lambda rows: rows.action_move(1), lambda rows: rows.change("x"), lambda rows: rows.action_bottom()]
)
async def test_an_empty_table_has_no_row_to_act_on(act: Callable[[Rows], None]):
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 1)
        app.rows.fill([], app.cells, [])
        act(app.rows)
        await pilot.pause()
        assert (app.rows.cursor_key, app.rows.row_count) == (None, 0)
        assert lines(app)[0].split() == ["what", "n"]


async def test_when_the_focus_comes_and_goes_no_row_is_made_anew_and_the_cursor_shows_it():
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 50)
        await pilot.press("j")
        made, bold = list(app.made), [has_bold(app, 2)]
        for change in (app.rows.blur, app.rows.focus):
            change()
            await pilot.pause()
            bold.append(has_bold(app, 2))
        assert bold == [True, False, True]
        assert app.made == made


def has_bold(app: Table, line: int) -> bool:
    return any(part.style is not None and part.style.bold for part in app.rows.render_line(line))


async def test_in_another_theme_every_row_is_made_anew():
    async with Table().run_test(size=SIZE) as pilot:
        app = await filled(pilot, 5)
        app.made.clear()
        app.theme = "textual-light"
        await pilot.pause()
        assert sorted(set(app.made)) == ["0", "1", "2", "3", "4"]
