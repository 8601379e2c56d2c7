"""Evidence: what the harness observed about one candidate, before anybody says what it means.

The verdict reads nothing else. The JSON form is the input of ``beaver-tui classify``; unknown fields are ignored, so that
another harness's records can be read as they are.
"""

from __future__ import annotations

import msgspec


class StepEvidence(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One process that ran (or was meant to run): the build or the test.

    ``exit_code`` is None when a signal ended the process or it never ran; ``signal`` is the signal's number.
    ``not_run`` says, in one sentence, what was missing when the step could not be started on this machine.
    """

    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    memory_killed: bool = False
    """The watch on resident size ended the process tree: host memory, not device memory."""
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    not_run: str | None = None
    arch_rewritten: bool = False
    """The harness put another architecture into the task's command than the task's author wrote there."""

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.timed_out and self.not_run is None


class Mismatch(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One element of an output that differs: its index, the value found and the value expected."""

    index: list[int]
    got: float | int | str | None
    want: float | int | str | None


class CheckResult(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a checker wrote into result.json (docs/task-format.md). Errors are absolute and relative, in the output's unit."""

    passed: bool
    output: str | None = None
    shape: list[int] | None = None
    dtype: str | None = None
    tolerance: dict[str, float] | None = None
    max_abs: float | None = None
    mean_abs: float | None = None
    max_rel: float | None = None
    mismatches: list[Mismatch] = []
    message: str = ""


class SanitizerEvidence(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One run under compute-sanitizer. ``exit_code`` is the tool's own (it is asked to use 99 for findings)."""

    tool: str = "memcheck"
    exit_code: int | None = None
    output: str = ""
    seconds: float = 0.0


class Evidence(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Everything observed about one candidate.

    ``preflight`` holds findings as text ("anti_cheat: cublasSgemm at line 12"). ``test`` is None when it was not reached.
    ``pass_evidence`` is False when the task declares positive evidence and it was not found, None when the task declares none.
    """

    id: str = ""
    preflight: list[str] = []
    build: StepEvidence | None = None
    test: StepEvidence | None = None
    check: CheckResult | None = None
    sanitizer: SanitizerEvidence | None = None
    """The report that says most: memcheck's, or racecheck's when that found the reason."""
    pass_evidence: bool | None = None
    solution_file: str = "solution.cu"
    harness_files: list[str] = []
    """Names of the files that belong to the task, to tell a fault in them from a fault in the solution."""

    @property
    def characters(self) -> int:
        """Of text that a classifier has to read."""
        logs = [text for step in (self.build, self.test) if step is not None for text in (step.stdout, step.stderr)]
        return sum(map(len, logs)) + (len(self.sanitizer.output) if self.sanitizer is not None else 0)
