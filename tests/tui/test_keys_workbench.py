"""The keys of the workbench on a stored trajectory: each does what its help says, from the keyboard and from the palette."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from beaver_tui.editor import EditorLauncher
from beaver_tui.screens.errors import Errors
from beaver_tui.screens.modals import Ask
from beaver_tui.state.session import Base, Session
from beaver_tui.widgets.codeview import CodeView
from beaver_tui.widgets.tabline import TabLine
from beaver_tui.widgets.topline import TopLine
from engine import events as ev
from tests.support.workbench import Driver, Way, presses, stored, workbench

pytestmark = pytest.mark.usefixtures("at_fixtures")


def four_steps():
    """illegal_memory_access, functional_correctness, buildability, illegal_memory_access; stopped for its oscillation."""
    return stored("image_luma", "stagnating")


async def moved(do: Way, start: int) -> int:
    """Where a key leads from a step."""
    async with workbench(four_steps()) as bench:
        bench.screen.go(start)
        await do(bench)
        position = int(bench.screen.session.position)
        assert f"step {position} of 4" in bench.text(TopLine)
        return position


@presses("workbench.previous")
async def test_the_iteration_before(do: Way):
    assert await moved(do, 4) == 3


@presses("workbench.next")
async def test_the_next_iteration(do: Way):
    assert await moved(do, 2) == 3


@presses("workbench.first")
async def test_the_broken_start(do: Way):
    assert await moved(do, 3) == 0


@presses("workbench.last")
async def test_the_newest_iteration(do: Way):
    assert await moved(do, 1) == 4


@presses("workbench.next_change")
async def test_the_next_iteration_with_another_category(do: Way):
    assert await moved(do, 1) == 2


@presses("workbench.previous_change")
async def test_the_iteration_before_with_another_category(do: Way):
    assert await moved(do, 4) == 3


@presses("workbench.next_trajectory")
async def test_the_next_trajectory_of_the_run(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        assert str(bench.screen.opened.cell) == "layernorm_rows · scripted:good"


@presses("workbench.previous_trajectory")
async def test_the_trajectory_of_the_run_before_this(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        assert str(bench.screen.opened.cell) == "image_luma · scripted:degenerate"


@presses("workbench.replay_back")
async def test_replay_takes_the_last_event_back(do: Way):
    async with workbench(four_steps()) as bench:
        session = bench.screen.session
        await do(bench)
        assert session.shown_events == session.event_count - 1
        assert f"{session.shown_events}/{session.event_count}" in bench.text(TopLine)


@presses("workbench.replay_on")
async def test_replay_goes_on_to_the_next_event(do: Way):
    async with workbench(four_steps()) as bench:
        session = bench.screen.session
        session.seek(3)
        await do(bench)
        assert session.shown_events == 4


@presses("workbench.pause")
async def test_the_view_is_held_still_and_let_go(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        assert "PAUSED" in bench.text(TopLine)
        await do(bench)
        assert "PAUSED" not in bench.text(TopLine)


async def log_after(do: Way, first: str) -> tuple[str, str]:
    """The tab of the logs and the pane on show, begun with the tab ``first``."""
    async with workbench(four_steps()) as bench:
        bench.one("#logs", TabLine).choose(first)
        await bench.pilot.pause()
        await do(bench)
        return bench.one("#logs").active, bench.one("#log").current


@presses("workbench.log_build")
async def test_the_build_log(do: Way):
    assert await log_after(do, "Test") == ("Build", "log-build")


@presses("workbench.log_test")
async def test_the_test_log(do: Way):
    assert await log_after(do, "Build") == ("Test", "log-test")


@presses("workbench.log_sanitizer")
async def test_the_sanitizer_log(do: Way):
    assert await log_after(do, "Build") == ("Sanitizer", "log-sanitizer")


@presses("workbench.log_profile")
async def test_the_profile(do: Way):
    assert await log_after(do, "Build") == ("Profile", "log-profile")


@presses("workbench.tab")
async def test_the_tabs_in_turn(do: Way):
    async with workbench(four_steps()) as bench:
        seen = []
        for _ in range(6):
            await do(bench)
            seen.append((bench.one("#views").active, bench.one("#view").current))
        assert seen == [(name, name.lower()) for name in ("Code", "Structure", "Speed", "Prompt", "Reply", "Diff")]


def speed_shown(bench: Driver) -> str:
    view = bench.one("#speed")
    return "\n".join(view.row_text(row) for row in range(view.row_count))


@presses("workbench.speed")
async def test_the_speed_of_a_step_and_of_the_trajectory(do: Way):
    async with workbench(stored("attention_window", "degenerate")) as bench:
        await do(bench)
        assert bench.one("#view").current == "speed"
        shown = speed_shown(bench)
        assert shown.startswith("Step 1\nspeedup 0.27x  gate fail")
        assert "0.1    ✓ yes   1\n0.3    ✗ no" in shown
        assert "best 0.27x at step 1" in shown
        await bench.press("h")
        assert speed_shown(bench).startswith("Broken start\nnot timed")


async def test_a_pinned_step_is_what_times_are_against():
    async with workbench(stored("conv2d_same", "good")) as bench:
        session = bench.screen.session
        timed = session.timed(session.last)
        assert timed is not None and timed.speedup is not None
        assert session.facts(session.last).beside == ""
        session.add_measurement(1, msgspec.structs.replace(timed, speedup=timed.speedup / 2))
        await bench.press("5", "0", "l", "b", "dollar_sign")
        assert session.pinned == 1
        assert "2.00x of step 1 (pinned)" in speed_shown(bench)
        assert "2.00x of step 1 (pinned)" in bench.one("#facts").text.plain


@presses("workbench.grow")
async def test_the_logs_get_more_room(do: Way):
    async with workbench(four_steps()) as bench:
        before = bench.one("#log").size.height
        await do(bench)
        assert bench.one("#log").size.height > before


@presses("workbench.shrink")
async def test_the_logs_get_less_room(do: Way):
    async with workbench(four_steps()) as bench:
        before = bench.one("#log").size.height
        await do(bench)
        assert bench.one("#log").size.height < before


@presses("workbench.pin")
async def test_a_step_is_pinned_and_the_diff_is_against_it(do: Way):
    async with workbench(four_steps()) as bench:
        bench.screen.go(2)
        await do(bench)
        await bench.press("l", "l")
        assert (bench.screen.session.base, bench.screen.session.pinned) == (Base.PINNED, 2)
        assert "against pinned, step 2" in bench.text("#views")


@presses("workbench.against")
async def test_what_the_diff_is_against_goes_round(do: Way):
    async with workbench(four_steps()) as bench:
        seen = []
        for _ in Base:
            await do(bench)
            seen.append(bench.screen.session.base)
        assert seen == [Base.BROKEN, Base.PINNED, Base.BEST, Base.PREVIOUS]
        assert "against step 3" in bench.text("#views")


@presses("workbench.errors")
async def test_the_errors_of_a_step_lead_to_their_lines(do: Way):
    async with workbench(four_steps()) as bench:
        bench.screen.go(3)
        await do(bench)
        assert isinstance(bench.screen, Errors)
        row = bench.screen.rows[0]
        await bench.press("enter")
        assert bench.one("#view").current == "code"
        assert bench.one(CodeView).cursor == row.line - 1


@presses("errors.go")
async def test_a_row_of_the_errors_leads_to_its_line(do: Way):
    async with workbench(four_steps()) as bench:
        bench.screen.go(3)
        await bench.press("e")
        row = bench.screen.rows[0]
        await do(bench)
        assert bench.one(CodeView).cursor == row.line - 1
        assert bench.one(CodeView).has_focus


@presses("errors.leave")
async def test_the_errors_are_left(do: Way):
    async with workbench(four_steps()) as bench:
        bench.screen.go(3)
        await bench.press("e")
        await do(bench)
        assert bench.one("#view").current == "diff"


@presses("workbench.raw")
async def test_the_events_of_a_step_in_the_pager(do: Way, tmp_path: Path):
    pager = tmp_path / "pager"
    pager.write_text(f'#!/bin/sh\ncat "$1" > {tmp_path}/paged\n')
    pager.chmod(0o755)
    async with workbench(four_steps(), editor=EditorLauncher({"PAGER": str(pager)})) as bench:
        bench.screen.go(2)
        await do(bench)
        events = [json.loads(line) for line in (tmp_path / "paged").read_text().splitlines()]
        assert {event["iteration"] for event in events} == {2}
        assert len(events) > 3


@presses("workbench.goto")
async def test_a_step_or_a_line_by_its_number(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        assert isinstance(bench.screen, Ask)
        await bench.press("1", "enter")
        assert bench.screen.session.position == 1
        await do(bench)
        await bench.press("colon", "7", "enter")
        assert (bench.one("#view").current, bench.one(CodeView).cursor) == ("code", 6)


@presses("workbench.copy")
async def test_the_command_that_plays_it_again(do: Way):
    async with workbench(four_steps()) as bench:
        await do(bench)
        wanted = "beaver-tui --batch --fixer replay:h200/run::scripted:stagnating --tasks image_luma "
        assert bench.app.clipboard.startswith(wanted)


async def test_of_an_imported_run_without_a_corpus_no_command_is_copied(tmp_path: Path):
    run = tmp_path / "run"
    shutil.copytree("h200/run", run)
    record = json.loads((run / "run.json").read_text())
    told = {"source": "/results", "format": "f", "sha256": "0", "unknown": ["corpus"]}
    (run / "run.json").write_text(json.dumps({**record, "corpus": "unknown", "imported": told}))
    async with workbench(stored("image_luma", "stagnating", run)) as bench:
        await bench.press("Y")
        assert bench.app.clipboard == ""
        assert bench.told[-1].startswith("no command plays this again: /results does not say which corpus")


@presses("workbench.dismiss")
async def test_an_alert_is_put_away(do: Way):
    async with workbench(four_steps()) as bench:
        assert bench.one("#facts").has_class("-alert")
        await do(bench)
        assert not bench.one("#facts").has_class("-alert")


async def test_what_is_held_still_stays_at_its_step():
    """The header and the keys are about the step that the panes show, however many come meanwhile."""
    async with workbench(four_steps()) as bench:
        screen = bench.app.screen
        opened, events = screen.opened, list(screen.session.events)
        closed = [index for index, event in enumerate(events) if isinstance(event, ev.IterationClosed)]
        opened.session = Session(opened.cell, opened.run.store(opened.cell), task=opened.session.task)
        for event in events[: closed[0] + 1]:
            opened.session.apply(event)
        screen.action_pause()
        opened.arrived.extend(events[closed[0] + 1 :])
        screen.drain()
        assert (screen.session.position, screen.session.last) == (1, len(closed))
        screen.action_pause()
        assert screen.session.position == screen.session.last
