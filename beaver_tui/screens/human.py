"""The human fixer: the task, the last error, the file as it is on disk, and what a save has changed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Label

from beaver_tui.glyphs import sign
from beaver_tui.keymap import bindings, shown_keys
from beaver_tui.live import on_demand
from beaver_tui.live.live import News
from beaver_tui.live.on_demand import Subject
from beaver_tui.opened import Opened
from beaver_tui.screens.modals import Confirm
from beaver_tui.state.logtext import LogText
from beaver_tui.widgets.diffview import DiffView
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.logview import LogView
from beaver_tui.widgets.painting import duration, harmless
from beaver_tui.widgets.tabline import TabLine
from beaver_tui.widgets.topline import TopLine
from engine.errors import BeaverError
from engine.harness.on_demand import built_line, sanitized_line
from engine.plain_file import read_plain

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp

READINGS = ("Error", "Prompt", "Build")


class Human(Screen[None]):
    """One question of the loop, answered with an editor. The screen goes when the file is handed in or the mode is changed."""

    app: BeaverApp
    BINDINGS = bindings("human")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (118, "-wide")]

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        assert opened.live is not None
        self.opened, self.live = opened, opened.live
        self._began = time.monotonic()
        self._news = ""
        self._unsubscribe = self.live.subscribe(self._heard)
        self._build = LogText()

    def compose(self) -> ComposeResult:
        yield TopLine(id="top")
        yield Label(id="desk")
        with Horizontal(id="body"):
            with Vertical(id="reading"):
                yield TabLine(READINGS, "Error", id="readings")
                yield LogView(id="human-error")
                yield LogView(id="human-prompt")
                yield LogView(id="human-build")
            yield DiffView(id="source")
        yield KeyLine()

    def on_mount(self) -> None:
        session = self.opened.session
        finished = session.trajectory.finished
        feedback = finished[-1].feedback if finished else None
        task = self.live.task
        error = feedback.text if feedback is not None else task.error_log
        self.query_one("#human-error", LogView).show(LogText(error), from_start=True)
        self.query_one("#human-prompt", LogView).show(LogText(task.prompt), from_start=True)
        self.query_one("#human-build", LogView).show(self._build)
        self._show_reading("Error")
        for view in self.query(LogView):
            view.enter_goes_on = True
        self.query_one("#human-error").focus()
        self._show_source()
        self._show_top()
        self.set_interval(1.0, self._show_top)

    def on_unmount(self) -> None:
        self._unsubscribe()

    # what is shown

    @property
    def file(self) -> Path:
        """The file to edit."""
        return self.live.desk / self.live.task.spec.solution_file.rpartition("/")[2]

    @property
    def _number(self) -> int:
        """Of the iteration that waits for the file."""
        return len(self.opened.session.trajectory.finished) + 1

    def _show_top(self) -> None:
        session = self.opened.session
        words = (self.opened.cell.task, "you are the fixer", self.live.harness.place.label)
        self.query_one(TopLine).show(
            words,
            f"iteration {self._number} of {session.protocol.iterations}",
            f"LIVE {duration(time.monotonic() - self._began)}",
        )
        edit, hand_in = shown_keys("human.edit"), shown_keys("human.submit")
        gone = self._content() is None
        news = self._news or "not saved yet"
        text = Text().append_text(harmless(news if gone else f"{news}, {hand_in} hands it in", "bold"))
        quiet = self.app.theme_variables["quiet"]
        text.append(f"   {sign('dot')} {edit} opens your editor, or any program:\n", style=quiet)
        text.append_text(harmless(str(self.file), quiet))  # on a line of its own: it is to be copied
        self.query_one("#desk", Label).update(text)

    def _show_source(self) -> None:
        base = self.opened.session.source(self._base_step()) or self.live.task.broken
        self.query_one(DiffView).show(base, self._content() or base, self.file.name, "as it stood", "your file")

    def _base_step(self) -> int:
        session = self.opened.session
        for step in range(len(session.trajectory.finished), 0, -1):
            if session.source(step) is not None:
                return step
        return 0

    def _content(self) -> bytes | None:
        try:
            return read_plain(self.file)
        except OSError:
            return None

    def _show_reading(self, name: str) -> None:
        for each in READINGS:
            self.query_one(f"#human-{each.lower()}").display = each == name

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        self._show_reading(event.name)

    def on_log_view_place_chosen(self, event: LogView.PlaceChosen) -> None:
        self._edit(event.place.line)

    def _heard(self, news: News) -> None:
        if news.kind == "desk":
            self._news = news.text
            if self.is_mounted:
                self._show_source()
                self._show_top()

    # acting

    def action_edit(self) -> None:
        self._edit()

    def _edit(self, line: int | None = None) -> None:
        if complaint := self.app.editor.edit(self.file, self.app.suspend, line):
            self.notify(complaint, severity="warning", markup=False)
        self._show_source()

    @work
    async def action_submit(self) -> None:
        base = self.opened.session.source(self._base_step()) or self.live.task.broken
        content = self._content()
        if content is None:
            self.notify(f"{self.file.name} is not there; save it again", severity="warning", markup=False)
            return
        if content == base:
            question = "Nothing is changed in the file. Hand it in as it is?"
            if not await self.app.push_screen_wait(Confirm(question, "Hand it in", "Go on editing")):
                return
        try:
            self.live.submit()
        except BeaverError as error:
            self.notify(str(error), severity="warning", markup=False)

    def action_next_reading(self) -> None:
        self.query_one(TabLine).step(1)

    def action_mode(self, mode: str) -> None:
        try:
            self.live.set_mode(mode)  # type: ignore[arg-type]
        except BeaverError as error:
            self.notify(str(error), severity="warning", markup=False)

    @work(exclusive=True, group="preview")
    async def action_preview(self) -> None:
        """Compile only; costs no iteration."""
        content = self._content()
        if content is None:
            return
        self.query_one(TabLine).choose("Build")
        self._restart_log("compiling ...\n")
        try:
            built = await on_demand.preview(Subject.of(self.live), content)
        except BeaverError as error:
            self._restart_log(str(error))
            return
        self._restart_log(f"{built_line(built)}\n{built.step.stdout.text}{built.step.stderr.text}")

    @work(exclusive=True, group="preview")
    async def action_sanitize(self) -> None:
        """On the inputs of the iteration that the file will be handed in for."""
        content = self._content()
        if content is None:
            return
        self.query_one(TabLine).choose("Build")
        self._restart_log("running the sanitizers ...\n")
        try:
            reports = await on_demand.sanitize(Subject.of(self.live), content, self._number)
        except BeaverError as error:
            self._restart_log(str(error))
            return
        self._restart_log("\n".join([sanitized_line(reports), *(report.output.text for report in reports)]))

    def _restart_log(self, text: str) -> None:
        self._build = LogText(text)
        self.query_one("#human-build", LogView).show(self._build)
