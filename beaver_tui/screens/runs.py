"""Home: the trajectories of every run below a folder, to filter, preview, compare and open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Static

from beaver_tui.glyphs import category_sign, sign
from beaver_tui.keymap import bindings, shown_keys
from beaver_tui.opened import open_stored
from beaver_tui.screens.readings import Readings
from beaver_tui.screens.settling import settle
from beaver_tui.state.catalog import Catalog, CatalogRow
from beaver_tui.state.query import QueryError, parse
from beaver_tui.state.status import DAMAGED, PASSED, RUNNING, STOPPED
from beaver_tui.state.visible import visible_line
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.painting import category_text, duration, harmless, money, speed
from beaver_tui.widgets.rows import Column, Rows, widest
from beaver_tui.widgets.topline import TopLine
from engine.errors import BeaverError
from engine.rundir import RunDirectory

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp

COLUMNS = ("", "task", "fixer", "path", "status", "speedup", "n", "cost", "time", "device", "run")
"""From what is looked for most to what may lie beyond the right edge."""
NUMBERS = {"speedup", "n", "cost", "time"}
TONES = {PASSED: "success", RUNNING: "accent", DAMAGED: "error"}
"""The theme's colour of a status; one that is not here has that of any text."""
RELOAD_SECONDS = 2.0
"""How often the folder is looked at for what other processes write."""


