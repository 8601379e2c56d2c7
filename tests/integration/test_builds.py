"""Builds that are made once and used by several examinations."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from engine.evidence import Evidence
from engine.harness.examine import Harness, Job

STAMPED = "head -c 9 /dev/urandom | od -An -tx1 > stamp; mkdir -p parts; ln -sf ../stamp parts/link"
LEAVES = "cat parts/link; test ! -e left && touch left"


async def examine(harness: Harness, task, code: bytes = b"int x;", **job: object) -> Evidence:
    work = Job(task=task, code=code, iteration=1, seed=1, **job)  # type: ignore[arg-type]
    return (await harness.examine(work, lambda event: None, lambda step, text: None)).evidence


@pytest.fixture
def scratch():
    """A folder that a candidate's uid may enter: what pytest makes is ours alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def keeping(harness: Harness, scratch: Path):
    with closing(replace(harness, keep_builds=True, scratch=scratch)) as made:
        yield made


async def test_a_kept_build_is_made_once_and_every_examination_begins_with_it_alone(keeping: Harness, make_task):
    task = make_task(spec={"check": None, "build_cmd": STAMPED, "test_cmd": LEAVES})
    first, second = await examine(keeping, task), await examine(keeping, task)
    assert first.test is not None and second.test is not None
    assert first.test.exit_code == second.test.exit_code == 0
    assert first.test.stdout == second.test.stdout != ""


async def test_another_candidate_gets_a_build_of_its_own(keeping: Harness, make_task):
    task = make_task(spec={"check": None, "build_cmd": STAMPED, "test_cmd": LEAVES})
    first, second = await examine(keeping, task), await examine(keeping, task, b"int y;")
    assert first.test is not None and second.test is not None
    assert first.test.stdout != second.test.stdout


async def test_builds_that_end_together_are_kept_apart(keeping: Harness, make_task):
    task = make_task(spec={"check": None, "build_cmd": STAMPED, "test_cmd": LEAVES})
    codes = [f"int x{n};".encode() for n in range(8)]
    seen = await asyncio.gather(*(examine(keeping, task, code) for code in codes))
    again = [await examine(keeping, task, code) for code in codes]
    assert [found.test and found.test.stdout for found in seen] == [found.test and found.test.stdout for found in again]


async def test_a_harness_that_keeps_nothing_builds_every_time(harness: Harness, make_task):
    task = make_task(spec={"check": None, "build_cmd": STAMPED, "test_cmd": LEAVES})
    first, second = await examine(harness, task), await examine(harness, task)
    assert first.test is not None and second.test is not None
    assert first.test.stdout != second.test.stdout


async def test_a_build_that_changes_the_harness_is_seen_in_every_examination(keeping: Harness, make_task):
    task = make_task(spec={"check": None, "build_cmd": "mv driver.cpp x; echo > driver.cpp; rm x", "test_cmd": "true"})
    found = [(await examine(keeping, task)).preflight for _ in range(2)]
    assert found[0] == found[1]


async def test_a_failed_build_is_kept_with_its_log(keeping: Harness, make_task):
    task = make_task(spec={"check": None, "build_cmd": "echo $$ >&2; exit 3", "test_cmd": "true"})
    first, second = await examine(keeping, task), await examine(keeping, task)
    assert first.build is not None and second.build is not None
    assert first.build.exit_code == 3
    assert first.build.stderr == second.build.stderr != ""


async def test_closing_removes_what_was_kept(keeping: Harness, make_task, scratch: Path):
    await examine(keeping, make_task(spec={"check": None, "build_cmd": STAMPED, "test_cmd": LEAVES}))
    assert list(scratch.iterdir())
    keeping.close()
    assert not list(scratch.iterdir())


async def test_what_the_checker_judged_can_be_kept(harness: Harness, make_task, tmp_path: Path):
    task = make_task()
    assert task.reference is not None
    await examine(harness, task, task.reference.read_bytes(), outputs=tmp_path / "kept")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["y.f32"]
    assert (tmp_path / "kept" / "y.f32").stat().st_size == 4
