"""The panes that show one step: its diff, code, structure, prompt and reply above, the logs of its examination below."""

from __future__ import annotations

from pathlib import PurePosixPath

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import ContentSwitcher

from beaver_tui.opened import Opened
from beaver_tui.state.logtext import LogText
from beaver_tui.state.session import Session
from beaver_tui.state.sourcetext import source_text
from beaver_tui.widgets.codeview import CodeView
from beaver_tui.widgets.diffview import DiffView
from beaver_tui.widgets.logview import LogView
from beaver_tui.widgets.structureview import StructureView
from beaver_tui.widgets.tabline import TabLine

VIEWS = ("Diff", "Code", "Structure", "Speed", "Prompt", "Reply")
LOGS = ("Build", "Test", "Sanitizer", "Profile")
_LOG_OF_PHASE = {"building": "Build", "testing": "Test", "sanitizing": "Sanitizer", "timing": "Profile"}
_LOG_OF_STAGE = {"build": "Build", "preflight": "Build", "sanitizer": "Sanitizer"}
LOG_SHARES = (1, 2, 3, 4, 6)
"""Heights of the logs, in fractions of ten parts that the views above them share with them."""


class StepPanes(Vertical):
    """Draws the step at which the session of ``opened`` stands, in the tabs that are open; ``show`` says what is new."""

    def __init__(self, opened: Opened, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self._opened = opened
        self._share = 2
        self.log_is_chosen = False
        """The log's tab was chosen by hand for this step: it stays then."""
        self._logs: dict[str, tuple[int, LogText, str]] = {}
        """By name: the step that is shown, its lines, and the text that they are of."""

    def compose(self) -> ComposeResult:
        yield TabLine(VIEWS, "Diff", id="views")
        with ContentSwitcher(initial="diff", id="view"):
            yield DiffView(id="diff")
            yield CodeView(id="code")
            yield StructureView(id="structure")
            yield LogView(id="speed")
            yield LogView(id="prompt")
            yield LogView(id="reply")
        yield TabLine(LOGS, "Build", id="logs")
        with ContentSwitcher(initial="log-build", id="log"):
            for name in LOGS:
                yield LogView(id=f"log-{name.lower()}")

    def on_mount(self) -> None:
        self._resize_logs()

    @property
    def _session(self) -> Session:
        return self._opened.session

    @property
    def _view(self) -> str:
        return str(self.query_one("#view", ContentSwitcher).current)

    @property
    def file_name(self) -> str:
        """Of the file that a candidate is."""
        task = self._session.task
        return task.spec.solution_file if task is not None else "solution.cu"

    def show(self, changes: frozenset[str]) -> None:
        """Draw what ``changes`` names and a tab shows."""
        session, step = self._session, self._session.position
        if "source" in changes:
            self._show_source()
        if changes & {"source", "facts"} and self._view == "structure":
            self._show_structure()
        if "facts" in changes and self._view == "speed":
            self.query_one("#speed", LogView).show(LogText(session.speed_text(step)), from_start=True)
        if "prompt" in changes and self._view == "prompt":
            self.query_one("#prompt", LogView).show(LogText(session.prompt(step)), from_start=True)
        if "reply" in changes and self._view == "reply":
            self._show_log("reply", session.reply(step), self.query_one("#reply", LogView))
        if any(change.startswith("log:") for change in changes):
            self._show_active_log()

    def _show_source(self) -> None:
        session, step, file = self._session, self._session.position, self.file_name
        code = session.source(step)
        label, before = session.against(step)
        asked = step and session.trajectory.iterations[step - 1].candidate is None
        problem = "" if code is not None else "no candidate yet" if asked else "this step has no usable file"
        self.query_one("#views", TabLine).show(note=problem or (f"against {label}" if step else "broken start"))
        if self._view == "diff":
            self.query_one(DiffView).show(before or b"", code if code is not None else before or b"", file)
        elif self._view == "code":
            marks = {row.line: row.message for row in session.error_rows(step) if row.line and row.file.endswith(file)}
            self.query_one(CodeView).show(source_text(code or b"", file), marks)

    def _show_structure(self) -> None:
        session, step = self._session, self._session.position
        before = session.source(step - 1) if step else None
        view = self.query_one(StructureView)
        suffix = PurePosixPath(self.file_name).suffix
        view.show(session.source(step), session.source(0), before, session.reference(), session.facts(step), suffix)

    # logs

    def open_log_of_step(self) -> None:
        """Open the log that says most about the step: of what is going on, or of where it ended. ``show`` draws it."""
        self.log_is_chosen = False
        row = self._session.rows[self._session.position]
        name = _LOG_OF_PHASE.get(row.phase, "")
        if row.number and row.phase == "closed":
            name = _LOG_OF_STAGE.get(self._session.facts(row.number).stage, "Test")
        if name:
            # at once, and not by a message: the screen would be laid out for it a second time
            self.query_one("#logs", TabLine).mark(name)
            self.query_one("#log", ContentSwitcher).current = f"log-{name.lower()}"

    def _show_active_log(self) -> None:
        line = self.query_one("#logs", TabLine)
        name = line.active.lower()
        view = self.query_one(f"#log-{name}", LogView)
        self._show_log(name, self._session.log(self._session.position, name), view)
        self._session.looked(name)
        line.show(unread=self._session.unread, note="follow" if self._session.live else "")

    def _show_log(self, name: str, text: str, view: LogView) -> None:
        """Append to what is shown where the text only grew; else show all of it."""
        session = self._session
        step, lines, before = self._logs.get(name, (-1, LogText(), ""))
        # a longer text need not be the same one: what streamed is told anew once its step has ended
        if step == session.position and before and session.live and text.startswith(before):
            if len(text) > len(before):
                lines.append(text[len(before) :])
                view.refresh_log()
        else:
            lines = LogText(text)
            view.show(lines, from_start=name == "reply" and not session.live)
        self._logs[name] = (session.position, lines, text)

    # tabs and sizes

    @on(TabLine.Chosen, "#views")
    def _view_chosen(self, event: TabLine.Chosen) -> None:
        self.query_one("#view", ContentSwitcher).current = event.name.lower()
        self._logs.pop("reply", None)
        self.show(frozenset({"source", "facts", "prompt", "reply"}))

    @on(TabLine.Chosen, "#logs")
    def _log_chosen(self, event: TabLine.Chosen) -> None:
        self.query_one("#log", ContentSwitcher).current = f"log-{event.name.lower()}"
        self._show_active_log()

    def choose_log(self, name: str) -> None:
        """Open a log by hand; it stays open for this step."""
        self.log_is_chosen = True
        self.query_one("#logs", TabLine).choose(name.capitalize())

    def choose_view(self, name: str) -> None:
        self.query_one("#views", TabLine).choose(name)

    def next_view(self) -> None:
        self.query_one("#views", TabLine).step(1)

    def grow_logs(self, by: int) -> None:
        """More room for the logs, or less."""
        self._share = max(0, min(len(LOG_SHARES) - 1, self._share + by))
        self._resize_logs()

    def _resize_logs(self) -> None:
        share = LOG_SHARES[self._share]
        self.query_one("#view").styles.height = f"{10 - share}fr"
        self.query_one("#log").styles.height = f"{share}fr"

    def go_to_line(self, line: int, file: str = "") -> None:
        """Show a line of the candidate; ``file`` is where a message says that it is."""
        name = file.rpartition("/")[2]
        if name and name != self.file_name.rpartition("/")[2]:
            self.notify(f"{name} is not the candidate's file", markup=False)
            return
        self.query_one("#views", TabLine).choose("Code")
        self.query_one(CodeView).go_to(line)
        self.query_one(CodeView).focus()

    @on(LogView.PlaceChosen)
    def _place_chosen(self, event: LogView.PlaceChosen) -> None:
        self.go_to_line(event.place.line, event.place.file)
