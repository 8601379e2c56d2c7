"""Verification of small real tasks: host programs, real builds, real checkers."""

from __future__ import annotations

import re
import signal
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from engine.corpora.native import read_native
from engine.devices.base import Device
from engine.harness.examine import Harness
from engine.task import Task
from engine.verify import Effort, Row, Verification, open_state
from tests.support.program import beaver, start_beaver
from tests.support.programs import FLAKY, Counting
from tests.support.tasks import BROKEN, CHECKER, CRASH, SOLUTION, WRONG

HEADER = "#pragma once\n#include <cstddef>\nfloat total(const float* x, std::size_t n);\n"
LAZY = CHECKER.replace("passed = bool(error < 0.05)", 'passed = bool(error < 0.05 or os.environ["BEAVER_SEED"])')


def with_header(task: Task) -> Task:
    (task.folder / "testbench" / "solution.h").write_text(HEADER)
    return read_native(task.folder)


@pytest.fixture
def sum_task(make_task):
    """A task that declares its interface."""

    def make(name: str = "sum", **changes: object) -> Task:
        spec = {"category": "buildability", "difficulty": "easy", "operation": "reduction", **changes.pop("spec", {})}  # type: ignore[dict-item]
        return with_header(make_task(name, spec=spec, **changes))

    return make


@pytest.fixture
def verified(harness: Harness, tmp_path: Path):
    """Verifies tasks with a state file that stays."""

    async def run(*tasks: Task, device: Device | None = None, logs: Path | None = None, **effort: object) -> list[Row]:
        used = replace(harness, keep_builds=True, device=device or harness.device)
        with closing(used), open_state(tmp_path / "state.jsonl") as state:
            given = Effort(**{"repeats": 2, "launches": 2, **effort})  # type: ignore[arg-type]
            return await Verification(used, state, given, jobs=2, logs=logs).run(tasks)

    return run


async def test_a_sound_task_is_ok_and_rejects_the_whole_known_wrong_set(verified, sum_task):
    (row,) = await verified(sum_task())
    assert (row.verdict, row.reason, row.category, row.reference) == ("ok", "", "buildability", "passed")
    assert row.rejects == dict.fromkeys(("zeros", "copy", "constant", "empty", "exit", "print"), True)
    assert row.patch_lines == 2
    assert row.lint == ["trivial: the reference changes 2 line(s), at least 3 are wanted"]


async def test_each_unsound_task_gets_its_verdict_and_none_stops_the_others(verified, sum_task):
    broken_reference = sum_task("reference")
    assert broken_reference.reference is not None
    broken_reference.reference.write_text(WRONG)
    fault = sum_task("fault", broken=WRONG)
    fault.checker_files["check.py"].write_text("raise SystemExit(7)\n")
    rows = await verified(
        fault,
        sum_task("passes", broken=SOLUTION),
        broken_reference,
        sum_task("label", broken=CRASH),
        sum_task("needs", spec={"requires": ["lib:no_such_library"]}),
    )
    assert [row.verdict for row in rows] == ["fault", "passes-here", "reference-fails", "mislabelled", "needs"]
    assert "checker's compare" in rows[0].reason or "checker's generate" in rows[0].reason
    assert "illegal_memory_access" in rows[3].reason
    assert "no_such_library" in rows[4].reason


async def test_a_checker_that_believes_everything_accepts_wrong(verified, sum_task):
    task = sum_task()
    task.checker_files["check.py"].write_text(LAZY)
    (row,) = await verified(task)
    assert row.verdict == "accepts-wrong"
    assert "zeros" in row.reason and "empty" in row.reason and "copy of x.f32" in row.reason
    assert not any(row.rejects.values())


async def test_a_test_that_ends_differently_from_run_to_run_is_flaky(verified, make_task):
    task = make_task(spec={"check": None, "build_cmd": "true", "test_cmd": FLAKY})
    counting = Counting("counting", "counting", sm=90)
    (row,) = await verified(replace(task, reference=None), device=counting)
    assert row.verdict == "flaky"
    assert "functional_correctness" in row.reason and "illegal_memory_access" in row.reason


