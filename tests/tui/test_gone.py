"""A run that is moved or removed while it is on show says so, on the screen and not only for seconds."""

from __future__ import annotations

import shutil
from pathlib import Path

from beaver_tui.screens.messages import Messages
from beaver_tui.widgets.logview import LogView
from beaver_tui.widgets.topline import TopLine
from tests.support.workbench import stored, whole_run, workbench
from tests.tui.conftest import FIXTURES


def copied(folder: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "h200" / "run", folder / "run"))


async def test_a_trajectory_whose_run_is_moved_says_that_it_is_gone(tmp_path: Path):
    run = copied(tmp_path)
    async with workbench(stored("image_luma", "stagnating", run)) as bench:
        assert "REPLAY" in bench.text(TopLine)
        run.rename(tmp_path / "elsewhere")
        await bench.until(lambda: "BROKEN OFF" in bench.text(TopLine), "it is said at the top")
        assert "step 4 of 4" in bench.text(TopLine)  # what was read stays
        await bench.press("M")
        assert isinstance(bench.screen, Messages)
        view = bench.one(LogView)
        assert "is gone; it was moved or removed" in "".join(view.row_text(row) for row in range(view.row_count))


async def test_a_matrix_whose_run_is_removed_says_that_it_is_gone(tmp_path: Path):
    run = copied(tmp_path)
    async with workbench(whole_run(run)) as bench:
        assert not bench.one("#problem").display
        shutil.rmtree(run)
        await bench.until(lambda: bench.one("#problem").display, "it is said beside the matrix")
        assert "is gone; it was moved or removed" in bench.text("#problem")
        assert "0 of 44 over" in bench.text(TopLine)
