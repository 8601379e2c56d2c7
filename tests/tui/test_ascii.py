"""With --ascii, nothing that a screen draws of itself needs more than ASCII."""

from __future__ import annotations

import pytest

from beaver_tui.app import Preferences, Start
from tests.support.workbench import H200, Driver, stored, whole_run, workbench

pytestmark = pytest.mark.usefixtures("at_fixtures")

SCREENS = {
    "runs": (Start(runs=H200), ("x", "j", "x")),
    "filter": (Start(runs=H200), ("slash",)),
    "the form of a new run": (Start(runs=H200), ("n",)),
    "comparison": (Start(runs=H200), ("x", "j", "x", "c")),
    "workbench": (None, ("h",)),
    "a notice": (None, ("b",)),
    "help": (None, ("f1",)),
    "a choice": (None, ("F",)),
    "errors": (None, ("h", "e")),
}


def beyond_ascii(bench: Driver) -> set[str]:
    strips = bench.app.screen._compositor.render_strips()
    return {letter for strip in strips for part in strip for letter in part.text if not letter.isascii()}


@pytest.mark.parametrize("name", SCREENS)
async def test_screens(name: str):
    start, keys = SCREENS[name]
    async with workbench(start or stored("image_luma", "stagnating"), Preferences(ascii=True), size=(80, 24)) as bench:
        await bench.press(*keys)
        assert beyond_ascii(bench) == set()


async def test_the_matrix():
    async with workbench(whole_run(), Preferences(ascii=True), size=(120, 40)) as bench:
        await bench.press("m")
        assert beyond_ascii(bench) == set()
