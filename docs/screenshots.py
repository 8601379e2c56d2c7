"""The five screens, and the pane Speed, as pictures: ``python -P docs/screenshots.py`` writes docs/screens/*.svg.

Five are of the stored run in tests/fixtures/h200; the human fixer's is of a live run of a built-in task, on the CPU device. The same
commit gives the same pictures, but for the clock of that one.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from beaver_tui.app import BeaverApp, Start
from beaver_tui.screens.human import Human
from beaver_tui.wish import Wish
from engine.rundir import RunDirectory
from tests.support.until import until_async

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "tests" / "fixtures"
RUN = Path("h200") / "run"
SIZE = (120, 36)


def trajectory(task: str, fixer: str) -> Start:
    cell = next(cell for cell in RunDirectory(RUN).plan if (cell.task, cell.fixer) == (task, fixer))
    return Start(runs=RUN.parent, run=RUN, cell=cell)


async def picture(name: str, start: Start, *keys: str, ready: Callable[[BeaverApp], object] | None = None) -> None:
    """Open the app, press keys, and keep what is on the screen."""
    app = BeaverApp(start)
    async with app.run_test(size=SIZE) as pilot:
        await until_async(lambda: app.focused is not None, "a pane has the focus")
        await until_async(lambda: app.screen_stack[1].loaded, "the runs are read")  # type: ignore[attr-defined]
        if ready is not None:
            await until_async(lambda: ready(app), "what is to be shown is there", 120)
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await pilot.pause()
        (HERE / "screens" / f"{name}.svg").write_text(app.export_screenshot(title="beaver-tui"))
        for opened in app.going_on:
            opened.live.cancel()  # type: ignore[union-attr]
        await until_async(lambda: not app.going_on, "live runs have ended")


async def main() -> None:
    (HERE / "screens").mkdir(exist_ok=True)
    os.chdir(FIXTURES)
    home = Start(runs=RUN.parent)
    await picture("runs", home, *"jj")
    await picture("workbench", trajectory("image_luma", "scripted:stagnating"))
    await picture("speed", trajectory("gemm_rect", "scripted:good"), "5")
    await picture("compare", home, "x", "j", "x", "c")
    await picture("sweep", Start(runs=RUN.parent, run=RUN), "j", "l")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        wish = Wish("softmax_rows", "scripted:good", "human", device="cpu")
        await picture("human", Start(wish=wish), ready=lambda app: isinstance(app.screen, Human))
        os.chdir("/")


if __name__ == "__main__":
    asyncio.run(main())
