"""Runs on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import RunError
from engine.protocol import Protocol
from engine.rundir import Cell, DeviceRecord, RunDirectory, RunRecord
from engine.store import DiskStore, RunUnwritable, write_whole
from engine.text import slug, unslug


def record(**changes: object) -> RunRecord:
    fields = {
        "name": "n",
        "tool_version": "0",
        "protocol": Protocol(),
        "corpus": "c",
        "corpus_hash": "h",
        "tasks": 1,
        "fixers": [],
        "device": DeviceRecord(kind="none", name="no GPU"),
        "sandbox": "s",
        "toolkit": "t",
    }
    return RunRecord(**{**fields, **changes})  # type: ignore[arg-type]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_slug_is_a_safe_path_part_and_reversible(name: str):
    part = slug(name)
    assert unslug(part) == name
    assert "/" not in part
    assert "\0" not in part
    assert part not in (".", "..")


def test_a_run_is_found_again(tmp_path: Path):
    plan = [Cell("CUDA/10", "qwen:7b", 2)]
    run = RunDirectory.create(record(), plan, tmp_path / "run")
    again = RunDirectory(tmp_path / "run")
    assert again.plan == plan
    assert again.record == run.record
    assert again.journal(plan[0]).relative_to(tmp_path / "run") == Path(
        "trajectories/CUDA%2F10/qwen%3A7b/2/journal.jsonl"
    )


def test_a_newer_run_is_refused(tmp_path: Path):
    run = RunDirectory.create(record(), [], tmp_path / "run")
    path = run.path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 99}))
    with pytest.raises(RunError, match="use a newer beaver-tui"):
        RunDirectory(run.path)


@pytest.mark.parametrize("version", ["x", 0, -1, 1.5, True, None, [1]], ids=repr)
def test_a_schema_version_that_is_none_is_named_and_no_traceback(tmp_path: Path, version: object):
    run = RunDirectory.create(record(), [], tmp_path / "run")
    path = run.path / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": version}))
    with pytest.raises(RunError, match=r"run.json: schema_version is .* must be a whole number"):
        RunDirectory(run.path)


def test_settings_that_make_no_sense_in_a_record_name_the_file(tmp_path: Path):
    run = RunDirectory.create(record(), [], tmp_path / "run")
    path = run.path / "run.json"
    raw = json.loads(path.read_text())
    path.write_text(json.dumps(raw | {"protocol": raw["protocol"] | {"k": 0}}))
    with pytest.raises(RunError, match=r"run.json: not a run record: protocol: k=0"):
        RunDirectory(run.path)


def test_text_that_is_not_utf8_is_named_and_no_traceback(tmp_path: Path):
    run = RunDirectory.create(record(name="nnn"), [Cell("ttt", "f")], tmp_path / "run")
    plan = run.path / "plan.jsonl"
    plan.write_bytes(plan.read_bytes().replace(b"ttt", b"t\xfft"))
    with pytest.raises(RunError, match=r"plan.jsonl"):
        _ = RunDirectory(run.path).plan
    path = run.path / "run.json"
    path.write_bytes(path.read_bytes().replace(b"nnn", b"n\xffn"))
    with pytest.raises(RunError, match="not a run record"):
        RunDirectory(run.path)


def test_the_plan_is_read_once(tmp_path: Path):
    run = RunDirectory.create(record(), [Cell("a", "f"), Cell("b", "f")], tmp_path / "run")
    plan = run.plan
    (run.path / "plan.jsonl").unlink()
    assert run.plan is plan


def test_no_run_and_a_damaged_run_are_named(tmp_path: Path):
    with pytest.raises(RunError, match="no run here"):
        RunDirectory(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(RunError, match="not a run record"):
        RunDirectory(tmp_path)


def test_contents_are_written_once_and_checked(tmp_path: Path):
    store = DiskStore(tmp_path, tmp_path / "logs")
    digest = store.put("solutions", b"int x;", "cu")
    assert store.put("solutions", b"int x;", "cu") == digest
    assert store.get("solutions", digest) == b"int x;"
    (tmp_path / "solutions" / f"{digest}.cu").write_bytes(b"int y;")
    with pytest.raises(RunError, match="does not match its name"):
        store.get("solutions", digest)
    with pytest.raises(RunError, match="is missing"):
        store.get("solutions", "0" * 64)


def test_a_store_that_cannot_write_says_that_the_run_cannot_be_written(tmp_path: Path):
    (tmp_path / "solutions").write_text("a file is in the way")
    (tmp_path / "logs").write_text("and here too")
    store = DiskStore(tmp_path, tmp_path / "logs")
    with pytest.raises(RunUnwritable, match=r"solutions/.*cannot be written"):
        store.put("solutions", b"int x;", "cu")
    with pytest.raises(RunUnwritable, match="cannot be written"):
        store.save_log(1, "build", "text")


def test_a_failed_write_leaves_nothing(tmp_path: Path):
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError):
        write_whole(target, b"a folder is in the way")
    assert list(tmp_path.iterdir()) == [target]
