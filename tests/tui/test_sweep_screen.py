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
