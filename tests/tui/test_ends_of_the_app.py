"""What is left on the terminal when something ends that should not: no secrets, and a word that helps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from textual.app import SuspendNotSupported

from beaver_tui.app import BeaverApp, Start
from beaver_tui.editor import EditorLauncher


async def test_the_traceback_of_a_fault_shows_no_variables(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    app = BeaverApp(Start(runs=tmp_path))
    async with app.run_test(size=(100, 30)):
        api_key = "sk-" + "0" * 20
        try:
            raise ValueError(f"a fault with a key of {len(api_key)} characters beside it")
        except ValueError:
            app._fatal_error()
    printed = capsys.readouterr()
    shown = printed.out + printed.err
    assert "a fault with a key of 23 characters" in shown
    assert api_key not in shown


def test_a_terminal_that_cannot_be_given_away_is_a_complaint():
    @contextmanager
    def suspend() -> Iterator[None]:
        raise SuspendNotSupported
        yield

    complaint = EditorLauncher({"EDITOR": "cat", "PATH": "/usr/bin:/bin"}).edit(Path("solution.cu"), suspend)
    assert complaint == "cat: this terminal cannot be given away; open solution.cu in another one"


NAMED_AND_WRONG = {
    "no-such-editor --wait": "no such program here; set it to an editor that is there",
    "cat 'a": "No closing quotation; set it to an editor that is there",
}


@pytest.mark.parametrize("variable", ["VISUAL", "EDITOR"])
@pytest.mark.parametrize("value", NAMED_AND_WRONG)
def test_an_editor_that_is_not_there_is_named_and_no_other_opened(variable: str, value: str, tmp_path: Path):
    other = "EDITOR" if variable == "VISUAL" else "LESSOPEN"
    launcher = EditorLauncher({variable: value, other: "cat"})
    complaint = launcher.edit(tmp_path / "solution.cu", nullcontext)
    assert complaint == f"${variable} is {value}: {NAMED_AND_WRONG[value]}"


def test_a_pager_that_is_not_there_is_named():
    complaint = EditorLauncher({"PAGER": "no-such-pager"}).page(b"text", nullcontext)
    assert complaint == "$PAGER is no-such-pager: no such program here; set it to a pager that is there"
