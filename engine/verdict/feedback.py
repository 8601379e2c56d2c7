"""The message about a failed candidate, at each feedback level (paper 3.4 axis A3, templates of C.2).

L0 and L1 carry no message (L1 shows the candidate, which is the prompt's business). L2 is the build log, L3 the category's
template, L3raw the raw logs, L4 the template and the profiler's figures. A candidate that did not run to its end has none; where
the profiler failed L4 falls back to L3. A template's body is a fragment of the harness's own records; a fact that a task does
not report reads "not reported". The paper has no template for environment_dependency and none for a correct candidate that
is too slow: those two are ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.events import Built, PreflightDone, Profiled, Sanitized, StepRecord, Tested, Timed, VerdictReached
from engine.evidence import CheckResult
from engine.figures import times
from engine.protocol import Feedback, Protocol
from engine.task import Budgets
from engine.text import shown_name
from engine.verdict.categories import Category
from engine.verdict.condense import condense
from engine.verdict.profile_table import CAPTION, profile_table

NOT_REPORTED = "not reported"

_CHECKPOINT_LINES = 12

_REPORT = re.compile(r"^=+ +(?:Invalid|Error: |Warning: |Uninitialized|Barrier|Divergent|Program hit)")
_REPORT_LINES = 3


@dataclass(frozen=True)
class Observed:
    """What was recorded about one candidate, as the journal holds it."""

    verdict: VerdictReached
    preflight: PreflightDone | None = None
    built: Built | None = None
    tested: Tested | None = None
    sanitized: Mapping[str, Sanitized] = field(default_factory=dict)
    """By tool."""
    timed: Timed | None = None
    profiled: Profiled | None = None
    problem: str | None = None
    """Why the reply held no usable file."""
    budgets: Budgets | None = None
    """Seconds that each step may take."""


def feedback_text(observed: Observed, protocol: Protocol) -> str:
    """The message for the protocol's level; empty for L0 and L1."""
    level = protocol.feedback
    if level in (Feedback.L0, Feedback.L1):
        return ""
    if level is Feedback.L2:
        return _build_log(observed, protocol)
    if level is Feedback.L3RAW:
        return _raw_logs(observed, protocol)
    text = _template(observed, protocol)
    if level is Feedback.L4 and observed.profiled is not None and observed.profiled.figures:
        text += f"\n{CAPTION}:\n{fenced(profile_table(observed.profiled))}"
    return text


def given_level(profiled: Profiled | None, protocol: Protocol) -> tuple[Feedback, str]:
    """The level that a message really has, and in words why it is not the protocol's; empty when it is."""
    if protocol.feedback is Feedback.L4 and profiled is not None and not profiled.figures:
        return Feedback.L3, f"L4 fell back to L3: {profiled.note or 'the profiler gave no figures'}"
    return protocol.feedback, ""


