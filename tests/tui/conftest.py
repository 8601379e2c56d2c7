"""Where the screens' tests stand: beside the stored run, with all signs and keys as they are; or in a real terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from beaver_tui.glyphs import use_ascii
from beaver_tui.keymap import use_keymap

if TYPE_CHECKING:
    from tests.tui.live import Bench

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A folder with a corpus of one task; every terminal that is opened there is closed at the end."""
    from tests.tui.live import Bench

    with Bench(tmp_path) as bench:
        yield bench


@pytest.fixture
def at_fixtures(monkeypatch: pytest.MonkeyPatch) -> Path:
    """In the folder that holds the stored run: its path on the screen is h200/run."""
    monkeypatch.chdir(FIXTURES)
    return FIXTURES


@pytest.fixture(autouse=True)
def as_it_is() -> Iterator[None]:
    """What a test changes for the whole process is put back."""
    yield
    use_ascii(False)
    use_keymap({})
