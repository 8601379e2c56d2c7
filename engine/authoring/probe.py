"""Whether a build that fails has looked at the editable file: asked by building a file that no compiler takes."""

from __future__ import annotations

import re

from engine.evidence import StepEvidence
from engine.harness.examine import Harness, Job
from engine.harness.step import StepRunner
from engine.task import Task

NO_PROGRAM = b"#error no program\n"
"""An error wherever there is a preprocessor, and the same bytes a comment in Python."""

_CHANGES = re.compile(r"0x[0-9a-f]+|tmpxft_\w+|\b[0-9a-f]{6,}\b|\d+", re.IGNORECASE)
"""What differs between two runs of the same build: times, addresses, names of temporary files."""


async def fails_whatever_it_holds(harness: Harness, task: Task, build: StepEvidence) -> bool:
    """Whether everything that a failed ``build`` says is said of a file without a program too. False for one that was killed, or
    said nothing."""
    said = _lines(build)
    if build.exit_code in (None, 0) or not said:
        return False
    examination = harness.examination(Job(task, NO_PROGRAM, 0, 0, sanitize=False), StepRunner(harness.stand))
    async with examination.workspace() as workspace:
        other = (await examination.build(workspace)).evidence()
    return other.exit_code not in (None, 0) and said <= _lines(other)


def _lines(build: StepEvidence) -> set[str]:
    """What of the lines of a log stays the same."""
    lines = f"{build.stdout}\n{build.stderr}".splitlines()
    return {_CHANGES.sub("#", line.strip()) for line in lines if line.strip()}
