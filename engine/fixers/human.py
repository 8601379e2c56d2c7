"""A person with an editor as a fixer: the file lies in a folder, saves are noticed, and submitting it makes it the reply."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import InfraError, RunError
from engine.fixers.base import FixRequest, Interrupted, Notice, Reply
from engine.fixers.desk import Desk, changed_lines
from engine.fixers.watch import FolderWatch


@dataclass(frozen=True)
class Change:
    """News from the person's folder. ``lines`` differ from the file that was laid out; ``file`` is its path."""

    kind: Literal["waiting", "saved", "gone", "submitted"]
    file: Path
    lines: int = 0

    @property
    def summary(self) -> str:
        """The news in words: "saved, 3 lines changed"."""
        if self.kind == "gone":
            return f"{self.file.name} is gone; save it again"
        lines = {0: "no line", 1: "1 line"}.get(self.lines, f"{self.lines} lines")
        return f"{self.kind}, {lines} changed"


Listener = Callable[[Change], None]


class HumanFixer:
    """Waits in ``directory`` until the person submits, by ``submit()`` or by a file named submit (see engine.fixers.desk).

    One person, one desk: of several requests one is laid out at a time, the others wait. Cancelling ends the watch and
    leaves the person's file where it is.
    """

    def __init__(self, directory: Path, *, name: str = "human") -> None:
        self.name = name
        self.directory = directory
        self._listeners: list[Listener] = []
        self._watch: FolderWatch | None = None
        self._submitted = self._interrupted = False
        self._notices: list[Notice] = []
        self._desk_is_free = asyncio.Lock()

    async def propose(self, request: FixRequest) -> Reply:
        """The file as submitted, byte for byte: ``text.encode("utf-8", "surrogateescape")`` are its exact bytes, whatever
        the editor's encoding and ends of lines. ``seconds`` is the person's time, without the wait for a free desk.

        Raises RunError when another process's fixer waits in the folder, InfraError when the folder disappears, Interrupted
        after ``interrupt``: the person's file stays where it is.
        """
        async with self._desk_is_free:
            if self._interrupted:
                raise Interrupted
            return await self._ask(request)

    async def _ask(self, request: FixRequest) -> Reply:
        started = time.monotonic()
        desk = Desk(self.directory)
        with desk.laid_out(self.name, request):
            async with FolderWatch(self.directory) as watch:
                self._watch, self._submitted = watch, False
                self._announce(desk, request)
                try:
                    content = await self._wait(desk, watch, request.source)
                finally:
                    self._watch = None
            desk.take(content)
        return Reply(
            text=content.decode("utf-8", "surrogateescape"),
            whole_file=True,
            model=self.name,
            seconds=time.monotonic() - started,
            calls=0,
        )

    async def close(self) -> None:
        """Nothing is held open between two requests; one that waits is ended by cancelling it."""

    @property
    def waiting(self) -> bool:
        """True while a request waits for the person."""
        return self._watch is not None

    def submit(self) -> None:
        """The file as it stands is the reply. May be called from any thread; RunError when nothing waits for it."""
        watch = self._watch
        if watch is None:
            raise RunError(f"fixer {self.name!r}: nothing waits for a submission in {self.directory}")
        self._submitted = True
        watch.touch()

    def interrupt(self) -> None:
        """End the wait, and every further one, with Interrupted."""
        self._interrupted = True
        if self._watch is not None:
            self._watch.touch()

    def subscribe_notices(self, notice: Notice) -> Callable[[], None]:
        """``notice`` is told whenever a person is waited for, and what that person can do."""
        self._notices.append(notice)
        return lambda: self._notices.remove(notice)

    def _announce(self, desk: Desk, request: FixRequest) -> None:
        attempt = f" · attempt {request.attempt}" if request.attempt > 1 else ""
        who = f"{request.task.id} · {self.name}{attempt}  "
        lines = []
        if desk.saved is not None:
            lines.append(f"{who}your {desk.file.name} was kept as {desk.saved}")
        lines.append(
            f"{who}waiting for you: edit {desk.file} ({desk.feedback} says what failed), "
            f"then: beaver-tui submit {shlex.quote(str(desk.folder))}"
        )
        for line in lines:
            for notice in list(self._notices):
                notice(line)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """``listener`` is called in the event loop with every Change; call what this returns to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def _wait(self, desk: Desk, watch: FolderWatch, source: bytes) -> bytes:
        """The submitted bytes. Each turn looks at the folder anew, so that no order of events can mislead it."""
        seen = desk.content()
        # in threads: the difference of two long files takes a noticeable time, and a screen may live in this loop
        changed = await asyncio.to_thread(changed_lines, source, seen or b"")
        self._tell(Change("waiting", desk.file, changed))
        watch.touch()  # what happened before the watch began
        while True:
            await watch.settled()
            if self._interrupted:
                raise Interrupted
            if not self.directory.is_dir():
                raise InfraError(
                    f"fixer {self.name!r}: {self.directory} was removed; start again to have it laid out anew"
                )
            content = desk.content()
            if content != seen:
                seen = content
                self._tell(await self._news("saved", desk, source, content))
            if not (self._submitted or desk.submit_asked()):
                continue
            self._submitted = False
            desk.clear_submit()
            self._tell(await self._news("submitted", desk, source, content))
            if content is not None:
                return content

    async def _news(
        self, kind: Literal["saved", "submitted"], desk: Desk, source: bytes, content: bytes | None
    ) -> Change:
        if content is None:
            return Change("gone", desk.file)
        return Change(kind, desk.file, await asyncio.to_thread(changed_lines, source, content))

    def _tell(self, change: Change) -> None:
        for listener in list(self._listeners):
            listener(change)
