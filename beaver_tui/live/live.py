"""One trajectory, played in the screen's own event loop, and what a person can do to it while it is played."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from beaver_tui.live.draft import DraftFile
from beaver_tui.live.proposal import Proposal
from beaver_tui.live.steered import Intervention, Mode, SteeredFixer
from engine import events as ev
from engine.candidate import exact_bytes
from engine.cells import read_cell
from engine.errors import BeaverError, RunError
from engine.fixers.base import Reply
from engine.fixers.config import FixerConfig
from engine.fixers.human import HumanFixer
from engine.harness.examine import Harness
from engine.journal import Journal
from engine.rundir import Cell, RunDirectory
from engine.sweep import Sweep
from engine.sweep.fork import fork_run
from engine.sweep.registry import build_fixer
from engine.task import Task

DESK = "desk"
"""The person's folder in a run, when the fixer has none of its own."""

DRAFT = "draft.json"
"""Replies to the open question, in the run's folder."""


@dataclass(frozen=True)
class News:
    """Something that no event of the trajectory tells. ``text`` is one line about it."""

    kind: Literal["mode", "proposal", "desk", "notice", "over"]
    text: str


@dataclass(frozen=True)
class Seat:
    """What a live run is played with: handed on from a run to its fork."""

    harness: Harness
    tasks: dict[str, Task]
    config: FixerConfig


@contextmanager
def discarded_on_error(made: RunDirectory) -> Iterator[None]:
    """A fork that cannot be played here must not stay behind."""
    try:
        yield
    except BaseException:
        shutil.rmtree(made.path, ignore_errors=True)
        raise


