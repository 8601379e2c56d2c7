"""Where the events of a stored trajectory come from: its journal, which another process may still be writing."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from beaver_tui.state.lines import one_line
from engine import events as ev
from engine.cells import StoryCheck
from engine.errors import BeaverError
from engine.journal import decode, follow
from engine.plain_file import open_plain, read_plain
from engine.rundir import Cell, RunDirectory


class StoredSource:
    """Reads a cell's journal as it grows. ``problem`` is empty, or says in one line what is wrong with the journal; what is whole
    before the damage is read all the same, and nothing after it."""

    def __init__(self, run: RunDirectory, cell: Cell) -> None:
        self.run, self.cell = run, cell
        self.path = run.journal(cell)
        self.problem = ""
        self._offset = 0
        self._check = StoryCheck(self.path, cell)

    def read(self) -> list[ev.Event]:
        """The events that have come since the last call; none of a journal that is not there yet. One that was there and
        is gone, or whose run is, is a problem."""
        if self.problem:
            return []
        try:
            size = self.path.stat().st_size
            if size < self._offset:
                self.problem = one_line(f"{self.path}: is shorter than it was; open it again")
            if size <= self._offset:
                return []
            events, self._offset = follow(self.path, self._offset)
        except FileNotFoundError:
            if self._offset or not self.run.path.exists():
                self.problem = one_line(f"{self.path}: is gone; it was moved or removed while it was open")
            return []
        except OSError as error:
            self.problem = one_line(f"{self.path}: {error.strerror}")
            return []
        except BeaverError as error:
            self.problem = one_line(str(error))
            return self._sound(self._before_the_damage())
        return self._sound(events)

    @property
    def live(self) -> bool:
        """Whether a living process is writing the run."""
        return is_live(self.run.path)

    def _sound(self, events: Sequence[ev.Event]) -> list[ev.Event]:
        """The events before the one at which the story breaks, if it does: lines that were lost in the middle still decode."""
        sound: list[ev.Event] = []
        try:
            for event in events:
                self._check.take(event)
                sound.append(event)
        except BeaverError as error:
            self.problem = self.problem or one_line(str(error))
        return sound

    def _before_the_damage(self) -> list[ev.Event]:
        events: list[ev.Event] = []
        with suppress(BeaverError, msgspec.MsgspecError, OSError, KeyError, ValueError):
            for line in read_plain(self.path)[self._offset :].splitlines():
                events.append(decode(line))
        return events


def is_live(run: Path) -> bool:
    """Whether a living process holds the lock of the run in this folder.

    The lock itself is tried only when its owner seems to live: trying it takes it for a moment, and must not be in the way of
    somebody who begins to write just then.
    """
    try:
        descriptor = open_plain(run / "lock")
    except OSError:
        return False
    try:
        if not _owner_lives(os.pread(descriptor, 4096, 0)):
            return False
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True  # held; or the file system knows no locks, and its owner's word is all there is
    finally:
        os.close(descriptor)
    return False


def _owner_lives(content: bytes) -> bool:
    """Whether the owner that a lock names may be alive; on another machine it may."""
    try:
        owner = msgspec.json.decode(content, type=dict[str, Any])
        process, host = int(owner["pid"]), owner["host"]
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError):
        return False
    if host != socket.gethostname():
        return True
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return process > 0
