"""The keys that act: on a live run, on what waits for a person, and on a candidate, with real builds of a small program."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from beaver_tui.app import Start
from beaver_tui.editor import EditorLauncher
from beaver_tui.live.start import start_live
from beaver_tui.screens.human import Human
from beaver_tui.screens.modals import Choose, Confirm
from beaver_tui.screens.proposal import Decide
from beaver_tui.screens.workbench import Workbench
from beaver_tui.widgets.tabline import TabLine
from beaver_tui.wish import Wish
from engine import events as ev
from engine.sweep.opening import Options
from tests.support.tasks import BROKEN, SOLUTION, WRONG, write_task
from tests.support.workbench import Driver, Way, presses, stored, workbench


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One task; its fixer hands in the same wrong file twice, then a sound one. New runs go below the test's folder."""
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path / "corpus", answers={"s": [WRONG, WRONG, SOLUTION]})
    return tmp_path / "corpus"


def wish(corpus: Path, mode: str = "auto") -> Start:
    return Start(wish=Wish("sum", "scripted:s", mode, str(corpus), "cpu"))


async def played(corpus: Path) -> Start:
    """A stored trajectory that duplicate_code has stopped after its second step."""
    out = corpus.parent / "stored"
    options = Options(corpus=str(corpus), fixers=("scripted:s",), out=out, device="cpu", seed="5eed")
    live = await asyncio.to_thread(start_live, options, warn=print)
    await live.play()
    live.close()
    return stored("sum", "s", out)


async def live_screen(bench: Driver) -> Workbench:
    """The live run's workbench, when it is there; what waits for a person may lie over it."""

    def found() -> Workbench | None:
        return next((screen for screen in bench.app.screen_stack if isinstance(screen, Workbench)), None)

    await bench.until(found, "the live run is shown")
    screen = found()
    assert screen is not None and screen.opened.live is not None
    return screen


async def proposal_waits(bench: Driver) -> Workbench:
    screen = await live_screen(bench)
    await bench.until(lambda: isinstance(bench.screen, Decide), "a candidate is shown")
    return screen


async def human_waits(bench: Driver) -> Workbench:
    screen = await live_screen(bench)
    await bench.until(lambda: isinstance(bench.screen, Human), "the person is asked")
    return screen


async def forked(bench: Driver) -> Workbench:
    """The fork that has taken the place of the stored trajectory, when it is over or waits for a person."""
    screen = await live_screen(bench)
    live = screen.opened.live
    await bench.until(lambda: live.over or live.waiting or live.proposal, "the fork has gone on")
    return screen


# modes of a live run


@presses("workbench.auto")
async def test_the_fixer_goes_on_by_itself(do: Way, corpus: Path):
    async with workbench(wish(corpus, "confirm")) as bench:
        screen = await proposal_waits(bench)
        await bench.press("escape")
        await do(bench)
        await bench.until(lambda: screen.session.trajectory.closed is not None, "the run is over, and read to its end")
        assert len(screen.session.trajectory.finished) == 2


@presses("workbench.confirm")
async def test_each_candidate_waits_for_a_yes(do: Way, corpus: Path):
    async with workbench(wish(corpus, "human")) as bench:
        screen = await human_waits(bench)
        await bench.press("q")
        await do(bench)
        await proposal_waits(bench)
        assert screen.opened.live.mode == "confirm"


@presses("workbench.human")
async def test_a_person_takes_over(do: Way, corpus: Path):
    async with workbench(wish(corpus, "confirm")) as bench:
        screen = await proposal_waits(bench)
        await bench.press("escape")
        await do(bench)
        await human_waits(bench)
        assert screen.opened.live.mode == "human"


@presses("app.interrupt")
async def test_a_live_run_is_stopped(do: Way, corpus: Path):
    async with workbench(wish(corpus, "confirm")) as bench:
        screen = await proposal_waits(bench)
        await bench.press("escape")
        await do(bench)
        await bench.until(lambda: screen.opened.live.over, "the run has stopped")
        assert screen.session.trajectory.closed is None


# forks of a stored trajectory


