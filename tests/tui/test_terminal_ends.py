"""However the program ends, its run goes on: quitting, ctrl+c, a closed terminal, kill -9."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress

import psutil
import pytest

from tests.support.program import beaver
from tests.support.tasks import HANG, SOLUTION, WRONG, write_task
from tests.support.until import until
from tests.tui.live import SECOND_WRONG, Bench, categories, story
from tests.tui.terminal import Terminal, needs_tmux

pytestmark = needs_tmux


def resumed(bench: Bench) -> list[str]:
    """The categories after the run was gone on with."""
    done = beaver("--batch", "--resume", bench.run, folder=bench.folder)
    assert done.code == 0, done.err
    return categories(bench.run)


def hanging(bench: Bench) -> tuple[Terminal, list[psutil.Process]]:
    """A live run whose test hangs, with all processes of it."""
    budgets = {"timeouts": {"cpu": {"build": 60, "test": 5, "sanitizer": 5}}}  # a resumed run plays it to its end
    write_task(bench.folder / "corpus", answers={"s": [HANG, SOLUTION]}, spec=budgets)
    terminal = bench.start()
    terminal.wait_for("LIVE auto", "testing")
    until(lambda: any("driver" in name(process) for process in terminal.processes), "the test runs")
    return terminal, terminal.processes


def name(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return process.name()
    return ""


def gone(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in alive(processes))


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    return [process for process in processes if psutil.pid_exists(process.pid)]


def test_quitting_asks_while_a_run_is_live(bench: Bench):
    terminal, processes = hanging(bench)
    terminal.press("C-q")
    terminal.wait_for("Leave and kill what runs?", "sum · scripted:s")
    terminal.press("n")
    terminal.wait_for("LIVE auto", without=("Leave and kill",))
    terminal.press("C-q")
    terminal.wait_for("Leave and kill what runs?")
    terminal.press("y")
    assert terminal.wait_for_exit() == 0
    until(lambda: gone(processes), "nothing is left behind")
    assert categories(bench.run) == []
    assert resumed(bench)[-1] == "passed"


def test_one_ctrl_c_stops_after_the_step_and_a_second_kills_it(bench: Bench):
    terminal, processes = hanging(bench)
    terminal.press("C-c")
    terminal.wait_for("stopping after the running step")
    terminal.wait_for("LIVE auto")
    terminal.press("C-c")
    terminal.wait_for("killed what was running", "REPLAY")
    until(lambda: gone(processes[1:]), "nothing of the test is left")
    assert categories(bench.run) == []
    terminal.press("C-c")
    terminal.wait_for("nothing is live here")
    terminal.press("C-q")
    assert terminal.wait_for_exit() == 0
    assert resumed(bench)[-1] == "passed"


def test_ctrl_c_lets_the_running_step_end(bench: Bench):
    terminal = bench.start(WRONG, SECOND_WRONG, SOLUTION)
    terminal.wait_for("LIVE auto", "step 1 of 1")
    terminal.press("C-c")
    terminal.wait_for("REPLAY", "step 1 of 1", "left open", without=("testing",))
    past = story(bench.run)
    assert past.closed is None
    assert len(past.iterations) == 1
    terminal.press("C-q")
    assert terminal.wait_for_exit() == 0
    assert resumed(bench) == ["functional_correctness", "functional_correctness", "passed"]


def closed(terminal: Terminal) -> None:
    terminal.close()


def killed(terminal: Terminal) -> None:
    terminal.kill(signal.SIGKILL)


def terminated(terminal: Terminal) -> None:
    terminal.kill(signal.SIGTERM)


@pytest.mark.parametrize("end", [closed, killed, terminated])
def test_what_ends_the_program_leaves_a_run_that_goes_on_and_no_process(bench: Bench, end: Callable[[Terminal], None]):
    terminal, processes = hanging(bench)
    end(terminal)
    until(lambda: gone(processes), f"nothing is left behind: {alive(processes)}")
    assert categories(bench.run) == []
    assert resumed(bench)[-1] == "passed"


@pytest.mark.parametrize("end", [closed, killed])
def test_a_person_who_is_waited_for_finds_the_file_again(bench: Bench, end: Callable[[Terminal], None]):
    terminal = bench.start(WRONG, words=("--mode", "human"))
    terminal.wait_for("you are the fixer", "float total")
    file = bench.run / "desk" / "solution.cpp"
    file.write_text(SOLUTION)
    terminal.wait_for("saved, 1 line changed")
    processes = terminal.processes
    end(terminal)
    until(lambda: gone(processes), "nothing is left behind")
    assert file.read_text() == SOLUTION
    assert story(bench.run).pending is not None
