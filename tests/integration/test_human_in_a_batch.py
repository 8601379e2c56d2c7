"""A person repairs a task through the command line: edit the file in the desk folder, hand it in from another terminal."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.program import beaver, manifest, start_beaver
from tests.support.tasks import BROKEN, SOLUTION, write_task
from tests.support.until import until, waiting_at


def test_edit_submit_and_submit_again(tmp_path: Path):
    write_task(tmp_path / "corpus", "sum")
    desk = tmp_path / "desk"
    run = tmp_path / "run"
    process = start_beaver(
        "--batch", "--corpus", tmp_path / "corpus", "--fixer", f"human:{desk}", "--out", run, "--format", "jsonl"
    )
    until(lambda: _iteration(desk) == 1, "the person is waited for")
    assert (desk / "solution.cpp").read_text() == BROKEN
    assert "the sum of n floats" in (desk / "prompt.txt").read_text()
    assert "error: expected" in (desk / "feedback.txt").read_text()
    (desk / "solution.cpp").write_text(BROKEN + "// a first try\n")
    handed_in = beaver("submit", desk)
    assert handed_in.code == 0, handed_in.err
    assert "submitted solution.cpp of sum, iteration 1" in handed_in.out
    until(lambda: _iteration(desk) == 2, "the person is waited for again")
    assert "did not compile" in (desk / "feedback.txt").read_text()
    (desk / "solution.cpp").write_text(SOLUTION)
    assert beaver("submit", desk).code == 0
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert [row["category"] for row in manifest(run)] == ["buildability", "environment_dependency"]
    assert json.loads(out.splitlines()[-1])["summary"][0]["fixer"] == "human"
    nobody = beaver("submit", desk)
    assert nobody.code == 2
    assert "nobody waits here" in nobody.err


def _iteration(desk: Path) -> int | None:
    waiting = waiting_at(desk)
    return waiting["iteration"] if waiting else None
