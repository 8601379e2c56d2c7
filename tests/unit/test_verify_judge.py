"""From outcomes to a verdict: which one wins, and what is only lint."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from engine.task import Task
from engine.verify.judge import category_of_log, judge, lint, patch_lines, rejects
from engine.verify.observe import Observed
from engine.verify.rows import Outcome
from tests.support.tasks import SOLUTION

PASS = Outcome(category="passed", plain=("passed", ""))
WRONG = Outcome(category="functional_correctness", signature="y", plain=("functional_correctness", "y"))
BUILD = Outcome(category="buildability", signature="expected ;", stage="build", plain=("buildability", "expected ;"))
FAIR = {"zeros": [], "constant": [], "copy": []}


def seen(**changes: object) -> Observed:
    fields: dict[str, object] = {
        "start": [BUILD] * 3,
        "reference": [PASS] * 3,
        "forged": FAIR,
        "wrong": {"empty": WRONG, "exit": WRONG, "print": WRONG},
    }
    return Observed(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.fixture
def task(make_task) -> Task:
    return make_task(spec={"category": "buildability"})


def verdict(task: Task, observed: Observed, *, times_count: bool = True) -> tuple[str, str]:
    return judge(task, observed, times_count=times_count)


def test_a_reproducible_labelled_start_with_an_accepted_reference_is_ok(task: Task):
    assert verdict(task, seen()) == ("ok", "")


@pytest.mark.parametrize(
    ("changes", "name", "word"),
    [
        ({"start": [BUILD, BUILD, WRONG]}, "flaky", "functional_correctness"),
        ({"start": [BUILD, msgspec.structs.replace(BUILD, plain=("buildability", "other"))]}, "flaky", "expected ;"),
        ({"start": [PASS] * 3}, "passes-here", "passes"),
        ({"reference": [PASS, WRONG, PASS]}, "reference-fails", "2 of 3"),
        ({"reference": [msgspec.structs.replace(WRONG, lacks="requires: lib:cublas")]}, "needs", "lib:cublas"),
        ({"reference": [Outcome(category="out_of_memory", signature="error 2")]}, "needs", "memory"),
        ({"reference": [Outcome(category="environment_dependency", signature="cufft.h")]}, "needs", "cufft.h"),
        ({"wrong": {"empty": PASS}}, "accepts-wrong", "empty"),
        ({"forged": {**FAIR, "copy": ["copy of x.f32"]}}, "accepts-wrong", "copy of x.f32"),
        ({"start": [WRONG] * 3}, "mislabelled", "made for buildability, shows functional_correctness"),
    ],
)
def test_each_verdict_has_its_reason(task: Task, changes: dict[str, object], name: str, word: str):
    found, reason = verdict(task, seen(**changes))
    assert found == name
    assert word in reason


def test_a_failing_reference_outranks_a_flaky_start_and_both_outrank_the_label(task: Task):
    flaky = [BUILD, WRONG]
    assert verdict(task, seen(start=flaky, reference=[WRONG]))[0] == "reference-fails"
    assert verdict(task, seen(start=flaky, wrong={"empty": PASS}))[0] == "flaky"
    assert verdict(task, seen(start=[WRONG] * 2, wrong={"empty": PASS}))[0] == "accepts-wrong"


@pytest.mark.parametrize(
    ("speedup", "note", "counts", "name"),
    [(0.2, "", True, "ok"), (0.7, "", True, "passes-here"), (None, "no time", True, "fault"), (None, "", False, "needs")],
)  # fmt: skip
def test_a_slow_start_is_judged_by_its_measured_speed(make_task, speedup, note: str, counts: bool, name: str):
    task = make_task(spec={"start_bucket": "perf_broken", "category": "passed"})
    start = msgspec.structs.replace(PASS, speedup=speedup, note=note)
    assert verdict(task, seen(start=[start, PASS, PASS]), times_count=counts)[0] == name


def test_a_slow_start_that_fails_is_mislabelled(make_task):
    task = make_task(spec={"start_bucket": "perf_broken", "category": "passed"})
    assert verdict(task, seen(start=[WRONG] * 3))[0] == "mislabelled"


def test_rejections_are_named_and_untried_ones_are_absent():
    assert rejects(seen(wrong={"empty": PASS, "exit": WRONG})) == {
        "zeros": True,
        "copy": True,
        "constant": True,
        "empty": False,
        "exit": True,
    }
    assert rejects(seen(forged=None, wrong={})) == {}


def test_the_size_of_a_patch_counts_both_sides(task: Task):
    assert patch_lines(task) == 2
    assert any("trivial" in text for text in lint(task, seen(), times_count=True))
    assert patch_lines(replace(task, reference=None)) is None


def test_a_task_without_reference_can_be_ok_and_says_what_is_not_shown(task: Task):
    bare = replace(task, reference=None)
    observed = seen(reference=[], forged=None, wrong={})
    assert verdict(bare, observed) == ("ok", "")
    assert any(text.startswith("no reference") for text in lint(bare, observed, times_count=True))


@pytest.mark.parametrize(
    ("log", "stage", "category"),
    [
        ("solution.cu(3): error: expected a \";\"\nthe build ended with exit code 1\n", "build", "buildability"),
        ("the test was killed at its time limit\n", "test", "timeout"),
        ("the test was ended by signal 11\n", "test", "illegal_memory_access"),
        ("checker: y: 3 of 4 values differ\n", "test", "functional_correctness"),
        ("the result is correct, but it takes 4 ms where the reference takes 1 ms: speedup 0.250\n", "test", "passed"),
    ],
)  # fmt: skip
def test_a_recorded_log_says_its_category(log: str, stage: str, category: str):
    assert category_of_log(log, stage) == category


def test_an_error_log_of_another_category_is_lint_and_no_verdict(task: Task):
    other = replace(task, error_log="the test was killed at its time limit\n")
    assert "error.log: shows timeout" in str(
        lint(other, seen(start=[msgspec.structs.replace(WRONG, stage="test")]), times_count=True)
    )


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"good/1": WRONG, "good/2": PASS}, ""),
        ({"good/1": PASS, "good/2": WRONG}, "good/2 does not pass"),
        ({"good/1": msgspec.structs.replace(PASS, speedup=0.9)}, "not above 0.9"),
        ({"degenerate/1": msgspec.structs.replace(PASS, speedup=0.7)}, "not below 0.7"),
        ({"degenerate/1": msgspec.structs.replace(PASS, speedup=0.3)}, ""),
        ({"degenerate/1": msgspec.structs.replace(PASS, note="no usable time")}, "could not be timed"),
        ({"cheat/1": WRONG, "cheat/2": PASS}, "cheat/2 passes"),
    ],
)  # fmt: skip
def test_recorded_answers_are_judged(task: Task, answers: dict[str, Outcome], said: str):
    found = [text for text in lint(task, seen(answers=answers), times_count=True) if text.startswith("answers")]
    assert (said in found[0]) if said else not found


def test_fields_that_reports_need_are_missed(make_task):
    found = lint(make_task(spec={"start_bucket": None}, broken=SOLUTION + "//\n//\n//\n"), seen(), times_count=True)
    assert {"start_bucket: missing", "category: missing", "operation: missing"} <= set(found)
