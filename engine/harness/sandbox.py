"""Where a candidate's processes run: bubblewrap, bare namespaces, or (only when asked for) nothing.

Candidates are hostile until proven otherwise. A box shows a process the system's programs and libraries, the CUDA toolkit,
the GPU's device nodes and one workspace; no network, no home, no project, no environment beyond an allow-list. What was
tried and failed, and therefore must stay: as root, bubblewrap without ``--cap-drop ALL`` lets the child remount the system
writable; a process limit holds nothing for root, so the uid is dropped before bubblewrap starts. docs/security.md has the
attacks.
"""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from engine.errors import ConfigError
from engine.harness.limits import GIB, Limits
from engine.harness.uids import unprivileged_uid

WORKSPACE = "/workspace"
"""Where the box mounts the workspace: logs name the same paths on every machine."""

_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf")

_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
_MOVING = "/mnt"
"""Where the workspace waits while a new /tmp is laid over the old one."""


@dataclass(frozen=True)
class Box:
    """What one step may see and change. ``readonly`` names files of the workspace (relative) that it must not change;
    with ``frozen`` the whole workspace is read-only and only the folders in ``writable`` are not."""

    workspace: Path
    uid: int | None = None
    """Who the step becomes first, None to stay who we are."""
    environment: dict[str, str] = field(default_factory=dict)
    readonly: tuple[str, ...] = ()
    frozen: bool = False
    writable: tuple[str, ...] = ()
    visible: tuple[Path, ...] = ()
    """Folders outside the system's own that a step needs, such as a toolkit in /opt."""
    nodes: tuple[str, ...] = ()
    """What it sees of /dev, as patterns."""
    hide: tuple[Path, ...] = ()
    """Folders that must be covered where the rest of the disk is visible: the task itself, with its reference."""


@dataclass(frozen=True)
class Launch:
    """A process to start: arguments, environment, and the uid to become first (None: stay)."""

    arguments: list[str]
    environment: dict[str, str]
    uid: int | None
    directory: str
    marker: str
    """Value of BEAVER_STEP, by which a process that escaped its session is found again."""
    reports_start: bool = False
    """Takes ``--json-status-fd``: a step that never began can be told from one that failed, whatever it prints."""
    contained: bool = True
    """A pid namespace of its own: the kernel ends all of it with its first process, and nothing can escape."""


class Sandbox(Protocol):
    """A way to start shell text in a box."""

    name: str
    drops_uid: bool
    """Whether candidates get a uid of their own when we are root."""

    def launch(self, command: str, box: Box, limits: Limits) -> Launch: ...


_counter = itertools.count()


def _marker() -> str:
    return f"{os.getpid()}-{next(_counter)}"


def _process_limit(uid: int | None, limits: Limits) -> int | None:
    """RLIMIT_NPROC counts all processes of a uid. A fresh uid has none; a person's own uid has many already."""
    if uid is not None:
        return limits.processes
    running = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    running += sum(1 for _ in os.scandir(f"/proc/{entry.name}/task"))
            except OSError:
                continue  # it ended while we looked
    return running + limits.processes


class Bubblewrap:
    """Own user, mount, pid, network, ipc and uts namespaces; about 5 ms a launch."""

    name = "bubblewrap"
    drops_uid = True

    def launch(self, command: str, box: Box, limits: Limits) -> Launch:
        marker = _marker()
        arguments = [*limits.prlimit(_process_limit(box.uid, limits)), "bwrap", *_ISOLATION, *_system_mounts()]
        for folder in box.visible:
            arguments += ["--ro-bind", str(folder), str(folder)]
        if box.nodes:
            arguments += _device_mounts(box.nodes)
        arguments += ["--ro-bind" if box.frozen else "--bind", str(box.workspace), WORKSPACE]
        for name in box.readonly:
            arguments += ["--ro-bind", str(box.workspace / name), f"{WORKSPACE}/{name}"]
        for name in box.writable:
            arguments += ["--bind", str(box.workspace / name), f"{WORKSPACE}/{name}"]
        # the shell is the namespace's first process: bubblewrap's exit then means that all of it is dead
        arguments += [
            "--remount-ro",
            "/dev",
            "--remount-ro",
            "/",
            "--as-pid-1",
            "--chdir",
            WORKSPACE,
            "--",
            *_as_child(command),
        ]
        environment = {**box.environment, "HOME": "/home/beaver", "TMPDIR": "/tmp", "BEAVER_STEP": marker}
        return Launch(arguments, environment, box.uid, "/", marker, reports_start=True)


