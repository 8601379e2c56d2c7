"""The workbench: one trajectory, step by step, live, followed or replayed; the screen sees no difference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import ContentSwitcher, Static

from beaver_tui.glyphs import category_sign, sign
from beaver_tui.keymap import bindings, shown_keys
from beaver_tui.opened import Opened, open_stored
from beaver_tui.screens.errors import Errors
from beaver_tui.screens.modals import Ask
from beaver_tui.screens.steering import Steering
from beaver_tui.state.changes import EVERYTHING
from beaver_tui.state.logtext import LogText
from beaver_tui.state.reproduction import reproduction
from beaver_tui.state.session import Base, Session
from beaver_tui.state.sourcetext import source_text
from beaver_tui.state.steps import StepRow
from beaver_tui.widgets.codeview import CodeView
from beaver_tui.widgets.diffview import DiffView
from beaver_tui.widgets.facts import FactsPane
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.logview import LogView
from beaver_tui.widgets.painting import duration
from beaver_tui.widgets.structureview import StructureView, given_up
from beaver_tui.widgets.tabline import TabLine
from beaver_tui.widgets.timeline import Timeline, glyph_line
from beaver_tui.widgets.topline import TopLine
from engine.rundir import Cell

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp

VIEWS = ("Diff", "Code", "Structure", "Prompt", "Reply")
LOGS = ("Build", "Test", "Sanitizer", "Profile")
DRAIN_SECONDS = 0.05
"""How often what has arrived is folded in and shown: 20 times a second, whatever the flood."""
FOLLOW_SECONDS = 0.25
"""How often the journal of a run that another process writes is looked at."""
_LOG_OF_PHASE = {"building": "Build", "testing": "Test", "sanitizing": "Sanitizer", "timing": "Profile"}
_LOG_OF_STAGE = {"build": "Build", "preflight": "Build", "sanitizer": "Sanitizer"}
LOG_SHARES = (1, 2, 3, 4, 6)
"""Heights of the logs, in fractions of ten parts that the views above them share with them."""


class Workbench(Steering):
    """Shows ``opened.session``; what changes in it is drawn from ``show``, and nowhere else."""

    app: BeaverApp
    BINDINGS = bindings("workbench")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (118, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self.opened = opened
        self._paused = self._followed = False
        self._share = 2
        self._log_is_chosen = False
        """The log's tab was chosen by hand for this step: it stays then."""
        self._logs: dict[str, tuple[int, LogText, str]] = {}
        """By name: the step that is shown, its lines, and the text that they are of."""

    def compose(self) -> ComposeResult:
        yield TopLine(id="top")
        yield Static(id="glyphs")
        with Horizontal(id="body"):
            yield Timeline(id="timeline")
            with Vertical(id="centre"):
                yield TabLine(VIEWS, "Diff", id="views")
                with ContentSwitcher(initial="diff", id="view"):
                    yield DiffView(id="diff")
                    yield CodeView(id="code")
                    yield StructureView(id="structure")
                    yield LogView(id="prompt")
                    yield LogView(id="reply")
                yield TabLine(LOGS, "Build", id="logs")
                with ContentSwitcher(initial="log-build", id="log"):
                    for name in LOGS:
                        yield LogView(id=f"log-{name.lower()}")
            with VerticalScroll(id="side", can_focus=False):
                yield FactsPane(id="facts")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#diff").focus()
        self.set_interval(DRAIN_SECONDS if self.opened.live is not None else FOLLOW_SECONDS, self.drain)
        self.set_interval(1.0, self._show_top)
        self._resize_logs()
        self.call_after_refresh(self._first_frame)
        if self.opened.note:
            self.notify(self.opened.note, severity="warning", markup=False)
        self.hear_live()

    def _first_frame(self) -> None:
        self._log_for_step()
        self.show(EVERYTHING)

    # what arrives, and what is drawn

    @property
    def session(self) -> Session:
        return self.opened.session

    def drain(self) -> None:
        """Fold in what has arrived, and draw once whatever it changed."""
        arrived = self.opened.take()
        if self.opened.problem:
            self.notify(self.opened.problem, severity="error", markup=False)
            self.opened.source = None
        was, phase = self.session.live, self._phase
        self.session.live = self.opened.going_on
        changes: set[str] = set()
        position = self.session.position
        for event in arrived:
            changes |= self.session.apply(event)
        if self._paused and self.session.position != position:
            self.session.go(position)  # the view is held still, and with it what the keys are about
        if self.session.position != position:
            self._log_for_step()
            changes |= EVERYTHING
        elif self._phase != phase and not self._log_is_chosen:
            self._log_for_step()
        if was != self.session.live:
            self.opened.reveal()
            changes |= EVERYTHING
        if changes and not self._paused:
            self.show(frozenset(changes))
        self.catch_up()

    def show(self, changes: frozenset[str] = EVERYTHING) -> None:
        """Draw what ``changes`` names."""
        if not self.is_mounted:
            return
        session, step = self.session, self.session.position
        if changes & {"steps", "facts", "alert"}:
            rows = session.shown_rows
            self.query_one(Timeline).show(rows, step, self._planned())
            self.query_one("#glyphs", Static).update(self._narrow_line(rows), layout=False)
            facts = replace(session.facts(step), findings=given_up(session.source(0), session.source(step)))
            self.query_one(FactsPane).show(facts, session.alert)
            self._show_top()
        if "source" in changes:
            self._show_source()
        if changes & {"source", "facts"} and self._view == "structure":
            self._show_structure()
        if "prompt" in changes and self._view == "prompt":
            self.query_one("#prompt", LogView).show(LogText(session.prompt(step)), from_start=True)
        if "reply" in changes and self._view == "reply":
            self._show_log("reply", session.reply(step), self.query_one("#reply", LogView))
        if any(change.startswith("log:") for change in changes):
            self._show_active_log()

    def _show_top(self) -> None:
        session = self.session
        protocol = session.protocol
        words = [self.opened.cell.task, self.opened.cell.fixer]
        if session.trajectory.opened is not None:
            words.append(session.trajectory.opened.device)
            words.append(
                f"K{protocol.k} H{protocol.history} {protocol.feedback} p{protocol.gate:g} {protocol.gate_mode.value}"
            )
        state = "PAUSED" if self._paused else "LIVE" if self.opened.going_on else "REPLAY"
        if self.opened.live is not None and not self.opened.live.over:
            state += f" {self.opened.live.mode} {duration(self.seconds_live())}"
        if session.shown_events < session.event_count:
            state += f" {session.shown_events}/{session.event_count}"
        last = session.last
        self.query_one(TopLine).show(tuple(words), f"step {session.position} of {last}", state)

    def _narrow_line(self, rows: Sequence[StepRow]) -> Text:
        facts = self.session.facts(self.session.position)
        text = glyph_line(self.app.theme_variables, rows, self.session.position)
        text.append(f"  {category_sign(facts.category)} {facts.category}")
        if self.session.alert is not None:
            text.append(f"  {sign('signal')} {self.session.alert.signal}", style=self.app.theme_variables["warning"])
        return text

    def _planned(self) -> int:
        return 0 if self.session.trajectory.closed is not None else int(self.session.protocol.iterations)

    @property
    def _view(self) -> str:
        return str(self.query_one("#view", ContentSwitcher).current)

    def _show_source(self) -> None:
        session, step = self.session, self.session.position
        code = session.source(step)
        label, before = session.against(step)
        file = self.file_name
        asked = step and session.trajectory.iterations[step - 1].candidate is None
        problem = "" if code is not None else "no candidate yet" if asked else "this step has no usable file"
        self.query_one("#views", TabLine).show(note=problem or (f"against {label}" if step else "broken start"))
        if self._view == "diff":
            self.query_one(DiffView).show(before or b"", code if code is not None else before or b"", file)
        elif self._view == "code":
            marks = {row.line: row.message for row in session.error_rows(step) if row.line and row.file.endswith(file)}
            self.query_one(CodeView).show(source_text(code or b"", file), marks)

    def _show_structure(self) -> None:
        session, step = self.session, self.session.position
        before = session.source(step - 1) if step else None
        view = self.query_one(StructureView)
        view.show(session.source(step), session.source(0), before, session.reference(), session.facts(step))

    @property
    def file_name(self) -> str:
        return self.session.task.spec.solution_file if self.session.task is not None else "solution.cu"

    # logs

    def _log_for_step(self) -> None:
        """Open the log that says most about the step: of what is going on, or of where it ended."""
        self._log_is_chosen = False
        row = self.session.rows[self.session.position]
        name = _LOG_OF_PHASE.get(row.phase, "")
        if row.number and row.phase == "closed":
            name = _LOG_OF_STAGE.get(self.session.facts(row.number).stage, "Test")
        if name:
            self.query_one("#logs", TabLine).choose(name)

    @property
    def _phase(self) -> str:
        return self.session.rows[self.session.position].phase

    def _show_active_log(self) -> None:
        line = self.query_one("#logs", TabLine)
        name = line.active.lower()
        view = self.query_one(f"#log-{name}", LogView)
        self._show_log(name, self.session.log(self.session.position, name), view)
        self.session.looked(name)
        line.show(unread=self.session.unread, note="follow" if self.session.live else "")

    def _show_log(self, name: str, text: str, view: LogView) -> None:
        """Append to what is shown where the text only grew; else show all of it."""
        step, lines, before = self._logs.get(name, (-1, LogText(), ""))
        # a longer text need not be the same one: what streamed is told anew once its step has ended
        if step == self.session.position and before and self.session.live and text.startswith(before):
            if len(text) > len(before):
                lines.append(text[len(before) :])
                view.refresh_log()
        else:
            lines = LogText(text)
            view.show(lines, from_start=name == "reply" and not self.session.live)
        self._logs[name] = (self.session.position, lines, text)

    def _resize_logs(self) -> None:
        share = LOG_SHARES[self._share]
        self.query_one("#view").styles.height = f"{10 - share}fr"
        self.query_one("#log").styles.height = f"{share}fr"

    @on(TabLine.Chosen, "#views")
    def _view_chosen(self, event: TabLine.Chosen) -> None:
        self.query_one("#view", ContentSwitcher).current = event.name.lower()
        self._logs.pop("reply", None)
        self.show(frozenset({"source", "prompt", "reply"}))

    @on(TabLine.Chosen, "#logs")
    def _log_chosen(self, event: TabLine.Chosen) -> None:
        self.query_one("#log", ContentSwitcher).current = f"log-{event.name.lower()}"
        self._show_active_log()

    @on(Timeline.StepChosen)
    def _step_chosen(self, event: Timeline.StepChosen) -> None:
        self.go(event.step)

    @on(LogView.PlaceChosen)
    def _place_chosen(self, event: LogView.PlaceChosen) -> None:
        self.go_to_line(event.place.line, event.place.file)

    # moving

    def go(self, step: int) -> None:
        """Show a step in every pane."""
        self.session.go(step)
        self._log_for_step()
        self.show()

    def go_to_line(self, line: int, file: str = "") -> None:
        """Show a line of the candidate."""
        name = file.rpartition("/")[2]
        if name and name != self.file_name.rpartition("/")[2]:
            self.notify(f"{name} is not the candidate's file", markup=False)
            return
        self.query_one("#views", TabLine).choose("Code")
        self.query_one(CodeView).go_to(line)
        self.query_one(CodeView).focus()

    def action_step(self, by: int) -> None:
        self.go(self.session.position + by)

    def action_first(self) -> None:
        self.go(0)

    def action_last(self) -> None:
        self.go(self.session.last)

    def action_change(self, direction: int) -> None:
        if self.session.change(direction):
            self._log_for_step()
            self.show()
        else:
            self.notify("no further step with another category")

    def action_trajectory(self, by: int) -> None:
        plan: list[Cell] = self.opened.run.plan
        at = plan.index(self.opened.cell) + by
        if self.opened.live is not None and self.opened.going_on:
            self.notify(
                f"this trajectory is live: {shown_keys('app.interrupt')} stops it, {shown_keys('app.back')} leaves it to itself"
            )
        elif not 0 <= at < len(plan):
            self.notify("no further trajectory in this run")
        else:
            self.app.show_opened(open_stored(self.opened.run, plan[at]), replace=True)

    def action_replay(self, by: int) -> None:
        session = self.session
        if session.live:
            self.notify(f"live: {shown_keys('workbench.pause')} holds the view still; a replay is for what is over")
            return
        session.seek(max(1, min(session.event_count, session.shown_events + by)))
        self.show()

    def action_pause(self) -> None:
        self._paused = not self._paused
        if self._paused:
            self._followed = self.session.following
        self._show_top()
        if not self._paused:
            if self._followed:
                self.session.go(self.session.last)
            self._log_for_step()
            self.show()

    # panes

    def action_log(self, name: str) -> None:
        self._log_is_chosen = True
        self.query_one("#logs", TabLine).choose(name.capitalize())

    def action_next_tab(self) -> None:
        self.query_one("#views", TabLine).step(1)

    def action_grow(self, by: int) -> None:
        self._share = max(0, min(len(LOG_SHARES) - 1, self._share + by))
        self._resize_logs()

    def action_pin(self) -> None:
        self.session.pin(self.session.position)
        self.session.base = Base.PINNED
        self.notify(f"{sign('pin')} step {self.session.position} is what diffs are against")
        self.show(frozenset({"source"}))

    def action_against(self) -> None:
        self.session.cycle_base()
        self.show(frozenset({"source"}))

    def action_put_away(self) -> None:
        self.session.dismiss_alert()
        self.show(frozenset({"alert"}))

    @work
    async def action_errors(self) -> None:
        rows = self.session.error_rows(self.session.position)
        if not rows:
            self.notify("no errors in the logs of this step")
            return
        chosen = await self.app.push_screen_wait(Errors(rows))
        if chosen is not None and chosen.line:
            self.go_to_line(chosen.line, chosen.file)

    @work
    async def action_goto(self) -> None:
        answer = await self.app.push_screen_wait(Ask("Go to a step (3), or a line of the file (:42)"))
        found = re.fullmatch(r"(:?)\s*(\d+)", (answer or "").strip())
        if found is None:
            if answer:
                self.notify(f"{answer}: neither a step nor a line", severity="warning", markup=False)
        elif found[1]:
            self.go_to_line(int(found[2]))
        else:
            self.go(int(found[2]))

    def action_raw(self) -> None:
        """This step's events as JSON, in the user's pager."""
        from engine.journal import encode

        step = self.session.position
        events = [event for event in self.session.events if getattr(event, "iteration", 0) == step]
        self.app.show_in_pager(b"".join(encode(event) for event in events))

    def action_copy_reproduction(self) -> None:
        command = reproduction(self.opened.run, self.opened.cell)
        self.app.copy_to_clipboard(command)
        self.notify(f"copied: {command}")
