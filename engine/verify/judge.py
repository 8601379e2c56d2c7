"""Outcomes to a row: the verdict on a task, and what is worth mending although it is no reason for another verdict."""

from __future__ import annotations

import re

from engine.candidate import line_changes
from engine.evidence import Evidence, StepEvidence
from engine.task import Task
from engine.verdict import Category, classify
from engine.verify.observe import Observed, lacking
from engine.verify.rows import REJECTED, Outcome, VerdictName

LEAST_PATCH = 3
"""Lines changed between broken start and reference; the paper wants no one-character typos."""
SLOW, GOOD = 0.7, 0.9
"""A slow start and a degenerate fix stay below the first of the reference's speed, a good fix above the second."""

_NEEDED_FIELDS = ("start_bucket", "category", "difficulty", "operation")


def judge(task: Task, seen: Observed, *, times_count: bool) -> tuple[VerdictName, str]:
    """The verdict and its reason (empty for ok). The first that holds, from what makes the others meaningless to what is only
    a label: a task that this machine cannot judge, one whose reference fails, and so on."""
    if (lack := lacking(seen)) is not None:
        return "needs", lack
    reference = seen.reference
    if reference and not all(outcome.passed for outcome in reference):
        failed = next(outcome for outcome in reference if not outcome.passed)
        if failed.category == Category.OUT_OF_MEMORY:
            return "needs", f"memory: the reference ends with {failed.signature}"
        if failed.category == Category.ENVIRONMENT_DEPENDENCY:
            return "needs", f"the reference ends with {failed.signature}"
        return "reference-fails", f"{_times(reference, passed=True)}; {failed.category}: {failed.signature}"
    if len({outcome.plain for outcome in seen.start}) > 1:
        return "flaky", "; ".join(dict.fromkeys(said(outcome.category, outcome.signature) for outcome in seen.start))
    start = seen.start[0]
    slow = task.spec.start_bucket == "perf_broken"
    if start.passed and not slow:
        return "passes-here", "the broken start passes"
    if wrong := accepted(seen):
        return "accepts-wrong", ", ".join(wrong)
    if slow and start.passed:
        return _slow_start(start, times_count=times_count)
    if task.spec.category is not None and start.category != task.spec.category:
        return "mislabelled", f"made for {task.spec.category}, shows {said(start.category, start.signature)}"
    return "ok", ""


def _slow_start(start: Outcome, *, times_count: bool) -> tuple[VerdictName, str]:
    if not times_count:
        return "needs", "gpu timing"
    if start.speedup is None:
        return "fault", f"the broken start could not be timed: {start.note or 'no usable times'}"
    if start.speedup >= SLOW:
        return "passes-here", f"the broken start runs at {start.speedup:.2f} of the reference's speed"
    return "ok", ""


def accepted(seen: Observed) -> list[str]:
    """What of the known-wrong set passed."""
    forged = [name for names in (seen.forged or {}).values() for name in names]
    return forged + [name for name, outcome in seen.wrong.items() if outcome.passed]


def rejects(seen: Observed) -> dict[str, bool]:
    """By name of the known-wrong set; what was not tried is absent."""
    found = {kind: not names for kind, names in (seen.forged or {}).items()}
    found |= {name: not outcome.passed for name, outcome in seen.wrong.items()}
    return {name: found[name] for name in REJECTED if name in found}


def patch_lines(task: Task) -> int | None:
    """Lines added and removed from the broken start to the reference."""
    return sum(line_changes(task.broken, task.reference.read_bytes())) if task.reference is not None else None


def lint(task: Task, seen: Observed, *, times_count: bool) -> list[str]:
    """What is worth mending in a task, whatever its verdict."""
    found = [f"{name}: missing" for name in _NEEDED_FIELDS if getattr(task.spec, name) is None]
    size = patch_lines(task)
    if size is None:
        found.append("no reference: nothing shows that the task can be solved, and wrong solutions were not tried")
    elif size < LEAST_PATCH:
        found.append(f"trivial: the reference changes {size} line(s), at least {LEAST_PATCH} are wanted")
    if task.spec.check is None:
        found.append("no separate checker: the test believes what the program says; wrong solutions were not tried")
    elif seen.reference and lacking(seen) is None and seen.reference[0].passed and not seen.wrong:
        found.append("no header declares the solution's functions: wrong programs were not tried")
    if seen.reference and seen.reference[0].hazards:
        found.append(f"the reference passes with hazards: {seen.reference[0].hazards[0]}")
    if lacking(seen) is None:
        found += _log_lint(task, seen.start[0])
        found += _answer_lint(seen, times_count=times_count)
    return found


def _log_lint(task: Task, start: Outcome) -> list[str]:
    if not task.error_log.strip():
        return ["error.log: empty; --write-error-logs captures one"]
    logged = category_of_log(task.error_log, start.stage)
    return [] if logged == start.category else [f"error.log: shows {logged}, this machine shows {start.category}"]


def category_of_log(text: str, stage: str) -> str:
    """What a recorded error.log (harness.error_log) says happened, read as the log of the stage that fails here."""
    if re.search(r"^the result is correct, but it takes", text, re.MULTILINE):
        return Category.PASSED
    code = re.search(r"^the (?:build|test) ended with exit code (\d+)$", text, re.MULTILINE)
    ended = re.search(r"^the (?:build|test) was ended by signal (\d+)$", text, re.MULTILINE)
    step = StepEvidence(
        exit_code=None if ended else int(code[1]) if code else 1,
        signal=int(ended[1]) if ended else None,
        timed_out=re.search(r"^the (?:build|test) was killed at its time limit$", text, re.MULTILINE) is not None,
        stderr=text,
    )
    if stage == "preflight":
        return classify(Evidence(preflight=text.splitlines())).category
    if stage == "build":
        return classify(Evidence(build=step)).category
    return classify(Evidence(build=StepEvidence(exit_code=0), test=step)).category


def _answer_lint(seen: Observed, *, times_count: bool) -> list[str]:
    found = []
    last = {name.partition("/")[0]: name for name in seen.answers}
    for script, name in last.items():
        outcome = seen.answers[name]
        if script == "cheat":
            continue
        if not outcome.passed:
            found.append(f"answers: {name} does not pass: {said(outcome.category, outcome.signature)}")
        elif outcome.speedup is None:
            if outcome.note and times_count:
                found.append(f"answers: {name} could not be timed: {outcome.note}")
        elif script == "good" and outcome.speedup <= GOOD:
            found.append(f"answers: {name} runs at {outcome.speedup:.2f} of the reference's speed, not above {GOOD}")
        elif script == "degenerate" and outcome.speedup >= SLOW:
            found.append(f"answers: {name} runs at {outcome.speedup:.2f} of the reference's speed, not below {SLOW}")
    for name, outcome in seen.answers.items():
        if name.startswith("cheat/") and outcome.passed:
            found.append(f"answers: {name} passes" + ("" if times_count else " (nothing is timed here)"))
    return found


def _times(outcomes: list[Outcome], *, passed: bool) -> str:
    return f"accepted {sum(outcome.passed is passed for outcome in outcomes)} of {len(outcomes)} times"


def said(category: str, signature: str) -> str:
    """How an outcome is named in a sentence."""
    return f"{category} ({signature})" if signature else category
