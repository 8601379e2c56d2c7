"""What verification sees and says, as data: outcomes of programs, and one row per task. Both are lines of a JSON file."""

from __future__ import annotations

from typing import Literal

import msgspec

VERSION = 1
"""Of the lines below; a reader refuses a larger one."""

VerdictName = Literal[
    "ok", "needs", "flaky", "passes-here", "mislabelled", "reference-fails", "accepts-wrong", "fault", "unreadable"
]
"""``needs``: this machine lacks something. ``fault``: the machine or the checker failed; nothing is said about the task.
``unreadable``: the task's folder has faults (``beaver-tui tasks --check``)."""

SOUND: frozenset[VerdictName] = frozenset({"ok", "needs"})
"""Verdicts that are no complaint about a task."""

REJECTED = ("zeros", "copy", "constant", "empty", "exit", "print")
"""The known-wrong set: three contents of the outputs, three programs."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one examination of one program showed.

    ``plain`` is the pair of category and signature without any sanitizer's report: what repeats are compared by, of which only
    the first is sanitized. ``lacks`` says what this machine would need to judge the program. ``forged`` holds, by kind, the
    forged outputs that the checker accepted (see wrong_outputs); only the outcome of "outputs" has it.
    """

    category: str = ""
    signature: str = ""
    line: str = ""
    stage: str = ""
    plain: tuple[str, str] = ("", "")
    hazards: list[str] = []
    lacks: str | None = None
    speedup: float | None = None
    note: str = ""
    """Why there is no speedup although one was asked for."""
    printed: str = ""
    """Beginning of the test's standard output, of the reference."""
    error_log: str = ""
    """What a fixer would be shown, of the broken start."""
    forged: dict[str, list[str]] = {}
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.category == "passed"


class Seen(msgspec.Struct, frozen=True, kw_only=True, tag="seen", tag_field="type", omit_defaults=True):
    """A line of the state file. ``key`` is a digest of everything that the outcome depends on: task, program, device, driver,
    toolkit, host compiler, sandbox, repeat, and this program's own sources."""

    key: str
    task: str
    program: str
    """start, reference, outputs, wrong/<name> or answers/<script>/<n>."""
    repeat: int = 1
    outcome: Outcome


class Row(msgspec.Struct, frozen=True, kw_only=True, tag="row", tag_field="type"):
    """The result for one task: a line of ``verify --json``."""

    schema_version: int = VERSION
    task: str
    verdict: VerdictName
    reason: str = ""
    """Empty for ok."""
    label: str | None = None
    category: str | None = None
    signature: str = ""
    line: str = ""
    """The line of evidence behind the category, as it was printed."""
    repeats: int = 0
    """Examinations of the broken start, and as many of the reference."""
    reference: str | None = None
    """The reference's category, None for a task without one."""
    patch_lines: int | None = None
    """Lines added and removed between broken start and reference."""
    rejects: dict[str, bool] = {}
    """By name of REJECTED; what could not be tried is absent."""
    speedup: float | None = None
    """Of the broken start against the reference, where it was measured."""
    lint: list[str] = []
    device: str = ""
    driver: str = ""
    toolkit: str = ""
    seconds: float = 0.0
    """In builds and tests of this task, kept results included."""

    @property
    def sound(self) -> bool:
        return self.verdict in SOUND
