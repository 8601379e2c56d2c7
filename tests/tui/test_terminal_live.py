"""Live runs in a real terminal: everything arrives by itself, and whatever ends the program leaves a run that goes on."""

from __future__ import annotations

import pytest

from tests.support.program import beaver, manifest
from tests.support.tasks import WRONG
from tests.tui.live import SECOND_WRONG, THIRD_WRONG, Bench, categories, in_a_row, story
from tests.tui.terminal import needs_tmux

pytestmark = needs_tmux


def test_diff_log_transition_and_alert_arrive_without_a_key(bench: Bench):
    terminal = bench.start(WRONG, SECOND_WRONG, THIRD_WRONG)
    screens: list[str] = []
    terminal.wait_for("LIVE auto", "i = 1;", "category_oscillation 0 of 3")
    terminal.wait_for(lambda screen: screens.append(screen) or "REPLAY" in screen)
    terminal.wait_for("step 3 of 3", "no_progress", "o go on", "u take over", "mismatch")
    assert any("no_progress 1 of 3" in screen and "i = 2;" in screen for screen in screens)
    assert any(in_a_row("≠ functional_correctness", "↓")(screen) for screen in screens)
    # a log that was shown while it streamed is told anew when its step is over, not added to
    heads = [line for screen in screens for line in screen.splitlines() if "the checker makes the inputs" in line]
    assert all("$ python3 check.py generate" in line for line in heads)

    assert categories(bench.run) == ["functional_correctness"] * 3
    closed = story(bench.run).closed
    assert closed is not None
    assert closed.stop_reason == "no_progress"


def test_the_run_of_a_live_trajectory_is_complete(bench: Bench):
    terminal = bench.start(WRONG, SECOND_WRONG, THIRD_WRONG)
    terminal.wait_for("step 3 of 3", "REPLAY")
    rows = manifest(bench.run)
    assert [row["category"] for row in rows] == ["functional_correctness"] * 3
    terminal.press("C-q")
    assert terminal.wait_for_exit() == 0
    (bench.run / "manifest.jsonl").unlink()
    assert beaver("manifest", bench.run).code == 0
    assert manifest(bench.run) == rows
    again = bench.open(bench.run)
    again.wait_for("step 3 of 3", "REPLAY", "no_progress", "mismatch: y differs")


@pytest.mark.slow
@pytest.mark.xdist_group("CPU device")
def test_a_built_in_task_stagnates_on_the_cpu_device(bench: Bench):
    words = ("softmax_rows", "--fixer", "scripted:stagnating", "--device", "cpu")
    terminal = bench.open(*words)
    terminal.wait_for("softmax_rows · scripted:stagnating", "LIVE auto", "budget 5 left", seconds=300)
    terminal.wait_for("step 3 of 3", "REPLAY", "functional_correctness", "o go on, only observing", seconds=600)
    assert categories(bench.run) == ["functional_correctness"] * 3
    assert beaver("manifest", bench.run).code == 0


def test_a_run_that_cannot_begin_says_why_and_leaves_nothing(bench: Bench):
    terminal = bench.start(WRONG, fixer="scripted:nobody")
    terminal.wait_for("nobody")
    assert bench.runs == []