@presses("workbench.fork")
async def test_a_new_trajectory_from_a_step(do: Way, corpus: Path):
    async with workbench(await played(corpus)) as bench:
        bench.screen.go(1)
        await do(bench)
        assert isinstance(bench.screen, Choose)
        await bench.press("enter")
        screen = await forked(bench)
        assert screen.session.trajectory.controls[0].action == "fork"
        assert len(screen.opened.run.plan) == 1


@presses("workbench.level")
async def test_a_fork_with_another_feedback_level(do: Way, corpus: Path):
    async with workbench(await played(corpus)) as bench:
        bench.screen.go(1)
        await do(bench)
        assert isinstance(bench.screen, Choose)
        await bench.press("j", "enter")
        screen = await forked(bench)
        assert screen.session.protocol.feedback == "L3raw"


@presses("workbench.observe")
async def test_going_on_after_the_stop(do: Way, corpus: Path):
    async with workbench(await played(corpus)) as bench:
        await do(bench)
        screen = await forked(bench)
        await bench.until(lambda: screen.session.trajectory.closed, "it has ended")
        assert screen.session.trajectory.closed.stop_reason == "passed"
        assert len(screen.session.trajectory.finished) == 3


# a candidate


@presses("workbench.sanitize")
async def test_the_sanitizers_on_this_candidate(do: Way, corpus: Path):
    async with workbench(await played(corpus)) as bench:
        await do(bench)
        await bench.until(
            lambda: any(text.startswith("step 2: ") for text in bench.told), "the sanitizers have been run"
        )
        assert bench.screen.session.log(2, "sanitizer")


@presses("workbench.time")
async def test_the_time_of_this_candidate(do: Way, corpus: Path):
    async with workbench(await played(corpus)) as bench:
        await do(bench)
        await bench.until(lambda: any(text.startswith("step 2: ") for text in bench.told), "it has been timed")
        assert bench.screen.session.log(2, "profile")


@presses("workbench.profile")
async def test_the_profile_of_this_candidate(do: Way, corpus: Path):
    """This machine has no counters to read: the log says so where the figures would be."""
    async with workbench(await played(corpus)) as bench:
        await do(bench)
        await bench.until(lambda: any(text.startswith("step 2: no profile: ") for text in bench.told), "it was tried")
        assert "no profile: " in bench.screen.session.log(2, "profile")


@presses("workbench.apply")
async def test_a_candidate_as_a_patch(do: Way, corpus: Path):
    async with workbench(await played(corpus)) as bench:
        await do(bench)
        assert isinstance(bench.screen, Confirm)  # it did not pass
        await bench.press("y")
        await bench.until(lambda: not isinstance(bench.screen, Confirm), "it asks where to")
        await bench.press("enter")
        patch = corpus.parent / "sum.patch"
        await bench.until(patch.exists, "the patch is written")
        assert "+  for (std::size_t i = 1; i < n; ++i) sum += x[i];" in patch.read_text()


# a proposal


@presses("proposal.accept")
async def test_a_candidate_is_built_and_tested(do: Way, corpus: Path):
    async with workbench(wish(corpus, "confirm")) as bench:
        screen = await proposal_waits(bench)
        await do(bench)
        await bench.until(lambda: len(screen.session.trajectory.finished) == 1, "it was tested")
        assert screen.session.trajectory.finished[0].verdict.category == "functional_correctness"


@presses("proposal.reject")
async def test_the_fixer_is_asked_again_with_a_remark(do: Way, corpus: Path):
    async with workbench(wish(corpus, "confirm")) as bench:
        screen = await proposal_waits(bench)
        await do(bench)
        await bench.press(*"no", "enter")
        await bench.until(
            lambda: any(control.action == "rejected" for control in screen.session.trajectory.controls),
            "it is on record",
        )
        assert screen.session.trajectory.controls[-1].detail.endswith("no")
        assert not screen.session.trajectory.finished


@presses("proposal.edit")
async def test_a_candidate_is_edited_first(do: Way, corpus: Path):
    async with workbench(wish(corpus, "confirm"), editor=editor(corpus)) as bench:
        screen = await proposal_waits(bench)
        await do(bench)
        await bench.until(lambda: isinstance(bench.screen, Confirm), "it asks whether to hand it in")
        await bench.press("y")
        await bench.until(lambda: screen.session.trajectory.closed, "it was tested")
        assert screen.session.trajectory.closed.stop_reason == "passed"


