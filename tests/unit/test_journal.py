"""The journal: one writer, torn lines, versions."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest

from engine import events as ev
from engine.errors import RunError
from engine.journal import MIGRATIONS, Journal, encode, follow, read_journal
from engine.protocol import Protocol
from engine.store import RunUnwritable
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


def test_opening_a_damaged_journal_twice_tells_the_damage_twice(path: Path):
    path.write_bytes(encode(OPENED) + b"{garbage}\n")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(2):
        with pytest.raises(RunError, match="not an event"):
            Journal(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("short", [True, False], ids=["a short write", "a refused write"])
def test_a_full_disk_leaves_no_torn_line(path: Path, short: bool):
    """The kernel itself is the full disk: no file of this process may grow beyond the limit."""
    whole = path.read_bytes()
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path) as journal:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + (20 if short else 0), kept[1]))
        try:
            with pytest.raises(RunUnwritable, match=r"journal.jsonl: cannot be written"):
                journal.append(ASKED)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, kept)
        assert path.read_bytes() == whole
        journal.append(ASKED)
    assert read_journal(path) == [OPENED, ASKED, ASKED]


def test_text_that_is_not_utf8_is_a_damaged_line(path: Path):
    path.write_bytes(encode(OPENED) + encode(ASKED).replace(b"L3", b"L\xff"))
    with pytest.raises(RunError, match=r"journal.jsonl:2: not an event"):
        read_journal(path)


def test_a_reader_that_follows_refuses_a_newer_schema_and_names_damage(path: Path):
    end = path.stat().st_size
    with path.open("ab") as stream:
        stream.write(b"{garbage}\n")
    with pytest.raises(RunError, match=rf"journal.jsonl:1 after byte {end}: not an event"):
        follow(path, end)
    newer = json.loads(encode(OPENED)) | {"schema_version": ev.SCHEMA_VERSION + 1}
    first = json.dumps(newer).encode() + b"\n"
    path.write_bytes(first + encode(ASKED))
    for offset in (0, len(first)):
        with pytest.raises(RunError, match="use a newer beaver-tui"):
            follow(path, offset)


def test_a_reader_that_follows_takes_older_events_through_their_migration(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.journal.SCHEMA_VERSION", ev.SCHEMA_VERSION + 1)
    monkeypatch.setitem(MIGRATIONS, ev.SCHEMA_VERSION, lambda raw: raw | {"at": "migrated"})
    assert {event.at for event in read_journal(path)} == {"migrated"}
    assert [event.at for event in follow(path, len(encode(OPENED)))[0]] == ["migrated"]


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


def test_a_lone_surrogate_from_outside_does_not_end_a_run(path: Path):
    with Journal(path) as journal:
        journal.append(ev.InfraFailed(iteration=1, kind="x", message="name \udcff"))
    assert read_journal(path)[-1].message == "name ?"  # type: ignore[union-attr]


def test_the_schema_version_is_always_written(path: Path):
    assert b'"schema_version":' in path.read_bytes().splitlines()[0]
