"""The state file: outcomes line by line as they come, so that a second call goes on where the first one ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from engine.devices.cpu.cache import user_cache
from engine.errors import ConfigError
from engine.plain_file import open_plain, read_plain
from engine.verify.rows import VERSION, Outcome, Row, Seen


class State:
    """Outcomes by key. Lines that another version wrote, or that a kill tore, are not taken; they are seen again."""

    def __init__(self, known: dict[str, Outcome], descriptor: int) -> None:
        self._known, self._descriptor = known, descriptor

    def get(self, key: str) -> Outcome | None:
        return self._known.get(key)

    def add(self, seen: Seen) -> None:
        """Keep an outcome: in the file before anything builds on it."""
        self._known[seen.key] = seen.outcome
        self._append(seen)

    def finish(self, row: Row) -> None:
        """Put a task's row beside the outcomes, for readers; nothing is resumed from it."""
        self._append(row)

    def _append(self, line: Seen | Row) -> None:
        os.write(self._descriptor, msgspec.json.encode(line) + b"\n")  # one write: a line is there or it is not


@contextmanager
def open_state(path: Path, *, fresh: bool = False) -> Iterator[State]:
    """The state in ``path``, which is made when it is missing; ``fresh`` forgets what it holds. Raises ConfigError for a file
    that is something else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        content = read_plain(path) if path.exists() and not fresh else b""
        known = _outcomes(path, content)
        descriptor = open_plain(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if fresh else 0))
    except OSError as error:
        raise ConfigError(f"--out {path}: {error.strerror}") from error
    try:
        if not content:
            os.write(descriptor, msgspec.json.encode({"type": "verify", "schema_version": VERSION}) + b"\n")
        elif not content.endswith(b"\n"):
            os.write(descriptor, b"\n")
        yield State(known, descriptor)
    finally:
        os.close(descriptor)


def _outcomes(path: Path, content: bytes) -> dict[str, Outcome]:
    first, *lines = content.split(b"\n") if content else [b""]
    if content:
        try:
            head = msgspec.json.decode(first, type=dict[str, object])
        except (msgspec.MsgspecError, ValueError):
            head = {}
        if head.get("type") != "verify":
            raise ConfigError(f"--out {path}: not a file of beaver-tui verify; choose another, or remove it")
        if head.get("schema_version") != VERSION:
            raise ConfigError(f"--out {path}: written by another version of beaver-tui; choose another, or --fresh")
    known = {}
    for line in lines:
        try:
            entry = msgspec.json.decode(line, type=Seen | Row)
        except (msgspec.MsgspecError, ValueError):
            continue
        if isinstance(entry, Seen):
            known[entry.key] = entry.outcome
    return known


def default_state(corpus: Path) -> Path:
    """A file of the user's cache for this corpus."""
    import hashlib

    name = hashlib.sha256(str(corpus.resolve()).encode()).hexdigest()[:16]
    return user_cache() / "verify" / f"{name}.jsonl"