@presses("proposal.later")
async def test_a_candidate_waits_on(do: Way, corpus: Path):
    async with workbench(wish(corpus, "confirm")) as bench:
        screen = await proposal_waits(bench)
        await do(bench)
        assert bench.screen is screen and screen.opened.live.proposal is not None
        assert bench.told[-1] == "the candidate waits; c comes back to it"
        await bench.press("c")
        await proposal_waits(bench)


# the human fixer


def editor(corpus: Path) -> EditorLauncher:
    """An editor that makes the file sound."""
    (corpus.parent / "sound.cpp").write_text(SOLUTION)
    program = corpus.parent / "edit"
    program.write_text(f'#!/bin/sh\ncp {corpus.parent}/sound.cpp "$1"\n')
    program.chmod(0o755)
    return EditorLauncher({"EDITOR": str(program)})


async def test_who_leaves_the_question_open_is_told_how_to_come_back(corpus: Path):
    async with workbench(wish(corpus, "human")) as bench:
        screen = await human_waits(bench)
        await bench.press("q")
        assert bench.screen is screen
        assert bench.told[-1] == "the trajectory waits for your file; u comes back to it"
        await bench.press("f1", "f1", "u")
        await human_waits(bench)
        assert sum("waits for your file" in text for text in bench.told) == 1, "told once"


@presses("human.edit")
async def test_the_file_in_the_editor(do: Way, corpus: Path):
    async with workbench(wish(corpus, "human"), editor=editor(corpus)) as bench:
        await human_waits(bench)
        await do(bench)
        assert bench.screen.file.read_text() == SOLUTION


@presses("human.submit")
async def test_the_file_is_handed_in(do: Way, corpus: Path):
    async with workbench(wish(corpus, "human")) as bench:
        screen = await human_waits(bench)
        bench.screen.file.write_text(SOLUTION)
        await do(bench)
        await bench.until(lambda: screen.session.trajectory.closed, "it was tested")
        assert screen.session.trajectory.closed.stop_reason == "passed"


@presses("human.preview")
async def test_a_build_that_costs_no_iteration(do: Way, corpus: Path):
    async with workbench(wish(corpus, "human")) as bench:
        screen = await human_waits(bench)
        assert bench.screen.file.read_text() == BROKEN
        await do(bench)
        await bench.until(lambda: "error:" in build_log(bench), "it was compiled")
        assert bench.one(TabLine).active == "Build"
        assert not screen.session.trajectory.finished


@presses("human.sanitize")
async def test_the_sanitizers_on_the_file_as_it_is(do: Way, corpus: Path):
    async with workbench(wish(corpus, "human")) as bench:
        screen = await human_waits(bench)
        bench.screen.file.write_text(SOLUTION)
        await do(bench)
        assert bench.one(TabLine).active == "Build"
        await bench.until(lambda: build_log(bench) and "running the" not in build_log(bench), "they have been run")

        def notes() -> list[str]:
            events = screen.session.events
            return [
                event.detail for event in events if isinstance(event, ev.Controlled) and event.action == "sanitized"
            ]

        await bench.until(notes, "a line about it is in the journal")
        assert notes()[-1].startswith("step 1 · "), "on the inputs of the iteration that waits"


def build_log(bench: Driver) -> str:
    view = bench.one("#human-build")
    return "\n".join(view.row_text(row) for row in range(view.row_count))


@presses("human.auto")
async def test_the_trajectory_is_given_back(do: Way, corpus: Path):
    async with workbench(wish(corpus, "human")) as bench:
        screen = await human_waits(bench)
        await do(bench)
        await bench.until(lambda: screen.session.trajectory.closed, "the fixer has ended it")
        assert screen.session.trajectory.closed.stop_reason == "duplicate_code"


@presses("human.tab")
async def test_what_there_is_to_read_in_turn(do: Way, corpus: Path):
    async with workbench(wish(corpus, "human")) as bench:
        await human_waits(bench)
        seen = []
        for _ in range(3):
            await do(bench)
            shown = [name for name in ("error", "prompt", "build") if bench.one(f"#human-{name}").display]
            seen.append((bench.one(TabLine).active, *shown))
        assert seen == [("Prompt", "prompt"), ("Build", "build"), ("Error", "error")]
