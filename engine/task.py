"""A task: the paper's broken start as a 4-tuple (prompt, broken kernel, error log, native harness) with one editable file.

The schema of input.json is the paper's (appendix C.1) with additions; docs/task-format.md describes every field.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

import msgspec

Bucket = Literal["compile_error", "logic_error", "memory_crash", "timeout", "perf_broken"]
Backend = Literal["nvcc", "make", "kernelbench", "defpy"]
"""Who understands a task's commands. The last two are Python of a CUDABeaver checkout, which builds inside the test."""
NEEDS = ("lib", "header", "program", "module")
"""Kinds of what a task may require; a module is one of Python."""
CategoryName = Literal[
    "environment_dependency",
    "integration",
    "buildability",
    "out_of_memory",
    "illegal_memory_access",
    "timeout",
    "functional_correctness",
    "passed",
]


class CheckSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Commands of a driver (``run``, ``time``: in the candidate's sandbox) and of its checker (``generate``, ``compare``)."""

    generate: str
    run: str
    compare: str
    time: str | None = None


class Budgets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Wall-clock seconds a step may take on one kind of device."""

    build: float = 120.0
    test: float = 30.0
    sanitizer: float = 120.0


CPU_FACTOR = 4.0
"""How much longer a program may run on the CPU device, where a task does not say."""


class TaskSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """input.json. Commands are shell text, run in the workspace."""

    task_id: str
    backend: Backend
    solution_file: str
    build_cmd: str
    test_cmd: str | None = None
    check: CheckSpec | None = None
    source: str = ""
    pass_evidence: str | None = None
    min_sm: int = 0
    arch_exact: str | None = None
    requires: list[str] = []
    anti_cheat: list[str] = []
    timing_parser: str | None = None
    time_cmd: str | None = None
    reference_parser: str | None = None
    start_bucket: Bucket | None = None
    category: CategoryName | None = None
    difficulty: str | None = None
    operation: str | None = None
    source_model: str | None = None
    timeouts: dict[str, Budgets] = {}
    tolerances: dict[str, dict[str, float]] = {}
    min_bytes: float | None = None
    min_flops: float | None = None
    shared_files: list[str] = []

    def problems(self) -> list[tuple[str, str]]:
        """What a schema cannot say, as (field, reason) pairs; empty when the task is sound."""
        found = []
        if not self.task_id.strip() or any(ord(c) < 32 for c in self.task_id):
            found.append(("task_id", "must be printable and not empty"))
        for name in ("build_cmd", "solution_file"):
            if not getattr(self, name).strip():
                found.append((name, "must not be empty"))
        if (self.test_cmd is None) == (self.check is None):
            found.append(("test_cmd", "exactly one of test_cmd and check must be given"))
        if self.time_cmd is not None and (self.check is not None or self.timing_parser is None):
            found.append(("time_cmd", "goes with test_cmd and a timing_parser; a check has a time of its own"))
        if self.reference_parser is not None and (self.check is not None or self.timing_parser is None):
            found.append(("reference_parser", "goes with test_cmd and a timing_parser"))
        shared = [(f"shared_files[{index}]", value) for index, value in enumerate(self.shared_files)]
        for name, value in [("solution_file", self.solution_file), *shared]:
            if not is_inner_path(value):
                found.append((name, f"{value!r} must be a relative path that stays inside the workspace"))
        for name in ("timing_parser", "reference_parser", "pass_evidence"):
            pattern = getattr(self, name)
            try:
                compiled = re.compile(pattern or "")
            except re.error as error:
                found.append((name, f"is not a regular expression: {error}"))
            else:
                if name != "pass_evidence" and pattern and compiled.groups < 1:
                    found.append((name, "needs a group that captures the milliseconds"))
        if Path(self.solution_file).parts[:1] in ((), ("in",), ("out",)):
            found.append(("solution_file", f"{self.solution_file!r} is taken by the inputs and outputs of a check"))
        for index, entry in enumerate(self.anti_cheat):
            if len(entry.strip(" :")) < 3:
                found.append(
                    (f"anti_cheat[{index}]", f"{entry!r} is too short to be a name: it would match everything")
                )
        for text in (self.build_cmd, self.test_cmd or "", self.time_cmd or "", self.solution_file):
            if "\0" in text:
                found.append(("build_cmd", "holds a NUL byte"))
        for index, need in enumerate(self.requires):
            if need.partition(":")[0] not in NEEDS or not need.partition(":")[2]:
                forms = "lib:NAME, header:PATH, program:NAME or module:NAME"
                found.append((f"requires[{index}]", f"{need!r} is not of the form {forms}"))
        if self.arch_exact and not re.fullmatch(r"sm_\d+[af]?", self.arch_exact):
            found.append(("arch_exact", f"{self.arch_exact!r} is not of the form sm_90a"))
        for kind, budget in self.timeouts.items():
            if kind not in ("cuda", "cpu"):
                found.append((f"timeouts.{kind}", "the devices are cuda and cpu"))
            if min(budget.build, budget.test, budget.sanitizer) <= 0:
                found.append((f"timeouts.{kind}", "seconds must be above 0"))
        return found

    def budgets(self, device: str) -> Budgets:
        """Time budgets on ``device`` ("cuda", "cpu"); a machine without a device builds under the CUDA budgets. A correct kernel
        that is slow on the CPU must not become a timeout there: where a task says nothing, programs get more time."""
        if device in self.timeouts:
            return self.timeouts[device]
        cuda = self.timeouts.get("cuda") or Budgets()
        if device == "cpu":
            return Budgets(build=cuda.build, test=cuda.test * CPU_FACTOR, sanitizer=cuda.sanitizer * CPU_FACTOR)
        return cuda


@dataclass(frozen=True)
class Task:
    """A task as read from a corpus. ``harness_files`` and ``checker_files`` map workspace-relative names to source files.

    ``libraries`` names folders among the harness files that hold whole libraries: a prompt names them and shows none of their files.
    """

    spec: TaskSpec
    folder: Path
    prompt: str
    broken: bytes
    error_log: str
    harness_files: dict[str, Path] = field(default_factory=dict)
    checker_files: dict[str, Path] = field(default_factory=dict)
    reference: Path | None = None
    answers: Path | None = None
    libraries: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.spec.task_id

    @property
    def broken_sha(self) -> str:
        """SHA-256 of the broken start's exact bytes."""
        return hashlib.sha256(self.broken).hexdigest()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over everything that decides a verdict: spec, prompt, start, log, harness, checker, reference."""
        total = hashlib.sha256(msgspec.json.encode(self.spec, order="sorted"))
        for text in (self.prompt.encode(), self.broken, self.error_log.encode()):
            total.update(hashlib.sha256(text).digest())
        files = {**self.harness_files, **{f"checker/{name}": path for name, path in self.checker_files.items()}}
        if self.reference is not None:
            files["reference"] = self.reference
        for name in sorted(files):
            status = files[name].stat()
            content = _file_digest(files[name], status.st_mtime_ns, status.st_size)
            total.update(name.encode() + b"\0" + content)
        return total.hexdigest()


@cache
def _file_digest(path: Path, changed: int, size: int) -> bytes:
    """SHA-256 of a file. Many tasks share a library of thousands of files: each is read once, until it changes."""
    return hashlib.sha256(path.read_bytes()).digest()


def is_inner_path(text: str) -> bool:
    """True for a relative path that cannot leave its folder."""
    path = Path(text)
    return bool(text) and not path.is_absolute() and ".." not in path.parts and "\0" not in text
