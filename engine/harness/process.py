"""Run one step to its end, whatever the step tries: bounded output, wall, memory and disk watched, the whole tree killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.errors import InfraError
from engine.events import StepRecord
from engine.evidence import StepEvidence
from engine.harness.capture import Capture
from engine.harness.limits import Limits
from engine.harness.parentclock import Talk
from engine.harness.sandbox import Launch, start
from engine.harness.workspace import regular_files

Output = Callable[[str, bytes], None]
"""Called with the stream's name (stdout, stderr) and a piece of it, while the step runs."""

_CHUNK = 1 << 16
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_FILES = 50_000
_DRAIN_SECONDS = 1.0
"""How long output is still read after the tree is dead: pipes are empty by then unless something outlived the kill."""


@dataclass
class Ended:
    """How a step ended. ``exit_code`` is None after a signal; shells report a child's signal as 128 + its number."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    memory_killed: bool
    stdout: Capture
    stderr: Capture
    seconds: float
    peak_memory: int
    disk_killed: bool = False

    @property
    def printed(self) -> int:
        """Bytes of output that were kept."""
        return self.stdout.total - self.stdout.omitted + self.stderr.total - self.stderr.omitted

    @property
    def killed(self) -> bool:
        """By a limit or a signal: what it was writing may be half there, and another try may end otherwise."""
        return self.timed_out or self.memory_killed or self.disk_killed or self.signal is not None

    def evidence(self) -> StepEvidence:
        return StepEvidence(
            exit_code=self.exit_code,
            signal=self.signal,
            timed_out=self.timed_out,
            memory_killed=self.memory_killed,
            stdout=self.stdout.text(),
            stderr=self.stderr.text() + ("\nbeaver: killed, it filled the disk\n" if self.disk_killed else ""),
            seconds=self.seconds,
        )

    def record(self, command: str) -> StepRecord:
        return StepRecord(
            command=command,
            exit_code=self.exit_code,
            signal=self.signal,
            timed_out=self.timed_out,
            memory_killed=self.memory_killed,
            stdout=self.stdout.excerpt(),
            stderr=self.stderr.excerpt(),
            seconds=round(self.seconds, 4),
            peak_memory=self.peak_memory,
        )


async def run_step(
    launch: Launch, limits: Limits, on_output: Output | None = None, disk: Path | None = None, talk: Talk | None = None
) -> Ended:
    """Run a launch to its end. ``disk`` is a folder whose growth is watched; ``talk`` gets its standard input and hears its
    standard output. Raises InfraError when it cannot be started.

    Cancelling kills the tree before the cancellation goes on.
    """
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    try:
        process, report = start(launch, subprocess.PIPE, subprocess.DEVNULL if talk is None else subprocess.PIPE)
    except OSError as error:
        if talk is not None:
            talk.closed()
        raise InfraError(f"cannot start {launch.arguments[0]}: {error.strerror}", kind="process") from error
    captures = {"stdout": Capture(), "stderr": Capture()}
    open_pipes: set[int] = set()
    drained = asyncio.Event()

    def read(name: str, descriptor: int) -> None:
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if chunk:
            if talk is not None and name == "stdout":
                talk.heard(chunk, time.monotonic())
            captures[name].feed(chunk)
            if on_output is not None:
                on_output(name, chunk)
            return
        loop.remove_reader(descriptor)
        open_pipes.discard(descriptor)
        if not open_pipes:
            drained.set()

    if talk is not None:
        assert process.stdin is not None
        talk.opened(os.dup(process.stdin.fileno()))
        process.stdin.close()
    for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)
        open_pipes.add(pipe.fileno())
        loop.add_reader(pipe.fileno(), read, name, pipe.fileno())

    exited = asyncio.Event()
    _notify_on_exit(process, loop, exited)
    watch = _Watch(process.pid, limits, disk)
    watching = asyncio.create_task(watch.until_over())
    timed_out = False
    try:
        waiting = asyncio.create_task(exited.wait())
        done, _ = await asyncio.wait(
            {waiting, watching}, timeout=limits.wall - (time.monotonic() - began), return_when=asyncio.FIRST_COMPLETED
        )
        # a program that ended while this process was stopped or busy did not run too long
        timed_out = not done and process.poll() is None
        if watching in done:
            watching.result()  # a watch that failed must not look like a limit that was reached
    finally:
        watching.cancel()
        waiting.cancel()
        inside = _children(process.pid)
        kill_tree(process.pid, launch)
        try:
            await asyncio.shield(_settle(exited, drained, inside))
        finally:  # also when a second cancellation does not wait
            for descriptor in tuple(open_pipes):
                loop.remove_reader(descriptor)
            for pipe in (process.stdout, process.stderr):
                assert pipe is not None
                pipe.close()
            if talk is not None:
                talk.closed()
            began_at_all = report is None or _says_exit(report)
    if not (began_at_all or timed_out or watch.over):
        said = captures["stderr"].text().strip().split("\n")[-1]
        raise InfraError(f"the sandbox could not start a step: {said or 'it gave no reason'}", kind="sandbox")
    # after our own kill the status says nothing about the step
    code = None if timed_out or watch.over else process.returncode
    return Ended(
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        timed_out=timed_out,
        memory_killed=watch.over == "memory",
        disk_killed=watch.over == "disk",
        stdout=captures["stdout"],
        stderr=captures["stderr"],
        seconds=time.monotonic() - began,
        peak_memory=watch.peak,
    )


def _says_exit(report: int) -> bool:
    """Whether bubblewrap reports how its child ended: it does once there was one."""
    with open(report, "rb") as stream:
        return b'"exit-code"' in stream.read(4096)


async def _settle(exited: asyncio.Event, drained: asyncio.Event, inside: list[int]) -> None:
    """Until the step, and the first process of its namespace (which ends last), are dead and their output is read."""
    await exited.wait()
    for _ in range(1000):
        if not any(_alive(pid) for pid in inside):
            break
        await asyncio.sleep(0.002)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            await drained.wait()


def _notify_on_exit(process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop, exited: asyncio.Event) -> None:
    """Set ``exited`` when the process has ended and is reaped. asyncio's own subprocesses also wait for their pipes, which a
    daemon may hold open for ever."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # a kernel without pidfds
        threading.Thread(target=_wait, args=(process, loop, exited), daemon=True, name=f"wait-{process.pid}").start()
        return

    def reap() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        process.wait()
        exited.set()

    loop.add_reader(descriptor, reap)


