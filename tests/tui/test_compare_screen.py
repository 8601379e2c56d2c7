"""Two trajectories side by side, as they are drawn."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from beaver_tui.app import Start
from engine.rundir import RunDirectory
from tests.support.workbench import workbench


async def test_a_step_that_nobody_goes_on_with_is_not_said_to_be_testing(tmp_path: Path, at_fixtures: Path):
    shutil.copytree(at_fixtures / "h200" / "run", tmp_path / "run")
    stored = RunDirectory(tmp_path / "run")
    journal = stored.journal(stored.plan[0])
    lines = journal.read_bytes().splitlines(keepends=True)
    built = next(place for place, line in enumerate(lines) if b'"type":"built"' in line)
    journal.write_bytes(b"".join(lines[: built + 1]))
    async with workbench(Start(runs=tmp_path)) as bench:
        await bench.press("x", "j", "x", "c")
        steps = bench.text("#left .steps")
        assert "left open" in steps
        assert "testing" not in steps


@pytest.mark.usefixtures("at_fixtures")
async def test_a_click_on_a_step_moves_its_own_side():
    async with workbench(Start(runs=Path("h200"))) as bench:
        await bench.press("x", "j", "j", "x", "c")
        right = bench.screen.comparison.right.position
        await bench.pilot.click("#left Timeline", offset=(2, 0))
        assert bench.screen.comparison.positions == (0, right)


@pytest.mark.usefixtures("at_fixtures")
async def test_in_80_columns_the_task_is_named_beside_the_speed():
    async with workbench(Start(runs=Path("h200")), size=(80, 24)) as bench:
        await bench.press("x", "j", "x", "c")
        top = bench.text("#top")
        assert len(top) == 80
        assert "attention_window" in top
        assert "0.19x of the left one" in top
