"""Live runs: a person watches, stops, reads replies first, takes over and forks; the journals always resume."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from beaver_tui.live.live import LiveRun
from beaver_tui.live.start import fork_live, resume_live, start_live
from engine import events as ev
from engine.cells import read_cell
from engine.errors import ConfigError, RunError
from engine.fixers.config import FixerConfig
from engine.rundir import RunDirectory
from engine.sweep.opening import Options
from engine.trajectory import Trajectory
from tests.support.openai_server import OpenAIServer, hang_mid_stream, status
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


async def test_a_rejected_reply_costs_no_iteration_and_its_tokens_are_counted(begin):
    asked: list[list[dict[str, str]]] = []

    def answer(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return reply(SOLUTION if len(messages) > 2 else WRONG)

    with OpenAIServer(answer) as server:
        live = begin(fixer=f"chat:m@{server.url}", mode="confirm")
        playing = await when(live, lambda: live.proposal, "a proposal waits")
        assert (live.proposal.code, live.proposal.problem) == (WRONG.encode(), None)
        assert (live.proposal.added, live.proposal.removed) == (2, 2)
        live.reject("start the loop at 0")
        with pytest.raises(RunError, match="no proposal waits"):
            live.accept()
        await until_async(lambda: live.proposal and live.proposal.code == SOLUTION.encode(), "another one waits")
        live.accept()
        await playing
        tokens = [server_tokens(messages, text) for messages, text in zip(asked, (WRONG, SOLUTION), strict=True)]
    live.close()
    assert categories(live) == ["passed"]
    received = story(live).finished[0].reply
    assert (received.tokens_in, received.tokens_out) == tuple(map(sum, zip(*tokens, strict=True)))
    assert received.calls == 2
    assert asked[1][2] == {"role": "assistant", "content": reply(WRONG)}
    assert "start the loop at 0" in asked[1][3]["content"]
    assert actions(live) == ["mode", "rejected"]
    rejected = story(live).controls[1]
    assert rejected.detail.endswith("tokens: start the loop at 0")
    assert live.run.store(live.cell).get("responses", rejected.response).decode() == reply(WRONG)
    assert manifest(live.run.path)[0]["interactive"]


def server_tokens(messages: list[dict[str, str]], source: str) -> tuple[int, int]:
    """What the server counts: words."""
    return sum(len(message["content"].split()) for message in messages), len(reply(source).split())


async def test_an_edited_proposal_is_the_reply_byte_for_byte(begin):
    live = begin(WRONG, mode="confirm")
    playing = await when(live, lambda: live.proposal, "a proposal waits")
    mine = SOLUTION.encode().replace(b"floats\n", b"fl\xf6ats\r\n")
    live.edit(mine)
    await playing
    live.close()
    assert categories(live) == ["passed"]
    solution = story(live).finished[0].candidate.solution
    assert live.run.store(live.cell).get("solutions", solution) == mine
    assert actions(live) == ["mode", "edited"]


async def test_a_proposal_without_a_file_says_why(begin, tmp_path: Path):
    script = tmp_path / "replies.yaml"
    script.write_text("sum: ['I am not sure.']\n")
    live = begin(fixer=f"scripted:{script}", mode="confirm")
    playing = await when(live, lambda: live.proposal, "a proposal waits")
    assert (live.proposal.code, live.proposal.problem) == (None, "no code in the reply")
    live.cancel()
    await playing


async def test_taking_over_cancels_the_model_and_giving_back_asks_it_again(begin):
    with OpenAIServer(reply(SOLUTION)) as server:
        server.queue(hang_mid_stream("a slow"))
        live = begin(fixer=f"chat:m@{server.url}", interactive=True)
        texts: list[str] = []
        live.listener = lambda event: texts.append(event.text) if isinstance(event, ev.ReplyDelta) else None
        playing = await when(live, lambda: texts, "the model has begun to answer")
        live.set_mode("human")
        await until_async(lambda: live.waiting, "the person is waited for")
        assert server.hung_up.wait(10)
        assert (live.desk / "solution.cpp").read_text() == BROKEN
        (live.desk / "solution.cpp").write_text(WRONG)
        live.set_mode("auto")
        await playing
    live.close()
    assert categories(live) == ["passed"]
    assert (live.desk / "solution.cpp").read_text() == WRONG
    received = story(live).finished[0].reply
    assert (received.model, received.calls) == ("stub-model", 2)
    assert [control.detail for control in story(live).controls] == [
        "auto → human · in iteration 1",
        "human → auto · in iteration 1",
    ]


async def test_a_person_submits_and_hears_of_it(begin):
    live = begin(WRONG, SOLUTION, mode="human")
    heard: list[tuple[str, str]] = []
    live.subscribe(lambda news: heard.append((news.kind, news.text)))
    playing = await when(live, lambda: live.waiting, "the person is waited for")
    (live.desk / "solution.cpp").write_text(ALSO_BROKEN)
    await until_async(lambda: ("desk", "saved, 1 line changed") in heard, "the save is noticed")
    live.submit()
    await until_async(lambda: live.waiting and len(story(live).finished) == 1, "the next iteration waits")
    live.set_mode("auto")
    await playing
    live.close()
    assert categories(live) == ["buildability", "passed"]
    assert [iteration.reply.model for iteration in story(live).finished] == ["human", "scripted:s"]
    assert heard[-1] == ("over", "")


@pytest.mark.parametrize(("mode", "answers"), [("auto", "scripted:s"), ("human", "human")])
async def test_a_proposal_that_waits_is_accepted_by_auto_and_put_aside_for_a_person(begin, mode: str, answers: str):
    live = begin(SOLUTION, mode="confirm")
    playing = await when(live, lambda: live.proposal, "a proposal waits")
    live.set_mode(mode)
    if mode == "human":
        await until_async(lambda: live.waiting, "the person is waited for")
        (live.desk / "solution.cpp").write_text(SOLUTION)
        live.submit()
    await playing
    live.close()
    assert categories(live) == ["passed"]
    assert story(live).finished[0].reply.model == answers


@pytest.mark.parametrize("mode", ["confirm", "human"])
async def test_stop_waits_for_nobody(begin, mode: str):
    live = begin(SOLUTION, mode=mode)
    playing = await when(live, lambda: live.proposal or live.waiting, "somebody is waited for")
    live.stop()
    await asyncio.wait_for(playing, 5)
    live.close()
    assert (live.over, live.error, story(live).closed) == (True, "", None)
    assert beaver("--batch", "--resume", live.run.path).code == 0
    assert categories(live) == ["passed"]


async def test_what_was_not_begun_to_be_changed_is_forked_before_it_is(begin, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with OpenAIServer(reply(ALSO_BROKEN)) as server:
        live = begin(fixer=f"chat:m@{server.url}")
        live.listener = lambda event: server.queue(hang_mid_stream("x")) if isinstance(event, ev.Built) else None
        playing = await when(live, lambda: len(server.requests) == 2, "the second iteration has begun")
        with pytest.raises(RunError, match="was not begun to be changed by hand"):
            live.set_mode("human")
        taken = await live.steer("human")
        await playing
        assert (live.over, live.error, len(story(live).finished)) == (True, "", 1)
        going_on = await when(taken, lambda: taken.waiting, "the person is waited for")
        assert await taken.steer("human") is taken
        (taken.desk / "solution.cpp").write_text(SOLUTION)
        taken.submit()
        await going_on
    taken.close()
    assert categories(taken) == ["buildability", "passed"]
    assert actions(taken) == ["fork", "mode"]
    assert not story(live).opened.interactive


async def test_a_service_that_refuses_ends_it_with_the_reason(begin):
    with OpenAIServer() as server:
        server.queue(status(401, "who are you?"))
        live = begin(fixer=f"chat:m@{server.url}")
        await live.play()
    live.close()
    assert "who are you?" in live.error
    assert (live.over, story(live).closed) == (True, None)


PROGRAM = """
import asyncio, sys
from pathlib import Path
from beaver_tui.live.start import start_live
from engine.sweep.opening import Options