def _wait(process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop, exited: asyncio.Event) -> None:
    process.wait()
    with contextlib.suppress(RuntimeError):  # the loop was closed under us
        loop.call_soon_threadsafe(exited.set)


class _Watch:
    """Looks at the tree's resident size and at a folder's size, often at first and then four times a second."""

    def __init__(self, pid: int, limits: Limits, disk: Path | None) -> None:
        self._pid, self._limits, self._disk = pid, limits, disk
        self.peak = 0
        self.over = ""

    async def until_over(self) -> None:
        pause = 0.05
        while not self.over:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.25)
            resident = _resident(self._pid)
            if resident > self._limits.memory:
                resident = _resident(self._pid, shared_once=True)
            self.peak = max(self.peak, resident)
            if resident > self._limits.memory:
                self.over = "memory"
            elif self._disk is not None and await asyncio.to_thread(self._fills, self._disk):
                self.over = "disk"

    def _fills(self, folder: Path) -> bool:
        """Too many bytes, or too many files, for anything that a build or a test needs."""
        total = 0
        for count, path in enumerate(regular_files(folder)):
            with contextlib.suppress(OSError):
                total += path.lstat().st_blocks * 512
            if total > 2 * self._limits.file_size or count > _MOST_FILES:
                return True
        return False


def _resident(pid: int, *, shared_once: bool = False) -> int:
    """Bytes of memory that a process and its descendants hold. ``shared_once`` divides shared pages among those who share
    them, which is exact, and slow: copy-on-write children would else count their parent's memory again and again."""
    total = 0
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        with contextlib.suppress(OSError, ValueError):
            if shared_once:
                text = Path(f"/proc/{current}/smaps_rollup").read_text()
                total += 1024 * int(text.partition("\nPss:")[2].split()[0])
            else:
                total += _PAGE * int(Path(f"/proc/{current}/statm").read_text().split()[1])
        waiting += _children(current)
    return total


def _children(pid: int) -> list[int]:
    """Direct children, by the kernel's own list: walking all of /proc several times a second would cost more than a step."""
    found: list[int] = []
    try:
        threads = list(os.scandir(f"/proc/{pid}/task"))
    except OSError:
        return found
    for thread in threads:
        try:
            found += map(int, Path(f"{thread.path}/children").read_text().split())
        except FileNotFoundError:  # a kernel without that list, or the thread is gone
            if not Path(f"/proc/{pid}/task").exists():
                break
            with contextlib.suppress(psutil.Error):
                return [child.pid for child in psutil.Process(pid).children()]
    return found


def kill_tree(pid: int, launch: Launch) -> None:
    """Kill a step's session and, where no pid namespace does it, whatever left the session but still carries the marker."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if launch.contained:
        return
    wanted = f"BEAVER_STEP={launch.marker}\0".encode()  # with its end: step 4-1 must not kill step 4-12
    for _ in range(20):
        strays = [stray for stray in _marked(wanted) if stray != os.getpid()]
        if not strays:
            return
        for stray in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)


def _marked(wanted: bytes) -> list[int]:
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{entry.name}/environ", "rb") as stream:  # noqa: PTH123 (hot, and not a file)
                environment = stream.read()
            if wanted in environment and _state(entry.name) not in "ZX":
                found.append(int(entry.name))
    return found


def _state(pid: str) -> str:
    with open(f"/proc/{pid}/stat", "rb") as stream:  # noqa: PTH123
        return stream.read().rsplit(b") ", 1)[-1][:1].decode()


def _alive(pid: int) -> bool:
    try:
        return _state(str(pid)) not in "ZX"
    except OSError:
        return False
