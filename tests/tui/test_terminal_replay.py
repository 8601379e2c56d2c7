"""A stored run in a real terminal: found at home, opened, stepped through."""

from __future__ import annotations

from pathlib import Path

from tests.tui.terminal import Terminal, needs_tmux

pytestmark = needs_tmux

STORED = Path(__file__).parents[1] / "fixtures" / "h200"
HISTOGRAM = ("replay", STORED / "run", "--task", "histogram_bytes", "--fixer", "scripted:stagnating")


def test_from_home_a_filter_finds_a_trajectory_and_enter_opens_it():
    with Terminal("--runs", STORED) as terminal:
        terminal.wait_for("44 trajectories")
        terminal.press("/")
        terminal.wait_for("filter: words")
        terminal.type("histogram fixer:stagnating")
        terminal.wait_for("1 of 44 trajectories", "histogram_bytes")
        terminal.press("Enter")
        terminal.press("Enter")
        terminal.wait_for("step 4 of 4", "REPLAY", "histogram_bytes · scripted:stagnating")
        terminal.press("q")
        terminal.wait_for("1 of 44 trajectories")
        terminal.press("C-q")
        assert terminal.wait_for_exit() == 0


def test_steps_and_changes_of_category_are_walked_and_every_pane_follows():
    with Terminal(*HISTOGRAM) as terminal:
        terminal.wait_for("step 4 of 4", "collect2: error: ld returned 1 exit status", "against step 3")
        terminal.press("h")
        terminal.wait_for("step 3 of 4", "bins: 256 of 256 values differ", "at [0]: got 1400, want 2067")
        terminal.press("0")
        terminal.wait_for("step 0 of 4", "broken start", without=("got 1400",))
        for step in (1, 2, 3, 4):
            terminal.press("n")
            terminal.wait_for(f"step {step} of 4")
        terminal.press("n")
        terminal.wait_for("no further step with another category")
        terminal.press("p")
        terminal.wait_for("step 3 of 4")
        terminal.press("$")
        terminal.wait_for("step 4 of 4")


def test_tabs_show_code_structure_speed_prompt_and_reply_and_logs_have_numbers():
    with Terminal(*HISTOGRAM) as terminal:
        terminal.wait_for("step 4 of 4", "unchanged lines")
        terminal.press("t")
        terminal.wait_for("#include", without=("unchanged lines",))
        terminal.press("t")
        terminal.wait_for("structure kept", "atomic operations")
        terminal.press("t")
        terminal.wait_for("not timed", "The trajectory at each threshold (axis A1)", without=("structure kept",))
        terminal.press("t")
        terminal.wait_for("characters is not stored in this run", without=("not timed",))
        terminal.press("t")
        terminal.wait_for("#include", without=("not stored",))
        terminal.press("h")
        terminal.wait_for("step 3 of 4", "got 1400, want 2067")
        terminal.press("1")
        terminal.wait_for("make ARCH=-arch=sm_90 driver", without=("got 1400",))
        terminal.press("2")
        terminal.wait_for("got 1400, want 2067")


def test_the_alert_names_its_signal_and_what_can_be_done_until_it_is_put_away():
    with Terminal(*HISTOGRAM) as terminal:
        terminal.wait_for("category goes to and", "o go on, only observing", "u take over")
        terminal.press("d")
        terminal.wait_for("budget 1 left", without=("goes to and", "u take over"))
        terminal.press("h")
        terminal.wait_for("step 3 of 4", without=("goes to and",))


def test_the_other_trajectories_of_the_run_are_a_key_away():
    with Terminal(*HISTOGRAM) as terminal:
        terminal.wait_for("step 4 of 4", "histogram_bytes · scripted:stagnating")
        terminal.press("L")
        terminal.wait_for("image_luma · scripted:good", "step 1 of 1")
        terminal.press("H")
        terminal.wait_for("histogram_bytes · scripted:stagnating", "step 4 of 4")


def test_the_raw_record_is_shown_in_the_pager_and_the_screen_comes_back():
    with Terminal(*HISTOGRAM, environment={"PAGER": "less -S"}) as terminal:
        terminal.wait_for("step 4 of 4")
        terminal.press("E")
        terminal.wait_for('{"type":"request_built"', '"name":"category_oscillation"')
        terminal.press("q")
        terminal.wait_for("step 4 of 4", "collect2")
