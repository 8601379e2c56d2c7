"""The table of keys: no key hides another by accident, and a user's own keys are heeded everywhere."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from textual.widgets import Static

from beaver_tui.app import Preferences
from beaver_tui.keymap import KEYS, SCOPES, Key, shown_keys
from beaver_tui.screens.help import Help
from beaver_tui.screens.runs import Runs
from beaver_tui.userkeys import MEANT, around, conflicts, read_keymap
from beaver_tui.widgets.keyline import KeyLine
from engine.errors import ConfigError
from tests.support.until import until
from tests.support.workbench import stored, workbench
from tests.tui.terminal import Terminal, needs_tmux


def test_every_scope_has_keys_and_every_key_a_scope():
    assert {key.scope for key in KEYS} == set(SCOPES)


def test_ids_are_unique():
    assert len({key.id for key in KEYS}) == len(KEYS)


def test_no_key_hides_another_but_those_that_are_meant_to():
    assert list(conflicts({})) == []


@pytest.mark.parametrize("pair", MEANT, ids=str)
def test_what_is_meant_is_there(pair: tuple[str, str]):
    has, lacks = (next(key for key in KEYS if key.id == name) for name in pair)
    assert set(has.keys.split(",")) & set(lacks.keys.split(","))
    assert has.priority or lacks.scope in around(has.scope)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.id)
def test_keys_are_shown_as_they_are_written_on_a_keyboard(key: Key):
    assert "_" not in shown_keys(key.id, first=False).replace(" _", "").lstrip("_")
    assert shown_keys(key.id, first=False).isascii()


def test_help_is_a_sentence():
    assert [key.id for key in KEYS if not key.help.endswith((".", ":"))] == []


# a user's own keys


def keymap(folder: Path, text: str) -> Path:
    path = folder / "keymap.yaml"
    path.write_text(text)
    return path


def test_characters_and_names_are_the_same_key(tmp_path: Path):
    path = keymap(tmp_path, 'workbench.fork: "!"\nworkbench.pin: ctrl+b , f2\ntext.page_up: pageup\n')
    assert read_keymap(path) == {
        "workbench.fork": "exclamation_mark",
        "workbench.pin": "ctrl+b,f2",
        "text.page_up": "pageup",
    }


def test_two_keys_may_change_places(tmp_path: Path):
    assert read_keymap(keymap(tmp_path, "workbench.fork: b\nworkbench.pin: F\n"))


WRONG = {
    "workbench.frok: ctrl+f": "workbench.frok: no such action; did you mean workbench.fork?",
    "nothing.like.it: x": "no such action; ids look like workbench.fork",
    "workbench.fork: contrl+f": "workbench.fork: contrl+f: no such key",
    "workbench.fork: fork": "workbench.fork: fork: no such key",
    "workbench.fork: b": "b: workbench.pin takes it from workbench.fork",
    "workbench.fork: f": "f: log.filter takes it from workbench.fork",
    "runs.open: ctrl+q": "ctrl+q: runs.open takes it from app.quit",
    "workbench.fork: 7": "must map ids to keys",
    "workbench.fork: ''": "must map ids to keys",
    "- workbench.fork": "must map ids to keys",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_told(tmp_path: Path, text: str):
    with pytest.raises(ConfigError) as caught:
        read_keymap(keymap(tmp_path, text))
    assert str(tmp_path / "keymap.yaml") in str(caught.value)
    assert WRONG[text] in str(caught.value)


@needs_tmux
def test_it_is_told_before_the_screen_is_taken(tmp_path: Path):
    with Terminal("--keymap", keymap(tmp_path, "workbench.frok: x"), columns=200) as terminal:
        until(lambda: terminal.exit_code is not None, "it ends")
        assert terminal.exit_code == 2
        assert "did you mean workbench.fork?" in terminal.screen
        assert "beaver  runs" not in terminal.screen


def help_lines(screen: Help) -> list[str]:
    console = Console(width=100, file=io.StringIO())
    for part in screen.query(Static):
        console.print(part.content)
    return console.file.getvalue().splitlines()


OWN = "workbench.fork: f4\nworkbench.previous: z\nruns.open: o\napp.help: f2\napp.palette: f3\n"


async def test_own_keys_act_and_the_old_ones_do_not(tmp_path: Path, at_fixtures: Path):
    look = Preferences(keymap=keymap(tmp_path, OWN))
    async with workbench(None, look) as bench:
        await bench.press("enter")
        assert isinstance(bench.screen, Runs)
        await bench.press("j", "j", "o")
        assert bench.screen.session.position == 3
        await bench.press("z")
        assert bench.screen.session.position == 2
        await bench.press("h")
        assert bench.screen.session.position == 2


async def test_own_keys_are_shown_below_in_help_and_in_the_palette(tmp_path: Path, at_fixtures: Path):
    look = Preferences(keymap=keymap(tmp_path, OWN))
    async with workbench(stored("image_luma", "stagnating"), look, size=(200, 60)) as bench:
        line = bench.text(KeyLine)
        assert "f4 fork" in line and "z step back" in line
        assert line.rstrip().endswith("f2 help  f3 all")
        await bench.press("f3")
        await bench.press(*"step", "space", *"back")
        options = bench.one("CommandList")
        await bench.until(lambda: options.option_count, "it was found")
        assert "step back (z)" in str(options.get_option_at_index(0).prompt)
        await bench.press("escape", "f2")
        assert isinstance(bench.screen, Help)
        assert ["z", "The", "iteration", "before."] in [line.split() for line in help_lines(bench.screen)]
