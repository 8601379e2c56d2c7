"""The build with line tables, made side by side with the first: a program for the sanitizer alone."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from engine import events as ev
from engine.devices.base import Gpu
from engine.devices.choose import choose_device
from engine.devices.toolkit import Toolkit
from engine.harness.builds import Builds
from engine.harness.examine import Examined, Harness, Job
from engine.harness.sandbox import NoSandbox
from tests.support.tasks import SOLUTION
from tests.support.until import until_async

WITH_LINES = '[ -n "$NVCC_APPEND_FLAGS" ]'
COMPILE = "g++ -O1 -o driver driver.cpp solution.cpp"


@dataclass(frozen=True)
class Watched(Gpu):
    """Host programs under a sanitizer that is there: the shell's ``env`` passes everything on."""

    program: Path = Path("/bin/true")

    def sanitizer(self, toolkit: Toolkit, folder: Path) -> Path | None:
        return self.program


@pytest.fixture
def watching(harness: Harness):
    """A harness with a sanitizer, outside a box, so that the two builds of a test can see one folder."""
    device = Watched(name="host programs", uuid="host-programs", sm=90)
    with closing(replace(harness, device=device, sandbox=NoSandbox(), sanitize=True)) as made:
        yield made


async def examined(harness: Harness, task, code: str = SOLUTION) -> tuple[Examined, list[ev.Event], dict[str, str]]:
    events: list[ev.Event] = []
    logs: dict[str, str] = {}
    job = Job(task=task, code=code.encode(), iteration=1, seed=1)
    ended = await harness.examine(job, events.append, logs.__setitem__)
    return ended, events, logs


def meeting(folder: Path, *, waits: str = "sleep 0.01") -> str:
    """A build that ends when the other one has begun."""
    mine, other = folder / '$([ -n "$NVCC_APPEND_FLAGS" ] && echo lines || echo plain)', folder
    return (
        f'touch "{mine}"; for try in $(seq 2000); do [ -e {other}/lines ] && [ -e {other}/plain ] && break; {waits}; done; '
        f"[ -e {other}/lines ] && [ -e {other}/plain ] && {COMPILE}"
    )


async def test_it_runs_side_by_side_with_the_first(watching: Harness, make_task, tmp_path: Path):
    ended, events, logs = await examined(watching, make_task(spec={"build_cmd": meeting(tmp_path)}))
    assert ended.evidence.build is not None and ended.evidence.build.exit_code == 0
    assert [type(event) for event in events if event.durable][-1] == ev.Sanitized
    assert list(logs) == ["build", "checker-generate", "test", "checker-compare", "sanitizer-build", "memcheck"]


async def test_what_it_says_follows_the_first_build_as_if_it_came_after_it(watching: Harness, make_task):
    build = f"{WITH_LINES} && echo with lines || {{ sleep 0.2; echo without; }}; {COMPILE}"
    _, events, _ = await examined(watching, make_task(spec={"build_cmd": build}))
    said = [event.step for event in events if isinstance(event, ev.OutputArrived) and event.text.strip()]
    assert said == ["build", "test", "sanitizer-build"]
    order = [type(event) for event in events]
    assert order.index(ev.Built) < order.index(ev.Tested) < order.index(ev.Sanitized)


async def test_a_candidate_that_does_not_build_has_it_killed_and_no_trace_of_it(
    watching: Harness, make_task, tmp_path: Path
):
    begun = tmp_path / "begun"
    wait = f"for try in $(seq 2000); do [ -e {begun} ] && break; sleep 0.01; done"
    build = f"if {WITH_LINES}; then echo $$ > {begun}.new; mv {begun}.new {begun}; sleep 600; else {wait}; exit 1; fi"
    began = time.monotonic()
    _, events, logs = await examined(watching, make_task(spec={"build_cmd": build}))
    assert time.monotonic() - began < 30
    assert list(logs) == ["build"]
    assert not [event for event in events if isinstance(event, ev.OutputArrived)]
    assert not Path("/proc", begun.read_text().strip()).exists()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_cancelled_examination_kills_both(watching: Harness, make_task, tmp_path: Path):
    name = f"{tmp_path}/$({WITH_LINES} && echo lines || echo plain)"
    task = make_task(spec={"build_cmd": f'echo $$ > "{name}.new"; mv "{name}.new" "{name}"; sleep 600'})
    work = asyncio.create_task(examined(watching, task))
    files = [tmp_path / "lines", tmp_path / "plain"]
    await until_async(lambda: all(file.exists() for file in files), "two builds run")
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not [file for file in files if Path("/proc", file.read_text().strip()).exists()]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_its_tampering_is_the_candidates(watching: Harness, make_task):
    build = f"{COMPILE}; if {WITH_LINES}; then echo '// evil' >> driver.cpp; fi"
    ended, _, _ = await examined(watching, make_task(spec={"build_cmd": build}))
    assert ended.evidence.preflight == ["tampered: driver.cpp changed during the sanitizer-build"]


async def test_the_wait_for_it_is_not_the_harness_own_time(watching: Harness, make_task):
    ended, _, _ = await examined(watching, make_task(spec={"build_cmd": f"{COMPILE}; {WITH_LINES} && sleep 1; true"}))
    assert 0 < ended.own_seconds < 0.5


async def test_builds_that_may_not_be_needed_leave_processors_to_the_others(tmp_path: Path):
    builds = Builds(tmp_path, keep=False)
    places = len(os.sched_getaffinity(0)) // 4 or 1
    assert [builds.take_place_beside() for _ in range(places + 1)] == [True] * places + [False]
    builds.leave_place_beside()
    assert builds.take_place_beside()


async def test_many_at_once_all_get_theirs(watching: Harness, make_task):
    task = make_task(spec={"build_cmd": COMPILE})
    results = await asyncio.gather(*(examined(watching, task) for _ in range(6)))
    assert all("memcheck" in logs for _, _, logs in results)


async def test_kept_builds_and_second_builds_do_not_wait_for_each_other(watching: Harness, make_task):
    with closing(replace(watching, keep_builds=True)) as keeping:
        task = make_task(spec={"build_cmd": COMPILE})
        async with asyncio.timeout(60):
            results = await asyncio.gather(*(examined(keeping, task) for _ in range(4)))
    assert all("memcheck" in logs for _, _, logs in results)


async def test_on_the_cpu_device_one_build_serves_both_and_memcheck_sees_what_it_left_alone(
    harness: Harness, make_task
):
    build = "head -c 9 /dev/urandom | od -An -tx1 > stamp"
    spec = {"check": None, "build_cmd": build, "test_cmd": "cat stamp; test ! -e left && touch left"}
    with closing(replace(harness, device=choose_device("cpu"), sanitize=True)) as cpu:
        ended, events, logs = await examined(cpu, make_task(spec=spec))
    assert list(logs) == ["build", "test", "memcheck"]
    assert ended.evidence.test is not None and ended.evidence.test.exit_code == 0
    seen = next(event for event in events if isinstance(event, ev.Sanitized))
    assert ended.evidence.test.stdout.strip() in seen.output.text
