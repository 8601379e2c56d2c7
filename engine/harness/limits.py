"""What one step may use. Wall time is watched from outside, the rest is enforced by the kernel or by a watch on memory."""

from __future__ import annotations

from dataclasses import dataclass

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
