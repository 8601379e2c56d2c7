"""What one step may use. Wall time is watched from outside, the rest is enforced by the kernel or by a watch on memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes. ``memory`` is the resident size of the whole process tree: RLIMIT_AS would break the address
    space that CUDA reserves. ``cpu`` is per process; its hard limit lies 2 s above the soft one, so that the kernel sends
    SIGXCPU and not a SIGKILL that looks like an out-of-memory kill."""

    wall: float = 60.0
    cpu: int = 600
    memory: int = 12 * GIB
    file_size: int = 2 * GIB
    processes: int = 512
    open_files: int = 4096

    def prlimit(self, processes: int | None) -> list[str]:
        """A command prefix that sets the limits; ``processes`` None leaves the process limit alone."""
        command = [
            "prlimit",
            f"--cpu={self.cpu}:{self.cpu + 2}",
            f"--fsize={self.file_size}",
            f"--nofile={self.open_files}",
            "--core=0",
        ]
        if processes is not None:
            command.append(f"--nproc={processes}")
        return command


class LimitsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a step may use, in MiB and processes; None takes the harness's default."""

    memory_mib: int | None = None
    file_size_mib: int | None = None
    processes: int | None = None

    def apply(self, limits: Limits) -> Limits:
        """``limits`` with what is set here."""
        changes: dict[str, int] = {}
        if self.memory_mib is not None:
            changes["memory"] = self.memory_mib * MIB
        if self.file_size_mib is not None:
            changes["file_size"] = self.file_size_mib * MIB
        if self.processes is not None:
            changes["processes"] = self.processes
        return replace(limits, **changes)
