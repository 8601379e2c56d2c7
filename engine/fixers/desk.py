"""A person's desk: the folder where the file to repair lies, with its prompt and feedback, and where "submit" is said.

<solution file>   the file to repair; saving it is enough
prompt.txt        what the task asks for
feedback.txt      what the harness said about the file as it stands
waiting.json      who waits here for what; locked by the waiting process
submit            appears when the person is done; `beaver-tui submit DIR` and `touch DIR/submit` are the same
"""

from __future__ import annotations

import contextlib
import difflib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from engine.errors import RunError
from engine.events import utc_now
from engine.fixers.base import FixRequest
from engine.plain_file import open_plain, read_plain
from engine.store import sha256, write_whole
from engine.text import plain_text

PROMPT, FEEDBACK, STATE, SUBMIT = "prompt.txt", "feedback.txt", "waiting.json", "submit"


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """waiting.json. ``base`` is the SHA-256 of what the person started from: the source laid out, then the submission.

    The lock on the file, not ``state``, says whether anybody waits: a killed process cannot write that it has gone.
    """

    fixer: str
    task: str
    attempt: int
    iteration: int
    file: str
    base: str
    pid: int
    state: Literal["waiting", "left", "submitted"] = "waiting"
    since: str = msgspec.field(default_factory=utc_now)


class Desk:
    """One folder. ``laid_out`` is entered by one waiting fixer at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "-"
        self.feedback = folder / FEEDBACK
        self.saved: Path | None = None
        """Where a file of the person's was kept that had to make room."""

    @contextlib.contextmanager
    def laid_out(self, fixer: str, request: FixRequest) -> Iterator[None]:
        """Lays out everything for ``request`` and holds the folder. Raises RunError when another fixer waits there.

        A person's unsent changes are never lost: they stay in the file when they were made to this very source (an
        interrupted session, or typing on while the harness ran); else the file is kept beside, as <file>.saved-1.
        """
        self.file = self.folder / Path(request.task.spec.solution_file).name
        if self.file.name in (PROMPT, FEEDBACK, STATE, SUBMIT):
            raise RunError(
                f"task {request.task.id}: a solution named {self.file.name} cannot be edited by hand; rename it"
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = open_plain(self.folder / STATE, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise RunError(f"{self.folder}: cannot be used as a folder to edit in: {error.strerror}") from error
        try:
            with contextlib.ExitStack() as stack:
                if not _lock(descriptor):
                    raise RunError(f"{self.folder}: another fixer waits here already; give each its own folder")
                before = _read_state(self.folder)
                state = Waiting(
                    fixer=fixer,
                    task=request.task.id,
                    attempt=request.attempt,
                    iteration=request.iteration,
                    file=self.file.name,
                    base=sha256(request.source),
                    pid=os.getpid(),
                )
                self.clear_submit()
                self._lay_source(request, before)
                self._lay_text(PROMPT, request.task.prompt)
                self._lay_text(FEEDBACK, request.feedback or request.task.error_log)
                self._state, self._descriptor = state, descriptor
                self._write_state(state)
                stack.callback(lambda: self._write_state(self._left()))
                yield
        finally:
            os.close(descriptor)  # and with it the lock

    def content(self) -> bytes | None:
        """The file's bytes; None while it is not there."""
        try:
            return read_plain(self.file)
        except OSError:
            return None

    def take(self, content: bytes) -> None:
        """``content`` is handed in."""
        self._state = msgspec.structs.replace(self._state, state="submitted", base=sha256(content))

    def submit_asked(self) -> bool:
        return (self.folder / SUBMIT).exists()

    def clear_submit(self) -> None:
        (self.folder / SUBMIT).unlink(missing_ok=True)

    def _left(self) -> Waiting:
        state = self._state
        return state if state.state == "submitted" else msgspec.structs.replace(state, state="left")

    def _lay_source(self, request: FixRequest, before: Waiting | None) -> None:
        existing = self.content()
        if existing == request.source:
            return  # also spares an editor the question whether to load it again
        if existing is not None:
            if before is not None and (before.task, before.base) == (request.task.id, sha256(request.source)):
                return
            if before is None or before.base != sha256(existing):
                self.saved = _free_name(self.file)
                self.file.rename(self.saved)
        write_whole(self.file, request.source)

    def _lay_text(self, name: str, text: str) -> None:
        write_whole(self.folder / name, plain_text(text).encode(errors="replace"), durable=False)

    def _write_state(self, state: Waiting) -> None:
        # In place: the lock belongs to this very file.
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, msgspec.json.format(msgspec.json.encode(state)) + b"\n", 0)


def submit_directory(folder: Path, *, same: bool = False) -> Waiting:
    """Tells the human fixer that waits in ``folder`` that the file is done. RunError when none waits there, and when the
    file is what was laid out, unless ``same`` says that this is meant."""
    hint = "give the folder of a running human fixer"
    if not folder.is_dir():
        raise RunError(f"{folder}: no such folder; {hint}")
    state = _read_state(folder)
    if state is None:
        raise RunError(f"{folder}: no human fixer has ever waited here ({STATE} is missing); {hint}")
    if not _is_locked(folder / STATE):
        raise RunError(f"{folder}: nobody waits here any more (iteration {state.iteration} of {state.task}); {hint}")
    try:
        content = read_plain(folder / state.file)
    except OSError:
        raise RunError(f"{folder / state.file}: the file to submit is not there; save it again, then submit") from None
    if sha256(content) == state.base and not same:
        raise RunError(
            f"{folder / state.file}: nothing is changed in it; save your repair first, or hand it in as it is with --same"
        )
    (folder / SUBMIT).touch()
    return state


def changed_lines(old: bytes, new: bytes) -> int:
    """How many lines differ, counting a changed line once; ends of lines (LF, CRLF) do not matter."""
    before, after = old.splitlines(), new.splitlines()
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    steps = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in steps if tag != "equal")


def _read_state(folder: Path) -> Waiting | None:
    try:
        return msgspec.json.decode(read_plain(folder / STATE), type=Waiting)
    except (OSError, msgspec.MsgspecError):
        return None


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_locked(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_name(f"{path.name}.saved-{number}")).exists():
        number += 1
    return name
