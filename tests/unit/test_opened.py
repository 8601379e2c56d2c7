"""A trajectory on show whose surroundings have changed since it was played."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from beaver_tui.opened import open_stored, tasks_of
from engine.rundir import Cell, RunDirectory
from engine.store import sha256

STORED = Path(__file__).resolve().parents[1] / "fixtures" / "h200" / "run"
CELL = Cell("softmax_rows", "scripted:stagnating")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    shutil.copytree(STORED, tmp_path / "run")
    tasks_of.cache_clear()
    return RunDirectory(tmp_path / "run")


def test_the_reference_is_shown_beside_what_is_over(run: RunDirectory):
    session = open_stored(run, CELL).session
    assert session.task is not None
    assert session.reference() == session.task.reference.read_bytes()


def test_the_reference_is_not_shown_where_a_person_repairs(run: RunDirectory):
    journal = run.journal(CELL)
    lines = journal.read_bytes().splitlines(keepends=True)
    opening = msgspec.json.decode(lines[0])
    journal.write_bytes(msgspec.json.encode({**opening, "interactive": True}) + b"\n" + b"".join(lines[1:]))
    assert open_stored(run, CELL).session.reference() is None


def test_a_task_with_another_start_by_now_is_not_taken_for_the_one_that_was_played(run: RunDirectory):
    journal = run.journal(CELL)
    lines = journal.read_bytes().splitlines(keepends=True)
    opening = msgspec.json.decode(lines[0])
    journal.write_bytes(msgspec.json.encode({**opening, "broken": sha256(b"other")}) + b"\n" + b"".join(lines[1:]))
    opened = open_stored(run, CELL)
    assert opened.session.task is None
    assert "another broken start by now" in opened.note