async def test_a_second_call_runs_nothing_again(verified, sum_task, monkeypatch: pytest.MonkeyPatch):
    task = sum_task()
    (first,) = await verified(task)

    async def never(*_: object) -> None:
        raise AssertionError("examined again")

    monkeypatch.setattr(Harness, "examine", never)
    (second,) = await verified(task)
    assert second == first
    relabelled = replace(task, spec=msgspec.structs.replace(task.spec, category="timeout"), error_log="")
    (third,) = await verified(relabelled)
    assert third.verdict == "mislabelled"
    assert "error.log: empty; --write-error-logs captures one" in third.lint


async def test_what_another_program_showed_is_not_taken_for_this_one(verified, sum_task):
    task = sum_task()
    await verified(task)
    (row,) = await verified(replace(task, broken=SOLUTION.encode()))
    assert row.verdict == "passes-here"


async def test_error_logs_are_written_as_this_machine_shows_them(verified, sum_task, tmp_path: Path):
    await verified(sum_task("a/b"), logs=tmp_path / "logs")
    assert "error: expected" in (tmp_path / "logs" / "a%2Fb" / "error.log").read_text()


async def test_answers_are_judged_when_asked_for(verified, sum_task):
    task = sum_task(answers={"good": [WRONG, SOLUTION], "cheat": [SOLUTION], "degenerate": [WRONG]})
    (plain,) = await verified(task)
    (row,) = await verified(task, answers=True)
    assert not any("answers" in text for text in plain.lint)
    assert [text.partition(":")[2].split()[0] for text in row.lint if "answers" in text] == ["degenerate/1", "cheat/1"]


async def test_a_slow_start_is_timed_where_times_count(verified, sum_task):
    spec = {"start_bucket": "perf_broken", "category": "passed", "timing_parser": "^Kernel time: ([0-9.]+) ms"}
    spec["check"] = {  # type: ignore[assignment]
        **{step: f"python3 check.py {step}" for step in ("generate", "compare")},
        "run": "./driver",
        "time": "./driver",
    }
    (row,) = await verified(sum_task(broken=SOLUTION + "\n", spec=spec))
    assert row.verdict == "passes-here"
    assert row.speedup == 1.0


async def test_without_a_device_a_program_that_would_run_needs_one(verified, sum_task):
    (row,) = await verified(sum_task(), device=Device(name="none", missing="no device here"))
    assert (row.verdict, row.reason) == ("needs", "no device here")


def test_the_command_prints_rows_and_ends_with_1_for_an_unsound_corpus(make_task, tmp_path: Path):
    make_task("one", broken=BROKEN)
    corpus = tmp_path / "corpus"
    (corpus / "bad").mkdir()
    (corpus / "bad" / "input.json").write_text("{}")
    words = ["verify", "--corpus", corpus, "--device", "none", "--repeat", "1", "--out", tmp_path / "state.jsonl"]
    done = beaver(*words, "--json", "--markdown", tmp_path / "V.md")
    assert done.code == 1, done.err
    rows = {row["task"]: row["verdict"] for row in done.objects}
    assert rows.pop("one") == "needs"
    assert set(rows.values()) == {"unreadable"}
    assert "## no device" in (tmp_path / "V.md").read_text()
    counted = re.findall(r"^beaver-tui: (\d+)/(\d+) ", beaver(*words).err, re.MULTILINE)
    assert counted == [(str(number), str(len(done.objects))) for number in range(1, len(done.objects) + 1)]
    again = beaver(*words, "--tasks", "one")
    assert again.code == 0
    assert again.lines[0].split()[:3] == ["task", "verdict", "category"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tasks", "nothing"], "matches none"),
        (["--repeat", "0"], "--repeat"),
        (["--corpus", "/nowhere"], "no such folder"),
        (["--device", "tpu"], "--device tpu"),
    ],
)
def test_bad_arguments_are_usage_errors(words: list[str], said: str, tmp_path: Path):
    done = beaver("verify", *words, "--out", tmp_path / "state.jsonl")
    assert done.code == 2
    assert said in done.err


def test_an_interrupted_verification_says_how_it_goes_on_and_keeps_what_it_saw(make_task, tmp_path: Path):
    make_task("one")
    make_task("two", spec={"build_cmd": "sleep 120"})
    state = tmp_path / "state.jsonl"
    words = ["verify", "--corpus", tmp_path / "corpus", "--device", "none", "--jobs", "2", "--out", state]
    process = start_beaver(*words, "--json")
    assert process.stdout is not None
    assert '"task":"one"' in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in complaint and "Traceback" not in complaint
    assert '"type":"seen"' in state.read_text()
