"""Taking part in a trajectory, in a real terminal: proposals, forks, other feedback, going on after a stop."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.protocol import EarlyStop, Feedback, Protocol
from engine.rundir import RunDirectory
from tests.support.openai_server import OpenAIServer, answering
from tests.support.program import beaver, manifest
from tests.support.tasks import BROKEN, SOLUTION, WRONG, write_task
from tests.tui.live import SECOND_WRONG, THIRD_WRONG, Bench, actions, categories, solution, story
from tests.tui.terminal import Terminal, needs_tmux

pytestmark = needs_tmux


def reply(source: str) -> str:
    return f"```cpp\n{source}```\n"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply(WRONG)) as server:
        yield server


def protocol(run: Path) -> Protocol:
    """The protocol that a run goes by."""
    return RunDirectory(run).record.protocol


def begin_confirm(bench: Bench, server: OpenAIServer, **terminal: object) -> Terminal:
    started = bench.start(fixer=f"chat:stub-model@{server.url}", words=("--mode", "confirm"), **terminal)
    started.wait_for("iteration 1: a candidate waits for you", "+2", "i = 1")
    return started


def test_a_proposal_is_rejected_with_a_remark_and_the_next_one_accepted(bench: Bench, server: OpenAIServer):
    terminal = begin_confirm(bench, server)
    server.answer = lambda messages: reply(SOLUTION)
    terminal.press("r")
    terminal.wait_for("What should be done otherwise?")
    terminal.type("start at the first [0] element")
    terminal.press("Enter")
    terminal.wait_for("iteration 1: a candidate waits for you", "i = 0", without=("otherwise?",))
    assert "start at the first [0] element" in str(server.bodies[-1]["messages"])
    terminal.press("y")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")
    assert actions(bench.run) == ["mode", "rejected"]
    assert categories(bench.run) == ["passed"]
    received = story(bench.run).iterations[0].reply
    assert received is not None
    assert received.calls == 2


def test_a_proposal_is_edited_first(bench: Bench, server: OpenAIServer):
    editor = bench.folder / "editor.py"
    editor.write_text(f"import pathlib, sys\npathlib.Path(sys.argv[1]).write_text({SOLUTION!r})\n")
    terminal = begin_confirm(bench, server, environment={"EDITOR": f"{sys.executable} {editor}"})
    terminal.press("e")
    terminal.wait_for("Hand in", "as it is now?")
    terminal.press("y")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")
    assert actions(bench.run) == ["mode", "edited"]
    assert solution(bench.run, 1) == SOLUTION.encode()


def test_a_proposal_that_is_left_waits_and_c_comes_back_to_it(bench: Bench, server: OpenAIServer):
    terminal = begin_confirm(bench, server)
    terminal.press("Escape")
    terminal.wait_for("LIVE confirm", without=("a candidate waits for you, ",))
    terminal.press("c")
    terminal.wait_for("iteration 1: a candidate waits for you")
    server.queue(answering(reply(SOLUTION)))
    terminal.press("y")
    terminal.wait_for("iteration 2: a candidate waits for you")
    terminal.press("y")
    terminal.wait_for("step 2 of 2", "passed", "REPLAY")
    assert categories(bench.run) == ["functional_correctness", "passed"]


def stopped(bench: Bench, *answers: str, words: tuple[str, ...] = ()) -> Terminal:
    """A stored run of this folder, opened at its end."""
    write_task(bench.folder / "corpus", answers={"s": list(answers)})
    done = beaver(
        "--batch", "--corpus", "corpus", "--fixer", "scripted:s", "--device", "cpu", *words, folder=bench.folder
    )
    assert done.code == 0, done.err
    terminal = bench.open(bench.run)
    terminal.wait_for("REPLAY", f"step {len(story(bench.run).finished)} of")
    return terminal


def test_a_fork_is_a_run_of_its_own_marked_interactive(bench: Bench):
    terminal = stopped(bench, BROKEN, SOLUTION)
    first = bench.run
    before = (first / "manifest.jsonl").read_bytes()
    terminal.press("h")
    terminal.wait_for("step 1 of 2")
    terminal.press("F")
    terminal.wait_for("A new trajectory from step 1", "auto: the fixer goes on")
    terminal.press("Enter")
    terminal.wait_for("step 2 of 2", "passed", "REPLAY", without=("A new trajectory",))
    fork = bench.runs[-1]
    assert fork != first
    assert (categories(fork), actions(fork)) == (["buildability", "passed"], ["fork"])
    assert [row["interactive"] for row in manifest(fork)] == [True, True]
    assert (first / "manifest.jsonl").read_bytes() == before


def test_a_fork_in_human_mode_waits_for_the_person(bench: Bench):
    terminal = stopped(bench, WRONG, SOLUTION)
    terminal.press("h")
    terminal.wait_for("step 1 of 2")
    terminal.press("F")
    terminal.wait_for("A new trajectory from step 1")
    terminal.press("Down", "Down", "Enter")
    terminal.wait_for("you are the fixer", "iteration 2 of 5", "mismatch")
    file = bench.runs[-1] / "desk" / "solution.cpp"
    assert file.read_text() == WRONG
    file.write_text(SOLUTION)
    terminal.wait_for("saved, 1 line changed")
    terminal.press("C-s")
    terminal.wait_for("step 2 of 2", "passed", "REPLAY")
    assert categories(bench.runs[-1]) == ["functional_correctness", "passed"]


def test_a_fork_in_confirm_mode_shows_the_next_proposal(bench: Bench):
    terminal = stopped(bench, WRONG, SOLUTION)
    terminal.press("0")
    terminal.wait_for("step 0 of 2")
    terminal.press("F")
    terminal.wait_for("A new trajectory from step 0")
    terminal.press("Down", "Enter")
    terminal.wait_for("iteration 1: a candidate waits for you", "i = 1")
    terminal.press("y")
    terminal.wait_for("iteration 2: a candidate waits for you", "i = 0")
    terminal.press("y")
    terminal.wait_for("step 2 of 2", "passed", "REPLAY")


def test_after_a_stop_o_goes_on_and_only_observes(bench: Bench):
    terminal = stopped(bench, WRONG, SECOND_WRONG, THIRD_WRONG, WRONG.replace("i = 1;", "i = 4;"))
    terminal.wait_for("step 3 of 3", "no_progress", "o go on, only observing")
    terminal.press("o")
    terminal.wait_for("step 4 of 4", "i = 4", "REPLAY")
    fork = bench.runs[-1]
    assert protocol(fork).early_stop is EarlyStop.OBSERVE
    assert len(categories(fork)) == 4


def test_another_feedback_level_is_a_fork(bench: Bench):
    terminal = stopped(bench, WRONG, SOLUTION)
    terminal.press("h")
    terminal.wait_for("step 1 of 2")
    terminal.press("v")
    terminal.wait_for("Fork from this step with feedback level")
    terminal.press("Home", "Enter")
    terminal.wait_for("step 2 of 2", "passed", "REPLAY")
    assert protocol(bench.runs[-1]).feedback is next(iter(Feedback))


def test_a_trajectory_that_stagnation_stopped_can_be_taken_over_and_only_observes(bench: Bench):
    terminal = stopped(bench, WRONG, SECOND_WRONG, THIRD_WRONG)
    terminal.press("u")
    terminal.wait_for("you are the fixer", "iteration 4 of 5")
    file = bench.runs[-1] / "desk" / "solution.cpp"
    file.write_text(SOLUTION)
    terminal.wait_for("saved, 1 line changed")
    terminal.press("C-s")
    terminal.wait_for("step 4 of 4", "passed", "REPLAY")
    assert protocol(bench.runs[-1]).early_stop is EarlyStop.OBSERVE


def test_taking_over_a_live_run_asks_and_forks(bench: Bench):
    terminal = bench.start(WRONG, SECOND_WRONG, THIRD_WRONG)
    terminal.wait_for("LIVE auto")
    terminal.press("u")
    terminal.wait_for("Going on by hand makes a fork")
    terminal.press("y")
    terminal.wait_for("you are the fixer")
    assert [RunDirectory(run).record.interactive for run in bench.runs] == [False, True]
