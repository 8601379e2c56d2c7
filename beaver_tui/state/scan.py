"""A journal in figures, read fast: what a list of thousands of trajectories shows of each.

Only the fields that a list needs are decoded, and the story is checked only at its ends; opening a trajectory reads and checks
all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    numbers = [line.iteration for line in lines if line.type == "iteration_closed"]
    closed = len(numbers)
    # what was asked of a candidate is noted behind the end, too
    end = next((line for line in reversed(lines) if line.type == "trajectory_closed"), None)
    if end is not None and end.iterations != closed:
        raise RunError(f"{path}: closed after {end.iterations} iterations, and holds {closed}; lines are missing")
    if numbers != list(range(1, closed + 1)):
        raise RunError(
            f"{path}: the iterations {', '.join(map(str, numbers))} are closed; lines are missing or doubled"
        )
    categories = {line.iteration: one_line(line.category) for line in lines if line.type == "verdict"}
    costs = [line.cost for line in lines if line.cost is not None]
    speedups = [line.speedup for line in lines if line.speedup is not None]
    return Scan(
        iterations=closed,
        categories=tuple(categories.values())[:closed],
        speedup=max(speedups, default=None),
        cost=sum(costs) if costs else None,
        tokens=sum((line.tokens_in or 0) + (line.tokens_out or 0) for line in lines),
        seconds=sum(line.seconds + (line.step.seconds if line.step is not None else 0.0) for line in lines),
        started=one_line(opened.at),
        interactive=opened.interactive,
        device=one_line(opened.device),
        over=end is not None,
        passed=end is not None and end.passed,
        stop_reason=one_line(end.stop_reason) if end is not None else "",
        fault=one_line(last.message) if last.type == "infra_error" and last.final else "",
    )