class Runs(Screen[None]):
    """A row a trajectory, newest run first. Rows are updated in place while runs go on."""

    app: BeaverApp
    BINDINGS = bindings("runs")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (118, "-wide")]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._catalog = Catalog(folder)
        self._readings = Readings(self, self._read, self._take)
        self._all: Sequence[CatalogRow] = ()
        self._rows: dict[str, CatalogRow] = {}
        """Those that the filter leaves, by key."""
        self._widths: list[int] = []
        self._marked: list[str] = []
        self._query = ""
        self.loaded = False
        """Whether the folder was read at least once."""

    def compose(self) -> ComposeResult:
        yield TopLine(id="top")
        yield Static(id="empty")
        with Horizontal(id="body"):
            yield Rows(id="trajectories")
            with VerticalScroll(id="side", can_focus=False):
                yield Static(id="preview")
        yield Input(
            placeholder="filter: words category:timeout status:failed fixer:qwen longer:10s -task:gemm", id="query"
        )
        yield KeyLine()

    def on_mount(self) -> None:
        table = self.query_one(Rows)
        table.set_columns([Column(Text(name), right=name in NUMBERS) for name in COLUMNS])
        table.focus()
        field = self.query_one(Input)
        field.cursor_blink = False
        field.display = False
        self.query_one(TopLine).show(("runs", str(self._folder)), "reading")
        self.set_interval(RELOAD_SECONDS, self._readings.again)

    def on_screen_resume(self) -> None:
        self._readings.again()

    def _read(self) -> tuple[Sequence[CatalogRow], list[int]]:
        """The rows and the widths of their columns."""
        rows = self._catalog.read()
        return rows, _widths(rows) if rows != self._all else self._widths

    def _take(self, news: tuple[Sequence[CatalogRow], list[int]]) -> None:
        """Draw what changed."""
        rows, self._widths = news
        if not self.loaded or rows != self._all:
            self._all = rows
            self._show()

    def _show(self) -> None:
        """Draw what is another than before."""
        try:
            wanted = parse(self._query)
        except QueryError as error:
            self.query_one(TopLine).show(("runs", str(self._folder)), str(error))
            return
        rows = self._all
        before, self._rows = self._rows, {row.key: row for row in rows if wanted.holds(row)}
        shown, table = self._rows, self.query_one(Rows)
        if not self.loaded or list(shown) != list(before):
            table.fill(list(shown), self._cells, self._widths)
        else:
            for key, row in shown.items():
                if row is not before[key]:
                    table.change(key)
        if not self.loaded:
            self.loaded = True
            settle(keep=not self.app.is_headless)
        running = sum(row.status == RUNNING for row in rows)
        count = f"{len(shown)} of {len(rows)} trajectories" if self._query else f"{len(rows)} trajectories"
        self.query_one(TopLine).show(("runs", str(self._folder)), count, f"LIVE {running}" if running else "")
        self._show_empty(rows)
        self._preview()

    def _show_empty(self, rows: Sequence[CatalogRow]) -> None:
        text = ""
        if not rows:
            text = (
                f"No runs in {visible_line(str(self._folder))} yet. {shown_keys('runs.new')} starts one; "
                "beaver-tui --batch --fixer scripted:good plays all tasks."
            )
        elif not self._rows:
            text = f"Nothing matches the filter. {shown_keys('runs.filter')} changes it, escape ends it."
        empty = self.query_one("#empty", Static)
        empty.display = bool(text)
        empty.update(Text(text))

    def _cells(self, key: str) -> list[Text]:
        row, colours = self._rows[key], self.app.theme_variables
        path = Text()
        for category in row.categories:
            path.append_text(category_text(colours, category, ""))
        styles = {
            "": colours["accent"],
            "task": "bold",
            "status": colours.get(TONES.get(row.status, ""), ""),
            "run": colours.get("quiet", ""),
        }
        cells = [harmless(text, styles.get(name, "")) for name, text in zip(COLUMNS, _texts(row), strict=True)]
        cells[0] = Text(sign("mark") if key in self._marked else " ", style=styles[""])
        cells[COLUMNS.index("path")] = path
        return cells

    # the selected row

    @property
    def selected(self) -> CatalogRow | None:
        key = self.query_one(Rows).cursor_key
        return self._rows.get(key) if key else None

    @on(Rows.Moved)
    def _preview(self) -> None:
        row = self.selected
        text = Text()
        if row is not None:
            colours = self.app.theme_variables
            text.append(f"{harmless(str(row.cell)).plain}\n", style="bold")
            text.append(
                f"{visible_line(str(row.run))}\n{visible_line(row.started)}\n\n", style=colours.get("quiet", "")
            )
            for number, category in enumerate(row.categories, 1):
                text.append(f"{number} ").append_text(category_text(colours, category)).append("\n")
            text.append(f"\n{row.status}\n")
            if row.tokens:
                text.append(f"{row.tokens} tokens {money(row.cost)}\n")
            if row.interactive:
                text.append("interactive: not scored\n", style=colours["warning"])
            if row.problem:
                text.append_text(Text(harmless(row.problem).plain, style=colours["error"]))
        self.query_one("#preview", Static).update(text)

    @on(Rows.Chosen)
    def _row_selected(self) -> None:
        self.action_open()

    # actions

    def action_open(self) -> None:
        row = self.selected
        if row is None:
            return
        if row.problem and row.status == DAMAGED:
            self.notify(row.problem, severity="error", markup=False)
            return
        try:
            live = self.app.live_of(row.run, row.cell)
            self.app.show_opened(live or open_stored(RunDirectory(row.run), row.cell))
        except BeaverError as error:
            self.notify(str(error), severity="error", markup=False)

    def action_sweep(self) -> None:
        row = self.selected
        if row is not None:
            self.app.show_sweep(row.run)

    @work
    async def action_new(self) -> None:
        from beaver_tui.screens.newrun import NewRun

        wish = await self.app.push_screen_wait(NewRun())
        if wish is not None:
            self.app.start(wish)

    def action_mark(self) -> None:
        table = self.query_one(Rows)
        key = table.cursor_key
        if key is None:
            return
        before = set(self._marked)
        if key in self._marked:
            self._marked.remove(key)
        else:
            self._marked = [*self._marked[-1:], key]
        for name in before.symmetric_difference(self._marked) & self._rows.keys():
            table.change(name)

    def action_compare(self) -> None:
        rows = [self._rows[key] for key in self._marked if key in self._rows]
        if len(rows) == 1 and self.selected is not None and self.selected != rows[0]:
            rows.append(self.selected)
        if len(rows) != 2:
            self.notify(
                f"mark two trajectories with {shown_keys('runs.mark')}, then {shown_keys('runs.compare')} compares them"
            )
            return
        try:
            left, right = (open_stored(RunDirectory(row.run), row.cell) for row in rows)
        except BeaverError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self.app.show_comparison(left, right)

    def action_filter(self) -> None:
        field = self.query_one(Input)
        field.display = True
        self.set_focus(field)  # at once: focus() comes later, and the next key is for the field

    @on(Input.Changed, "#query")
    def _query_changed(self, event: Input.Changed) -> None:
        self._query = event.value
        self._show()

    @on(Input.Submitted, "#query")
    def _query_done(self) -> None:
        self.query_one(Input).display = bool(self._query)
        self.set_focus(self.query_one(Rows))

    def leave_field(self) -> bool:
        """Escape in the filter ends it; whether there was anything to end."""
        field = self.query_one(Input)
        if not field.display:
            return False
        field.value = ""
        field.display = False
        self.set_focus(self.query_one(Rows))
        return True

    def action_reload(self) -> None:
        self._readings.again()


def _texts(row: CatalogRow) -> tuple[str, ...]:
    """A row in the order of COLUMNS, without colours."""
    return (
        " ",
        row.task,
        row.fixer,
        "".join(map(category_sign, row.categories)),
        row.status.removeprefix(f"{STOPPED}: "),
        speed(row.speedup),
        str(row.iterations),
        money(row.cost),
        duration(row.seconds) if row.seconds else "",
        row.device,
        row.name,
    )


def _widths(rows: Iterable[CatalogRow]) -> list[int]:
    """Cells of the widest text of each column, filtered out or not: columns stay where they are while a filter is typed."""
    return widest([_texts(row) for row in rows])
