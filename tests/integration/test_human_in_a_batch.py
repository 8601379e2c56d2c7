"""A person repairs a task through the command line: edit the file in the desk folder, hand it in from another terminal."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert [row["category"] for row in manifest(run)] == ["buildability", "passed"]
    assert json.loads(out.splitlines()[-1])["summary"][0]["fixer"] == "human"
    nobody = beaver("submit", desk)
    assert nobody.code == 2
    assert "nobody waits here" in nobody.err


def _iteration(desk: Path) -> int | None:
    waiting = waiting_at(desk)
    return waiting["iteration"] if waiting else None


def _start(tmp_path: Path, *arguments: object) -> subprocess.Popen[str]:
    write_task(tmp_path / "corpus", "sum")
    words = ("--corpus", tmp_path / "corpus", "--fixer", f"human:{tmp_path / 'desk'}", "--out", tmp_path / "run")
    return start_beaver("--batch", *words, *arguments)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_the_first_interrupt_ends_the_wait_for_a_person_at_once(tmp_path: Path, number: int):
    process, desk = _start(tmp_path, "--format", "plain"), tmp_path / "desk"
    until(lambda: _iteration(desk) == 1, "the person is waited for")
    (desk / "solution.cpp").write_text(BROKEN + "// half a repair\n")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "infra_error" not in out
    assert f"go on with: beaver-tui --batch --resume {tmp_path / 'run'}" in err
    assert "Traceback" not in err
    again = start_beaver("--batch", "--resume", tmp_path / "run", "--format", "plain")
    until(lambda: _iteration(desk) == 1, "the person is waited for again")
    assert (desk / "solution.cpp").read_text() == BROKEN + "// half a repair\n"
    again.kill()
    again.communicate(timeout=20)


@pytest.mark.parametrize("form", ["plain", "rich", "jsonl"])
def test_every_iteration_says_what_the_person_can_do(tmp_path: Path, form: str):
    desk = tmp_path / "desk"
    desk.mkdir()
    (desk / "solution.cpp").write_text("// of another day\n")
    process = _start(tmp_path, "--format", form, "-k", 2)
    for iteration in (1, 2):
        until(lambda number=iteration: _iteration(desk) == number, "the person is waited for")
        (desk / "solution.cpp").write_text(BROKEN + f"// try {iteration}\n")
        assert beaver("submit", desk).code == 0
    out, err = process.communicate(timeout=60)
    told = " ".join((err if form == "jsonl" else out).split())
    file = desk / "solution.cpp"
    wanted = (
        f"sum · human waiting for you: edit {file} ({desk / 'feedback.txt'} says what failed), "
        f"then: beaver-tui submit {desk}"
    )
    assert told.replace(" ", "").count(wanted.replace(" ", "")) == 2
    kept = f"sum · human your solution.cpp was kept as {file}.saved-1"
    assert told.replace(" ", "").count(kept.replace(" ", "")) == 1
    if form == "jsonl":
        assert all(json.loads(line) for line in out.splitlines())


def test_an_unchanged_file_is_submitted_only_when_that_is_said(tmp_path: Path):
    process, desk = _start(tmp_path, "-k", 1), tmp_path / "desk"
    until(lambda: _iteration(desk) == 1, "the person is waited for")
    refused = beaver("submit", desk)
    assert refused.code == 2
    assert "nothing is changed in it" in refused.err
    assert "--same" in refused.err
    assert _iteration(desk) == 1
    assert beaver("submit", desk, "--same").code == 0
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_the_watch_warns_of_nothing(tmp_path: Path):
    """Its library logs an observer that is stopped in the middle of an event, and without a handler that is printed."""
    process, desk = _start(tmp_path, "-k", 3), tmp_path / "desk"
    for iteration in (1, 2, 3):
        until(lambda number=iteration: _iteration(desk) == number, "the person is waited for")
        (desk / "solution.cpp").write_text(BROKEN + f"// try {iteration}\n")
        (desk / "submit").touch()
        (desk / "solution.cpp").write_text(BROKEN + f"// try {iteration}\n")
    _out, err = process.communicate(timeout=60)
    assert err == ""
    code = "from engine.fixers.watch import FolderWatch; from pathlib import Path; import logging; "
    code += f"o = FolderWatch(Path({str(desk)!r})); o._loop = None; w = o._observe(); "
    code += "logging.getLogger('watchdog.observers.inotify').warning('queue_events() called'); w.stop()"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stderr == b""
