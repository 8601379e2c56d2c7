"""error.log: what the harness shows for a broken start, as the fixer will read it."""

from __future__ import annotations

from engine.events import Timed
from engine.evidence import Evidence, StepEvidence
from engine.harness.pythons import task_python
from engine.task import Task

PYTHON = "/python"
"""How a log names the folder of a task's own Python: the same error is the same log, wherever PyTorch lies."""


def error_log(task: Task, evidence: Evidence, timed: Timed | None = None) -> str:
    """The raw record of a failure. For a start that is correct but slow (perf_broken) it is the measured timing."""
    text = _record(evidence, timed)
    for folder in task_python(task).folders:
        text = text.replace(f"{folder}/", f"{PYTHON}/")
    return text


def _record(evidence: Evidence, timed: Timed | None) -> str:
    if evidence.preflight:
        return "\n".join(evidence.preflight) + "\n"
    build, test = evidence.build, evidence.test
    if build is not None and not build.ok:
        return _streams(build, "build")
    if test is None:
        return ""
    text = _streams(test, "test")
    if evidence.check is not None and not evidence.check.passed:
        text += f"checker: {evidence.check.message}\n"
    if timed is not None and timed.speedup is not None and timed.reference_mean_ms is not None:
        mean = timed.reference_mean_ms / timed.speedup
        text += (
            f"the result is correct, but it takes {mean:.4g} ms where the reference takes {timed.reference_mean_ms:.4g} ms: "
            f"speedup {timed.speedup:.3f}\n"
        )
    return text


def _streams(step: StepEvidence, name: str) -> str:
    text = step.stderr + step.stdout
    if text and not text.endswith("\n"):
        text += "\n"
    if step.timed_out:
        text += f"the {name} was killed at its time limit\n"
    elif step.memory_killed:
        text += f"the {name} was killed: it used too much host memory\n"
    elif step.signal is not None:
        text += f"the {name} was ended by signal {step.signal}\n"
    elif step.exit_code != 0:
        text += f"the {name} ended with exit code {step.exit_code}\n"
    return text