class LiveRun:
    """A run of one trajectory. Create it with ``beaver_tui.live.start``, ``await play()`` it once, then ``close`` it.

    ``listener`` gets every event of the trajectory, those that are not journaled too (reply_delta, output). From its creation
    until it is over no other process can write the run. Belongs to the event loop that plays it.
    """

    def __init__(
        self,
        run: RunDirectory,
        seat: Seat,
        mode: Mode = "auto",
        listener: Callable[[ev.Event], None] = lambda event: None,
    ) -> None:
        """Raises RunError when the run has more than one trajectory, may not be changed by hand and ``mode`` would, or is
        being written by another process."""
        if len(run.plan) != 1:
            raise RunError(f"{run.path}: has {len(run.plan)} trajectories, and a live run has one; fork one of them")
        self.run, self.cell = run, run.plan[0]
        self.listener = listener
        self.over = False
        self.error = ""
        """What ended it that was not the trajectory's own end: a service that is down, a full disk. Empty otherwise."""
        if mode != "auto":
            self._check_interactive()
        self._seat = seat
        self._heard: list[Callable[[News], None]] = []
        inner = build_fixer(seat.config, os.environ)
        self._desk = inner if isinstance(inner, HumanFixer) else HumanFixer(run.path / DESK)
        drafts = DraftFile(run.path / DRAFT)
        self._fixer = SteeredFixer(inner, self._desk, mode, drafts, self._journal_intervention, self._tell_change)
        self._desk.subscribe(lambda change: self._tell(News("desk", change.summary)))
        self._fixer.subscribe_notices(lambda line: self._tell(News("notice", line)))
        self._sweep = Sweep(run, seat.tasks, {self.cell.fixer: self._fixer}, seat.harness, 1, self._pass_on)
        self._playing: asyncio.Future[None] | None = None
        self._ended = asyncio.Event()
        self._closes_harness = True
        self._lock = ExitStack()
        self._lock.enter_context(run.lock())
        if mode != "auto":
            self.note("mode", mode)

    # what it is

    @property
    def task(self) -> Task:
        return self._seat.tasks[self.cell.task]

    @property
    def harness(self) -> Harness:
        return self._seat.harness

    @property
    def interactive(self) -> bool:
        """Whether it may be changed by hand; one that may not is forked first (``steer``)."""
        return self.run.record.interactive

    @property
    def stopping(self) -> bool:
        """Whether ``stop`` or ``cancel`` was called."""
        return self._sweep.stopping

    @property
    def mode(self) -> Mode:
        return self._fixer.mode

    @property
    def proposal(self) -> Proposal | None:
        """The reply that waits for a decision, in confirm mode."""
        return self._fixer.proposal

    @property
    def desk(self) -> Path:
        """The folder that a person edits in (engine.fixers.desk says what lies there)."""
        return self._desk.directory

    @property
    def waiting(self) -> bool:
        """Whether a person's submission is waited for."""
        return self._desk.waiting

    def subscribe(self, heard: Callable[[News], None]) -> Callable[[], None]:
        """``heard`` is called in the event loop with all News; call what this returns to end that."""
        self._heard.append(heard)
        return lambda: self._heard.remove(heard)

    # playing

    async def play(self) -> None:
        """Play to the end of the trajectory, to ``stop`` or ``cancel``, or to a fault, which ``error`` tells. Only what is a
        fault of this program is raised."""
        self._playing = asyncio.ensure_future(self._sweep.play())
        try:
            await self._playing
        except asyncio.CancelledError:
            if (here := asyncio.current_task()) is not None and here.cancelling():
                raise
        except BeaverError as error:
            self.error = str(error)
        finally:
            if self._sweep.faults:
                self.error = self._sweep.faults[-1][1].message
            self.over = True
            self._lock.close()
            self._ended.set()
            self._tell(News("over", self.error))

    def stop(self) -> None:
        """End after the step that is running, and wait for nobody. The journal resumes."""
        self._sweep.stop()

    def cancel(self) -> None:
        """End at once, and kill what runs. The journal resumes."""
        self._sweep.stopping = True
        if self._playing is not None:
            self._playing.cancel()

    def close(self) -> None:
        """Remove what was kept between candidates, and let others write a run that was never played."""
        self._lock.close()
        if self._closes_harness:
            self._closes_harness = False
            self._seat.harness.close()

    # steering

    def set_mode(self, mode: Mode) -> None:
        """Who answers from now on, an open question included (see SteeredFixer). RunError when the trajectory may not be
        changed by hand."""
        if mode != self.mode:
            self._check_interactive()
            if self.over:
                raise RunError(f"{self.run.path}: is over; fork it to go on")
        self._fixer.set_mode(mode)

    def accept(self) -> None:
        """The proposal is the reply. RunError when none waits; so do ``reject`` and ``edit``."""
        self._fixer.accept()

    def reject(self, remark: str) -> None:
        """The fixer is asked again, with the remark; this costs no iteration."""
        self._fixer.reject(remark)

    def edit(self, code: bytes) -> None:
        """``code`` is the reply, in the place of the proposal's."""
        self._fixer.edit(code)

    def submit(self) -> None:
        """The file on the desk as it stands is the reply. RunError when no person is waited for."""
        self._desk.submit()

    async def steer(self, mode: Mode, *, reason: str = "taken over by hand") -> LiveRun:
        """The run that a person goes on with in ``mode``: this one when it may be changed by hand and is not over, else a fork
        from its last closed step, which begins the open iteration anew."""
        if self.interactive and not self.over:
            self.set_mode(mode)
            return self
        return await self.fork(mode=mode, reason=reason)

    async def fork(
        self,
        step: int | None = None,
        *,
        mode: Mode = "auto",
        protocol_changes: dict[str, Any] | None = None,
        fixer: FixerConfig | None = None,
        reason: str = "",
        out: Path | None = None,
    ) -> LiveRun:
        """A live run of its own that goes on from ``step``, the last closed one when None, under what is changed. This one is
        cancelled and closed then; its journal resumes. Raises what ``engine.sweep.fork`` does, and leaves this one as it is.
        """
        step = self._last_closed() if step is None else step
        made = await asyncio.to_thread(
            fork_run,
            self.run,
            self.cell,
            step,
            out=out,
            protocol_changes=protocol_changes,
            fixer=fixer,
            reason=reason,
        )
        seat = Seat(self.harness, self._seat.tasks, fixer if fixer is not None else self._seat.config)
        with discarded_on_error(made):
            live = LiveRun(made, seat, mode, self.listener)
        self._closes_harness = False  # before anybody closes this run because it is over
        self.cancel()
        if self._playing is not None:
            await self._ended.wait()
        self.close()
        return live

    def note(self, action: str, detail: str, response: str | None = None) -> None:
        """Write into the journal that somebody did something. Once the run is over this is still possible, while nobody else
        writes it: else RunError."""
        event = ev.Controlled(action=action, detail=detail, response=response)
        if not self.over:
            self._sweep.note(self.cell, event)
            return
        with self.run.lock(), Journal(self.run.journal(self.cell)) as journal:
            if journal.events:  # a note cannot be a journal's first line
                journal.append(event)
                self.listener(event)

    def _last_closed(self) -> int:
        past = read_cell(self.run, self.cell)
        return len(past.finished) if past is not None else 0

    def _check_interactive(self) -> None:
        if not self.interactive:
            raise RunError(f"{self.run.path}: was not begun to be changed by hand; fork it (steer)")

    def _journal_intervention(self, action: Intervention, detail: str, reply: Reply | None) -> None:
        response = None
        if reply is not None:
            response = self.run.store(self.cell).put("responses", exact_bytes(reply.text))
        self.note(action, detail, response)

    def _pass_on(self, cell: Cell | None, event: ev.Event) -> None:
        if cell is not None:
            self.listener(event)

    def _tell_change(self, what: Literal["mode", "proposal"]) -> None:
        if what == "mode":
            self._tell(News("mode", self.mode))
            return
        waits = self.proposal
        self._tell(News("proposal", "" if waits is None else f"a proposal waits: +{waits.added} -{waits.removed}"))

    def _tell(self, news: News) -> None:
        for heard in list(self._heard):
            heard(news)
