"""The state file that a second call goes on with, and the section of VERIFIED.md."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import engine
from engine.errors import ConfigError
from engine.verify.markdown import section, write_section
from engine.verify.observe import NO_JUDGES, judges
from engine.verify.rows import Outcome, Row, Seen
from engine.verify.state import open_state

SEEN = Seen(key="k", task="t", program="start", outcome=Outcome(category="timeout", seconds=2.5))
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def test_outcomes_come_back_and_rows_stand_beside_them(tmp_path: Path):
    path = tmp_path / "deep" / "state.jsonl"
    with open_state(path) as state:
        state.add(SEEN)
        state.finish(Row(task="t", verdict="ok"))
    with open_state(path) as state:
        assert state.get("k") == SEEN.outcome
        assert state.get("other") is None
    assert len(path.read_text().splitlines()) == 3


def test_a_torn_line_loses_itself_alone(tmp_path: Path):
    path = tmp_path / "state.jsonl"
    with open_state(path) as state:
        state.add(SEEN)
    path.write_bytes(path.read_bytes() + b'{"type":"seen","key":"torn"')
    with open_state(path) as state:
        assert state.get("torn") is None
        state.add(Seen(key="next", task="t", program="start", outcome=Outcome()))
    with open_state(path) as state:
        assert state.get("k") is not None and state.get("next") is not None


def test_fresh_forgets(tmp_path: Path):
    path = tmp_path / "state.jsonl"
    with open_state(path) as state:
        state.add(SEEN)
    with open_state(path, fresh=True) as state:
        assert state.get("k") is None
    with open_state(path) as state:
        assert state.get("k") is None


@pytest.mark.parametrize("content", [b"hello\n", b"\x00\xff", b'{"type":"verify","schema_version":99}\n', b"[]\n"])
def test_a_file_that_is_something_else_is_refused_and_left_alone(tmp_path: Path, content: bytes):
    path = tmp_path / "precious"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="precious"), open_state(path):
        pass
    assert path.read_bytes() == content


def test_a_section_is_replaced_and_the_others_stay(tmp_path: Path):
    path = tmp_path / "VERIFIED.md"
    rows = [Row(task="a|b", verdict="flaky", reason="x\ny", device="cuda A", driver="580", toolkit="13.0", lint=["l"])]
    write_section(path, section(rows, "cuda A", "verify 1", NOW))
    write_section(path, section(rows, "cpu B", "verify 2", NOW))
    write_section(path, section([Row(task="c", verdict="ok", speedup=0.25)], "cuda A", "verify 3", NOW))
    text = path.read_text()
    assert text.startswith("# The corpus, verified\n")
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## cpu B", "## cuda A"]
    assert "verify 1" not in text and "2026-11-30" in text
    assert "| a\\|b | flaky: x y |" in text
    assert "driver 580, CUDA 13.0; 1 flaky" in text
    assert "| c | ok |" in text and "| 0.250 |" in text


def test_another_version_of_what_judges_sees_everything_again(tmp_path: Path):
    def digest_with(name: str, **texts: str) -> str:
        engine = tmp_path / name
        for inner, text in {"task": "1", "evidence": "1", "harness/step": "1", "fixers/chat": "1", **texts}.items():
            path = engine / f"{inner}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return judges(engine)

    first = digest_with("first")
    assert digest_with("same") == first
    assert digest_with("fixer", **{"fixers/chat": "2"}) == first
    assert first not in {digest_with("task", task="2"), digest_with("evidence", evidence="2")}
    assert digest_with("harness", **{"harness/step": "2"}) != first


def test_every_room_that_does_not_judge_exists_or_is_the_packaged_corpus():
    rooms = {path.name for path in Path(engine.__file__).parent.iterdir() if path.is_dir()}
    assert set(NO_JUDGES) - {"_corpus"} <= rooms