_ISOLATION = (
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--hostname",
    "beaver",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--size",
    str(GIB),
    "--tmpfs",
    "/dev/shm",
    "--size",
    str(GIB),
    "--tmpfs",
    "/tmp",
    "--size",
    str(GIB),
    "--tmpfs",
    "/home",
    "--dir",
    "/home/beaver",
)


@cache
def _system_mounts() -> tuple[str, ...]:
    """/usr, the old top-level folders that lead into it, and the few files of /etc that the loader reads."""
    mounts = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            mounts += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            mounts += ["--ro-bind", str(path), str(path)]
    for name in _ETC:
        if Path("/etc", name).exists():
            mounts += ["--ro-bind", f"/etc/{name}", f"/etc/{name}"]
    return tuple(mounts)


def _device_mounts(patterns: tuple[str, ...]) -> list[str]:
    mounts = []
    for pattern in patterns:
        for node in sorted(Path("/dev").glob(pattern)):
            mounts += ["--dev-bind", str(node), str(node)]
    if Path("/sys").is_dir():
        mounts += ["--ro-bind", "/sys", "/sys"]
    return mounts


class Namespaces:
    """What ``unshare`` alone gives: no network, own processes, and empty folders over the places in ``hide``.

    Weaker than bubblewrap: the rest of the system stays visible (read-only by the uid's permissions) and the workspace is
    protected by comparing it before and after, not by mounts.
    """

    name = "namespaces"
    drops_uid = True

    def __init__(self, hide: tuple[Path, ...] = ()) -> None:
        self.hide = hide

    def launch(self, command: str, box: Box, limits: Limits) -> Launch:
        marker = _marker()
        home = box.workspace.parent / "home"
        places = dict.fromkeys(place.resolve() for place in (*self.hide, *box.hide))
        hidden = [str(place) for place in places if place.is_dir() and not box.workspace.is_relative_to(place)]
        root = shlex.quote(str(box.workspace.parent))
        script = [
            "set -e",
            "mount -n -t proc proc /proc",
            # this workspace alone, in temporary folders that are new and go with the step
            f"mount -n -t tmpfs tmpfs {_MOVING}; mkdir {_MOVING}/root; mount -n --bind {root} {_MOVING}/root",
            f'for place in {" ".join(_TEMPORARY)}; do [ ! -d "$place" ] || mount -n -t tmpfs -o size=1g tmpfs "$place"; done',
            f"mkdir -p {root}; mount -n --move {_MOVING}/root {root}; umount -n {_MOVING}",
            # what cannot be covered must be unreadable already, for the uid that we dropped to
            'for place; do mount -n -t tmpfs -o size=1m tmpfs "$place" 2>/dev/null'
            ' || ! ls "$place" >/dev/null 2>&1 || exit 125; done',
            f"cd {shlex.quote(str(box.workspace))}",
            f"setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- /bin/sh -c {shlex.quote(command)}",
            "exit $?",  # not exec: see _as_child
        ]
        arguments = [
            *("setpriv", "--pdeathsig", "KILL", "--"),  # unshare's own --kill-child helps only when unshare itself dies
            *limits.prlimit(_process_limit(box.uid, limits)),
            *("unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts"),
            *("--fork", "--kill-child=KILL", "/bin/sh", "-c", "\n".join(script), "sh", *hidden),
        ]
        environment = {
            **box.environment,
            "HOME": str(home),
            "TMPDIR": str(home),
            "BEAVER_STEP": marker,
        }
        return Launch(arguments, environment, box.uid, "/", marker)


def _as_child(command: str) -> list[str]:
    """A shell that runs the command in a second one: the first process of a pid namespace ignores the signals that it sends
    to itself, so no command may be it."""
    return ["/bin/sh", "-c", '/bin/sh -c "$0"\nexit $?', command]


