"""The append-only journal of one trajectory: one event a line, one writer, safe to read while it grows.

A line is written with a single write(2), so a crash tears at most the last one; a torn last line is cut and reported, any
other unreadable line is an error. Readers take older schema versions (migrated) and refuse newer ones.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import BeaverError, RunError
from engine.events import SCHEMA_VERSION, AnyEvent, Event
from engine.plain_file import open_plain
from engine.schema import check_schema
from engine.store import RunUnwritable

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)

Migration = Callable[[dict[str, Any]], dict[str, Any]]

MIGRATIONS: dict[int, Migration] = {}
"""From version n to n+1, one event at a time. tests/fixtures/journals holds a golden journal of every version."""


def encode(event: Event) -> bytes:
    """One journal line. Lone surrogates, which JSON cannot hold, become question marks: text from outside must not be able to
    end a run."""
    try:
        return _encoder.encode(event) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(_printable(msgspec.to_builtins(event))) + b"\n"


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list | tuple) else value


def decode(line: bytes, version: int = SCHEMA_VERSION) -> AnyEvent:
    """One event from one line that was written under ``version``. Raises msgspec.MsgspecError when it is none."""
    if version == SCHEMA_VERSION:
        return _decoder.decode(line)
    raw = msgspec.json.decode(line, type=dict[str, Any])
    for step in range(version, SCHEMA_VERSION):
        raw = MIGRATIONS[step](raw)
    return msgspec.convert(raw, AnyEvent)  # type: ignore[no-any-return]


def read_journal(path: Path) -> list[AnyEvent]:
    """All events of a journal; a torn last line is left out."""
    events, _ = _parse(path)
    return events


def follow(path: Path, offset: int = 0) -> tuple[list[AnyEvent], int]:
    """The complete events from ``offset`` on, and the offset to go on from: for readers of a live run."""
    return _parse(path, offset)


def _parse(path: Path, offset: int = 0) -> tuple[list[AnyEvent], int]:
    """The events from ``offset`` on, and the offset in bytes where what is whole ends."""
    try:
        with os.fdopen(open_plain(path), "rb") as stream:
            first = stream.readline() if offset else b""
            stream.seek(offset)
            content = stream.read()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror}") from error
    whole = content[: content.rfind(b"\n") + 1]
    lines = whole.split(b"\n")[:-1]
    if not lines:
        return [], offset
    version = _version(path, first or lines[0])
    events = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(decode(line, version))
        except (msgspec.MsgspecError, BeaverError, KeyError, ValueError) as error:  # ValueError: text that is not UTF-8
            place = f"{path}:{number}" + (f" after byte {offset}" if offset else "")
            raise RunError(f"{place}: not an event of schema version {version}: {error}") from error
    return events, offset + len(whole)


def _version(path: Path, first: bytes) -> int:
    """The version that the opening line names; it holds for the whole journal."""
    try:
        opening = msgspec.json.decode(first, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError) as error:
        raise RunError(f"{path}:1: not a journal: {error}") from error
    return check_schema(path, opening)


class Journal:
    """The writing end. Opening takes the trajectory's lock, cuts a torn last line and leaves the events in ``events``.

    Raises RunUnwritable when the run's disk takes no more, and RunError when this one journal is damaged or taken.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = open_plain(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            if path.exists() and not path.is_file():
                raise RunError(f"{path}: not a regular file, and no journal") from error
            raise RunUnwritable(path, error) from error
        try:
            self._begin()
        except BaseException:
            os.close(self._descriptor)  # with it goes the lock: another attempt must meet the same error, not us
            raise

    def _begin(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{self.path}: another process is writing this trajectory") from None
        self.events, whole = _parse(self.path)
        self.torn_bytes = os.fstat(self._descriptor).st_size - whole
        if self.torn_bytes:
            os.ftruncate(self._descriptor, whole)

    def append(self, event: Event) -> None:
        """Write one durable event; others are ignored. What a full disk cuts short is undone and raised."""
        if not event.durable:
            return
        line = encode(event)
        before = os.fstat(self._descriptor).st_size
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, "the disk is full")
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, before)
            raise RunUnwritable(self.path, error) from error

    def sync(self) -> None:
        """Make sure that what was written survives a power cut."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise RunUnwritable(self.path, error) from error

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
