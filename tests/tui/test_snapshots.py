"""Pictures of the screens. After a change that is meant: ``pytest tests/tui/test_snapshots.py --snapshot-update``.

Nothing in them depends on the clock or on the machine: runs are stored ones, opened by a relative path, and no cursor blinks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.command import CommandPalette

from beaver_tui.app import BeaverApp, Preferences, Start
from beaver_tui.palette import Actions
from tests.support.workbench import Bench, Driver, stored, whole_run

pytestmark = pytest.mark.usefixtures("at_fixtures")

SMALL, USUAL, LARGE = (80, 24), (120, 40), (200, 60)
SIZES = pytest.mark.parametrize("size", [SMALL, USUAL, LARGE], ids=["80x24", "120x40", "200x60"])
THEMES = pytest.mark.parametrize("theme", ["night", "okabe", "river"])

Compare = Callable[..., bool]


def home() -> Start:
    return Start(runs=Path("h200"))


def stagnated() -> Start:
    return stored("image_luma", "stagnating")


def pressing(*keys: str) -> Callable[..., Awaitable[None]]:
    """What to do before the picture is taken: wait until the screen is drawn, press keys, put notices away."""

    async def act(pilot: object) -> None:
        driver = Driver(pilot.app, pilot)  # type: ignore[attr-defined]
        await driver.ready()
        await driver.press(*keys)
        if isinstance(driver.screen, CommandPalette):
            offered = [hit async for hit in Actions(driver.app.screen_stack[-2]).discover()]
            options = driver.one("CommandList")
            await driver.until(
                lambda: options.option_count == len(offered),
                "all actions are listed",
            )
        await driver.pilot.pause()

    return act


def app(start: Start, **look: object) -> BeaverApp:
    return Bench(start, Preferences(**look))  # type: ignore[arg-type]


@SIZES
def test_runs(snap_compare: Compare, size: tuple[int, int]):
    assert snap_compare(app(home()), terminal_size=size, run_before=pressing("x", "j", "j", "x"))


@SIZES
def test_workbench(snap_compare: Compare, size: tuple[int, int]):
    assert snap_compare(app(stagnated()), terminal_size=size, run_before=pressing("d", "h", "h"))


@SIZES
def test_sweep(snap_compare: Compare, size: tuple[int, int]):
    assert snap_compare(app(whole_run()), terminal_size=size, run_before=pressing("j"))


@pytest.mark.parametrize("size", [SMALL, USUAL], ids=["80x24", "120x40"])
def test_compare(snap_compare: Compare, size: tuple[int, int]):
    assert snap_compare(app(home()), terminal_size=size, run_before=pressing("x", "j", "x", "c"))


def test_the_alert_of_a_stagnation(snap_compare: Compare):
    assert snap_compare(app(stagnated()), terminal_size=USUAL, run_before=pressing())


def test_structure(snap_compare: Compare):
    start = stored("attention_window", "degenerate")
    assert snap_compare(app(start), terminal_size=USUAL, run_before=pressing("t", "t"))


def test_transitions(snap_compare: Compare):
    assert snap_compare(app(whole_run()), terminal_size=USUAL, run_before=pressing("m", "f"))


def test_help(snap_compare: Compare):
    assert snap_compare(app(stagnated()), terminal_size=SMALL, run_before=pressing("f1"))


def test_palette(snap_compare: Compare):
    assert snap_compare(app(stagnated()), terminal_size=SMALL, run_before=pressing("ctrl+p"))


def test_the_form_of_a_new_run(snap_compare: Compare):
    assert snap_compare(app(home()), terminal_size=USUAL, run_before=pressing("n"))


def test_errors(snap_compare: Compare):
    assert snap_compare(app(stagnated()), terminal_size=USUAL, run_before=pressing("h", "e"))


def test_no_runs_yet(snap_compare: Compare):
    assert snap_compare(app(Start(runs=Path("runs"))), terminal_size=SMALL, run_before=pressing())


def test_nothing_matches(snap_compare: Compare):
    assert snap_compare(app(home()), terminal_size=SMALL, run_before=pressing("slash", *"zebra", "enter"))


@THEMES
def test_themes(snap_compare: Compare, theme: str):
    assert snap_compare(app(stagnated(), theme=theme), terminal_size=USUAL, run_before=pressing("h"))


def test_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(app(stagnated()), terminal_size=USUAL, run_before=pressing("tab"))


def test_in_ascii(snap_compare: Compare):
    assert snap_compare(app(stagnated(), ascii=True), terminal_size=USUAL, run_before=pressing())
