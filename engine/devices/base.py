"""A device, as the harness and every report name it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import InfraError

DEFAULT_ARCH = "sm_90"
"""What is built for when no device says otherwise: the paper's Hopper class."""


@dataclass(frozen=True)
class Device:
    """``kind`` none: this machine has no device; programs are built and ``missing`` says why they are not run.

    ``sm`` is the compute capability times ten (90 for sm_90), ``memory`` is in bytes, ``driver`` the driver's version.
    """

    kind: Literal["cuda", "none"]
    name: str
    uuid: str = ""
    index: int = 0
    sm: int = 0
    memory: int = 0
    driver: str = ""
    missing: str = ""

    @property
    def label(self) -> str:
        """How events and reports name it; the first word is the kind."""
        return f"{self.kind} {self.name} (sm_{self.sm})" if self.kind != "none" else "none"

    def describe(self) -> dict[str, str | int]:
        """For a run's record."""
        return {
            "kind": self.kind,
            "name": self.name,
            "uuid": self.uuid,
            "sm": self.sm,
            "memory": self.memory,
            "driver": self.driver,
        }

    @property
    def arch(self) -> str:
        """The target for nvcc's -arch."""
        return f"sm_{self.sm}" if self.sm else DEFAULT_ARCH

    @contextlib.asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Hold the device: one test or timing at a time, among all processes of this host. Builds need no lock."""
        if self.kind == "none":
            yield
            return
        descriptor = _open_lock(Path("/tmp") / f"beaver-tui-gpu-{self.uuid}.lock")
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


def _open_lock(path: Path) -> int:
    """A lock file that every user of the host can open; /tmp is sticky, so an existing one is never re-created."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    for attempt_flags in (flags, flags | os.O_CREAT | os.O_EXCL, flags):
        try:
            descriptor = os.open(path, attempt_flags, 0o666)
        except (FileNotFoundError, FileExistsError):
            continue
        except OSError as error:
            raise InfraError(f"GPU lock {path}: {error.strerror}", kind="gpu_lock") from error
        if attempt_flags & os.O_EXCL:
            os.fchmod(descriptor, 0o666)  # the umask must not shut other users out
        return descriptor
    raise InfraError(f"GPU lock {path} cannot be created", kind="gpu_lock")
