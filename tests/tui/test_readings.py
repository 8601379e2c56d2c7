"""What lists show of files is read beside the loop, one reading at a time, and each reading is shown."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from textual.app import App
from textual.worker import WorkerFailed

from beaver_tui.app import Start
from beaver_tui.screens.readings import Readings
from beaver_tui.screens.sweep import Sweep
from beaver_tui.state.matrix import SweepView
from beaver_tui.widgets.rows import Rows
from engine.rundir import RunDirectory
from tests.support.stores import make_store
from tests.support.until import until_async
from tests.support.workbench import whole_run, workbench

CELLS = 1500
OPENED: list[tuple[int, str]] = []
"""The thread and the path of every journal that this process opened."""


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and str(arguments[0]).endswith("journal.jsonl"):
        OPENED.append((threading.get_ident(), str(arguments[0])))


sys.addaudithook(_note)


class Slow:
    """Reads what takes until it is let go on; knows what was shown, and how many were reading at once."""

    def __init__(self) -> None:
        self.gate = threading.Semaphore(0)
        self.begun, self.at_once, self.most = 0, 0, 0
        self.shown: list[int] = []

    def read(self) -> int:
        self.begun, self.at_once = self.begun + 1, self.at_once + 1
        self.most = max(self.most, self.at_once)
        number = self.begun
        assert self.gate.acquire(timeout=30)
        self.at_once -= 1
        return number


async def test_a_reading_that_takes_longer_than_the_time_between_two_is_shown_and_followed_by_one_more():
    slow = Slow()
    async with App[None]().run_test() as pilot:
        readings = Readings(pilot.app.screen, slow.read, slow.shown.append)
        for _ in range(5):
            readings.again()
            await asyncio.sleep(0)
        await until_async(lambda: slow.begun == 1, "the first began")
        readings.again()
        slow.gate.release()
        await until_async(lambda: slow.begun == 2, "the second began")
        assert slow.shown == [1]
        slow.gate.release()
        await until_async(lambda: slow.shown == [1, 2], "the second is shown")
        await pilot.pause()
        assert (slow.begun, slow.most) == (2, 1), "of five wishes one was left, and no two were read at once"
        readings.again()
        slow.gate.release()
        await until_async(lambda: slow.shown == [1, 2, 3], "a later one")


HANGS = """\
import threading
from textual.app import App
from textual.worker import WorkerFailed
from beaver_tui.screens.readings import Readings


class Leaves(App[None]):
    def on_mount(self) -> None:
        Readings(self.screen, threading.Event().wait, print).again()
        self.set_timer(0.2, self.exit)


Leaves().run(headless=True)
print("left")
"""


def test_nobody_waits_for_a_reading_that_hangs(tmp_path: Path):
    """With a network folder that was gone, q left a terminal that did not come back."""
    ended = subprocess.run(
        [sys.executable, "-c", HANGS], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "left\n", "")


async def test_a_reading_that_fails_is_no_silence():
    def read() -> int:
        raise OSError("gone")

    with pytest.raises(WorkerFailed, match="gone"):
        async with App[None]().run_test() as pilot:
            Readings(pilot.app.screen, read, print).again()
            await pilot.pause(0.1)


@pytest.mark.parametrize("matrix", [False, True], ids=["the list of runs", "a run as a matrix"])
async def test_no_journal_is_read_in_the_loop(tmp_path: Path, at_fixtures: Path, matrix: bool):
    run = tmp_path / "run"
    shutil.copytree(at_fixtures / "h200" / "run", run)
    OPENED.clear()

    def by_the_loop() -> set[str]:
        return {path for thread, path in OPENED if thread == threading.get_ident()}

    async with workbench(whole_run(run) if matrix else Start(runs=tmp_path)) as bench:
        assert (len({path for _, path in OPENED}), by_the_loop()) == (44, set())
        for journal in run.rglob("journal.jsonl"):
            journal.write_bytes(journal.read_bytes() + b"{")  # grown, but by no whole line
        OPENED.clear()
        await bench.press(*([] if matrix else ["r"]))
        await bench.until(lambda: len({path for _, path in OPENED}) == 44, "all are read again")
        assert not by_the_loop()


async def test_a_large_run_as_a_matrix_keeps_no_key_waiting(tmp_path: Path):
    """The longest turn of the loop while it is opened and read is short beside the reading: processor time against processor time,
    so that other work on the machine counts in neither."""
    (run,) = make_store(tmp_path, runs=1, cells=CELLS, iterations=5)
    began = time.thread_time()
    SweepView(RunDirectory(run.path)).poll()
    reading = time.thread_time() - began
    async with workbench(Start(runs=tmp_path)) as bench:
        turns: list[float] = []

        async def tick() -> None:
            while True:
                before = time.thread_time()
                await asyncio.sleep(0.001)
                turns.append(time.thread_time() - before)

        ticker = asyncio.create_task(tick())
        bench.burst("w")
        await bench.until(lambda: isinstance(bench.screen, Sweep) and bench.screen.loaded, "the matrix is read")
        ticker.cancel()
        assert bench.one(Rows).row_count == CELLS
        assert f"{CELLS} of {CELLS} over" in bench.text("#top")
        assert max(turns) < reading / 2
