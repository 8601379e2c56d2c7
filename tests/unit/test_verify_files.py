"""The state file that a second call goes on with, and the section of VERIFIED.md."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import ConfigError
from engine.verify.markdown import section, write_section
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
