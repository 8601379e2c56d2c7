"""The append-only journal of one trajectory: one event a line, one writer, safe to read while it grows.

A line is written with a single write(2), so a crash tears at most the last one; a torn last line is cut and reported, any
other unreadable line is an error. Readers take older schema versions (migrated) and refuse newer ones.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import RunError
from engine.events import SCHEMA_VERSION, AnyEvent, Event

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)

Migration = Callable[[dict[str, Any]], dict[str, Any]]

MIGRATIONS: dict[int, Migration] = {}
"""From version n to n+1, one event at a time. tests/fixtures/journals holds a golden journal of every version."""


def encode(event: Event) -> bytes:
    """One journal line."""
    return _encoder.encode(event) + b"\n"


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
    with path.open("rb") as stream:
        stream.seek(offset)
        content = stream.read()
    whole = content[: content.rfind(b"\n") + 1]
    return [decode(line) for line in whole.splitlines()], offset + len(whole)


def _parse(path: Path) -> tuple[list[AnyEvent], int]:
    """Events, and the length in bytes of what is whole."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    version = _version(path, content[:end])
    events = []
    for number, line in enumerate(content[:end].split(b"\n")[:-1], 1):
        try:
            events.append(decode(line, version))
        except (msgspec.MsgspecError, KeyError) as error:
            raise RunError(f"{path}:{number}: not an event of schema version {version}: {error}") from error
    return events, end


def _version(path: Path, content: bytes) -> int:
    first = content.split(b"\n", 1)[0]
    if not first:
        return SCHEMA_VERSION
    try:
        opening = msgspec.json.decode(first, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise RunError(f"{path}:1: not a journal: {error}") from error
    version = opening.get("schema_version", SCHEMA_VERSION)
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise RunError(
            f"{path}: written with schema version {version}, this program knows {SCHEMA_VERSION}; use a newer beaver-tui"
        )
    return version


class Journal:
    """The writing end. Opening takes the trajectory's lock, cuts a torn last line and leaves the events in ``events``."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise RunError(f"{path}: another process is writing this trajectory") from None
        self.events, whole = _parse(path)
        self.torn_bytes = path.stat().st_size - whole
        if self.torn_bytes:
            os.ftruncate(self._descriptor, whole)

    def append(self, event: Event) -> None:
        """Write one durable event; others are ignored. A short write (full disk) is undone and raised."""
        if not event.durable:
            return
        line = encode(event)
        before = os.fstat(self._descriptor).st_size
        written = os.write(self._descriptor, line)
        if written != len(line):
            os.ftruncate(self._descriptor, before)
            raise RunError(f"{self.path}: could not write an event, the disk is full")

    def sync(self) -> None:
        """Make sure that what was written survives a power cut."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def journals(run: Path) -> Iterator[Path]:
    """Every journal of a run directory, in a stable order."""
    yield from sorted((run / "trajectories").glob("*/*/*/journal.jsonl"))
