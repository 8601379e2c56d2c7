"""Live runs: a person watches, stops, reads replies first, takes over and forks; the journals always resume."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from beaver_tui.live.live import LiveRun
from beaver_tui.live.start import fork_live, resume_live, start_live
from engine import events as ev
from engine.cells import read_cell
from engine.errors import ConfigError, RunError
from engine.rundir import RunDirectory
from engine.sweep.opening import Options
from engine.trajectory import Trajectory
from tests.support.openai_server import OpenAIServer, hang_mid_stream
from tests.support.program import beaver, manifest
from tests.support.tasks import BROKEN, SOLUTION, WRONG, write_task
from tests.support.until import until_async

ALSO_BROKEN = BROKEN.replace("adds up", "sums")
HERE = Options(device="cpu", seed="5eed")


def ignore(text: str) -> None:
    """Warnings are not what these tests are about."""


def reply(source: str) -> str:
    return f"```cpp\n{source}```\n"


@pytest.fixture
def begin(tmp_path: Path):
    """Begins a live run of the task "sum", and closes what a test leaves open."""
    begun: list[LiveRun] = []

    def begin(*answers: str, fixer: str = "scripted:s", out: str = "run", **options: object) -> LiveRun:
        corpus = tmp_path / "corpus"
        if not corpus.exists():
            write_task(corpus, answers={"s": list(answers)} if answers else None)
        words = {name: options.pop(name) for name in ("mode", "interactive") if name in options}
        wishes = {"corpus": str(corpus), "fixers": (fixer,), "out": tmp_path / out, "device": "cpu", "seed": "5eed"}
        live = start_live(Options(**{**wishes, **options}), warn=ignore, **words)
        begun.append(live)
        return live

    yield begin
    for live in begun:
        live.close()


def story(live: LiveRun) -> Trajectory:
    past = read_cell(live.run, live.cell)
    assert past is not None
    return past


def categories(live: LiveRun) -> list[str]:
    return [iteration.verdict.category for iteration in story(live).finished if iteration.verdict]


def actions(live: LiveRun) -> list[str]:
    return [control.action for control in story(live).controls]


async def when(live: LiveRun, condition: Callable[[], object], what: str) -> asyncio.Task[None]:
    """Play until ``condition`` holds, and go on playing."""
    playing = asyncio.create_task(live.play())
    await until_async(lambda: condition() or playing.done(), what)
    assert not playing.done(), live.error
    return playing


async def test_in_auto_it_is_a_run_like_any_other(begin):
    live = begin(ALSO_BROKEN, SOLUTION)
    events: list[ev.Event] = []
    live.listener = events.append
    await live.play()
    live.close()
    assert (live.over, live.error, categories(live)) == (True, "", ["buildability", "passed"])
    assert isinstance(events[0], ev.TrajectoryOpened)
    assert isinstance(events[-1], ev.TrajectoryClosed)
    assert {type(event) for event in events} >= {ev.ReplyDelta, ev.OutputArrived, ev.IterationClosed}
    assert not story(live).opened.interactive
    assert [row["category"] for row in manifest(live.run.path)] == ["buildability", "passed"]
    assert beaver("--batch", "--resume", live.run.path).code == 0


async def test_a_live_run_is_one_trajectory(begin, tmp_path: Path):
    with pytest.raises(ConfigError, match="a live run is one trajectory, and these are 3"):
        begin(SOLUTION, attempts=3)
    assert not (tmp_path / "run").exists()


async def test_stop_ends_after_the_running_step_and_cancel_at_once(begin):
    live = begin(ALSO_BROKEN, SOLUTION)
    live.listener = lambda event: live.stop() if isinstance(event, ev.IterationClosed) else None
    await live.play()
    live.close()
    assert (categories(live), story(live).closed) == (["buildability"], None)
    again = resume_live(live.run.path, warn=ignore)
    again.listener = lambda event: again.cancel() if isinstance(event, ev.OutputArrived | ev.RequestBuilt) else None
    await again.play()
    again.close()
    assert (again.over, again.error, categories(again)) == (True, "", ["buildability"])
    assert beaver("--batch", "--resume", live.run.path).code == 0
    assert categories(live) == ["buildability", "passed"]


@pytest.mark.parametrize("step", [0, 1, 2])
async def test_a_fork_goes_on_from_any_step_and_leaves_the_first_run_alone(begin, tmp_path: Path, step: int):
    live = begin(ALSO_BROKEN, WRONG, SOLUTION)
    await live.play()
    before = live.run.journal(live.cell).read_bytes()
    fork = await live.fork(step, out=tmp_path / "fork", reason="to see")
    await fork.play()
    fork.close()
    assert categories(fork) == ["buildability", "functional_correctness", "passed"]
    assert live.run.journal(live.cell).read_bytes() == before
    assert story(fork).opened.interactive
    assert story(fork).controls[0].detail == f"scripted:s · sum · scripted:s · step {step}: to see"
    assert all(row["interactive"] for row in manifest(fork.run.path))


async def test_after_a_stagnation_it_goes_on_only_where_the_change_allows_it(begin, tmp_path: Path):
    live = begin(WRONG, WRONG, SOLUTION)
    await live.play()
    assert story(live).closed.stop_reason == "duplicate_code"
    with pytest.raises(ConfigError, match=r"ended there with duplicate_code; change early_stop to observe"):
        await live.fork(out=tmp_path / "fork")
    assert not (tmp_path / "fork").exists()
    fork = await live.fork(out=tmp_path / "fork", protocol_changes={"early_stop": "observe"}, reason="go on")
    await fork.play()
    fork.close()
    assert categories(fork) == ["functional_correctness", "functional_correctness", "passed"]


async def test_a_fork_that_was_cut_short_resumes_as_a_batch(begin, tmp_path: Path):
    live = begin(ALSO_BROKEN, WRONG, SOLUTION)
    await live.play()
    live.close()
    fork = fork_live(live.run, live.cell, 1, warn=ignore, out=tmp_path / "fork")
    fork.listener = lambda event: fork.cancel() if isinstance(event, ev.Built) else None
    await fork.play()
    fork.close()
    assert story(fork).closed is None
    assert beaver("--batch", "--resume", fork.run.path).code == 0
    assert categories(fork) == ["buildability", "functional_correctness", "passed"]
    assert story(fork).opened.interactive
