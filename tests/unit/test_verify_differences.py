"""Two state files side by side: what two machines saw of the same programs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from beaver_tui.authoring.verify import verify
from engine.errors import ConfigError
from engine.verify.differences import compared, first_outcomes
from engine.verify.rows import Outcome, Row, Seen


def state(path: Path, *seen: Seen) -> Path:
    lines: list[Seen | Row] = [*seen, Row(task="a", verdict="ok")]
    path.write_bytes(b'{"type":"verify","schema_version":1}\n' + b"\n".join(map(msgspec.json.encode, lines)))
    return path


def one(task: str, program: str, category: str, *, repeat: int = 1, **more: object) -> Seen:
    outcome = Outcome(category=category, plain=(category, f"says {category}"), **more)
    return Seen(key=f"{task}/{program}/{repeat}", task=task, program=program, repeat=repeat, outcome=outcome)


def test_categories_are_compared_without_the_sanitizer(tmp_path: Path):
    sanitized = Outcome(category="illegal_memory_access", plain=("functional_correctness", ""))
    left = state(tmp_path / "a", Seen(key="x", task="a", program="start", outcome=sanitized))
    right = state(tmp_path / "b", one("a", "start", "functional_correctness"))
    assert compared(first_outcomes(left), first_outcomes(right)).different == []


def test_each_difference_is_named_with_both_sides(tmp_path: Path):
    left = state(
        tmp_path / "a", one("a", "start", "timeout"), one("a", "reference", "passed"), one("b", "start", "passed")
    )
    right = state(
        tmp_path / "b", one("a", "start", "passed"), one("a", "reference", "passed"), one("c", "start", "passed")
    )
    found = compared(first_outcomes(left), first_outcomes(right))
    (difference,) = found.different
    assert (difference.task, difference.program, difference.left, difference.right) == (
        "a",
        "start",
        "timeout",
        "passed",
    )
    assert (found.same, found.only_left, found.only_right) == (1, ["b"], ["c"])


def test_what_a_machine_lacks_is_no_category(tmp_path: Path):
    left = state(tmp_path / "a", one("a", "start", "environment_dependency", lacks="requires: module:torch"))
    right = state(tmp_path / "b", one("a", "start", "environment_dependency"))
    (difference,) = compared(first_outcomes(left), first_outcomes(right)).different
    assert (difference.left, difference.left_said) == ("", "requires: module:torch")


def test_later_repeats_wrong_programs_and_torn_lines_do_not_count(tmp_path: Path):
    left = state(tmp_path / "a", one("a", "start", "passed"), one("a", "start", "timeout", repeat=2))
    left.write_bytes(left.read_bytes() + b'\n{"type":"seen","key')
    assert first_outcomes(left).keys() == {("a", "start")}
    assert first_outcomes(left)["a", "start"].category == "passed"


def test_the_command_prints_them_and_ends_with_1(tmp_path: Path):
    left, right = (
        state(tmp_path / "a", one("a", "start", "timeout")),
        state(tmp_path / "b", one("a", "start", "passed")),
    )
    said = CliRunner().invoke(verify, ["--compare", str(left), str(right)], standalone_mode=False)
    assert said.return_value == 1
    assert "a  start  timeout (says timeout)  |  passed (says passed)" in said.output
    assert CliRunner().invoke(verify, ["--compare", str(left), str(left)], standalone_mode=False).return_value == 0


def test_another_file_is_refused(tmp_path: Path):
    (tmp_path / "other").write_text("hello\n")
    with pytest.raises(ConfigError, match="no state file of beaver-tui verify"):
        first_outcomes(tmp_path / "other")
