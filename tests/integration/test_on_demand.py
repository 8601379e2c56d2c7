"""Examinations on demand, on real programs: they cost no iteration, and what they found is one line of the journal."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from beaver_tui.live import on_demand as live_on_demand
from beaver_tui.live.on_demand import Subject
from beaver_tui.live.start import start_live
from engine import events as ev
from engine.cells import read_cell
from engine.devices.base import Device
from engine.errors import InfraError
from engine.harness import on_demand
from engine.local import builtin_tasks, local_harness
from engine.protocol import Protocol
from engine.sweep.opening import Options
from tests.support.tasks import BROKEN, HANG, SOLUTION, WRONG

NO_TIMES = "beaver-tui CPU device: its times say nothing about a GPU"

TIMED = {
    "timing_parser": r"^Kernel time: ([0-9.]+) ms$",
    "check": {
        "generate": "python3 check.py generate",
        "run": "./driver",
        "compare": "python3 check.py compare",
        "time": "./driver",
    },
}


async def test_a_preview_compiles_and_does_no_more(harness, make_task):
    events: list[ev.Event] = []
    built = await on_demand.preview(harness, make_task(), SOLUTION.encode(), emit=events.append)
    assert (built.step.exit_code, on_demand.built_line(built)[:7]) == (0, "builds,")
    assert {type(event) for event in events} == {ev.Built}
    broken = await on_demand.preview(harness, make_task("other"), BROKEN.encode(), emit=events.append)
    assert on_demand.built_line(broken) == "does not build: exit 1"
    assert "error: expected" in broken.step.stderr.text
    assert ev.OutputArrived in {type(event) for event in events}


async def test_a_candidate_is_timed_against_the_reference(harness, make_task):
    task = make_task(spec=TIMED)
    timed = await on_demand.time(harness, task, SOLUTION.encode(), Protocol(launches=2), seed=1)
    assert (timed.speedup, timed.gate, len(timed.candidate_ms)) == (1.0, "pass", 2)
    assert on_demand.timed_line(timed) == "1.00x of the reference, cv 0.00 %, gate pass"


@pytest.mark.parametrize(
    ("code", "note"),
    [(BROKEN, "the candidate does not build"), (WRONG, "a timed run left a wrong result")],
    ids=["broken", "wrong"],
)
async def test_what_cannot_be_timed_says_why(harness, make_task, code: str, note: str):
    timed = await on_demand.time(harness, make_task(spec=TIMED), code.encode(), Protocol(launches=2), seed=1)
    assert (timed.gate, timed.note) == ("unmeasured", note)


async def test_a_task_without_timing_says_so(harness, make_task):
    timed = await on_demand.time(harness, make_task(), SOLUTION.encode(), Protocol(), seed=1)
    assert on_demand.timed_line(timed) == "unmeasured: the task says nothing about timing"


async def test_without_a_device_nothing_is_run(harness, make_task):
    harness.device = Device(name="no GPU", missing="needs a GPU, and this machine has none")
    task = make_task()
    with pytest.raises(InfraError, match="needs a GPU"):
        await on_demand.sanitize(harness, task, SOLUTION.encode(), seed=1)
    with pytest.raises(InfraError, match="needs a GPU"):
        await on_demand.time(harness, task, SOLUTION.encode(), Protocol(), seed=1)


async def test_cancelling_kills_what_runs(harness, make_task):
    built = asyncio.Event()
    timing = asyncio.create_task(
        on_demand.time(
            harness,
            make_task(spec=TIMED),
            HANG.encode(),
            Protocol(),
            seed=1,
            emit=lambda event: built.set() if isinstance(event, ev.Built) else None,
        )
    )
    await built.wait()
    timing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await timing
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_every_tool_looks_at_a_program_of_the_cpu_device():
    task = builtin_tasks()["softmax_rows"]
    events: list[ev.Event] = []
    with local_harness("cpu") as harness:
        reports = await on_demand.sanitize(harness, task, task.broken, seed=3, emit=events.append)
    assert (
        on_demand.sanitized_line(reports)
        == "memcheck: clean, racecheck: found something, initcheck: clean, synccheck: clean"
    )
    assert [type(event) for event in events if event.durable] == [ev.Built, *[ev.Sanitized] * 4]
    built = next(event for event in events if isinstance(event, ev.Built))
    assert any("-lineinfo" in rewrite for rewrite in built.rewrites)


def test_a_tool_that_found_nothing_says_how_the_test_ended():
    """It ends as the program does: "racecheck: exit 2" was a wrong result and no finding."""
    ended = ev.Sanitized(iteration=1, tool="racecheck", exit_code=2, output=ev.Excerpt(), seconds=0.1)
    assert on_demand.sanitized_line([ended]) == "racecheck: clean, the test ends with 2"


async def test_what_does_not_build_is_not_sanitized():
    task = builtin_tasks()["softmax_rows"]
    events: list[ev.Event] = []
    with local_harness("cpu") as harness:
        reports = await on_demand.sanitize(harness, task, b"no program", seed=3, emit=events.append)
    assert on_demand.sanitized_line(reports) == "does not build"
    assert [type(event) for event in events if event.durable] == [ev.Built]


async def test_a_live_run_writes_down_what_was_found(make_task, tmp_path: Path):
    make_task(answers={"s": [SOLUTION]}, spec=TIMED)
    options = Options(corpus=str(tmp_path / "corpus"), fixers=("scripted:s",), out=tmp_path / "run", device="cpu")
    live = start_live(options, warn=lambda text: None)
    events: list[ev.Event] = []
    live.listener = events.append
    await live_on_demand.preview(Subject.of(live), BROKEN.encode())
    await live.play()
    await live_on_demand.time(Subject.of(live), SOLUTION.encode(), 1)
    live.close()
    past = read_cell(live.run, live.cell)
    assert [control.action for control in past.controls] == ["preview", "timed"]
    assert past.controls[0].detail == "does not build: exit 1"
    assert past.controls[1].detail == f"step 1 · unmeasured: {NO_TIMES}"
    assert [event for event in events if isinstance(event, ev.Controlled)] == past.controls
    assert len(past.finished) == 1
    # the same inputs, whether the step's own test is at hand or not, and whether the run is live or stored
    judged = past.finished[0].tested
    stored = Subject(live.harness, live.task, live.run, live.cell)
    assert judged.seed == Subject.of(live).seed(1, None) == stored.seed(1, None) == stored.seed(1, judged)
