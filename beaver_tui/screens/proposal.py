"""Confirm mode: a candidate that waits for a yes, a remark or an edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Label

from beaver_tui.keymap import bindings
from beaver_tui.live.proposal import Proposal
from beaver_tui.screens.modals import Ask
from beaver_tui.widgets.dialog import Act, Dialog
from beaver_tui.widgets.diffview import DiffView
from beaver_tui.widgets.painting import harmless, lines_changed

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp

BUTTONS = {
    "accept": "Accept",
    "reject": "Reject with a remark",
    "edit": "Edit it first",
    "later": "Later",
}
"""What can be done with a proposal, and what the button says before its key."""


@dataclass(frozen=True)
class Decision:
    """What a person made of a proposal; ``remark`` goes into the feedback of a rejected one."""

    kind: Literal["accept", "reject", "edit"]
    remark: str = ""


class Decide(Dialog[Decision | None]):
    """Shows the proposal against the file as it stands. None: not decided yet, the proposal waits on."""

    app: BeaverApp
    BINDINGS = bindings("proposal")

    def __init__(self, proposal: Proposal, file: str) -> None:
        super().__init__()
        self._proposal, self._file = proposal, file

    def compose(self) -> ComposeResult:
        proposal = self._proposal
        changed = lines_changed(proposal.added, proposal.removed)
        words = proposal.problem or f"{changed} lines"
        with Vertical(classes="dialog tall"):
            yield Label(harmless(f"iteration {proposal.iteration}: a candidate waits for you, {words}"))
            yield DiffView()
            with Horizontal(classes="buttons"):
                for action, words in BUTTONS.items():
                    yield Act(words, f"proposal.{action}", variant="primary" if action == "accept" else "default")

    def on_mount(self) -> None:
        view = self.query_one(DiffView)
        view.show(
            self._proposal.base, self._proposal.code or self._proposal.base, self._file, "as it stands", "proposed"
        )
        view.focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        getattr(self, f"action_{event.button.id}")()

    def action_accept(self) -> None:
        self.dismiss(Decision("accept"))

    @work
    async def action_reject(self) -> None:
        remark = await self.app.push_screen_wait(
            Ask("What should be done otherwise? The fixer is asked again with it.")
        )
        if remark:
            self.dismiss(Decision("reject", remark))

    def action_edit(self) -> None:
        self.dismiss(Decision("edit"))

    def action_later(self) -> None:
        self.dismiss(None)
