"""The workbench without a terminal: keys go in, and what the screen holds comes out.

async with workbench(stored("image_luma", "stagnating")) as bench:
    await bench.press("h")
    assert bench.screen.session.position == 3
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual.events import Key as KeyEvent
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Static

from beaver_tui.app import BeaverApp, Preferences, Start
from beaver_tui.keymap import KEYS, Key
from beaver_tui.palette import Actions
from beaver_tui.screens.runs import Runs
from beaver_tui.widgets.rows import Rows
from engine.rundir import RunDirectory
from tests.support.until import until_async

H200 = Path("h200")
"""The stored run, relative to the folder that the fixture ``at_fixtures`` goes to: no path of a machine is on the screen."""

PRESSED: dict[str, str] = {}
"""The test of each action, by the action's id."""

Test = TypeVar("Test", bound=Callable[..., object])


class Bench(BeaverApp):
    """The app where there is no terminal to give away: an editor or a pager runs beside it."""

    def suspend(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


@dataclass
class Driver:
    """One opened app."""

    app: BeaverApp
    pilot: Pilot[None]

    @property
    def screen(self) -> Any:
        return self.app.screen

    async def ready(self) -> None:
        """Wait until what the first screen shows is there."""
        await self.pilot.pause()
        home = next(screen for screen in self.app.screen_stack if isinstance(screen, Runs))
        await self.until(lambda: home.loaded, "the runs are read")
        await self.until(lambda: getattr(self.screen, "loaded", True), "the journals are read")
        await self.until(lambda: self.app.focused, "a pane has the focus")
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
        await self.pilot.pause()

    def burst(self, *keys: str) -> None:
        """Keys that arrive together, as those do that were typed while the program was busy."""
        for key in keys:
            event = KeyEvent(_character_to_key(key) if len(key) == 1 else key, key if len(key) == 1 else None)
            event.set_sender(self.app)
            self.app.post_message(event)

    async def type(self, text: str) -> None:
        """Letters into the field in focus."""
        await self.press(*("full_stop" if letter == "." else letter for letter in text))

    async def until(self, condition: Callable[[], object], what: str) -> None:
        await until_async(condition, what)
        await self.pilot.pause()

    def one(self, selector: Any, kind: Any = None) -> Any:
        return self.app.screen.query_one(selector, kind) if kind else self.app.screen.query_one(selector)

    def text(self, selector: Any) -> str:
        """What stands in a Static."""
        return str(self.app.screen.query_one(selector, Static).content)

    @property
    def told(self) -> list[str]:
        """What the app has told the person, oldest first."""
        return [told.text for told in self.app.told]


def stored(task: str, fixer: str, run: Path = H200 / "run") -> Start:
    """Opens one trajectory of a stored run."""
    cells = [cell for cell in RunDirectory(run).plan if cell.task == task and cell.fixer.endswith(fixer)]
    return Start(runs=run.parent, run=run, cell=cells[0])


def whole_run(run: Path = H200 / "run") -> Start:
    """Opens the matrix of a stored run."""
    return Start(runs=run.parent, run=run)


@asynccontextmanager
async def workbench(
    start: Start | None = None,
    preferences: Preferences | None = None,
    size: tuple[int, int] = (140, 42),
    **options: Any,
) -> AsyncIterator[Driver]:
    """The app, opened and drawn. Live runs that a test leaves are ended."""
    app = Bench(start or Start(runs=H200), preferences, **options)
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot)
        await driver.ready()
        yield driver
        for opened in app.going_on:
            opened.live.cancel()
        await driver.until(lambda: not app.going_on, "live runs have ended")


@dataclass(frozen=True)
class Way:
    """One way to an action: one of its keys, or the palette."""

    key: Key
    way: str

    async def __call__(self, driver: Driver) -> None:
        if self.way != "palette":
            await driver.press(self.way)
            return
        actions = Actions(driver.app.screen)
        hits = [hit async for hit in actions.discover()]
        hit = next(hit for hit in hits if hit.help == self.key.help and self.key.label in str(hit.display))
        await hit.command()
        await driver.pilot.pause()


def presses(name: str) -> Callable[[Test], Test]:
    """For a test of the action ``name``: it is done with every one of its keys, and from the palette."""
    key = next(key for key in KEYS if key.id == name)
    ways = key.keys.split(",")
    if name != "app.palette":
        ways.append("palette")

    def record(test: Test) -> Test:
        PRESSED[name] = test.__name__
        ids = [f"{name}-{way}" for way in ways]
        return pytest.mark.parametrize("do", [Way(key, way) for way in ways], ids=ids)(test)

    return record


def selected_row(driver: Driver) -> int:
    return int(driver.one(Rows).cursor_row)
