"""The parent's clock against drivers that are real processes: honest ones, and ones whose own clock lies."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from engine.harness.limits import Limits
from engine.harness.parentclock import Heard, Left, Refused, Rules, Silent, Talk, question
from engine.harness.process import Ended, run_step
from engine.harness.sandbox import Launch

RULES = Rules(batch_ms=40.0, slack_ms=8.0, long_ms=400.0, fresh_ms=5.0)
"""Slack for a busy machine: what is tested lies by far more."""

DRIVER = """\
import sys, time

def tell(text):
    print(f"\\nbeaver: {text}", flush=True)

def spent(kind, calls):
    return calls * {"calls": CALL, "fresh": FRESH, "blank": 0.0}[kind]

tell("clock 1")
for line in sys.stdin:
    if line == "end\\n":
        break
    kind, token, calls = line.split()
    tell(f"ready {token}")
    assert sys.stdin.readline() == f"go {token}\\n"
    began = time.monotonic()
    time.sleep(spent(kind, int(calls)))
    ms = 1000 * (time.monotonic() - began)
    DONE
tell("end 1 threads")
END
"""

HONEST_DONE = 'tell(f"done {token} {calls} {max(ms, 0.001):.6f}")'


def driver(done: str = HONEST_DONE, end: str = "", call: float = 0.004, fresh: float = 0.004) -> str:
    text = DRIVER.replace("CALL", str(call)).replace("FRESH", str(fresh))
    return text.replace("    DONE", f"    {done}").replace("END", end)


async def ask(script: str, tmp_path: Path, excess: float | None = 0.0) -> tuple[Heard, Ended]:
    launch = Launch([sys.executable, "-c", script], {}, None, str(tmp_path), "clock-test", contained=False)
    talk = Talk()
    asking = asyncio.ensure_future(question(talk, RULES, reference_excess_ms=excess))
    ended = await run_step(launch, Limits(wall=30), talk=talk)
    return await asking, ended


async def test_an_honest_driver_is_heard(tmp_path: Path):
    heard, ended = await ask(driver(), tmp_path)
    assert ended.exit_code == 0
    assert len(heard.batches) == RULES.batches
    assert heard.ms == pytest.approx(4.0, rel=0.6)
    assert all(batch.own_ms >= RULES.batch_ms for batch in heard.batches)
    assert heard.threads == 1


LIES = {
    "a tenth of the time": ('tell(f"done {token} {calls} {ms / 10:.6f}")', "the parent's"),
    "ten times the time": ('tell(f"done {token} {calls} {10 * ms:.6f}")', "the parent's"),
    "not a number": ('tell(f"done {token} {calls} nan")', "took 'nan' ms"),
    "nothing": ('tell(f"done {token} {calls} 0.0")', "took '0.0' ms"),
    "fewer calls": ('tell(f"done {token} 1000 {ms:.6f}")', "instead of the end of its batch"),
    "an older batch": ('tell(f"done 0000 {calls} {ms:.6f}")', "instead of the end of its batch"),
    "twice": (f"{HONEST_DONE}; {HONEST_DONE}", "before a batch"),
}


@pytest.mark.parametrize("name", LIES)
async def test_a_driver_that_lies_is_refused(tmp_path: Path, name: str):
    done, reason = LIES[name]
    with pytest.raises(Refused, match=reason):
        await ask(driver(done), tmp_path)


async def test_results_kept_between_calls_are_seen(tmp_path: Path):
    with pytest.raises(Refused, match="results are kept between calls"):
        await ask(driver(call=0.004, fresh=0.04), tmp_path)


async def test_what_driven_out_caches_cost_the_reference_is_allowed(tmp_path: Path):
    heard, _ = await ask(driver(call=0.004, fresh=0.02), tmp_path, excess=16.0)
    assert heard.excess_ms > 8.0


async def test_a_reference_is_not_held_to_itself(tmp_path: Path):
    heard, _ = await ask(driver(call=0.004, fresh=0.04), tmp_path, excess=None)
    assert heard.excess_ms > 20.0


async def test_a_long_call_is_timed_once(tmp_path: Path):
    heard, _ = await ask(driver(call=0.6), tmp_path)
    assert [batch.calls for batch in heard.batches] == [1]
    assert heard.fresh_ms is None


async def test_a_word_after_the_end_is_refused(tmp_path: Path):
    with pytest.raises(Refused, match="after its end"):
        await ask(driver(end='tell("end 0 threads")'), tmp_path)


async def test_a_driver_that_leaves_is_told_from_one_that_lies(tmp_path: Path):
    with pytest.raises(Left):
        await ask(driver(done="raise SystemExit(2)"), tmp_path)


async def test_a_driver_without_a_word_for_the_clock_is_silent(tmp_path: Path):
    with pytest.raises(Silent):
        await ask("print('Kernel time: 1.0 ms')", tmp_path)


async def test_a_flood_of_prints_hides_no_mark(tmp_path: Path):
    heard, _ = await ask(driver(done="print('x' * 100_000, end='');" + HONEST_DONE), tmp_path)
    assert len(heard.batches) == RULES.batches
