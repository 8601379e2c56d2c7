"""A person as the fixer, in a real terminal: the screen follows the file, whoever saves it and however."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.tasks import BROKEN, SOLUTION
from tests.tui.live import Bench, actions, categories, solution, story
from tests.tui.terminal import Terminal, needs_tmux

pytestmark = needs_tmux

HUMAN = ("--mode", "human")


def begin(bench: Bench, **terminal: object) -> tuple[Terminal, Path]:
    """A live run that waits for a person, and the file that is to be edited."""
    terminal = bench.start(words=HUMAN, **terminal)
    terminal.wait_for("you are the fixer", "float total")
    return terminal, bench.run / "desk" / "solution.cpp"


def save_by_rename(file: Path, content: str) -> None:
    """As editors do: written beside, and renamed over it."""
    beside = file.with_name(".solution.cpp.swp")
    beside.write_text(content)
    beside.replace(file)


def test_another_program_saves_the_file_and_the_task_passes(bench: Bench):
    terminal, file = begin(bench)
    assert file.read_text() == BROKEN
    save_by_rename(file, SOLUTION)
    terminal.wait_for("saved, 1 line changed", "float sum = 0.0f;")
    terminal.press("C-s")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")
    assert categories(bench.run) == ["passed"]
    assert solution(bench.run, 1) == SOLUTION.encode()
    opened = story(bench.run).opened
    assert opened is not None
    assert opened.interactive


def test_many_quick_saves_end_with_the_last(bench: Bench):
    terminal, file = begin(bench)
    for number in range(40):
        save_by_rename(file, f"// draft {number}\n{BROKEN}")
    save_by_rename(file, SOLUTION.replace("adds up", "sums"))
    terminal.wait_for("saved, 2 lines changed", "// sums n floats")
    terminal.press("C-s")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")


def test_a_file_that_is_deleted_is_asked_for_and_noticed_again(bench: Bench):
    terminal, file = begin(bench)
    file.unlink()
    terminal.wait_for("solution.cpp is gone; save it again")
    terminal.press("C-s")
    terminal.wait_for("is not there; save it again")
    file.write_text(SOLUTION)
    terminal.wait_for("saved, 1 line changed")
    terminal.press("C-s")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")


def test_ends_of_lines_and_bytes_that_are_not_utf8_arrive_as_they_are(bench: Bench):
    terminal, file = begin(bench)
    content = b"// caf\xe9\r\n" + SOLUTION.replace("\n", "\r\n").encode()
    file.write_bytes(content)
    terminal.wait_for("lines changed", "caf")
    terminal.press("C-s")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY", "caf")
    assert solution(bench.run, 1) == content


def test_a_preview_shows_the_compile_error_and_costs_no_iteration(bench: Bench):
    terminal, file = begin(bench)
    save_by_rename(file, SOLUTION.replace("return sum", "return summ"))
    terminal.wait_for("saved, 2 lines changed")
    terminal.press("b")
    terminal.wait_for("does not build: exit 1", "was not declared in")
    save_by_rename(file, SOLUTION)
    terminal.wait_for("saved, 1 line changed")
    terminal.press("b")
    terminal.wait_for("builds, ", without=("summ",))
    terminal.press("C-s")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")
    assert actions(bench.run) == ["mode", "preview", "preview"]


def test_handing_in_an_unchanged_file_asks(bench: Bench):
    terminal, file = begin(bench)
    terminal.press("C-s")
    terminal.wait_for("Nothing is changed in the file")
    terminal.press("n")
    terminal.wait_for("you are the fixer", without=("Nothing is changed",))
    terminal.press("C-s")
    terminal.wait_for("Nothing is changed in the file")
    terminal.press("y")
    terminal.wait_for("iteration 2 of 5", "you are the fixer")
    assert categories(bench.run) == ["buildability"]
    save_by_rename(file, SOLUTION)
    terminal.wait_for("saved, 1 line changed")
    terminal.press("C-s")
    terminal.wait_for("step 2 of 2", "passed", "REPLAY")


def test_an_editor_that_returns_at_once_is_followed_all_the_same(bench: Bench):
    editor = bench.folder / "editor.py"
    editor.write_text(f"import pathlib, sys\npathlib.Path(sys.argv[1]).write_text({SOLUTION!r})\n")
    terminal, _ = begin(bench, environment={"EDITOR": f"{sys.executable} {editor}"})
    terminal.press("e")
    terminal.wait_for("saved, 1 line changed", "you are the fixer")
    terminal.press("C-s")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")


def test_an_editor_that_fails_gives_the_screen_back(bench: Bench):
    terminal, file = begin(bench, environment={"EDITOR": "false"})
    terminal.press("e")
    terminal.wait_for("false: exit code 1", "you are the fixer")
    file.write_text(SOLUTION)
    terminal.wait_for("saved, 1 line changed")


def test_a_full_screen_editor_has_the_terminal_and_gives_it_back(bench: Bench):
    terminal, _ = begin(bench, environment={"EDITOR": "less"})
    terminal.press("e")
    terminal.wait_for("float total", without=("you are the fixer",))
    terminal.press("q")
    terminal.wait_for("you are the fixer", "float total")
    terminal.press("C-s")
    terminal.wait_for("Nothing is changed in the file")


def test_the_trajectory_is_given_back_to_its_fixer(bench: Bench):
    terminal = bench.start(SOLUTION, words=HUMAN)
    terminal.wait_for("you are the fixer")
    terminal.press("a")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")
    assert actions(bench.run) == ["mode", "mode"]
