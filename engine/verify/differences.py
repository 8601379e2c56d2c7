"""Two verifications of the same tasks side by side: where one machine sees another thing than the other.

What is compared are the categories without any sanitizer's report, which not every machine has. Both sides are state files
(``verify --out FILE``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.errors import ConfigError
from engine.plain_file import read_plain
from engine.verify.rows import Outcome, Row, Seen

PROGRAMS = ("start", "reference")


@dataclass(frozen=True)
class Difference:
    """What two machines saw of one program. An empty category: the machine lacks something, which then stands in ``left_said``."""

    task: str
    program: str
    left: str
    right: str
    left_said: str = ""
    right_said: str = ""


@dataclass(frozen=True)
class Compared:
    """``same`` counts programs whose categories are equal; ``only_left`` and ``only_right`` are tasks that one side has."""

    same: int
    different: list[Difference]
    only_left: list[str]
    only_right: list[str]


def first_outcomes(path: Path) -> dict[tuple[str, str], Outcome]:
    """By task and program, the first outcome of a state file. Raises ConfigError for another kind of file."""
    try:
        lines = read_plain(path).split(b"\n")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    found: dict[tuple[str, str], Outcome] = {}
    for line in lines:
        try:
            entry = msgspec.json.decode(line, type=Seen | Row)
        except (msgspec.MsgspecError, ValueError):
            continue
        if isinstance(entry, Seen) and entry.program in PROGRAMS and entry.repeat == 1:
            found[entry.task, entry.program] = entry.outcome  # a later line is of a later version of task or program
    if not found:
        raise ConfigError(f"{path}: no state file of beaver-tui verify, or nothing was verified")
    return found


def compared(left: Mapping[tuple[str, str], Outcome], right: Mapping[tuple[str, str], Outcome]) -> Compared:
    """Both sides' programs, task by task."""
    different, same = [], 0
    for task, program in sorted(left.keys() & right.keys()):
        ours, theirs = left[task, program], right[task, program]
        if _category(ours) == _category(theirs):
            same += 1
            continue
        different.append(Difference(task, program, _category(ours), _category(theirs), _said(ours), _said(theirs)))
    tasks = [{task for task, _ in side} for side in (left, right)]
    return Compared(same, different, sorted(tasks[0] - tasks[1]), sorted(tasks[1] - tasks[0]))


def _category(outcome: Outcome) -> str:
    return "" if outcome.lacks is not None else outcome.plain[0] or outcome.category


def _said(outcome: Outcome) -> str:
    return outcome.lacks or outcome.plain[1]
