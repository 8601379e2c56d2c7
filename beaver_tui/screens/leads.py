"""Where a step leads: to the line of an error, to another step or line, to its raw events, to the command that plays it again."""

from __future__ import annotations

import re

from textual import work

from beaver_tui.screens.errors import Errors
from beaver_tui.screens.modals import Ask
from beaver_tui.screens.steering import Steering
from beaver_tui.screens.steppanes import StepPanes
from beaver_tui.state.reproduction import reproduction
from beaver_tui.state.session import Session
from engine.errors import BeaverError


class Leads(Steering):
    """A part of the workbench; ``opened``, ``show`` and ``go`` are its other parts'."""

    @property
    def panes(self) -> StepPanes:
        return self.query_one(StepPanes)

    @property
    def session(self) -> Session:
        return self.opened.session

    def go(self, step: int) -> None:
        raise NotImplementedError

    @work
    async def action_errors(self) -> None:
        rows = self.session.error_rows(self.session.position)
        if not rows:
            self.notify("no errors in the logs of this step")
            return
        chosen = await self.app.push_screen_wait(Errors(rows))
        if chosen is not None and chosen.line:
            self.panes.go_to_line(chosen.line, chosen.file)

    @work
    async def action_goto(self) -> None:
        answer = await self.app.push_screen_wait(Ask("Go to a step (3), or a line of the file (:42)"))
        found = re.fullmatch(r"(:?)\s*(\d+)", (answer or "").strip())
        if found is None:
            if answer:
                self.notify(f"{answer}: neither a step nor a line", severity="warning", markup=False)
        elif found[1]:
            self.panes.go_to_line(int(found[2]))
        else:
            self.go(int(found[2]))

    def action_raw(self) -> None:
        """This step's events as JSON, in the user's pager."""
        from engine.journal import encode

        step = self.session.position
        events = [event for event in self.session.events if getattr(event, "iteration", 0) == step]
        self.app.show_in_pager(b"".join(encode(event) for event in events))

    def action_copy_reproduction(self) -> None:
        try:
            command = reproduction(self.opened.run, self.opened.cell)
        except BeaverError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        self.app.copy_to_clipboard(command)
        self.notify(f"copied: {command}", markup=False)
