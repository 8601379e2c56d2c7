"""The batch on a terminal: finished iterations scroll, a progress bar with the time to go stays, a table ends it."""

from __future__ import annotations

from typing import IO, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from beaver_tui.batch.output import Output
from beaver_tui.batch.tables import HEADER, filled_columns, summary_details, summary_rows
from beaver_tui.state.lines import describe, one_line, packed, shortened
from beaver_tui.state.progress import Progress
from beaver_tui.state.summary import summarize_run
from engine import events as ev
from engine.rundir import Cell, RunDirectory
from engine.trajectory import Trajectory

STYLES = {
    "environment_dependency": "magenta",
    "integration": "yellow",
    "buildability": "red",
    "out_of_memory": "bright_magenta",
    "illegal_memory_access": "bright_red",
    "timeout": "cyan",
    "functional_correctness": "bright_yellow",
    "passed": "green",
    "header": "bold",
    "fault": "bold red",
    "note": "dim",
    "solved": "bold green",
    "unsolved": "bold",
}
"""A colour for every tone."""


SHOWN_RUNNING = 24
"""Characters of what is running, so that the progress line fits 80 columns."""


class RichPrinter:
    """Text objects only: nothing that a task or a model printed is read as markup."""

    def __init__(self, run: RunDirectory, output: Output) -> None:
        self._run = run
        self._progress = Progress(run)
        self._console = Console(file=cast("IO[str]", output), highlight=False, markup=False, emoji=False)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[eta]}", markup=False),
            TextColumn("{task.fields[running]}", markup=False),
            console=self._console,
        )
        self._row = self._bar.add_task(
            "trajectories", total=self._progress.total, completed=self._progress.over, eta="", running=""
        )

    def event(self, cell: Cell | None, event: ev.Event) -> None:
        state = self._progress.apply(cell, event) if cell is not None else Trajectory()
        line = describe(cell, event, state)
        if line is not None:
            # a header has no part that may be cut in its middle; other lines wrap between words
            parts = packed(line.text, self._console.width) if isinstance(event, ev.RunOpened) else [line.text]
            for part in parts:
                self._console.print(Text(part, style=STYLES.get(line.tone, "")))
        if isinstance(event, ev.RunOpened):
            self._bar.start()
        elif event.durable:
            running = shortened(self._progress.running, SHOWN_RUNNING)
            self._bar.update(self._row, completed=self._progress.over, eta=self._progress.to_go, running=running)

    def notice(self, text: str) -> None:
        self._console.print(Text(one_line(text), style="bold yellow"))

    def end(self, *, whole: bool) -> None:
        self._bar.stop()
        if not whole:
            return
        summaries = summarize_run(self._run)
        rows = summary_rows(summaries)
        columns = filled_columns(rows)
        table = Table(*(HEADER[index] for index in columns), box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for row in rows:
            table.add_row(*(Text(row[index]) for index in columns))
        self._console.print(table)
        for text in summary_details(summaries):
            self._console.print(Text(text))
        self._console.print(Text(f"run {self._run.path}"))
