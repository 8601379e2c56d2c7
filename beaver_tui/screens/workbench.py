"""The workbench: one trajectory, step by step, live, followed or replayed; the screen sees no difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Static

from beaver_tui.glyphs import category_sign, sign
from beaver_tui.keymap import bindings, shown_keys
from beaver_tui.opened import Opened, open_stored
from beaver_tui.screens.leads import Leads
from beaver_tui.screens.steppanes import StepPanes
from beaver_tui.state.changes import EVERYTHING, LOG_CHANGES
from beaver_tui.state.session import Base
from beaver_tui.state.steps import StepRow
from beaver_tui.state.structures import STRUCTURES
from beaver_tui.widgets.facts import FactsPane
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.painting import duration
from beaver_tui.widgets.structureview import given_up
from beaver_tui.widgets.timeline import Timeline, glyph_line
from beaver_tui.widgets.topline import TopLine
from engine.rundir import Cell

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp

DRAIN_SECONDS = 0.05
"""How often what has arrived is folded in and shown: 20 times a second, whatever the flood."""
FOLLOW_SECONDS = 0.25
"""How often the journal of a run that another process writes is looked at."""


class Workbench(Leads):
    """Shows ``opened.session``; what changes in it is drawn from ``show``, and nowhere else."""

    app: BeaverApp
    BINDINGS = bindings("workbench")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (118, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self.opened = opened
        self._paused = self._followed = self._broken_off = False

    def compose(self) -> ComposeResult:
        yield TopLine(id="top")
        yield Static(id="glyphs")
        with Horizontal(id="body"):
            yield Timeline(id="timeline")
            yield StepPanes(self.opened, id="centre")
            with VerticalScroll(id="side", can_focus=False):
                yield FactsPane(id="facts")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#diff").focus()
        self.set_interval(DRAIN_SECONDS if self.opened.live is not None else FOLLOW_SECONDS, self.drain)
        self.set_interval(1.0, self._show_top)
        self.call_after_refresh(self._show_step)
        if self.opened.note:
            self.notify(self.opened.note, severity="warning", markup=False)
        self.hear_live()

    def _show_step(self) -> None:
        self.panes.open_log_of_step()
        self.show()

    # what arrives, and what is drawn

    def drain(self) -> None:
        """Fold in what has arrived, and draw once whatever it changed."""
        arrived = self.opened.take()
        if self.opened.problem:
            self.notify(self.opened.problem, severity="error", markup=False)
            self.opened.source = None
            self._broken_off = True
            self._show_top()
        was, phase = self.session.live, self._phase
        self.session.live = self.opened.going_on
        changes: set[str] = set()
        position = self.session.position
        for event in arrived:
            changes |= self.session.apply(event)
        if self._paused and self.session.position != position:
            self.session.go(position)  # the view is held still, and with it what the keys are about
        if self.session.position != position:
            self.panes.open_log_of_step()
            changes |= EVERYTHING
        elif self._phase != phase and not self.panes.log_is_chosen:
            self.panes.open_log_of_step()
            changes |= LOG_CHANGES
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
            facts = replace(session.facts(step), findings=self._findings(step))
            self.query_one(FactsPane).show(facts, session.alert)
            self._show_top()
        self.panes.show(changes)

    def _findings(self, step: int) -> tuple[str, ...]:
        """What the step gave up. A long source is read on a thread: the facts are drawn again when that is done."""
        start, this = self.session.source(0), self.session.source(step)
        suffix = PurePosixPath(self.panes.file_name).suffix
        found = given_up(start, this, suffix)
        if found is None:
            self._read_structures([code for code in (start, this) if code is not None], suffix)
        return found or ()

    @work(thread=True, exclusive=True, group="findings", exit_on_error=False)
    def _read_structures(self, sources: list[bytes], suffix: str) -> None:
        for code in sources:
            STRUCTURES.read(code, suffix)
        self.app.call_from_thread(self.show, frozenset({"facts"}))

    def _show_top(self) -> None:
        session = self.session
        protocol = session.protocol
        words = [self.opened.cell.task, self.opened.cell.fixer]
        if session.trajectory.opened is not None:
            axes = (
                f"K{protocol.k} H{protocol.history} {protocol.feedback} p{protocol.gate:g} {protocol.gate_mode.value}"
            )
            words += [session.trajectory.opened.device, axes]
        over = "BROKEN OFF" if self._broken_off else "REPLAY"
        state = "PAUSED" if self._paused else "LIVE" if self.opened.going_on else over
        if self.opened.live is not None and not self.opened.live.over:
            state += f" {self.opened.live.mode} {duration(self.seconds_live())}"
        if session.shown_events < session.event_count:
            state += f" {session.shown_events}/{session.event_count}"
        last = session.last
        self.query_one(TopLine).show(tuple(words), f"step {session.position} of {last}", state)

    def _narrow_line(self, rows: Sequence[StepRow]) -> Text:
        facts = self.session.facts(self.session.position)
        text = glyph_line(self.app.theme_variables, rows, self.session.position)
        row = rows[self.session.position]
        said = f"{category_sign(facts.category)} {facts.category}" if facts.category else "" if row.over else row.phase
        text.append(f"  {said}")
        if self.session.alert is not None:
            text.append(f"  {sign('signal')} {self.session.alert.signal}", style=self.app.theme_variables["warning"])
        return text

    def _planned(self) -> int:
        return 0 if self.session.trajectory.closed is not None else int(self.session.protocol.iterations)

    @property
    def _phase(self) -> str:
        return self.session.rows[self.session.position].phase

    # moving

    @on(Timeline.StepChosen)
    def _step_chosen(self, event: Timeline.StepChosen) -> None:
        self.go(event.step)

    def go(self, step: int) -> None:
        """Show a step in every pane."""
        self.session.go(step)
        self._show_step()

    def action_step(self, by: int) -> None:
        self.go(self.session.position + by)

    def action_first(self) -> None:
        self.go(0)

    def action_last(self) -> None:
        self.go(self.session.last)

    def action_change(self, direction: int) -> None:
        if self.session.change(direction):
            self._show_step()
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
            self._show_step()

    # panes

    def action_log(self, name: str) -> None:
        self.panes.choose_log(name)

    def action_next_tab(self) -> None:
        self.panes.next_view()

    def action_grow(self, by: int) -> None:
        self.panes.grow_logs(by)

    def action_pin(self) -> None:
        self.session.pin(self.session.position)
        self.session.base = Base.PINNED
        self.notify(f"{sign('pin')} step {self.session.position} is what diffs and times are against")
        self.show(frozenset({"source", "facts"}))

    def action_against(self) -> None:
        self.session.cycle_base()
        self.show(frozenset({"source"}))

    def action_speed(self) -> None:
        self.panes.choose_view("Speed")

    def action_put_away(self) -> None:
        self.session.dismiss_alert()
        self.show(frozenset({"alert"}))
