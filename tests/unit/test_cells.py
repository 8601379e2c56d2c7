"""Journals and plans that somebody cut, moved or put together: each is told by name, none is half read."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cells import read_cell
from engine.errors import RunError
from engine.manifest import run_rows, write_manifest
from engine.plain_file import read_plain
from engine.rundir import Cell, RunDirectory
from tests.support.program import beaver

RUN = Path(__file__).parents[1] / "fixtures" / "h200" / "run"

Lines = list[bytes]


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory(Path(shutil.copytree(RUN, tmp_path / "run")))


def longest(run: RunDirectory) -> Cell:
    """A cell of several iterations."""
    return max(run.plan, key=lambda cell: len(run.journal(cell).read_bytes()))


def without(kind: str) -> Callable[[Lines], Lines]:
    return lambda lines: [line for line in lines if f'"type":"{kind}"'.encode() not in line]


def doubled(lines: Lines) -> Lines:
    return lines + lines


def without_an_iteration(lines: Lines) -> Lines:
    return [line for line in lines if b'"iteration":2,' not in line]


def with_a_huge_number(lines: Lines) -> Lines:
    return [line.replace(b'"iteration":1,', b'"iteration":99999999999,') for line in lines]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[1:], "its first line is missing"),
        (without("verdict"), "iteration 1 has no verdict"),
        (without("reply_received"), "iteration 1 has no reply"),
        (without("candidate"), "iteration 1 has no candidate"),
        (without("iteration_closed"), "lines are missing"),
        (without_an_iteration, "lines are missing"),
        (with_a_huge_number, "lines are missing or doubled"),
        (doubled, "opened twice"),
    ],
    ids=["opening", "verdicts", "replies", "candidates", "closings", "an iteration", "a huge number", "doubled"],
)
def test_a_journal_without_some_lines_is_damaged(run: RunDirectory, damage: Callable[[Lines], Lines], message: str):
    cell = longest(run)
    path = run.journal(cell)
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(RunError, match=message) as told:
        read_cell(run, cell)
    assert str(path) in str(told.value)


def test_a_journal_in_another_cells_folder_is_refused(run: RunDirectory):
    first, second = run.plan[:2]
    shutil.copy(run.journal(first), run.journal(second))
    with pytest.raises(RunError, match="in the folder of") as told:
        read_cell(run, second)
    assert str(first) in str(told.value)


def test_every_prefix_of_a_journal_is_sound(run: RunDirectory):
    cell = longest(run)
    lines = run.journal(cell).read_bytes().splitlines(keepends=True)
    for number in range(len(lines) + 1):
        run.journal(cell).write_bytes(b"".join(lines[:number]))
        read_cell(run, cell)


def test_a_damaged_journal_is_skipped_and_named_by_the_manifest(run: RunDirectory):
    cell = run.plan[0]
    whole = len(list(run_rows(run)))
    run.journal(cell).write_bytes(b"{garbage}\n")
    with pytest.raises(RunError):
        write_manifest(run)
    done = beaver("manifest", run.path)
    assert done.code == 1
    assert f"{run.journal(cell)}:1" in done.err
    assert len(done.err.splitlines()) == 1
    assert 0 < len((run.path / "manifest.jsonl").read_bytes().splitlines()) < whole


def recorded_plan(run: RunDirectory) -> RunDirectory:
    """The same run as one of this version, which knows its plan."""
    record = json.loads((run.path / "run.json").read_text())
    content = (run.path / "plan.jsonl").read_bytes()
    made = RunDirectory.create(run.record, run.plan, run.path.with_name("new"))
    assert (made.path / "plan.jsonl").read_bytes() == content
    record["plan"] = json.loads((made.path / "run.json").read_text())["plan"]
    (run.path / "run.json").write_text(json.dumps(record))
    return RunDirectory(run.path)


PLANS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda plan: b"",
    "cut": lambda plan: plan[: plan.index(b"\n") + 1],
    "doubled": lambda plan: plan + plan,
    "foreign": lambda plan: plan + b'{"task":"other","fixer":"x","attempt":1}\n',
}


@pytest.mark.parametrize("damage", PLANS)
def test_a_plan_that_is_not_the_runs_own_is_refused(run: RunDirectory, damage: str):
    run = recorded_plan(run)
    path = run.path / "plan.jsonl"
    assert run.record.plan is not None
    assert run.record.plan.cells == len(run.plan)
    path.write_bytes(PLANS[damage](path.read_bytes()))
    with pytest.raises(RunError, match="is not the plan of"):
        _ = RunDirectory(run.path).plan
    for words in (("manifest", run.path), ("--batch", "--resume", run.path)):
        done = beaver(*words)
        assert done.code == 2
        assert len(done.err.splitlines()) == 1
        assert "--resume" not in done.err


@pytest.mark.parametrize("damage", ["empty", "doubled"])
def test_an_impossible_plan_is_refused_in_an_older_run_too(run: RunDirectory, damage: str):
    path = run.path / "plan.jsonl"
    path.write_bytes(PLANS[damage](path.read_bytes()))
    with pytest.raises(RunError, match="empty" if damage == "empty" else "is there twice"):
        _ = RunDirectory(run.path).plan


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"fixers": [{}]}, "fixers"), ({"device": {"kind": "none"}}, "name"), ({"plan": {"cells": "x"}}, "plan")],
    ids=["fixers", "device", "plan"],
)
def test_an_incomplete_run_record_is_one_line(run: RunDirectory, changes: dict, message: str):
    record = json.loads((run.path / "run.json").read_text())
    # what another machine would refuse first: the device and corpus of this one
    (run.path / "run.json").write_text(json.dumps(record | changes))
    done = beaver("--batch", "--resume", run.path)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("name", ["run.json", "plan.jsonl", "lock", "manifest.jsonl"])
@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_what_is_no_file_is_told_and_not_waited_for(run: RunDirectory, name: str, kind: str):
    path = run.path / name
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(RunError) as told, (opened := RunDirectory(run.path)).lock():
        _ = opened.plan
    assert name in str(told.value)


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_a_journal_that_is_no_file_is_its_cells_fault(run: RunDirectory, kind: str):
    from engine.journal import Journal
    from engine.store import RunUnwritable

    path = run.journal(run.plan[0])
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(RunError, match="no journal") as told:
        Journal(path)
    assert not isinstance(told.value, RunUnwritable)
    with pytest.raises(RunError):
        read_cell(run, run.plan[0])


def test_a_device_is_no_file():
    with pytest.raises(OSError, match="not a regular file"):
        read_plain(Path("/dev/zero"))


def test_a_fifo_as_config_or_prompt_is_told_and_not_waited_for(tmp_path: Path):
    from tests.support.tasks import write_task

    task = write_task(tmp_path / "corpus", "one")
    os.mkfifo(tmp_path / "config.yaml")
    done = beaver("--batch", "--config", tmp_path / "config.yaml")
    assert (done.code, "not a regular file" in done.err) == (2, True)
    (task.folder / "prompt.txt").unlink()
    os.mkfifo(task.folder / "prompt.txt")
    done = beaver("tasks", "--corpus", tmp_path / "corpus")
    assert (done.code, "not a regular file" in done.err) == (2, True)
