"""The repair loop: real builds, recorded answers."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from engine import events as ev
from engine.devices.base import Device
from engine.errors import InfraError
from engine.fixers.base import FixRequest, Reply
from engine.fixers.scripted import ScriptedFixer
from engine.loop import Setting, derive_seed, repair
from engine.protocol import EarlyStop, Feedback, GateMode, Protocol
from engine.store import MemoryStore
from engine.trajectory import Trajectory, fold
from tests.support.tasks import BROKEN, CRASH, SOLUTION, WRONG

ALSO_BROKEN = BROKEN.replace("adds up", "sums")
THIRD_BROKEN = BROKEN.replace("adds up", "totals")


async def play(task, harness, script: str = "s", store: MemoryStore | None = None, **protocol: object) -> Trajectory:
    setting = Setting(task=task, fixer=ScriptedFixer(script), protocol=Protocol(**protocol), run="test", seed="s")
    events = [event async for event in repair(setting, harness, store)]
    assert isinstance(events[0], ev.TrajectoryOpened)
    assert isinstance(events[-1], ev.TrajectoryClosed)
    return fold(events)


def categories(trajectory: Trajectory) -> list[str]:
    return [iteration.verdict.category for iteration in trajectory.finished if iteration.verdict]


async def test_broken_wrong_fixed(harness, make_task):
    task = make_task(answers={"s": [ALSO_BROKEN, WRONG, SOLUTION]})
    trajectory = await play(task, harness)
    assert categories(trajectory) == ["buildability", "functional_correctness", "passed"]
    assert trajectory.closed.stop_reason == "passed"
    assert trajectory.passed
    assert [iteration.candidate.added for iteration in trajectory.finished] == [1, 3, 1]
    assert trajectory.finished[-1].feedback is None


@pytest.mark.parametrize(
    ("answers", "reason", "iterations"),
    [
        ([WRONG, WRONG, SOLUTION], "duplicate_code", 2),
        ([WRONG, ALSO_BROKEN, WRONG, SOLUTION], "code_cycle", 3),
        ([ALSO_BROKEN, THIRD_BROKEN, BROKEN + "\n", SOLUTION], "no_progress", 3),
        ([ALSO_BROKEN, WRONG, THIRD_BROKEN, WRONG + "\n", SOLUTION], "category_oscillation", 4),
        ([ALSO_BROKEN, WRONG], "no_more_answers", 2),
    ],
    ids=["duplicate_code", "code_cycle", "no_progress", "category_oscillation", "no_more_answers"],
)
async def test_each_way_to_stop(harness, make_task, answers, reason, iterations):
    trajectory = await play(make_task(answers={"s": answers}), harness)
    assert trajectory.closed.stop_reason == reason
    assert len(trajectory.finished) == iterations
    assert not trajectory.passed


async def test_observing_plays_on_through_signals(harness, make_task):
    task = make_task(answers={"s": [WRONG, WRONG, ALSO_BROKEN, WRONG, SOLUTION]})
    trajectory = await play(task, harness, early_stop=EarlyStop.OBSERVE)
    assert trajectory.closed.stop_reason == "passed"
    assert set(trajectory.iterations[1].signals) == {"duplicate_code", "code_cycle"}
    assert trajectory.iterations[3].signals["code_cycle"].iterations == [1, 4]


async def test_the_budget_ends_it(harness, make_task):
    task = make_task(answers={"s": [ALSO_BROKEN, WRONG, SOLUTION]})
    trajectory = await play(task, harness, k=2)
    assert trajectory.closed.stop_reason == "max_iterations"


async def test_resubmitting_the_broken_start_is_flagged_and_no_duplicate(harness, make_task):
    task = make_task(answers={"s": [BROKEN, SOLUTION]})
    trajectory = await play(task, harness)
    assert set(trajectory.iterations[0].signals) == {"resubmitted_broken_start"}
    assert trajectory.passed
    stopped = await play(task, harness, stop_on_resubmitted_start=True)
    assert stopped.closed.stop_reason == "resubmitted_broken_start"


async def test_unusable_replies_are_integration_with_their_reason(harness, make_task, tmp_path):
    script = tmp_path / "replies.yaml"
    script.write_text("sum: ['I am not sure.', '```cpp\nreturn 0;\n```']\n")
    trajectory = await play(make_task(), harness, str(script))
    assert categories(trajectory) == ["integration", "integration"]
    assert trajectory.iterations[0].candidate.problem == "no code in the reply"
    assert "no code in the reply" in trajectory.iterations[0].feedback.text


async def test_equal_replies_without_code_are_no_duplicate_code(harness, make_task, tmp_path):
    script = tmp_path / "replies.yaml"
    script.write_text(
        "sum: ['I am not sure.', '```cpp\nreturn 0;\n```', 'I am not sure.', 'I am not sure.', 'I am not sure.']\n"
    )
    trajectory = await play(make_task(), harness, str(script))
    assert trajectory.closed.stop_reason == "no_progress"
    assert not any({"duplicate_code", "code_cycle"} & set(iteration.signals) for iteration in trajectory.iterations)


async def test_a_reply_cut_by_the_token_limit_is_flagged(harness, make_task):
    class Cut:
        name = "cut"

        async def propose(self, request: FixRequest) -> Reply:
            return Reply(text=f"```cpp\n{SOLUTION[:80]}", finish_reason="length")

        async def close(self) -> None: ...

    setting = Setting(task=make_task(), fixer=Cut(), protocol=Protocol(k=1))
    trajectory = fold([event async for event in repair(setting, harness)])
    assert trajectory.iterations[0].candidate.truncated
    assert categories(trajectory) == ["integration"]


async def test_a_machine_without_a_device_ends_at_once_and_asks_no_further(harness, make_task):
    harness.device = Device(name="no GPU", missing="needs a GPU, and this machine has none")
    task = make_task(answers={"s": [SOLUTION, SOLUTION + "\n"]})
    trajectory = await play(task, harness)
    assert categories(trajectory) == ["environment_dependency"]
    assert trajectory.closed.stop_reason == "needs_device"


async def test_inloop_gate_goes_on_while_a_correct_candidate_is_too_slow(harness, make_task):
    slow = SOLUTION + "// slow\n"
    spec = {
        "timing_parser": r"^Kernel time: ([0-9.]+) ms$",
        "check": {
            "generate": "python3 check.py generate",
            "run": "./driver",
            "compare": "python3 check.py compare",
            "time": "./driver > /dev/null; grep -q slow solution.cpp && echo 'Kernel time: 8 ms' || echo 'Kernel time: 2 ms'",
        },
    }
    task = make_task(spec=spec, answers={"s": [slow, SOLUTION]})
    inloop = await play(task, harness, gate_mode=GateMode.INLOOP, launches=2)
    assert categories(inloop) == ["passed", "passed"]
    first = inloop.iterations[0]
    assert (first.timed.gate, first.timed.speedup, first.verdict.signature, first.passed) == (
        "fail",
        0.25,
        "too_slow",
        False,
    )
    assert "0.25x" in first.feedback.text
    posthoc = await play(task, harness, launches=2)
    assert [iteration.timed.gate for iteration in posthoc.finished] == ["fail"]
    assert posthoc.closed.stop_reason == "passed"


async def test_prompts_hold_the_rounds_that_the_protocol_allows(harness, make_task):
    store = MemoryStore()
    task = make_task(answers={"s": [ALSO_BROKEN, WRONG, CRASH]})
    trajectory = await play(task, harness, store=store, history=1, feedback=Feedback.L3)
    requests = [iteration.request for iteration in trajectory.iterations]
    assert [request.history for request in requests if request] == [[], [1], [2], [3]]
    last = store.get("prompts", trajectory.iterations[2].request.prompt).decode()
    assert "max abs error" in last
    assert "Attempt 1" not in last


async def test_cancelling_at_any_event_leaves_a_journal_that_goes_on(harness, make_task):
    """Stop after each event in turn, go on from there: the end is always the same and no reply is asked for twice."""

    class Counting(ScriptedFixer):
        asked = 0

        async def propose(self, request: FixRequest) -> Reply:
            Counting.asked += 1
            return await super().propose(request)

    task = make_task(answers={"s": [ALSO_BROKEN, SOLUTION]})
    setting = Setting(task=task, fixer=Counting("s"), run="test", seed="s")
    store = MemoryStore()
    whole = [event async for event in repair(setting, harness, store)]
    durable = [event for event in whole if event.durable]
    for cut in range(1, len(durable)):
        Counting.asked = 0
        past = fold(durable[:cut])
        received = sum(iteration.reply is not None for iteration in past.iterations)
        rest = [event async for event in repair(setting, harness, store, past=past) if event.durable]
        again = fold([*durable[:cut], *rest])
        assert categories(again) == ["buildability", "passed"], f"cut after {type(durable[cut - 1]).__name__}"
        assert again.closed.stop_reason == "passed"
        assert Counting.asked == 2 - received


async def test_leaving_the_iteration_kills_what_runs(harness, make_task):
    from tests.support.tasks import HANG

    task = make_task(answers={"s": [HANG]})
    events = repair(Setting(task=task, fixer=ScriptedFixer("s")), harness)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, ev.Built):
                break
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_a_call_in_flight_at_a_crash_is_counted_as_lost(harness, make_task):
    task = make_task(answers={"s": [SOLUTION]})
    setting = Setting(task=task, fixer=ScriptedFixer("s"))
    store = MemoryStore()
    events = [event async for event in repair(setting, harness, store)]
    asked = next(index for index, event in enumerate(events) if isinstance(event, ev.RequestBuilt))
    past = fold(events[: asked + 1])
    async for event in repair(setting, harness, store, past=past):
        last = event
    assert past.lost_calls == 1
    assert isinstance(last, ev.TrajectoryClosed)


async def test_a_fixers_fault_leaves_the_trajectory_open(harness, make_task):
    class Down:
        name = "down"

        async def propose(self, request: FixRequest) -> Reply:
            raise InfraError("the service is down", kind="connection")

        async def close(self) -> None: ...

    events = [event async for event in repair(Setting(task=make_task(), fixer=Down()), harness)]
    assert isinstance(events[-1], ev.InfraFailed)
    assert events[-1].final
    trajectory = fold(events)
    assert trajectory.closed is None
    assert trajectory.finished == []


async def test_a_machines_fault_is_tried_again_and_never_an_iteration(harness, make_task):
    task = make_task(answers={"s": [SOLUTION]})

    class Shaky:
        tries = 0
        place = harness.place

        async def examine(self, job, emit, save_log):
            Shaky.tries += 1
            if Shaky.tries == 1:
                raise InfraError("the GPU fell off the bus", kind="gpu")
            return await harness.examine(job, emit, save_log)

    trajectory = await play(task, Shaky())
    assert trajectory.passed
    assert len(trajectory.infra_faults) == 1
    assert len(trajectory.finished) == 1


async def test_a_failed_call_is_not_a_lost_one(harness, make_task):
    """Lost is what was in flight when the process died; a call that failed came back."""

    class Down:
        name = "down"

        async def propose(self, request: FixRequest) -> Reply:
            raise InfraError("the service is down", kind="connection")

        async def close(self) -> None: ...

    task = make_task(answers={"s": [SOLUTION]})
    past = fold([event async for event in repair(Setting(task=task, fixer=Down()), harness)])
    async for _ in repair(Setting(task=task, fixer=ScriptedFixer("s")), harness, past=past):
        pass
    assert past.lost_calls == 0
    assert past.passed


def test_nothing_of_a_first_try_stays_in_an_iteration():
    """A retried or resumed iteration once kept the first try's sanitizer report, timing and signals."""
    first = [
        ev.CandidateMade(iteration=1, solution="a" * 64),
        ev.PreflightDone(iteration=1),
        ev.Sanitized(iteration=1, tool="memcheck", exit_code=99),
        ev.Timed(iteration=1, speedup=2.0),
        ev.SignalRaised(iteration=1, name="code_cycle", iterations=[1]),
    ]
    for again in (
        ev.CandidateMade(iteration=1, solution="a" * 64),
        ev.InfraFailed(iteration=1, kind="gpu", message="lost"),
    ):
        iteration = fold([*first, again]).iterations[0]
        assert (iteration.sanitized, iteration.timed, iteration.signals, iteration.preflight) == ({}, None, {}, None)


def test_seeds_differ_by_iteration_and_are_the_same_for_every_fixer():
    seeds = {
        derive_seed("run", task, attempt, iteration) for task in "ab" for attempt in (1, 2) for iteration in (1, 2)
    }
    assert len(seeds) == 8
    assert derive_seed("run", "a", 1, 1) == derive_seed("run", "a", 1, 1) < 2**64
    assert derive_seed("run", "a", 1, 1) != derive_seed("other", "a", 1, 1)
