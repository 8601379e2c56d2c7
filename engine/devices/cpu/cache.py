"""What is compiled once and kept: the runtime library and the kernels' objects, by content."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent


def user_cache() -> Path:
    """$XDG_CACHE_HOME/beaver-tui, or the same under ~/.cache: what can be deleted at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "beaver-tui"


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/beaver-tui/cpu; made when it is missing."""
    folder = user_cache() / "cpu"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest(parts: Iterable[str | bytes]) -> str:
    """A name of 24 hex digits for a list of texts; their borders count."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()[:24]


def sources(pattern: str) -> list[tuple[str, bytes]]:
    """Files of this package by glob, as (relative name, content), sorted."""
    return sorted((str(path.relative_to(PACKAGE)), path.read_bytes()) for path in PACKAGE.glob(pattern))


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """One process at a time makes what ``name`` names. Blocks: for a thread of its own."""
    with (cache_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """A new folder to fill; it becomes ``target`` in one step, or, when somebody was faster, nothing."""
    with tempfile.TemporaryDirectory(prefix=".making-", dir=target.parent) as scratch:
        folder = Path(scratch) / "whole"
        folder.mkdir(mode=0o755)
        yield folder
        for path in folder.rglob("*"):  # whatever the umask: candidates read it under a uid of their own
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        folder.chmod(0o755)
        try:
            folder.rename(target)
        except OSError:
            if not target.is_dir():
                raise