class NoSandbox:
    """The user said ``--sandbox none``: limits and the environment allow-list stay, containment does not."""

    name = "none"
    drops_uid = False

    def launch(self, command: str, box: Box, limits: Limits) -> Launch:
        marker = _marker()
        arguments = ["setpriv", "--pdeathsig", "KILL", "--", *limits.prlimit(None), "/bin/sh", "-c", command]
        home = box.workspace.parent / "home"
        environment = {**box.environment, "HOME": str(home), "TMPDIR": str(home), "BEAVER_STEP": marker}
        return Launch(arguments, environment, None, str(box.workspace), marker, contained=False)


def checker_launch(arguments: list[str], folder: Path, environment: dict[str, str], limits: Limits) -> Launch:
    """A task's checker: trusted code that reads untrusted files. It keeps the user's view of the disk, read-only but for
    its own folder, without network and capabilities where bubblewrap works."""
    marker = _marker()
    command = limits.prlimit(None)
    contained = _works("bubblewrap")
    if contained:
        command += [
            *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm"),
            *("--bind", str(folder), str(folder), "--chdir", str(folder), "--"),
        ]
    return Launch([*command, *arguments], {**environment, "BEAVER_STEP": marker}, None, str(folder), marker, contained)


def choose_sandbox(wish: str = "auto", hide: tuple[Path, ...] = ()) -> Sandbox:
    """The sandbox that ``wish`` names, or the strongest that works here. Raises ConfigError instead of running unprotected."""
    if wish == "none":
        return NoSandbox()
    if wish in ("auto", "bubblewrap") and _works("bubblewrap"):
        return Bubblewrap()
    if wish in ("auto", "namespaces") and _works("namespaces"):
        return Namespaces(hide)
    if wish not in ("auto", "bubblewrap", "namespaces"):
        raise ConfigError(f"--sandbox {wish}: choose auto, bubblewrap, namespaces or none")
    tried = "bubblewrap and user namespaces do" if wish == "auto" else f"{wish} does"
    raise ConfigError(
        f"sandbox: {tried} not work on this machine. Install bubblewrap (apt-get install bubblewrap), or accept the "
        "risk of running a model's code unprotected with --sandbox none"
    )


@cache
def _works(name: str) -> bool:
    """Whether a real launch in that sandbox ends well; asked once a process."""
    if shutil.which({"bubblewrap": "bwrap", "namespaces": "unshare"}[name]) is None:
        return False
    sandbox: Sandbox = Bubblewrap() if name == "bubblewrap" else Namespaces()
    root = Path(tempfile.mkdtemp(prefix="beaver-"))
    try:
        return _tried(sandbox, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _tried(sandbox: Sandbox, root: Path) -> bool:
    """Launch ``true`` as a candidate would be launched: with a uid and a workspace of its own."""
    uid = unprivileged_uid() if sandbox.drops_uid else None
    workspace = root / "ws"
    workspace.mkdir()
    root.chmod(0o711)
    if uid is not None:
        os.chown(workspace, uid, uid)
    launch = sandbox.launch("true", Box(workspace=workspace, uid=uid, frozen=True), Limits())
    try:
        process, report = start(launch, subprocess.DEVNULL)
        code = process.wait(timeout=10)
        if report is not None:
            os.close(report)  # not before the end: bubblewrap dies of a report that nobody takes
        return code == 0
    except (OSError, subprocess.SubprocessError):
        return False


def start(
    launch: Launch, output: int, given_input: int = subprocess.DEVNULL
) -> tuple[subprocess.Popen[bytes], int | None]:
    """Start a launch in a session of its own, with nothing inherited but its input and output. Also returns a descriptor from which the
    sandbox's own report can be read, None for a sandbox that makes none; the caller closes it."""
    identity = {} if launch.uid is None else {"user": launch.uid, "group": launch.uid, "extra_groups": []}
    arguments = launch.arguments
    report = given = None
    if launch.reports_start:
        report, given = os.pipe()
        at = arguments.index("bwrap") + 1
        arguments = [*arguments[:at], "--json-status-fd", str(given), *arguments[at:]]
    try:
        process = subprocess.Popen(  # type: ignore[call-overload]
            arguments,
            stdin=given_input,
            stdout=output,
            stderr=output,
            env=launch.environment,
            cwd=launch.directory,
            start_new_session=True,
            close_fds=True,
            pass_fds=() if given is None else (given,),
            bufsize=0,
            **identity,
        )
    except BaseException:
        if report is not None:
            os.close(report)
        raise
    finally:
        if given is not None:
            os.close(given)
    return process, report
