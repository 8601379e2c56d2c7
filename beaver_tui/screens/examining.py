"""What a person asks of a candidate from the workbench: the sanitizers, its time, its profile, and to take it home."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work
from textual.screen import Screen
from textual.worker import Worker

from beaver_tui.keymap import shown_keys
from beaver_tui.live import on_demand
from beaver_tui.live.on_demand import Subject
from beaver_tui.opened import Opened
from beaver_tui.screens.modals import Ask, Confirm
from beaver_tui.state.speedtext import timed_lines
from engine import events as ev
from engine.authoring.patch import Fix, bring_home
from engine.errors import BeaverError
from engine.harness.on_demand import profiled_line, sanitized_line, timed_line
from engine.store import write_whole
from engine.verdict.profile_table import profile_table

if TYPE_CHECKING:
    from beaver_tui.app import BeaverApp

Examine = Callable[[Subject, bytes, int], Awaitable[tuple[str, str]]]
"""Asks about the code of a step; says it in one line, and whole."""


class Examining(Screen[None]):
    """A part of the workbench; ``opened`` and ``show`` are its other parts'."""

    app: BeaverApp
    opened: Opened

    _asking: tuple[str, Worker[None]] | None = None
    """What is being asked of a candidate just now, in words, and who does it: one at a time, or times would mean nothing."""

    def show(self, changes: frozenset[str] = frozenset()) -> None:
        raise NotImplementedError

    def action_log(self, name: str) -> None:
        raise NotImplementedError

    def _candidate(self) -> bytes | None:
        code = self.opened.session.source(self.opened.session.position)
        if self.opened.session.task is None:
            self.notify(self.opened.note or "the task is not there any more", severity="warning", markup=False)
            return None
        if code is None:
            self.notify("this step has no usable file")
        return code

    @asynccontextmanager
    async def _subject(self) -> AsyncIterator[Subject]:
        opened, task = self.opened, self.opened.session.task
        assert task is not None
        async with self.app.harness_of(opened) as harness:
            yield Subject(harness, task, opened.run, opened.cell, opened.live)

    def _judged(self, step: int) -> ev.Tested | None:
        """The step's own test, whose inputs are looked at again."""
        iterations: Sequence[Any] = self.opened.session.trajectory.iterations
        return iterations[step - 1].tested if 0 < step <= len(iterations) else None

    def action_sanitize(self) -> None:
        self._ask("the sanitizers", "sanitizer", self._sanitize)

    def action_time(self) -> None:
        self._ask("the timing", "profile", self._time)

    def action_profile(self) -> None:
        self._ask("the profile", "profile", self._profile)

    def _ask(self, what: str, log: str, examine: Examine) -> None:
        """Let ``examine`` say a line and a text about the candidate on show; what runs can be stopped with ``stop_asking``."""
        code, step = self._candidate(), self.opened.session.position
        if code is None:
            return
        if self._asking is not None and not self._asking[1].is_finished:
            self.notify(f"{self._asking[0]} first: still running; {shown_keys('app.interrupt')} stops it")
            return
        self._asking = what, self.run_worker(self._asked(what, log, examine, code, step), group="on demand")

    async def _asked(self, what: str, log: str, examine: Examine, code: bytes, step: int) -> None:
        stop = shown_keys("app.interrupt")
        self._show_result(step, log, f"{what} of step {step}: running; {stop} stops it")
        self.action_log(log)
        line = "stopped"
        text = f"{what} of step {step}: stopped"
        try:
            async with self._subject() as subject:
                line, text = await examine(subject, code, step)
        except BeaverError as error:
            line = text = str(error)
            self.notify(line, severity="error", markup=False)
        else:
            self.notify(f"step {step}: {line}", markup=False, timeout=10)
        finally:
            self._asking = None
            self._show_result(step, log, text)

    def stop_asking(self) -> str:
        """Stop what is being asked of a candidate; says what it was, empty when nothing was."""
        if self._asking is None or self._asking[1].is_finished:
            return ""
        what, worker = self._asking
        worker.cancel()
        return what

    async def _sanitize(self, subject: Subject, code: bytes, step: int) -> tuple[str, str]:
        reports = await on_demand.sanitize(subject, code, step, self._judged(step))
        line = sanitized_line(reports)
        return line, "\n".join(f"$ {report.tool}\n{report.output.text}" for report in reports) or line

    async def _time(self, subject: Subject, code: bytes, step: int) -> tuple[str, str]:
        timed = await on_demand.time(subject, code, step, self._judged(step))
        self.opened.session.add_measurement(step, timed)
        self.show(frozenset({"facts"}))
        return timed_line(timed), "\n".join(["timed by hand", *timed_lines(timed)])

    async def _profile(self, subject: Subject, code: bytes, step: int) -> tuple[str, str]:
        profiled = await on_demand.profile(subject, code, step, self._judged(step))
        return profiled_line(profiled), profile_table(profiled) or profiled_line(profiled)

    def _show_result(self, step: int, log: str, text: str) -> None:
        """At the end of the step's log, in the place of what stood there before."""
        self.opened.session.add_result(step, log, text)
        self.show(frozenset({f"log:{log}"}))

    @work(exclusive=True, group="steering")
    async def action_apply(self) -> None:
        session, step = self.opened.session, self.opened.session.position
        code = self._candidate()
        if code is None or session.task is None:
            return
        fix = Fix(self.opened.cell, step, session.task.spec.solution_file, session.task.broken, code)
        if not session.rows[step].passed:
            question = f"Step {step} did not pass. Take it all the same?"
            if not await self.app.push_screen_wait(Confirm(question, "Take it", "No")):
                return
        default = f"{self.opened.cell.task.replace('/', '-')}.patch"
        answer = await self.app.push_screen_wait(
            Ask("Write a patch to this file; or name your program's folder, to put the fixed file there", default)
        )
        if answer:
            await self._take_home(fix, await asyncio.to_thread(Path(answer).expanduser))

    async def _take_home(self, fix: Fix, path: Path) -> None:
        """Into the folder of the user's program, or as a patch; no file is written over unasked."""
        try:
            if await asyncio.to_thread(path.is_dir):
                self.notify(f"{bring_home(fix, path)}: is the candidate of step {fix.iteration} now", markup=False)
                return
            if await asyncio.to_thread(path.exists):
                question = f"{path}: is there already. Write the patch over it?"
                if not await self.app.push_screen_wait(Confirm(question, "Write over it", "No")):
                    return
            write_whole(path, fix.patch)
            self.notify(f"{path}: git apply {path} or patch -p1 < {path}", markup=False)
        except (BeaverError, OSError) as error:
            self.notify(str(error), severity="error", markup=False)
