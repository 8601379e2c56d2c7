"""The list of all trajectories, and the reading of one that another process writes."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beaver_tui.state.catalog import Catalog
from beaver_tui.state.sources import StoredSource, is_live
from engine import events as ev
from engine.journal import Journal, encode, read_journal
from engine.rundir import Cell, DeviceRecord, RunDirectory
from tests.support.stores import RECORDED, make_store

CELL = Cell("task-0", "fixer")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """A run of three trajectories with two iterations each."""
    return make_store(tmp_path / "runs", runs=1, cells=3, iterations=2)[0]


def test_every_trajectory_of_a_recorded_run_has_a_row():
    rows = Catalog(RECORDED.parent).read()
    assert [row.cell for row in rows] == RunDirectory(RECORDED).plan
    assert all(not row.problem and row.iterations == len(row.categories) for row in rows)
    assert all(row.status.partition(":")[0] in ("passed", "failed", "stopped") for row in rows)
    assert {row.status for row in rows if row.fixer == "scripted:good"} == {"passed"}
    assert {row.category for row in rows if row.status == "passed"} == {"passed"}
    fast = next(row for row in rows if row.cell == Cell("conv2d_same", "scripted:good"))
    assert (fast.categories, round(fast.speedup, 2)) == (("buildability", "passed"), 1.62)


def test_the_newest_run_comes_first(tmp_path: Path):
    make_store(tmp_path, runs=3, cells=1, iterations=1)
    assert [row.name for row in Catalog(tmp_path).read()] == ["run-2", "run-1", "run-0"]


def test_only_what_has_changed_is_read_again(run: RunDirectory):
    known = Catalog(run.path.parent)
    before = known.read()
    scans = dict(known.scans)
    change(run, lambda lines: lines[:-1])
    after = known.read()
    assert [row.status for row in before] == ["failed", "failed", "failed"]
    assert [row.status for row in after] == ["open", "failed", "failed"]
    changed = [path for path in scans if scans[path] is not known.scans[path]]
    assert changed == [run.journal(CELL)]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda lines: [b"\xff\xfe{"], "not an event"),
        (lambda lines: [*lines[:3], b'{"type": "built", "iteration": ', *lines[3:]], ":4: not an event"),
        (lambda lines: lines[1:], "does not begin with trajectory_opened"),
        (lambda lines: [line for line in lines if b'"iteration_closed"' not in line], "lines are missing"),
        (lambda lines: [lines[0].replace(b"task-0", b"task-9"), *lines[1:]], "another cell"),
        (lambda lines: [lines[0].replace(b'"schema_version":1', b'"schema_version":99')], "newer beaver-tui"),
        (lambda lines: [lines[0].replace(b'"schema_version":1', b'"schema_version":-1')], "must be a whole number"),
    ],
    ids=["no text", "a torn line inside", "no opening", "no closings", "moved", "newer", "no version"],
)
def test_a_damaged_trajectory_is_a_row_that_says_so(run: RunDirectory, damage, says: str):
    change(run, damage)
    first, *others = Catalog(run.path.parent).read()
    assert (first.status, first.task) == ("damaged", "task-0")
    assert says in first.problem
    assert first.problem.isprintable()
    assert [row.status for row in others] == ["failed", "failed"]


def test_a_trajectory_under_way_that_lost_an_iteration_is_a_row_that_says_so(run: RunDirectory):
    path = make_store(run.path.parent / "more", runs=1, cells=1, iterations=3)[0].path
    (journal,) = path.rglob("journal.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines[:-1] if b'"iteration":2' not in line))
    (row,) = Catalog(path).read()
    assert row.status == "damaged"
    assert "the iterations 1, 3 are closed; lines are missing or doubled" in row.problem


def test_what_was_asked_of_a_candidate_after_the_end_leaves_the_end_an_end(run: RunDirectory):
    before, *_ = Catalog(run.path.parent).read()
    with Journal(run.journal(CELL)) as journal:
        journal.append(ev.Controlled(action="timed", detail="step 1"))
    after, *_ = Catalog(run.path.parent).read()
    assert (after.status, after.iterations) == (before.status, before.iterations) == ("failed", 2)


def test_a_damaged_run_is_one_row(run: RunDirectory):
    make_store(run.path.parent / "more", runs=1, cells=2, iterations=1)
    (run.path / "run.json").write_text("{")
    rows = Catalog(run.path.parent).read()
    assert sorted(row.status for row in rows) == ["damaged", "failed", "failed"]
    broken = next(row for row in rows if row.status == "damaged")
    assert (broken.cell.task, broken.name) == ("", "run-0")
    assert "run.json" in broken.problem


def test_what_was_not_begun_says_so(run: RunDirectory):
    run.journal(CELL).unlink()
    first, *_ = Catalog(run.path.parent).read()
    assert (first.status, first.iterations) == ("not begun", 0)


def test_a_cell_that_waits_at_a_fault_of_the_machine_is_open_with_that_fault(run: RunDirectory):
    fault = ev.InfraFailed(iteration=3, kind="server", message="503\x1b[2J", final=True)
    change(run, lambda lines: [*lines[:-1], encode(fault).strip()])
    with run.lock():
        first, second, _ = Catalog(run.path.parent).read()
    assert (first.status, first.problem) == ("open", "503")
    assert second.status == "failed"


def test_a_trajectory_without_an_end_runs_while_its_run_is_written(run: RunDirectory):
    change(run, lambda lines: lines[:-1])
    assert not is_live(run.path)
    with run.lock():
        assert is_live(run.path)
        assert [row.status for row in Catalog(run.path.parent).read()] == ["running", "failed", "failed"]
    assert not is_live(run.path)


def test_a_run_whose_writer_was_killed_is_not_live(run: RunDirectory):
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom engine.rundir import RunDirectory\n"
        "with RunDirectory(Path(sys.argv[1])).lock():\n    print('locked', flush=True)\n    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(run.path)]
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as writer:
        assert writer.stdout.readline() == b"locked\n"
        assert is_live(run.path)
        writer.kill()
    assert (run.path / "lock").read_text(), "it could not clean up"
    assert not is_live(run.path)


@pytest.mark.parametrize(
    "owner", ["", "{", "[]", '{"pid": "x", "host": "y"}', '{"pid": 99999999999999999999, "host": "%s"}']
)
def test_a_lock_file_that_names_nobody_is_no_lock(run: RunDirectory, owner: str):
    (run.path / "lock").write_text(owner.replace("%s", socket.gethostname()))
    assert not is_live(run.path)


def test_a_living_process_that_does_not_hold_the_lock_is_not_its_owner(run: RunDirectory):
    (run.path / "lock").write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
    assert not is_live(run.path)


def test_a_journal_is_read_as_it_grows(run: RunDirectory):
    source = StoredSource(run, CELL)
    whole = read_journal(run.journal(CELL))
    run.journal(CELL).unlink()
    assert source.read() == []
    with Journal(run.journal(CELL)) as journal:
        got = []
        for event in whole:
            journal.append(event)
            got += source.read()
    assert (got, source.read(), source.problem) == (whole, [], "")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.floats(0, 1), max_size=8))
def test_lines_that_arrive_in_pieces_are_read_when_they_are_whole(run: RunDirectory, cuts: list[float]):
    path = run.journal(Cell("task-1", "fixer"))
    content, whole = path.read_bytes(), read_journal(path)
    places = [0, *sorted(int(cut * len(content)) for cut in cuts), len(content)]
    path.write_bytes(b"")
    source, got = StoredSource(run, Cell("task-1", "fixer")), []
    for begin, end in pairwise(places):
        with path.open("ab") as stream:
            stream.write(content[begin:end])
        got += source.read()
        assert got == whole[: content[:end].count(b"\n")]
    assert source.problem == ""


def test_names_from_outside_are_shown_harmless(tmp_path: Path):
    hostile = "a\x1b[2J\x1b]0;title\x07[/b]\tc\x9b2J"
    made = make_store(tmp_path, runs=1, cells=1, iterations=1)[0]
    record = msgspec.structs.replace(made.record, name=hostile, device=DeviceRecord(kind="cpu", name=hostile))
    run = RunDirectory.create(record, [Cell(hostile, hostile)], tmp_path / hostile)
    opened, *events = read_journal(made.journal(CELL))
    opened = msgspec.structs.replace(opened, task=hostile, fixer=hostile, device=hostile)
    with Journal(run.journal(run.plan[0])) as journal:
        for event in (opened, *events):
            journal.append(event)
    row = next(row for row in Catalog(tmp_path).read() if row.cell.task == hostile)
    assert (row.task, row.fixer, row.device) == ("a[/b] c2J",) * 3
    assert row.name.isprintable()
    assert row.status == "failed", "the cell's own name opens it"


def test_what_is_whole_before_the_damage_is_read_once(run: RunDirectory):
    source = StoredSource(run, CELL)
    whole = read_journal(run.journal(CELL))
    change(run, lambda lines: [*lines[:5], b'{"type":"\x1b[2J', *lines[5:]])
    assert source.read() == whole[:5]
    assert source.problem.endswith("Input data was truncated") or ":6:" in source.problem
    assert source.problem.isprintable()
    assert source.read() == []


def test_a_journal_that_became_shorter_is_not_gone_on_with(run: RunDirectory):
    source = StoredSource(run, CELL)
    source.read()
    change(run, lambda lines: lines[:2])
    assert source.read() == []
    assert "shorter" in source.problem


@pytest.mark.parametrize("read_before", [True, False])
def test_a_run_that_was_moved_is_gone_and_not_one_that_was_not_begun(run: RunDirectory, read_before: bool):
    source = StoredSource(run, CELL)
    if read_before:
        assert source.read()
    run.path.rename(run.path.parent / "elsewhere")
    assert source.read() == []
    assert "is gone" in source.problem


def test_a_journal_that_was_removed_under_its_reader_is_gone(run: RunDirectory):
    source = StoredSource(run, CELL)
    source.read()
    run.journal(CELL).unlink()
    assert source.read() == []
    assert "is gone" in source.problem


def test_what_is_listed_again_without_news_is_the_same_row(run: RunDirectory):
    catalog = Catalog(run.path.parent)
    before = catalog.read()
    change(run, lambda lines: lines[:-1])
    after = catalog.read()
    assert [one is other for one, other in zip(before, after, strict=True)] == [False, True, True]
    with run.lock():
        assert [row.status for row in catalog.read()] == ["running", "failed", "failed"]


def test_a_pipe_in_the_place_of_a_journal_is_damaged_and_not_waited_for(run: RunDirectory):
    run.journal(CELL).unlink()
    os.mkfifo(run.journal(CELL))
    assert [row.status for row in Catalog(run.path.parent).read()] == ["damaged", "failed", "failed"]


def test_other_folders_and_links_to_them_are_no_runs(run: RunDirectory):
    (run.path.parent / "notes").mkdir()
    (run.path.parent / "loop").symlink_to(run.path.parent)
    shutil.copytree(run.path, run.path.parent / "deep" / "er" / "copy")
    assert len(Catalog(run.path.parent).read()) == 6
    assert Catalog(run.path.parent / "nothing here").read() == []


def change(run: RunDirectory, how) -> None:
    """Rewrite the first trajectory's journal, line by line."""
    path = run.journal(CELL)
    path.write_bytes(b"".join(line + b"\n" for line in how(path.read_bytes().splitlines())))
