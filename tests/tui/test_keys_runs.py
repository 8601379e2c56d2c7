"""The keys of the list of runs, of the matrix and of the comparison."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from textual.widgets import Input

from beaver_tui.app import Start
from beaver_tui.screens.compare import Compare
from beaver_tui.screens.newrun import NewRun
from beaver_tui.screens.runs import Runs
from beaver_tui.screens.sweep import Sweep
from beaver_tui.screens.workbench import Workbench
from beaver_tui.widgets.rows import Rows
from tests.support.stores import make_store
from tests.support.workbench import Driver, Way, presses, whole_run, workbench

pytestmark = pytest.mark.usefixtures("at_fixtures")


@presses("runs.open")
async def test_a_trajectory_is_opened(do: Way):
    async with workbench() as bench:
        await bench.press("j", "j")
        await do(bench)
        assert isinstance(bench.screen, Workbench)
        assert str(bench.screen.opened.cell) == "attention_window · scripted:stagnating"


@presses("runs.sweep")
async def test_the_run_as_a_matrix(do: Way):
    async with workbench() as bench:
        await do(bench)
        assert isinstance(bench.screen, Sweep)
        assert bench.one(Rows).row_count == 12


@presses("runs.new")
async def test_the_form_of_a_new_run(do: Way):
    async with workbench() as bench:
        await do(bench)
        assert isinstance(bench.screen, NewRun)


def marks(bench: Driver) -> list[str]:
    table = bench.one(Rows)
    return [str(table.get_row_at(row)[0]) for row in range(3)]


@presses("runs.mark")
async def test_a_mark_comes_and_goes(do: Way):
    async with workbench() as bench:
        await bench.press("j")
        await do(bench)
        assert marks(bench) == [" ", "◆", " "]
        await do(bench)
        assert marks(bench) == [" ", " ", " "]


@presses("runs.compare")
async def test_the_two_marked_are_compared(do: Way):
    async with workbench() as bench:
        await do(bench)
        assert bench.told == ["mark two trajectories with x, then c compares them"]
        await bench.press("x", "j", "j", "x")
        await do(bench)
        assert isinstance(bench.screen, Compare)
        whos = [str(widget.content).split()[0] for widget in bench.screen.query(".who")]
        assert whos == ["scripted:good", "scripted:stagnating"]


@presses("runs.filter")
async def test_the_list_is_filtered_while_it_is_typed(do: Way):
    async with workbench() as bench:
        await do(bench)
        assert bench.one(Input).has_focus
        await bench.press(*"gemm")
        assert bench.one(Rows).row_count == 3
        assert "3 of 44" in bench.text("#top")
        await bench.press("enter")
        assert bench.one(Rows).has_focus
        await do(bench)
        await bench.press("escape")
        assert bench.one(Rows).row_count == 44


@presses("runs.reload")
async def test_the_folder_is_read_again(do: Way, tmp_path: Path, at_fixtures: Path):
    async with workbench(Start(runs=tmp_path)) as bench:
        assert bench.one(Rows).row_count == 0
        shutil.copytree(at_fixtures / "h200" / "run", tmp_path / "run")
        await do(bench)
        await bench.until(lambda: bench.one(Rows).row_count == 44, "the new run is listed")


# the matrix


@presses("sweep.open")
async def test_a_cell_is_opened(do: Way):
    async with workbench(whole_run()) as bench:
        await bench.press("j", "l")
        await do(bench)
        assert isinstance(bench.screen, Workbench)
        assert str(bench.screen.opened.cell) == "conv2d_same · scripted:degenerate"


@presses("sweep.failures")
async def test_failures_come_first_and_go_back(do: Way, tmp_path: Path, at_fixtures: Path):
    run = tmp_path / "run"
    shutil.copytree(at_fixtures / "h200" / "run", run)
    plan = (run / "plan.jsonl").read_text().splitlines(keepends=True)
    (run / "plan.jsonl").write_text("".join(plan[:2] + plan[4:8]))  # of the first task what passed alone
    async with workbench(whole_run(run)) as bench:
        table = bench.one(Rows)

        def drawn() -> list[list[str]]:
            return [[str(text) for text in table.get_row_at(row)] for row in range(table.row_count)]

        passed = ["attention_window", "✓ 1.45x", "✓ 0.27x", "", ""]
        failed = ["conv2d_same", "✗✓ 1.62x", "✓ 0.01x", "✗⊄✗", "⊄"]
        assert drawn() == [passed, failed]
        await do(bench)
        assert drawn() == [failed, passed]
        assert "failures first" in bench.text("#top")
        await do(bench)
        assert drawn() == [passed, failed]


@presses("sweep.map")
async def test_the_histogram_and_the_transitions(do: Way):
    async with workbench(whole_run()) as bench:
        assert "iterations by category" in bench.text("#map")
        await do(bench)
        assert "from (row) to (column)" in bench.text("#map")
        await do(bench)
        assert "iterations by category" in bench.text("#map")


# the comparison


async def compared(do: Way, left: int, right: int) -> tuple[int, int]:
    """The steps of both sides after a key; good has the steps 0 to 2, stagnating 0 to 3."""
    async with workbench(Start(runs=Path("h200"))) as bench:
        await bench.press("j", "j", "j", "j", "x", "j", "j", "x", "c")
        sessions = [bench.screen.comparison.left, bench.screen.comparison.right]
        for session, step in zip(sessions, (left, right), strict=True):
            session.go(step)
        bench.screen.show()
        await do(bench)
        steps = tuple(session.position for session in sessions)
        assert f"step {steps[0]} against step {steps[1]}" in bench.text("#top")
        return steps


@presses("compare.previous")
async def test_both_sides_one_back(do: Way):
    assert await compared(do, 2, 2) == (1, 1)


@presses("compare.next")
async def test_both_sides_one_on(do: Way):
    assert await compared(do, 1, 1) == (2, 2)


@presses("compare.left_back")
async def test_the_left_side_one_back(do: Way):
    assert await compared(do, 2, 2) == (1, 2)


@presses("compare.left_on")
async def test_the_left_side_one_on(do: Way):
    assert await compared(do, 1, 1) == (2, 1)


@presses("compare.right_back")
async def test_the_right_side_one_back(do: Way):
    assert await compared(do, 2, 2) == (2, 1)


@presses("compare.right_on")
async def test_the_right_side_one_on(do: Way):
    assert await compared(do, 1, 1) == (1, 2)


@presses("compare.swap")
async def test_left_becomes_right(do: Way):
    async with workbench() as bench:
        await bench.press("x", "j", "x", "c")
        await do(bench)
        assert isinstance(bench.screen, Compare)
        whos = [str(widget.content).split()[0] for widget in bench.screen.query(".who")]
        assert whos == ["scripted:degenerate", "scripted:good"]
        assert not isinstance(bench.screen, Runs)


async def test_a_long_list_comes_in_pieces_and_all_of_it_comes(tmp_path: Path):
    make_store(tmp_path, runs=3, cells=50, iterations=1)
    async with workbench(Start(runs=tmp_path)) as bench:
        table = bench.one(Rows)
        await bench.press("j", "x")  # keys are heeded meanwhile
        await bench.until(lambda: table.row_count == 150, "all rows are there")
        assert marks(bench) == [" ", "◆", " "]
        assert len({str(table.get_row_at(row)[1]) + str(table.get_row_at(row)[-1]) for row in range(150)}) == 150
