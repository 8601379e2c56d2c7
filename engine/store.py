"""Content-addressed texts of a run: written once, named by their SHA-256, on disk or in memory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path
from typing import Protocol

from engine.errors import RunError
from engine.plain_file import read_plain


class RunUnwritable(RunError):
    """Nothing more can be written to the run: its disk is full, or its folder is gone. Ends a sweep, unlike any other error of
    a single trajectory; the run goes on when there is room again."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(f"{path}: cannot be written: {error.strerror or error}")


def sha256(content: bytes) -> str:
    """Hex SHA-256 of exact bytes."""
    return hashlib.sha256(content).hexdigest()


class Store(Protocol):
    """Where the loop puts replies, solutions, prompts and whole logs, and finds them again."""

    def put(self, kind: str, content: bytes, extension: str = "txt") -> str:
        """Keep ``content`` under ``kind`` (responses, solutions, prompts); returns its SHA-256."""
        ...

    def get(self, kind: str, digest: str) -> bytes: ...

    def save_log(self, iteration: int, step: str, text: str) -> None:
        """Keep the whole log of a step of this trajectory."""
        ...

    def read_log(self, iteration: int, step: str) -> str | None:
        """The whole log of a step as it was kept last, None when there is none. Raises RunError."""
        ...


class MemoryStore:
    """For notebooks and tests: nothing touches the disk."""

    def __init__(self) -> None:
        self._contents: dict[tuple[str, str], bytes] = {}
        self.logs: dict[tuple[int, str], str] = {}

    def put(self, kind: str, content: bytes, extension: str = "txt") -> str:
        digest = sha256(content)
        self._contents[kind, digest] = content
        return digest

    def get(self, kind: str, digest: str) -> bytes:
        return self._contents[kind, digest]

    def save_log(self, iteration: int, step: str, text: str) -> None:
        self.logs[iteration, step] = text

    def read_log(self, iteration: int, step: str) -> str | None:
        return self.logs.get((iteration, step))


class DiskStore:
    """``root`` is the run's folder, shared by its trajectories; ``logs`` this trajectory's folder for whole logs."""

    def __init__(self, root: Path, logs: Path) -> None:
        self._root, self._logs = root, logs

    def put(self, kind: str, content: bytes, extension: str = "txt") -> str:
        digest = sha256(content)
        path = self._root / kind / f"{digest}.{extension}"
        if not path.exists() or path.stat().st_size != len(content):  # a power cut may leave a file empty
            # replies are paid for; solutions can be extracted from them again, and nothing is built from a stored prompt
            self._write(path, content, durable=kind == "responses")
        return digest

    def get(self, kind: str, digest: str) -> bytes:
        for path in (self._root / kind).glob(f"{digest}.*"):
            try:
                content = read_plain(path)
            except OSError as error:
                raise RunError(f"{path}: cannot be read: {error.strerror}") from error
            if sha256(content) != digest:
                raise RunError(f"{path}: the content does not match its name; the run was changed by hand")
            return content
        raise RunError(f"{self._root / kind}: {digest[:12]}… is missing; the run is not complete")

    def save_log(self, iteration: int, step: str, text: str) -> None:
        self._write(self._logs / f"{iteration}-{step}.txt", text.encode("utf-8", "replace"), durable=False)

    def read_log(self, iteration: int, step: str) -> str | None:
        path = self._logs / f"{iteration}-{step}.txt"
        try:
            return read_plain(path).decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {error.strerror}") from error

    @staticmethod
    def _write(path: Path, content: bytes, *, durable: bool) -> None:
        try:
            write_whole(path, content, durable=durable)
        except OSError as error:
            raise RunUnwritable(path, error) from error


def write_whole(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write beside, fsync, rename: a reader sees all of it or nothing. Creates the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("wb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
