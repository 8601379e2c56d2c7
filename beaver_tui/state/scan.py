"""A journal in figures, read fast: what a list of thousands of trajectories shows of each.

Only the fields that a list needs are decoded, and the story is checked only at its ends; opening a trajectory reads and checks
all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec

from beaver_tui.state.lines import one_line
from engine.errors import RunError
from engine.events import SCHEMA_VERSION
from engine.journal import read_journal
from engine.plain_file import read_plain
from engine.rundir import Cell
from engine.schema import check_schema


@dataclass(frozen=True)
class Scan:
    """What a journal says. ``seconds`` are spent waiting for replies and in the harness; ``cost`` is in US dollars, None when no
    price is known; ``fault`` is the fault of the machine that it waits at, ``problem`` the damage of the journal itself."""

    iterations: int = 0
    categories: tuple[str, ...] = ()
    """Of the closed iterations."""
    speedup: float | None = None
    """The best of all."""
    cost: float | None = None
    tokens: int = 0
    seconds: float = 0.0
    started: str = ""
    interactive: bool = False
    device: str = ""
    over: bool = False
    passed: bool = False
    stop_reason: str = ""
    fault: str = ""
    problem: str = ""


class _Step(msgspec.Struct, gc=False):
    seconds: float = 0.0


class _Line(msgspec.Struct, gc=False):
    """Any event, as far as a list is interested. Nothing in it leads back to it: the search for garbage can pass it by, of which
    there would be many while thousands of lines are read."""

    type: str
    at: str = ""
    iteration: int = 0
    iterations: int | list[int] = 0
    schema_version: int = SCHEMA_VERSION
    task: str = ""
    fixer: str = ""
    attempt: int = 0
    device: str = ""
    interactive: bool = False
    category: str = ""
    speedup: float | None = None
    cost: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float = 0.0
    step: _Step | None = None
    passed: bool = False
    stop_reason: str = ""
    message: str = ""
    final: bool = False
    action: str = ""


_decoder = msgspec.json.Decoder(_Line)


def scan_journal(path: Path, cell: Cell) -> Scan:
    """The figures of a cell's journal. Never raises: what is wrong with it is the scan's ``problem``."""
    try:
        lines = _lines(path)
        return _told(path, cell, lines) if lines else Scan()
    except RunError as error:
        return Scan(problem=one_line(str(error)))
    except OSError as error:
        return Scan(problem=one_line(f"{path}: cannot be read: {error.strerror}"))


def _lines(path: Path) -> list[_Line]:
    content = read_plain(path)
    whole = content[: content.rfind(b"\n") + 1]
    try:
        lines = _decoder.decode_lines(whole)
    except (msgspec.MsgspecError, ValueError) as error:
        raise RunError(f"{path}:{_bad_line(whole)}: not an event: {error}") from error
    if lines and check_schema(path, {"schema_version": lines[0].schema_version}) != SCHEMA_VERSION:
        return [msgspec.convert(msgspec.to_builtins(event), _Line) for event in read_journal(path)]
    return lines


def _bad_line(content: bytes) -> int:
    for number, line in enumerate(content.splitlines(), 1):
        try:
            _decoder.decode(line)
        except (msgspec.MsgspecError, ValueError):
            return number
    return 1


def _told(path: Path, cell: Cell, lines: list[_Line]) -> Scan:
    opened, last = lines[0], lines[-1]
    if opened.type != "trajectory_opened":
        raise RunError(f"{path}:1: does not begin with trajectory_opened; its first line is missing")
    if Cell(opened.task, opened.fixer, opened.attempt) != cell:
        raise RunError(f"{path}: the journal of another cell; it was moved by hand")
    seen = _seen(lines)
    end, closed = seen.end, len(seen.closed)
    if end is not None and end.iterations != closed:
        raise RunError(f"{path}: closed after {end.iterations} iterations, and holds {closed}; lines are missing")
    if seen.closed != list(range(1, closed + 1)):
        raise RunError(
            f"{path}: the iterations {', '.join(map(str, seen.closed))} are closed; lines are missing or doubled"
        )
    return Scan(
        iterations=closed,
        categories=tuple(map(_word, seen.categories.values()))[:closed],
        speedup=max(seen.speedups, default=None),
        cost=sum(seen.costs) if seen.costs else None,
        tokens=seen.tokens,
        seconds=seen.seconds,
        started=one_line(opened.at),
        interactive=opened.interactive,
        device=_word(opened.device),
        over=end is not None,
        passed=end is not None and end.passed,
        stop_reason=_word(end.stop_reason) if end is not None else "",
        fault=one_line(last.message) if last.type == "infra_error" and last.final else "",
    )


@dataclass
class _Seen:
    """What the lines of a journal add up to."""

    closed: list[int] = field(default_factory=list)
    """The numbers of the iterations, as they are closed."""
    categories: dict[int, str] = field(default_factory=dict)
    speedups: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0
    end: _Line | None = None
    """The last one: what was asked of a candidate is noted behind the end, too."""


def _seen(lines: list[_Line]) -> _Seen:
    """All lines in one pass: there are a hundred thousand of them."""
    seen, tokens, seconds = _Seen(), 0, 0.0
    for line in lines:
        seconds += line.seconds
        if line.step is not None:
            seconds += line.step.seconds
        if line.speedup is not None:
            seen.speedups.append(line.speedup)
        if line.cost is not None:
            seen.costs.append(line.cost)
        tokens += (line.tokens_in or 0) + (line.tokens_out or 0)
        if line.type == "verdict":
            seen.categories[line.iteration] = line.category
        elif line.type == "iteration_closed":
            seen.closed.append(line.iteration)
        elif line.type == "trajectory_closed":
            seen.end = line
    seen.tokens, seen.seconds = tokens, seconds
    return seen


@lru_cache(maxsize=1024)
def _word(text: str) -> str:
    """One harmless line of a text that thousands of journals have in common."""
    return one_line(text)
