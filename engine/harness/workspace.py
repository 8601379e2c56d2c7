"""A workspace: the task's harness files, the one editable file, and nothing else. Beside it, out of the candidate's
reach, the checker's folder."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType

from engine.errors import InfraError
from engine.task import Task
from engine.text import shown_name

PREFIX = "beaver-"
"""How our folders in the temporary folder are called."""

_OUTPUT_LIMIT = 1 << 30
"""Bytes of a task's output files that are handed to the checker."""

_OUTPUT_FILES = 256
_COPIED = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
_NAMED = 8
"""How many of the entries that were left behind are named: a candidate chooses their names, and prompts show them."""


class Workspace:
    """A fresh folder for one candidate; removed when the ``with`` block ends.

    ``root`` holds ``ws`` (what the candidate sees), ``device`` (what its device gives it, to read), ``checker`` (ours alone),
    ``home`` and ``lock``, which is held as long as the workspace is used. ``owner`` is the uid that the candidate's processes get, None when they keep ours.
    """

    def __init__(self, task: Task, code: bytes, owner: int | None, scratch: Path | None = None) -> None:
        self.task = task
        self.owner = owner
        try:
            self.root = Path(tempfile.mkdtemp(prefix=PREFIX, dir=scratch))
            self.root.chmod(0o711)  # an unprivileged sandbox must be able to reach what lies inside
            self._lock = hold(self.root)
            self.path = self.root / "ws"
            for folder in (self.path, self.root / "home"):
                folder.mkdir(mode=0o700)
            (self.root / "checker").mkdir(mode=0o700)
            self.device.mkdir()
            self.device.chmod(0o755)
            for name, source in task.harness_files.items():
                self._place(name, source.read_bytes(), executable=os.access(source, os.X_OK))
            self._place(task.spec.solution_file, code)
            self.solution = self.path / task.spec.solution_file
            if owner is not None:
                _give(self.root / "home", owner)
            self._give_all()
        except OSError as error:
            self.close()
            raise InfraError(f"workspace for {task.id}: {error}", kind="disk") from error

    @property
    def checker(self) -> Path:
        return self.root / "checker"

    @property
    def device(self) -> Path:
        return self.root / "device"

    def _place(self, name: str, content: bytes, *, executable: bool = False) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o755 if executable else 0o644)

    def folder(self, name: str, source: Path | None = None) -> Path:
        """A folder of the workspace that belongs to the candidate: empty, or a copy of ``source``."""
        target = self.path / name
        if target.is_symlink() or target.is_file():
            target.unlink()
        elif target.exists():
            remove_tree(target)
        if source is not None:
            shutil.copytree(source, target)
        else:
            target.mkdir(mode=0o700)
        if self.owner is not None:
            _give(target, self.owner)
        return target

    def copy(self, into: Path) -> None:
        """A copy of what the candidate sees, for ``fill`` of another workspace. What is neither file, folder nor link is left
        behind."""

        def strange(folder: str, names: list[str]) -> set[str]:
            modes = ((name, Path(folder, name).lstat().st_mode) for name in names)
            return {name for name, mode in modes if not any(kind(mode) for kind in _COPIED)}

        shutil.copytree(self.path, into, symlinks=True, ignore=strange, dirs_exist_ok=True)

    def become(self, other: Workspace) -> None:
        """A fresh workspace of the same task and code becomes a copy of what ``other``'s candidate sees."""
        other.copy(self.path)
        self._give_all()

    def fill(self, source: Path) -> None:
        """Become what ``copy`` saw."""
        shutil.copytree(source, self.path, symlinks=True, dirs_exist_ok=True)
        self._give_all()

    def add(self, files: Mapping[str, bytes]) -> None:
        """Place files by name, as new as can be: make takes them for made."""
        for name, content in files.items():
            self._place(name, content)
        self._give_all()

    def _give_all(self) -> None:
        if self.owner is not None:
            _give(self.path, self.owner)

    def files(self) -> tuple[str, ...]:
        """Every regular file, relative: what the next step must leave as it is."""
        return tuple(sorted(str(path.relative_to(self.path)) for path in regular_files(self.path)))

    def size(self, names: tuple[str, ...]) -> int:
        """Bytes of the files that are there."""
        total = 0
        for name in names:
            with contextlib.suppress(OSError):
                total += (self.path / name).lstat().st_size
        return total

    def fingerprint(self, names: tuple[str, ...]) -> dict[str, str]:
        """SHA-256 by name, "absent" for what is gone or no longer a regular file: compared before and after a step."""
        prints = {}
        for name in names:
            path = self.path / name
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                prints[name] = "absent"
                continue
            with os.fdopen(descriptor, "rb") as stream:
                regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
                prints[name] = hashlib.file_digest(stream, "sha256").hexdigest() if regular else "absent"
        return prints

    def collect(self, name: str, into: Path) -> list[str]:
        """Copy the regular files of a folder that the candidate wrote; links, devices, folders and what is too much stay behind.
        The result names some of those."""
        left_behind: list[str] = []
        total = 0
        into.mkdir(parents=True, exist_ok=True)
        folder = self.path / name
        if folder.is_symlink() or not folder.is_dir():
            return [f"{name} is no folder"]
        with os.scandir(folder) as entries:
            found = list(itertools.islice(entries, _OUTPUT_FILES + 1))
        if len(found) > _OUTPUT_FILES:
            return [f"{name} holds more than {_OUTPUT_FILES} entries"]
        for entry in sorted(found, key=lambda entry: entry.name):
            if not entry.is_file(follow_symlinks=False):
                left_behind.append(f"{shown_name(entry.name)} is no regular file")
                continue
            total += entry.stat(follow_symlinks=False).st_size
            if total > _OUTPUT_LIMIT:
                left_behind.append(f"{shown_name(entry.name)} is too large")
                break
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "rb") as source, (into / entry.name).open("wb") as target:
                shutil.copyfileobj(source, target)
        more = [f"and {len(left_behind) - _NAMED} more"] if len(left_behind) > _NAMED else []
        return left_behind[:_NAMED] + more

    def close(self) -> None:
        root = getattr(self, "root", None)
        if root is not None:
            remove_tree(root)
        if (lock := getattr(self, "_lock", None)) is not None:
            os.close(lock)
            del self._lock

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def hold(folder: Path) -> int:
    """A descriptor that marks a folder as used as long as it is open: ``remove_abandoned`` leaves it alone."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def remove_tree(folder: Path) -> None:
    """Remove a folder, whatever a candidate made of it. Never raises: ten thousand nested folders are more than Python's own
    removal can recurse into, and no reason to end a sweep."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        subprocess.run(["rm", "-rf", "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


def remove_abandoned(scratch: Path | None = None) -> None:
    """Remove our own workspaces that nobody holds any more: those of processes that were killed."""
    for folder in Path(scratch or tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            if folder.lstat().st_uid != os.getuid():
                continue
            descriptor = os.open(folder / "lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(folder)
        except BlockingIOError:
            pass  # in use
        finally:
            os.close(descriptor)


def regular_files(folder: Path) -> Iterator[Path]:
    """All regular files below a folder, without recursion and without following links. What cannot be entered is left out."""
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield Path(entry.path)
        except OSError:
            continue


def tree_size(folder: Path) -> int:
    """Bytes of all regular files below a folder; 0 when there is no folder."""
    total = 0
    for path in regular_files(folder):
        with contextlib.suppress(OSError):
            total += path.lstat().st_size
    return total


def _give(path: Path, owner: int) -> None:
    os.chown(path, owner, owner, follow_symlinks=False)
    if path.is_dir() and not path.is_symlink():
        for place, folders, names in os.walk(path):
            for name in (*folders, *names):
                os.chown(Path(place, name), owner, owner, follow_symlinks=False)
