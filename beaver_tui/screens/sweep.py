"""A whole run: tasks by fixers, what is going on, how it came out so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from beaver_tui.glyphs import sign
from beaver_tui.keymap import bindings
from beaver_tui.opened import open_stored
from beaver_tui.screens.readings import Readings
from beaver_tui.state.matrix import MatrixCell, News, SweepView
from beaver_tui.state.progress import span
from beaver_tui.state.status import DAMAGED
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.painting import category_text, harmless, money, speed
from beaver_tui.widgets.rows import Column, Rows
from beaver_tui.widgets.sweepmaps import histogram_text, rates_text, transitions_text
from beaver_tui.widgets.topline import TopLine
from engine.errors import BeaverError
from engine.rundir import Cell

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp

POLL_SECONDS = 0.5


class Sweep(Screen[None]):
    """Cells are updated in place as journals grow, whoever writes them; they are empty until the journals were read once."""

    app: BeaverApp
    BINDINGS = bindings("sweep")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (118, "-wide")]

    def __init__(self, view: SweepView) -> None:
        super().__init__()
        self.view = view
        self._readings = Readings(self, view.read, self._take)
        self._map = "histogram"
        self._drawn: dict[str, list[MatrixCell | None]] = {}
        """What is shown of each task."""
        self._order: list[str] = []

    def compose(self) -> ComposeResult:
        yield TopLine(id="top")
        with Horizontal(id="body"):
            yield Rows(by_cell=True, fixed=1, id="matrix")
            with VerticalScroll(id="side", can_focus=False):
                yield Static(id="problem")
                yield Static(id="rates")
                yield Static(id="map")
        yield KeyLine()

    def on_mount(self) -> None:
        table = self.query_one(Rows)
        table.set_columns([Column(Text("task")), *(Column(harmless(self._short(name))) for name in self.view.columns)])
        self._draw()
        table.move_cursor(column=1)
        table.focus()
        self.call_after_refresh(self._readings.again)
        self.set_interval(POLL_SECONDS, self._readings.again)

    def _short(self, column: str) -> str:
        """A fixer's name above its column: without its kind where all have the same one."""
        kinds = {name.partition(":")[0] for name in self.view.columns}
        return column.partition(":")[2] or column if len(kinds) == 1 else column

    @property
    def loaded(self) -> bool:
        """Whether the journals were read at least once."""
        return self.view.known

    def _take(self, news: News) -> None:
        if self.view.take(news):
            self._draw()

    def _draw(self) -> None:
        view, table = self.view, self.query_one(Rows)
        order = view.tasks
        drawn = {task: [view.cell(task, column) if view.known else None for column in view.columns] for task in order}
        before, self._drawn = self._drawn, drawn
        if order != self._order:
            at = table.cursor_row
            self._order = order
            table.fill(order, self._cells, [max(harmless(task).cell_len for task in order)])
            table.move_cursor(row=at)  # what comes first now is what was asked for
        else:
            for task in order:
                if drawn[task] != before[task]:
                    table.change(task)
        self.call_later(self._draw_side)  # not in one turn with the table: both of a large run take a while

    def _cells(self, task: str) -> list[Text]:
        cells = self._drawn[task]
        return [harmless(task, "bold"), *(Text() if cell is None else self._cell_text(cell) for cell in cells)]

    def _cell_text(self, cell: MatrixCell) -> Text:
        colours = self.app.theme_variables
        text = Text(no_wrap=True)
        for category in cell.categories:
            text.append_text(category_text(colours, category, ""))
        if cell.running:
            text.append(sign("running"), style=colours["accent"])
        elif cell.status == DAMAGED:
            text.append(f"{sign('fault')} {DAMAGED}", style=colours["error"])
        elif not cell.categories:
            text.append(sign("dot"), style=colours.get("quiet", ""))
        if cell.speedup is not None:
            text.append(f" {speed(cell.speedup)}")
        return text

    def _draw_side(self) -> None:
        view, colours = self.view, self.app.theme_variables
        state = f"LIVE {view.running} running" if view.live else ""
        words = ["failures first"] if view.failures_first else []
        words.append(f"{view.over} of {view.total} over" if view.known else f"reading {view.total} trajectories")
        if view.eta is not None:
            words.append(f"about {span(view.eta)} to go")
        if view.tokens:
            words.append(f"{view.tokens} tokens {money(view.cost)}")
        if view.faults:
            words.append(f"{view.faults} infra faults")
        protocol = view.run.record.protocol
        left = (
            view.run.path.name,
            view.run.record.device.name,
            f"K{protocol.k} {protocol.feedback} p{protocol.gate:g}",
        )
        self.query_one(TopLine).show(left, f" {sign('dot')} ".join(words), state)
        self._draw_problem()
        if not view.known:
            return  # nothing to count yet
        self.query_one("#rates", Static).update(rates_text(colours, view))
        draw = histogram_text if self._map == "histogram" else transitions_text
        self.query_one("#map", Static).update(draw(colours, view))

    def _draw_problem(self) -> None:
        """What is wrong with the cell under the cursor, above everything else."""
        problem = self._problem
        shown = self.query_one("#problem", Static)
        shown.display = bool(problem)
        words = f"{sign('fault')} {harmless(problem).plain}\n"  # a new text: it is to be wrapped
        shown.update(Text(words, style=self.app.theme_variables["error"]))

    @property
    def _problem(self) -> str:
        cell = self.selected
        return self.view.matrix_cell(cell).problem if cell is not None else ""

    @property
    def selected(self) -> Cell | None:
        table = self.query_one(Rows)
        if not self._order or not self.view.columns:
            return None
        column = self.view.columns[max(table.cursor_column - 1, 0)]
        return self.view.key(self._order[table.cursor_row], column)

    @on(Rows.Moved)
    def _cell_highlighted(self) -> None:
        self._draw_problem()

    @on(Rows.Chosen)
    def _cell_selected(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        cell = self.selected
        if cell is None:
            self.notify("this fixer has no trajectory of this task")
            return
        if self._problem:  # what is whole before the damage can be looked at all the same
            self.notify(self._problem, severity="error", markup=False)
        try:
            self.app.show_opened(self.app.live_of(self.view.run.path, cell) or open_stored(self.view.run, cell))
        except BeaverError as error:
            self.notify(str(error), severity="error", markup=False)

    def action_failures(self) -> None:
        self.view.failures_first = not self.view.failures_first
        self._draw()

    def action_map(self) -> None:
        self._map = "transitions" if self._map == "histogram" else "histogram"
        self._draw_side()
