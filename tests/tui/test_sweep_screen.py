"""What the matrix of a run says of a cell that cannot be read."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.rundir import RunDirectory
from tests.support.workbench import whole_run, workbench


async def test_a_damaged_cell_says_why_beside_the_matrix_and_when_it_is_opened(tmp_path: Path, at_fixtures: Path):
    run = tmp_path / "run"
    shutil.copytree(at_fixtures / "h200" / "run", run)
    stored = RunDirectory(run)
    stored.journal(stored.plan[0]).write_bytes(b"{\n")
    async with workbench(whole_run(run)) as bench:
        assert "not a journal" in bench.text("#problem")
        await bench.press("l")
        assert not bench.one("#problem").display, "the next cell is sound"
        await bench.press("h", "enter")
        assert any("not a journal" in text for text in bench.told)


async def test_in_a_small_terminal_the_map_and_the_rates_are_below_the_matrix(at_fixtures: Path):
    async with workbench(whole_run(), size=(80, 24)) as bench:
        side, last = bench.one("#side").region, bench.one("KeyLine").region
        assert (side.width, side.bottom) == (80, last.y)
        for name in ("#rates", "#map"):
            assert side.contains(*bench.one(name).region.offset)
        before = bench.text("#map")
        await bench.press("m")
        assert bench.text("#map") != before
