"""A report on a terminal: pictures of characters, and names from outside as they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.console import Console

from beaver_tui.analysis import draw
from beaver_tui.analysis.draw import bar, print_rich, sparkline
from beaver_tui.glyphs import use_ascii
from engine.analysis.build import IterationRecord, TrajectoryRecord, frame_from
from engine.analysis.document import Curve, Document, Heat, Ranks, Section, Strip, missing, share, table, words
from engine.analysis.report import Wishes, report

PASS = IterationRecord("passed", "p", passed=True, speedup=1.0, gate="pass")
HOSTILE = "[bold red]x[/] :smile: \x1b[2J[link=http://evil]y[/link]"


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    """A terminal of 100 columns whose text can be read afterwards."""
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    console = Console(width=100, record=True, force_terminal=True, highlight=False, markup=False, emoji=False)
    monkeypatch.setattr(draw, "console", lambda: console)
    yield console
    use_ascii(False)


def document(name: str) -> Document:
    rows = [[words("default"), words(name), share(0.5)], [words("default"), words("other"), missing("no tasks")]]
    return Document(
        "Report",
        (
            Section(
                "All",
                (table("one", "Scores", ("setting", "fixer", "pass@k"), rows),),
                curves=(Curve(name, ((0.0, 1.0), (0.7, 0.5))),),
                strips=(Strip("task", name, ("buildability", "passed"), "passed"),),
                heat=Heat(("timeout", "passed"), ((0.25, 0.75), (None, None)), (4, 0)),
                ranks=Ranks(("base", "A4 1"), {name: (1.0, 2.0), "other": (2.0, None)}),
            ),
        ),
        {"runs": name},
    )


def test_every_picture_is_drawn_with_signs_beside_its_colours(screen: Console, capsys: pytest.CaptureFixture[str]):
    print_rich(document("mine"))
    text = screen.export_text()
    assert "✗ ✓  passed" in text
    assert "mine  █▅" in text or "mine   █▅" in text
    assert "100.0 % to 50.0 % over p = 0 to 0.7" in text
    assert "▰▰▰▰▱▱▱▱ 50.0 %" in text and "n/a (no tasks)" in text
    assert "2*" in text and "n=4" in text
    assert "Scores (default)" in text and "setting" not in text


def test_markup_in_names_is_shown_and_not_obeyed(screen: Console):
    records = [TrajectoryRecord("t", HOSTILE, [IterationRecord("timeout")]), TrajectoryRecord("t", "other", [PASS])]
    print_rich(report(frame_from(records), {"runs": HOSTILE}, Wishes()))
    text = screen.export_text()
    assert "[bold red]x[/] :smile: [link=http://evil]y[/link]" in text
    assert "\x1b" not in text and "[2J" not in text


def test_ascii_alone_draws_every_picture(screen: Console, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LC_ALL", "C")
    print_rich(document("mine"))
    text = screen.export_text()
    assert text.isascii()
    assert "B P  passed" in text and "####.... 50.0 %" in text


def test_bars_and_sparklines():
    assert bar(0.5, 4) == "▰▰▱▱" and bar(2.0, 2) == "▰▰" and bar(-1.0, 2) == "▱▱"
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█" and sparkline([0.0]) == "▁" and sparkline([]) == ""
