"""Open files whose names come from outside: a FIFO or a device in a file's place must not hang the program."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def open_plain(path: Path, flags: int = os.O_RDONLY, mode: int = 0o644) -> int:
    """A descriptor of a regular file. Raises OSError, also for a folder, a FIFO, a socket or a device: none is waited for."""
    # O_NONBLOCK: opening a FIFO would wait for its other end; regular files know no waiting
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY, mode)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def read_plain(path: Path) -> bytes:
    """The bytes of a regular file. Raises OSError as ``open_plain`` does."""
    with os.fdopen(open_plain(path), "rb") as stream:
        return stream.read()
