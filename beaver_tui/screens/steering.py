"""How a person steers a trajectory from the workbench: who answers, proposals, forks."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work

from beaver_tui.keymap import shown_keys
from beaver_tui.live.live import LiveRun, News
from beaver_tui.live.proposal import Proposal
from beaver_tui.live.start import fork_live
from beaver_tui.screens.examining import Examining
from beaver_tui.screens.human import Human
from beaver_tui.screens.modals import Choose, Confirm
from beaver_tui.screens.proposal import Decide
from engine.errors import BeaverError
from engine.protocol import EarlyStop, Feedback
from engine.stopping import stopped_by_signal
from engine.store import write_whole

if TYPE_CHECKING:
    from beaver_tui.live.steered import Mode


class Steering(Examining):
    """A part of the workbench; ``opened`` and ``show`` are its other parts'."""

    _unsubscribe: Any = None
    _began = 0.0
    _human: Human | None = None
    _reminded: Human | None = None
    _deciding = False
    _decided: Proposal | None = None
    """The proposal that was asked about last: it is asked about again when a person says so."""

    # a live run's news

    def hear_live(self) -> None:
        """Begin to listen to the live run on show, if it is one."""
        self._began = time.monotonic()
        if self.opened.live is not None:
            self._unsubscribe = self.opened.live.subscribe(self._heard)
            self.call_after_refresh(self.catch_up)

    def on_unmount(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()

    def seconds_live(self) -> float:
        return time.monotonic() - self._began

    def _heard(self, news: News) -> None:
        if news.kind in ("proposal", "desk", "mode"):
            self.catch_up()
        elif news.kind == "notice" and not self.opened.live_waits:
            self.notify(news.text, markup=False)
        elif news.kind == "over" and news.text:
            self.notify(news.text, severity="error", markup=False, timeout=12)
        self.show(frozenset({"steps", "facts"}))

    def catch_up(self) -> None:
        """Show what waits for a person, and put away what no longer does. What was left with q is not shown again by itself."""
        live = self.opened.live
        if live is None or not self.is_mounted:
            return
        if not live.waiting:
            human, self._human = self._human, None
            if human is not None and self.app.screen is human:
                self.app.pop_screen()
        elif self._human is None and self.app.screen is self:
            self._show_human()
        if live.proposal is not self._decided and not self._deciding and self.app.screen is self:
            self._decided = live.proposal
            self.decide()

    def on_screen_resume(self) -> None:
        """Who has left the question open is told once how to come back to it."""
        live, human = self.opened.live, self._human
        if live is None or not live.waiting or human is None or human is self._reminded:
            return
        if human not in self.app.screen_stack:
            self._reminded = human
            self.notify(f"the trajectory waits for your file; {shown_keys('workbench.human')} comes back to it")

    def _show_human(self) -> None:
        self._human = Human(self.opened)
        self.app.push_screen(self._human)

    @work(exclusive=True, group="deciding")
    async def decide(self) -> None:
        """Ask about the proposal that waits, and do what was decided."""
        live = self.opened.live
        if live is None or live.proposal is None:
            return
        proposal, self._deciding = live.proposal, True
        try:
            decision = await self.app.push_screen_wait(Decide(proposal, live.task.spec.solution_file))
            if live.proposal is not proposal:
                return
            if decision is None:
                self.notify(f"the candidate waits; {shown_keys('workbench.confirm')} comes back to it")
                return
            if decision.kind == "accept":
                live.accept()
            elif decision.kind == "reject":
                live.reject(decision.remark)
            else:
                code = await self._edited(proposal.code or proposal.base)
                if code is not None and live.proposal is proposal:
                    live.edit(code)
        except BeaverError as error:
            self.notify(str(error), severity="warning", markup=False)
        finally:
            self._deciding = False

    async def _edited(self, code: bytes) -> bytes | None:
        """The code after the user's editor; None when it was left as it was."""
        live = self.opened.live
        assert live is not None
        path = live.desk / f"proposal-{Path(live.task.spec.solution_file).name}"
        write_whole(path, code, durable=False)
        complaint = self.app.editor.edit(path, self.app.suspend)
        if complaint:
            self.notify(complaint, severity="warning", markup=False)
        if not await self.app.push_screen_wait(Confirm(f"Hand in {path} as it is now?", "Hand it in", "Not yet")):
            return None
        return await asyncio.to_thread(path.read_bytes)

    # modes

    @work(exclusive=True, group="steering")
    async def action_mode(self, mode: Mode) -> None:
        live = self.opened.live
        if live is None or live.over:
            if mode == "human":
                await self._fork_from_here("taken over by hand", "human")
            else:
                self.notify(
                    f"nothing is live here; {shown_keys('workbench.fork')} forks a new trajectory from this step"
                )
            return
        if live.interactive:
            live.set_mode(mode)
            if mode == "human" and live.waiting and self.app.screen is self:
                self._show_human()
            elif mode == "confirm" and live.proposal is not None:
                self.decide()
            return
        question = "Going on by hand makes a fork: a run of its own, marked interactive and left out of scores. Fork?"
        if not await self.app.push_screen_wait(Confirm(question, "Fork", "Leave it alone")):
            return
        await self._onto(live.steer(mode, reason=f"mode {mode}"))

    async def _onto(self, forking: Any) -> None:
        """Go on with the live run that ``forking`` comes to."""
        try:
            made: LiveRun = await forking
        except BeaverError as error:
            self.notify(str(error), severity="error", markup=False, timeout=12)
            return
        self.app.play(made, replace=True)

    # forks

    async def _fork_from_here(
        self, reason: str, mode: Mode = "auto", changes: dict[str, Any] | None = None, step: int | None = None
    ) -> None:
        opened = self.opened
        step = opened.session.position if step is None else step
        closed = len(opened.session.trajectory.finished)
        if step > closed:
            self.notify("this step is not over yet; fork from one that is")
            return
        if stopped_by_signal(opened.session.trajectory) and step == closed:
            changes = {"early_stop": EarlyStop.OBSERVE.value, **(changes or {})}  # or the fork would be over at once
        live, out = opened.live, self.app.fresh_run(f"{opened.run.record.name}-fork")
        if live is not None and not live.over:
            await self._onto(live.fork(step, mode=mode, protocol_changes=changes, reason=reason, out=out))
            return
        warn = self.app.warn

        def fork() -> LiveRun:
            return fork_live(
                opened.run, opened.cell, step, warn=warn, mode=mode, protocol_changes=changes, reason=reason, out=out
            )

        await self._onto(asyncio.to_thread(fork))

    @work(exclusive=True, group="steering")
    async def action_fork(self) -> None:
        step = self.opened.session.position
        choices = ("auto: the fixer goes on", "confirm: each candidate waits for a yes", "human: you are the fixer")
        chosen = await self.app.push_screen_wait(Choose(f"A new trajectory from step {step}", choices))
        if chosen is not None:
            await self._fork_from_here("forked", ("auto", "confirm", "human")[chosen])

    @work(exclusive=True, group="steering")
    async def action_observe(self) -> None:
        if not stopped_by_signal(self.opened.session.trajectory):
            self.notify("only a trajectory that a stagnation signal has stopped can go on in observe mode")
            return
        last = len(self.opened.session.trajectory.finished)
        await self._fork_from_here("gone on after the stop", step=last)

    @work(exclusive=True, group="steering")
    async def action_level(self) -> None:
        levels = [level.value for level in Feedback]
        now = levels.index(self.opened.session.protocol.feedback.value)
        chosen = await self.app.push_screen_wait(Choose("Fork from this step with feedback level", levels, now))
        if chosen is not None and chosen != now:
            await self._fork_from_here(f"feedback {levels[chosen]}", changes={"feedback": levels[chosen]})
