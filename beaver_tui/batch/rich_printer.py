"""The batch on a terminal: finished iterations scroll, a progress bar with the time to go stays, a table ends it."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from beaver_tui.batch.printers import Progress, iteration_line, summary_details, summary_rows
from beaver_tui.batch.summary import summarize_run
from engine import events as ev
from engine.devices.base import Device
from engine.rundir import Cell, RunDirectory
from engine.text import plain_text

STYLES = {
    "environment_dependency": "magenta",
    "integration": "yellow",
    "buildability": "red",
    "out_of_memory": "bright_magenta",
    "illegal_memory_access": "bright_red",
    "timeout": "cyan",
    "functional_correctness": "bright_yellow",
    "passed": "green",
}


class RichPrinter:
    """Text objects only: nothing that a task or a model printed is read as markup."""

    def __init__(self, run: RunDirectory, device: Device) -> None:
        self._run, self._device = run, device
        self._progress = Progress(run)
        self._console = Console(highlight=False, markup=False, emoji=False)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[eta]}", markup=False),
            console=self._console,
        )
        self._row = self._bar.add_task(
            "trajectories", total=self._progress.total, completed=self._progress.over, eta=""
        )

    def event(self, cell: Cell, event: ev.Event) -> None:
        state = self._progress.apply(cell, event)
        if isinstance(event, ev.IterationClosed):
            verdict = state.iteration(event.iteration).verdict
            style = STYLES.get(verdict.category if verdict else "", "")
            self._say(cell, iteration_line(state, event), style)
        elif isinstance(event, ev.InfraFailed):
            self._say(cell, f"infra_error ({event.kind}): {event.message}", "bold red")
        elif isinstance(event, ev.Controlled):
            self._say(cell, f"{event.action} {event.detail}", "dim")
        elif isinstance(event, ev.TrajectoryClosed):
            self._say(
                cell,
                f"{'solved' if event.passed else 'not solved'}: {event.stop_reason}",
                "bold green" if event.passed else "bold",
            )
            eta = self._progress.eta
            left = f"about {round(eta)} s to go" if eta else ""
            self._bar.update(self._row, completed=self._progress.over, eta=left)

    def notice(self, text: str) -> None:
        self._console.print(Text(text, style="bold yellow"))

    def _say(self, cell: Cell, text: str, style: str) -> None:
        self._console.print(Text.assemble((f"{cell}  ", "dim"), (plain_text(text), style)))

    def __enter__(self) -> RichPrinter:
        record = self._run.record
        self._console.print(
            Text(f"{self._run.path}  device: {self._device.label}  sandbox: {record.sandbox}", style="bold")
        )
        if self._device.missing:
            self._console.print(Text(self._device.missing, style="yellow"))
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        if kind is not None:
            return
        summaries = summarize_run(self._run)
        header, body = summary_rows(summaries)
        table = Table(*header)
        for row in body:
            table.add_row(*(Text(value) for value in row))
        self._console.print(table)
        for line in summary_details(summaries):
            self._console.print(Text(line))
        self._console.print(Text(f"run {self._run.path}"))
