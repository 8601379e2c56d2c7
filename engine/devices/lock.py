"""A lock among all processes and users of a host."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path

from engine.errors import InfraError


@contextlib.asynccontextmanager
async def held(path: Path, name: str) -> AsyncIterator[None]:
    """Hold ``path`` locked. It ends with the process, however that ends; ``name`` is what a message calls it."""
    descriptor = _open(path, name)
    try:
        # polling, not a thread: a cancelled wait must leave nothing behind that takes the lock later
        pause = 0.002
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(pause)
                pause = min(pause * 2, 0.05)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path, name: str) -> int:
    """A lock file that every user of the host can open; /tmp is sticky, so an existing one is never re-created."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    for attempt_flags in (flags, flags | os.O_CREAT | os.O_EXCL, flags):
        try:
            descriptor = os.open(path, attempt_flags, 0o666)
        except (FileNotFoundError, FileExistsError):
            continue
        except OSError as error:
            raise InfraError(f"{name} {path}: {error.strerror}", kind="gpu_lock") from error
        if attempt_flags & os.O_EXCL:
            os.fchmod(descriptor, 0o666)  # the umask must not shut other users out
        return descriptor
    raise InfraError(f"{name} {path} cannot be created", kind="gpu_lock")
