"""How a batch shows itself: rich (progress and table), plain (a line an iteration), jsonl (a line an event)."""

from __future__ import annotations

import json
import sys
from typing import Protocol

import msgspec

from beaver_tui.batch.output import Output
from beaver_tui.batch.tables import summary_lines
from beaver_tui.state.lines import describe, one_line
from beaver_tui.state.progress import Progress
from beaver_tui.state.summary import summarize_run
from engine import events as ev
from engine.rundir import Cell, RunDirectory
from engine.trajectory import Trajectory

FORMATS = ["rich", "plain", "jsonl"]


class Printer(Protocol):
    """A view of a running batch. ``end`` is called once, whatever happened; ``whole`` when every cell was played."""

    def event(self, cell: Cell | None, event: ev.Event) -> None: ...

    def notice(self, text: str) -> None: ...

    def end(self, *, whole: bool) -> None: ...


def make_printer(form: str | None, run: RunDirectory, output: Output) -> Printer:
    """The printer for ``--format``; by default rich on a terminal and plain elsewhere."""
    if form is None:
        form = "rich" if output.isatty() else "plain"
    if form == "jsonl":
        return JsonLines(run, output)
    if form == "rich":
        from beaver_tui.batch.rich_printer import RichPrinter

        return RichPrinter(run, output)
    return Plain(run, output)


class Plain:
    """A line an iteration, a table at the end; nothing that a log file could not hold."""

    def __init__(self, run: RunDirectory, output: Output) -> None:
        self._run, self._output = run, output
        self._progress = Progress(run)

    def event(self, cell: Cell | None, event: ev.Event) -> None:
        state = self._progress.apply(cell, event) if cell is not None else Trajectory()
        line = describe(cell, event, state)
        if line is not None:
            self._say(line.text + (self._position() if isinstance(event, ev.TrajectoryClosed) else ""))

    def notice(self, text: str) -> None:
        self._say(one_line(text))

    def end(self, *, whole: bool) -> None:
        if whole:
            for text in summary_lines(summarize_run(self._run)):
                self._say(text)
            self._say(f"run {self._run.path}")

    def _position(self) -> str:
        words = [f"{self._progress.over} of {self._progress.total}", self._progress.to_go]
        return f"  [{', '.join(word for word in words if word)}]"

    def _say(self, text: str) -> None:
        print(text, file=self._output)


class JsonLines:
    """Every durable event as it happens, with the cell it belongs to; a summary object last."""

    def __init__(self, run: RunDirectory, output: Output) -> None:
        self._run, self._output = run, output

    def event(self, cell: Cell | None, event: ev.Event) -> None:
        if event.durable:
            self._line({"event": event} if cell is None else {"cell": cell, "event": event})

    def notice(self, text: str) -> None:
        print(f"beaver-tui: {one_line(text)}", file=sys.stderr)

    def end(self, *, whole: bool) -> None:
        if whole:
            self._line({"summary": summarize_run(self._run), "run": str(self._run.path)})

    def _line(self, value: object) -> None:
        text = msgspec.json.encode(value).decode()
        if self._output.encoding.lower().replace("-", "") != "utf8":
            text = json.dumps(json.loads(text))  # escapes instead of signs that the stream cannot hold
        self._output.write(text + "\n")
