"""Two trajectories side by side, at steps of their own: what came out, what the sources differ in, how fast they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from beaver_tui.glyphs import sign
from beaver_tui.keymap import bindings
from beaver_tui.opened import Opened
from beaver_tui.state.compare import Comparison, Side
from beaver_tui.state.speedtext import beside_line
from beaver_tui.widgets.diffview import DiffView
from beaver_tui.widgets.facts import facts_text
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.painting import harmless
from beaver_tui.widgets.structureview import StructureView
from beaver_tui.widgets.timeline import Timeline
from beaver_tui.widgets.topline import TopLine

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp

SIDES: tuple[Side, Side] = ("left", "right")


class Compare(Screen[None]):
    """Timelines and facts of both sides around the diff from the left candidate to the right one."""

    app: BeaverApp
    BINDINGS = bindings("compare")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (118, "-wide")]

    def __init__(self, left: Opened, right: Opened) -> None:
        super().__init__()
        self.comparison = Comparison(left.session, right.session, (left.run.path.name, right.run.path.name))

    def compose(self) -> ComposeResult:
        yield TopLine(id="top")
        with Horizontal(id="body"):
            with Vertical(id="left", classes="comparison-side"):
                yield Static(classes="who")
                yield Timeline()
                with VerticalScroll(can_focus=False):
                    yield Static(classes="facts")
            with Vertical(id="centre"):
                yield DiffView(id="diff")
                yield StructureView(start="left", this="right", id="structure")
            with Vertical(id="right", classes="comparison-side"):
                yield Static(classes="who")
                yield Timeline()
                with VerticalScroll(can_focus=False):
                    yield Static(classes="facts")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(DiffView).focus()
        self.call_after_refresh(self.show)

    def show(self) -> None:
        """Draw both sides and what lies between them."""
        for side, run in zip(SIDES, self.comparison.runs, strict=True):
            self._show_side(side, run)
        left, right = self.comparison.left, self.comparison.right
        before, after = self.comparison.sources
        file = left.task.spec.solution_file if left.task is not None else "solution.cu"
        self.query_one(DiffView).show(before or b"", after or b"", file)
        self.query_one(StructureView).show(after, before, None, None, right.facts(right.position))
        words = "step {} against step {}".format(*self.comparison.positions)
        if (speed := self.comparison.speed) is not None:
            words += f" {sign('dot')} {beside_line(speed)}"
        names = (left.cell.task, right.cell.task) if left.cell.task != right.cell.task else (left.cell.task,)
        self.query_one(TopLine).show((*names, "compare"), words)  # in 80 columns there is room for one of them

    def _show_side(self, side: Side, run: str) -> None:
        session, pane = self.comparison.session(side), self.query_one(f"#{side}")
        colours = self.app.theme_variables
        who = Text().append(f"{harmless(session.cell.fixer).plain}\n", style="bold")
        who.append(harmless(f"{session.cell.task} {run}").plain, style=colours.get("quiet", ""))
        pane.query_one(".who", Static).update(who)
        pane.query_one(Timeline).show(session.shown_rows, session.position, 0)
        pane.query_one(".facts", Static).update(facts_text(colours, session.facts(session.position)))

    def on_timeline_step_chosen(self, event: Timeline.StepChosen) -> None:
        side: Side = "left" if self.query_one("#left") in event.control.ancestors else "right"
        self.comparison.session(side).go(event.step)
        self.show()

    def action_step(self, by: int) -> None:
        self.comparison.step(by)
        self.show()

    def action_move(self, side: Side, by: int) -> None:
        self.comparison.move(side, by)
        self.show()

    def action_swap(self) -> None:
        self.comparison.swap()
        self.show()
