"""Runs that another process writes, examinations on demand, and taking a fix home, in a real terminal."""

from __future__ import annotations

import subprocess

from tests.support.program import PROGRAM
from tests.support.tasks import SOLUTION, SPEC, WRONG, write_task
from tests.support.until import until
from tests.tui.live import SECOND_WRONG, THIRD_WRONG, Bench, actions, story
from tests.tui.terminal import needs_tmux

pytestmark = needs_tmux


def batch(bench: Bench, *answers: str) -> subprocess.Popen[bytes]:
    """Another process plays the task in the folder "batch"."""
    write_task(bench.folder / "corpus", answers={"s": list(answers)})
    words = ["--batch", "--corpus", "corpus", "--fixer", "scripted:s", "--device", "cpu", "--out", "runs/batch"]
    process = subprocess.Popen([*PROGRAM, *words], cwd=bench.folder, stdout=subprocess.DEVNULL)
    until((bench.folder / "runs" / "batch" / "run.json").exists, "the batch begins")
    return process


def test_a_batch_of_another_process_is_followed_in_the_workbench(bench: Bench):
    with batch(bench, WRONG, SECOND_WRONG, THIRD_WRONG) as process:
        terminal = bench.open("runs/batch")
        terminal.wait_for("sum · scripted:s", "LIVE")
        terminal.wait_for("step 3 of 3", "REPLAY", "no_progress", "mismatch")
    assert process.returncode == 0


def test_a_batch_of_another_process_is_followed_at_home_and_in_the_matrix(bench: Bench):
    with batch(bench, WRONG, SECOND_WRONG, THIRD_WRONG):
        terminal = bench.open()
        terminal.wait_for("LIVE 1", "1 trajectories", "running")
        terminal.press("w")
        terminal.wait_for("0 of 1", "LIVE")
        terminal.wait_for("≠≠≠", "1 of 1", without=("LIVE",))
        terminal.press("q")
        terminal.wait_for("no_progress", "≠≠≠", without=("running",))


def test_sanitizers_on_demand_leave_reports_in_the_log_and_a_line_in_the_journal(bench: Bench):
    terminal = bench.start(SOLUTION, words=("--mode", "confirm"))
    terminal.wait_for("a candidate waits for you")
    terminal.press("y")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")
    terminal.press("S")
    terminal.wait_for("step 1: memcheck: ", "racecheck: ")
    terminal.press("3")
    terminal.wait_for("memcheck", "racecheck", "initcheck", "synccheck")
    assert actions(bench.run)[-1] == "sanitized"


def test_timing_on_the_cpu_device_says_that_its_times_say_nothing(bench: Bench):
    check = {**SPEC["check"], "time": "./driver"}  # type: ignore[dict-item]
    spec = {"timing_parser": r"Kernel time: ([0-9.]+) ms", "check": check}
    write_task(bench.folder / "corpus", answers={"s": [SOLUTION]}, spec=spec)
    terminal = bench.start(words=("--mode", "confirm"))
    terminal.wait_for("a candidate waits for you")
    terminal.press("y")
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")
    terminal.press("T")
    terminal.wait_for("step 1: unmeasured: ")
    told = story(bench.run).controls[-1]
    assert told.action == "timed"
    assert "its times say nothing about a GPU" in told.detail


def test_the_fix_is_written_as_a_patch_that_git_takes(bench: Bench):
    terminal = bench.start(SOLUTION)
    terminal.wait_for("step 1 of 1", "passed", "REPLAY")
    terminal.press("A")
    terminal.wait_for("Write a patch to this file", "sum.patch")
    terminal.press("Enter")
    terminal.wait_for("git apply sum.patch")
    home = bench.folder / "home"
    home.mkdir()
    file = home / "solution.cpp"
    file.write_bytes((bench.folder / "corpus" / "sum" / "broken.cpp").read_bytes())
    subprocess.run(
        ["git", "apply", "../sum.patch"],
        cwd=home,
        check=True,
        env={"GIT_CEILING_DIRECTORIES": "/", "PATH": "/usr/bin:/bin"},
    )
    assert file.read_text() == SOLUTION


def test_a_candidate_that_failed_is_taken_only_after_a_yes(bench: Bench):
    terminal = bench.start(WRONG, SECOND_WRONG, THIRD_WRONG)
    terminal.wait_for("step 3 of 3", "REPLAY")
    terminal.press("A")
    terminal.wait_for("Step 3 did not pass. Take it all the same?")
    terminal.press("n")
    terminal.wait_for("REPLAY", without=("did not pass",))
    assert not (bench.folder / "sum.patch").exists()