def fenced(text: str, language: str = "text") -> str:
    """A fenced block that its content cannot close: the fence is longer than any run of backticks inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _log(step: StepRecord | None) -> str:
    """Both streams of a step, errors first: compilers and CUDA programs print what matters to stderr."""
    if step is None:
        return ""
    if step.not_run:
        return step.not_run
    return "\n".join(text.strip("\n") for text in (step.stderr.text, step.stdout.text) if text.strip())


def _build_log(observed: Observed, protocol: Protocol) -> str:
    if observed.problem:
        return f"Your reply could not be used: {observed.problem}."
    findings = observed.preflight.findings if observed.preflight else []
    if findings:
        return "Before the build:\n" + fenced("\n".join(findings))
    log = _log(observed.built.step if observed.built else None)
    return "Build log:\n" + fenced(condense(log, protocol.log_budget) or "(the build printed nothing)")


def _raw_logs(observed: Observed, protocol: Protocol) -> str:
    parts = [_build_log(observed, protocol)]
    if observed.tested is not None:
        step = observed.tested.step
        ended = _ending(step)
        log = condense(_log(step), protocol.log_budget) or "(the test printed nothing)"
        parts.append(f"Test log ({ended}):\n" + fenced(log))
        if observed.tested.check is not None and observed.tested.check.message:
            parts.append("Checker:\n" + fenced(condense(observed.tested.check.message, protocol.log_budget)))
        if report := _sanitizer_report(observed.sanitized):
            parts.append(report.rstrip("\n"))
    return "\n".join(parts)


def _ending(step: StepRecord) -> str:
    if step.not_run:
        return "not run"
    if step.timed_out:
        return "timed out"
    if step.memory_killed:
        return "killed, it used too much host memory"
    return f"signal {step.signal}" if step.signal is not None else f"exit code {step.exit_code}"


def _template(observed: Observed, protocol: Protocol) -> str:
    if observed.verdict.category == Category.PASSED:
        return _too_slow(observed, protocol)
    category = observed.verdict.category
    if category not in _TEMPLATES and observed.verdict.rivals:  # unclassified: the likeliest of its categories
        category = observed.verdict.rivals[0].partition("/")[0]
    default = _buildability if observed.verdict.stage == "build" else _functional_correctness
    return _TEMPLATES.get(category, default)(observed, protocol)


def _environment_dependency(observed: Observed, protocol: Protocol) -> str:
    needed = "\n".join(_findings(observed)) or _missing(observed) or observed.verdict.line or observed.verdict.signature
    return (
        "Your previous solution needs something that this machine does not have:\n"
        f"{fenced(condense(needed, protocol.log_budget))}\n"
        "Please revise the solution to do without it."
    )


def _missing(observed: Observed) -> str | None:
    steps = (observed.built and observed.built.step, observed.tested and observed.tested.step)
    return next((step.not_run for step in steps if step and step.not_run), None)


def _integration(observed: Observed, protocol: Protocol) -> str:
    if observed.problem:
        return f"Your previous reply could not be used: {observed.problem}. Please send the complete file in one code block."
    found = "\n".join(_findings(observed)) or _log(observed.built.step if observed.built else None)
    return (
        "Your previous solution compiles but does not match the expected harness contract:\n"
        f"{fenced(condense(found, protocol.log_budget))}\n"
        "Please revise the interface."
    )


def _buildability(observed: Observed, protocol: Protocol) -> str:
    # a build inside the test step (make check, torch extensions) left its errors in the test's log
    failed = observed.built.step if observed.built else None
    if observed.verdict.stage == "test" and observed.tested is not None:
        failed = observed.tested.step
    lines = _log(failed).split("\n")[: protocol.stderr_lines]
    return (
        f"Your previous solution did not compile. The first {protocol.stderr_lines} lines of nvcc stderr are:\n"
        f"{fenced(condense(chr(10).join(lines), protocol.log_budget))}\n"
        "Please revise the solution to compile."
    )


def _illegal_memory_access(observed: Observed, protocol: Protocol) -> str:
    tail = "\n".join(_log(observed.tested.step if observed.tested else None).split("\n")[-_CHECKPOINT_LINES:])
    return (
        f"Your previous solution triggered a runtime CUDA error: {_error(observed)}. "
        f"The last successful checkpoint was:\n{fenced(condense(tail, protocol.log_budget) or '(nothing was printed)')}\n"
        f"{_sanitizer_report(observed.sanitized) or _blocking_report(observed.tested)}"
        "Please diagnose and revise."
    )


def _sanitizer_report(reports: Mapping[str, Sanitized]) -> str:
    """The head of the first report: what, in which kernel and line, by which thread. The rest names addresses of that run."""
    for tool, report in reports.items():
        lines = report.output.text.split("\n")
        first = next((index for index, line in enumerate(lines) if _REPORT.search(line)), None)
        if first is not None:
            return f"compute-sanitizer {tool} reports:\n{fenced(chr(10).join(lines[first : first + _REPORT_LINES]))}\n"
    return ""


def _blocking_report(tested: Tested | None) -> str:
    """How the program ended with blocking launches, when no sanitizer could say more."""
    if tested is None or tested.blocking is None:
        return ""
    last = "\n".join(_log(tested.blocking).split("\n")[-_REPORT_LINES:])
    return f"With CUDA_LAUNCH_BLOCKING=1 it ends with:\n{fenced(last)}\n" if last else ""


def _out_of_memory(observed: Observed, protocol: Protocol) -> str:
    return (
        f"Your previous solution failed with cudaMalloc OOM on input {_shape(_check(observed))}: {_error(observed)}. "
        "Please reduce memory footprint or tile more aggressively."
    )


def _timeout(observed: Observed, protocol: Protocol) -> str:
    step = "build" if observed.verdict.stage == "build" else "test"
    seconds = getattr(observed.budgets, step) if observed.budgets else None
    budget = f"{seconds:g}-second " if seconds else ""
    return (
        f"Your previous solution exceeded the {budget}{step} budget on input {_shape(_check(observed))}. "
        "Please investigate for unbounded loops or low-occupancy launches."
    )


def _functional_correctness(observed: Observed, protocol: Protocol) -> str:
    check = _check(observed)
    head = (
        "Your previous solution compiled and ran but produced incorrect output on input "
        f"{_shape(check)}. tolerance={_tolerance(check)}, max abs error={_number(check.max_abs if check else None)}, "
        f"mean abs error={_number(check.mean_abs if check else None)}, sample mismatches={_mismatches(check)}."
    )
    said = check.message if check is not None and check.message else observed.verdict.line
    log = condense(_log(observed.tested.step if observed.tested else None), protocol.log_budget // 2)
    body = "\n".join(text for text in (said, log) if text)
    evidence = fenced(body) + "\n" if body else ""
    return f"{head}\n{evidence}{_sanitizer_report(observed.sanitized)}Please revise."


def _too_slow(observed: Observed, protocol: Protocol) -> str:
    timed = observed.timed
    if timed is None or timed.speedup is None:  # to call it slow would be a guess
        why = shown_name(timed.note, 200) if timed and timed.note else NOT_REPORTED
        return (
            f"Your previous solution is correct, but its speed was not measured: {why}. "
            f"A speedup of at least {protocol.gate:g}x against the reference is required."
        )
    means = ""
    if timed.reference_mean_ms is not None and timed.candidate_ms:
        mean = sum(timed.candidate_ms) / len(timed.candidate_ms)
        means = f" (reference {timed.reference_mean_ms:.4g} ms, yours {mean:.4g} ms)"
    return (
        f"Your previous solution is correct but too slow: its speedup against the reference is {times(timed.speedup)}{means}, "
        f"and at least {protocol.gate:g}x is required. Please restore or keep the optimised structure."
    )


_TEMPLATES: dict[str, Callable[[Observed, Protocol], str]] = {
    Category.ENVIRONMENT_DEPENDENCY: _environment_dependency,
    Category.INTEGRATION: _integration,
    Category.BUILDABILITY: _buildability,
    Category.OUT_OF_MEMORY: _out_of_memory,
    Category.ILLEGAL_MEMORY_ACCESS: _illegal_memory_access,
    Category.TIMEOUT: _timeout,
    Category.FUNCTIONAL_CORRECTNESS: _functional_correctness,
}


def _findings(observed: Observed) -> list[str]:
    return list(observed.preflight.findings) if observed.preflight else []


def _check(observed: Observed) -> CheckResult | None:
    return observed.tested.check if observed.tested else None


def _error(observed: Observed) -> str:
    return (observed.verdict.line or observed.verdict.signature or NOT_REPORTED).strip()


def _shape(check: CheckResult | None) -> str:
    return "x".join(map(str, check.shape)) if check and check.shape else f"(shape {NOT_REPORTED})"


def _tolerance(check: CheckResult | None) -> str:
    if check is None or not check.tolerance:
        return NOT_REPORTED
    return ", ".join(f"{name} {value:g}" for name, value in check.tolerance.items())


def _number(value: float | None) -> str:
    return NOT_REPORTED if value is None else f"{value:.6g}"


def _mismatches(check: CheckResult | None) -> str:
    if check is None or not check.mismatches:
        return NOT_REPORTED
    return "; ".join(f"at {item.index}: got {item.got}, want {item.want}" for item in check.mismatches)