corpus, out = sys.argv[1:]
options = Options(corpus=corpus, fixers=("scripted:s",), out=Path(out), device="cpu")
live = start_live(options, warn=print, interactive=True)
live.listener = lambda event: print(type(event).__name__, flush=True)
asyncio.run(live.play())
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL], ids=["the terminal closes", "killed"])
@pytest.mark.parametrize("moment", ["ReplyReceived", "OutputArrived", "VerdictReached"])
def test_whatever_ends_the_process_leaves_a_journal_that_resumes(tmp_path: Path, number: int, moment: str):
    write_task(tmp_path / "corpus", answers={"s": [ALSO_BROKEN, SOLUTION]})
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM, str(tmp_path / "corpus"), str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert moment in (line.strip() for line in process.stdout)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == -number
    assert beaver("--batch", "--resume", tmp_path / "run").code == 0
    run = RunDirectory(tmp_path / "run")
    past = read_cell(run, run.plan[0])
    assert [iteration.verdict.category for iteration in past.finished] == ["buildability", "passed"]
    assert past.opened.interactive


async def test_a_stop_while_a_person_thinks_loses_no_reply(begin):
    """What was rejected and what waits is asked for no second time, and counted once."""
    with OpenAIServer(lambda messages: reply(SOLUTION if len(messages) > 2 else WRONG)) as server:
        live = begin(fixer=f"chat:m@{server.url}", mode="confirm")
        playing = await when(live, lambda: live.proposal, "a proposal waits")
        live.reject("start the loop at 0")
        await until_async(lambda: live.proposal and live.proposal.code == SOLUTION.encode(), "another one waits")
        live.stop()
        await playing
        live.close()
        again = resume_live(live.run.path, warn=ignore, mode="confirm")
        playing = await when(again, lambda: again.proposal, "it waits again")
        again.accept()
        await playing
        again.close()
        assert len(server.requests) == 2
        spent = [
            server_tokens(body["messages"], text) for body, text in zip(server.bodies, (WRONG, SOLUTION), strict=True)
        ]
    received = story(again).finished[0].reply
    assert (received.calls, received.tokens_in, received.tokens_out) == (2, *map(sum, zip(*spent, strict=True)))
    assert categories(again) == ["passed"]


