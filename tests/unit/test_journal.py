"""The journal: one writer, torn lines, versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import events as ev
from engine.errors import RunError
from engine.journal import Journal, encode, follow, read_journal
from engine.protocol import Protocol
from engine.trajectory import Trajectory, fold

GOLDEN = Path(__file__).parents[1] / "fixtures" / "journals"

OPENED = ev.TrajectoryOpened(
    at="t",
    run="r",
    task="CUDA/10",
    fixer="qwen:7b",
    attempt=1,
    protocol=Protocol(),
    device="none",
    sandbox="none",
    broken="0" * 64,
)
ASKED = ev.RequestBuilt(at="t", iteration=1, prompt="1" * 64, feedback="L3")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(OPENED)
        journal.append(ASKED)
    return tmp_path / "journal.jsonl"


def test_what_is_written_is_read(path: Path):
    assert read_journal(path) == [OPENED, ASKED]


def test_a_torn_last_line_is_cut(path: Path):
    whole = path.read_bytes()
    path.write_bytes(whole + encode(ASKED)[:-5])
    assert read_journal(path) == [OPENED, ASKED]
    with Journal(path) as journal:
        assert journal.torn_bytes == len(encode(ASKED)) - 5
        journal.append(ASKED)
    assert path.read_bytes() == whole + encode(ASKED)


def test_a_journal_torn_in_its_first_line_is_empty(path: Path):
    path.write_bytes(encode(OPENED)[:30])
    assert read_journal(path) == []


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(path: Path):
    path.write_bytes(encode(OPENED) + b"{garbage}\n" + encode(ASKED))
    with pytest.raises(RunError, match=r"journal.jsonl:2: not an event"):
        read_journal(path)


def test_a_newer_schema_is_refused(path: Path):
    newer = json.loads(encode(OPENED)) | {"schema_version": ev.SCHEMA_VERSION + 1}
    path.write_bytes(json.dumps(newer).encode() + b"\n")
    with pytest.raises(RunError, match="use a newer beaver-tui"):
        read_journal(path)


def test_a_second_writer_is_refused(path: Path):
    with Journal(path), pytest.raises(RunError, match="another process is writing"):
        Journal(path)


def test_streaming_events_are_not_stored(path: Path):
    before = path.read_bytes()
    with Journal(path) as journal:
        journal.append(ev.ReplyDelta(iteration=1, text="..."))
        journal.append(ev.OutputArrived(iteration=1, step="build", stream="stderr", text="..."))
    assert path.read_bytes() == before


def test_a_reader_follows_a_growing_journal(path: Path):
    events, offset = follow(path)
    assert events == [OPENED, ASKED]
    with path.open("ab") as stream:
        stream.write(encode(ASKED) + encode(ASKED)[:10])
    events, offset = follow(path, offset)
    assert events == [ASKED]
    assert follow(path, offset) == ([], offset)


@pytest.mark.parametrize("version", range(1, ev.SCHEMA_VERSION + 1))
def test_golden_journals_of_every_version_still_read(version: int):
    trajectory = fold(read_journal(GOLDEN / f"v{version}.jsonl"))
    assert trajectory.opened is not None
    assert [iteration.verdict.category for iteration in trajectory.finished if iteration.verdict] == [
        "buildability",
        "functional_correctness",
        "passed",
    ]
    assert trajectory.closed is not None
    assert trajectory.closed.stop_reason == "passed"


def test_every_event_type_survives_a_round_trip(path: Path):
    import typing

    samples = [kind for kind in typing.get_args(ev.AnyEvent) if kind.durable]
    written = [_sample(kind) for kind in samples]
    with Journal(path) as journal:
        for event in written:
            journal.append(event)
    assert read_journal(path)[2:] == written


def _sample(kind: type[ev.Event]) -> ev.Event:
    """An event with a value for every field that has no default."""
    import msgspec

    values: dict[str, object] = {}
    for field in msgspec.structs.fields(kind):
        if field.required:
            values[field.name] = {"str": "x", "int": 1, "bool": True}.get(getattr(field.type, "__name__", ""))
            if field.type is ev.StepRecord:
                values[field.name] = ev.StepRecord(command="c", exit_code=0, stdout=ev.Excerpt("o", "t", 9))
            elif field.type is Protocol:
                values[field.name] = Protocol(k=3)
            elif values[field.name] is None and "list" in str(field.type):
                values[field.name] = [1, 2]
    return kind(**values)


def test_folding_a_prefix_is_the_state_at_that_moment():
    events = read_journal(GOLDEN / "v1.jsonl")
    state = Trajectory()
    for count, event in enumerate(events, 1):
        state.apply(event)
        assert fold(events[:count]) == state
