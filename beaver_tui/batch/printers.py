"""How a batch shows itself: rich (progress and table), plain (a line an iteration), jsonl (a line an event)."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol

import msgspec

from beaver_tui.batch.summary import FixerSummary, counted, summarize_run
from engine import events as ev
from engine.devices.base import Device
from engine.manifest import read_cell
from engine.rundir import Cell, RunDirectory
from engine.trajectory import Trajectory

FORMATS = ["rich", "plain", "jsonl"]

GLYPHS = {
    "environment_dependency": "⌂",
    "integration": "⊄",
    "buildability": "✗",
    "out_of_memory": "▣",
    "illegal_memory_access": "⚡",
    "timeout": "◷",
    "functional_correctness": "≠",
    "passed": "✓",
    "unclassified": "?",
}
"""One sign per category, the same wherever a category is shown."""


class Printer(Protocol):
    """A view of a running batch."""

    def event(self, cell: Cell, event: ev.Event) -> None: ...

    def notice(self, text: str) -> None: ...

    def __enter__(self) -> Printer: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def make_printer(form: str | None, run: RunDirectory, device: Device) -> Printer:
    """The printer for ``--format``; by default rich on a terminal and plain elsewhere."""
    form = form or ("rich" if sys.stdout.isatty() else "plain")
    if form == "jsonl":
        return JsonLines(run, device)
    if form == "rich":
        from beaver_tui.batch.rich_printer import RichPrinter

        return RichPrinter(run, device)
    return Plain(run, device)


class Progress:
    """Folds every cell's events and counts what is over: the numbers that all printers show."""

    def __init__(self, run: RunDirectory) -> None:
        self.run = run
        self._states: dict[Cell, Trajectory] = {}
        self._began = time.monotonic()
        self.total = len(run.plan)
        self.over = 0
        for cell in run.plan:
            trajectory = read_cell(run, cell)
            if trajectory is not None:
                self._states[cell] = trajectory
                self.over += trajectory.closed is not None
        self._over_before = self.over

    def apply(self, cell: Cell, event: ev.Event) -> Trajectory:
        state = self._states.setdefault(cell, Trajectory())
        if event.durable:
            state.apply(event)
        self.over += isinstance(event, ev.TrajectoryClosed)
        return state

    @property
    def eta(self) -> float | None:
        """Seconds to go, at the pace so far; None before the first cell is over."""
        done = self.over - self._over_before
        if done <= 0:
            return None
        return (time.monotonic() - self._began) / done * (self.total - self.over)


def iteration_line(state: Trajectory, event: ev.IterationClosed) -> str:
    """One iteration in words: category, lines changed, seconds, speedup, signals."""
    iteration = state.iteration(event.iteration)
    verdict, candidate = iteration.verdict, iteration.candidate
    assert verdict is not None and state.opened is not None
    words = [f"{event.iteration}/{state.opened.protocol.iterations}", GLYPHS[verdict.category], verdict.category]
    if verdict.signature:
        words.append(f"[{_short(verdict.signature)}]")
    if candidate is not None:
        words.append(f"+{candidate.added} -{candidate.removed}")
    spent = sum(step.step.seconds for step in (iteration.built, iteration.tested) if step is not None)
    words.append(f"{spent:.1f} s")
    if iteration.timed is not None:
        speedup = iteration.timed.speedup
        words.append(f"{speedup:.2f}x gate {iteration.timed.gate}" if speedup is not None else "speedup unmeasured")
    if iteration.signals:
        words.append("≡ " + ", ".join(iteration.signals))
    return " ".join(words)


class Plain:
    """A line an iteration, a table at the end; nothing that a log file could not hold."""

    def __init__(self, run: RunDirectory, device: Device) -> None:
        self._run, self._device = run, device
        self._progress = Progress(run)

    def event(self, cell: Cell, event: ev.Event) -> None:
        state = self._progress.apply(cell, event)
        if isinstance(event, ev.IterationClosed):
            self._say(f"{cell}  {iteration_line(state, event)}")
        elif isinstance(event, ev.InfraFailed):
            what = "given up" if event.final else "tried again"
            self._say(f"{cell}  infra_error ({event.kind}, {what}): {event.message}")
        elif isinstance(event, ev.TrajectoryClosed):
            self._say(
                f"{cell}  {'solved' if event.passed else 'not solved'}: {event.stop_reason}  [{self._position()}]"
            )
        elif isinstance(event, ev.Controlled):
            self._say(f"{cell}  {event.action} {event.detail}".rstrip())

    def notice(self, text: str) -> None:
        self._say(text)

    def _position(self) -> str:
        progress = self._progress
        eta = progress.eta
        return f"{progress.over} of {progress.total}" + (f", about {_span(eta)} to go" if eta else "")

    def _say(self, text: str) -> None:
        print(text, flush=True)

    def __enter__(self) -> Plain:
        run = self._run
        self._say(
            f"run {run.path}  {self._progress.total} cells  device: {self._device.label}  sandbox: {run.record.sandbox}"
        )
        if self._device.missing:
            self._say(f"note: {self._device.missing}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            for line in summary_lines(summarize_run(self._run)):
                self._say(line)
            self._say(f"run {self._run.path}")


class JsonLines:
    """Every durable event as it happens, with the cell it belongs to; a summary object last."""

    def __init__(self, run: RunDirectory, device: Device) -> None:
        self._run, self._device = run, device

    def event(self, cell: Cell, event: ev.Event) -> None:
        if event.durable:
            self._line({"cell": cell, "event": event})

    def notice(self, text: str) -> None:
        print(f"beaver-tui: {text}", file=sys.stderr)

    def _line(self, value: object) -> None:
        print(msgspec.json.encode(value).decode(), flush=True)

    def __enter__(self) -> JsonLines:
        record = self._run.record
        opened = ev.RunOpened(
            run=str(self._run.path), cells=len(self._run.plan), device=self._device.label, sandbox=record.sandbox
        )
        self._line({"event": opened})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._line({"summary": summarize_run(self._run), "run": str(self._run.path)})


def summary_rows(summaries: list[FixerSummary]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the table that ends a batch."""
    header = ["fixer", "solved", "iterations", "unfinished", "faults", "tokens", "cost"]
    body = [
        [
            item.fixer,
            f"{item.solved} of {item.cells}",
            str(item.iterations),
            str(item.unfinished),
            str(item.faults),
            str(item.tokens),
            f"${item.cost:.4f}" if item.cost is not None else "-",
        ]
        for item in summaries
    ]
    return header, body


def summary_details(summaries: list[FixerSummary]) -> list[str]:
    """What no column could hold: the categories of the first iterations, and how the trajectories ended."""
    lines = []
    for item in summaries:
        lines.append(f"{item.fixer}  first iterations: {counted(item.first_categories)}")
        lines.append(f"{item.fixer}  ended by: {counted(item.stop_reasons)}")
    return lines


def summary_lines(summaries: list[FixerSummary]) -> list[str]:
    """Table and details as plain text."""
    header, body = summary_rows(summaries)
    widths = [max(len(row[column]) for row in (header, *body)) for column in range(len(header))]
    table = [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *body)
    ]
    return [*table, *summary_details(summaries)]


def _short(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