@pytest.mark.slow
async def test_a_person_ends_what_a_model_could_not(tmp_path: Path):
    """A CUDA program on the CPU device: three tries stagnate, the workbench goes on in observe mode, a person repairs it."""
    options = Options(tasks=("softmax_rows",), fixers=("scripted:stagnating",), out=tmp_path / "run", device="cpu")
    live = start_live(options, warn=ignore)
    await live.play()
    assert story(live).closed.stop_reason == "no_progress"
    taken = await live.fork(mode="human", out=tmp_path / "fork", protocol_changes={"early_stop": "observe"})
    playing = await when(taken, lambda: taken.waiting, "the person is waited for")
    file = taken.desk / "solution.cu"
    assert file.read_bytes() == last_solution(live)
    file.write_bytes(taken.task.reference.read_bytes())
    taken.submit()
    await playing
    taken.close()
    assert categories(taken) == [*categories(live), "passed"]
    assert story(taken).finished[-1].reply.model == "human"


def last_solution(live: LiveRun) -> bytes:
    return live.run.store(live.cell).get("solutions", story(live).finished[-1].candidate.solution)


async def test_a_fork_that_cannot_be_played_leaves_nothing_behind_and_the_run_goes_on(begin, tmp_path: Path):
    with OpenAIServer(reply(SOLUTION)) as server:
        server.queue(hang_mid_stream("a slow"))
        live = begin(fixer=f"chat:m@{server.url}", interactive=True)
        playing = await when(live, lambda: server.requests, "the model is asked")
        nobody = FixerConfig(name="cloud", model="m", base_url="https://models.example.com/v1")
        with pytest.raises(ConfigError, match="needs a key"):
            await live.fork(fixer=nobody, out=tmp_path / "fork")
        assert not (tmp_path / "fork").exists()
        assert not live.over
        live.cancel()
        await playing


async def test_what_was_begun_on_another_device_is_not_played_here(tmp_path: Path):
    stored = RunDirectory(Path(__file__).parents[1] / "fixtures" / "h200" / "run")
    with pytest.raises(RunError, match="rows would not be comparable"):
        fork_live(stored, stored.plan[0], 0, warn=ignore, out=tmp_path / "fork", options=Options(device="cpu"))
    assert not (tmp_path / "fork").exists()


async def test_a_run_that_is_over_is_forked_to_go_on(begin, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    live = begin(ALSO_BROKEN, interactive=True)
    await live.play()
    assert story(live).closed.stop_reason == "no_more_answers"
    with pytest.raises(RunError, match="is over; fork it to go on"):
        live.set_mode("human")
    taken = await live.steer("human")
    assert taken is not live
    playing = await when(taken, lambda: taken.waiting, "the person is waited for")
    taken.cancel()
    await playing
    taken.close()


async def test_a_run_that_is_over_is_free_for_others_and_still_takes_notes(begin):
    live = begin(SOLUTION)
    with pytest.raises(RunError, match="has been writing this run since"):
        resume_live(live.run.path, warn=ignore)
    await live.play()
    live.note("timed", "step 1 · 1.00x")
    with live.run.lock(), pytest.raises(RunError, match="has been writing this run since"):
        live.note("timed", "step 1 · 1.01x")
    assert [control.detail for control in story(live).controls] == ["step 1 · 1.00x"]
    assert beaver("--batch", "--resume", live.run.path).code == 0
