"""A workspace: the task's harness files, the one editable file, and nothing else. Beside it, out of the candidate's
reach, the checker's folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from types import TracebackType

from engine.errors import InfraError
from engine.task import Task

_OUTPUT_LIMIT = 1 << 30
"""Bytes of a task's output files that are handed to the checker."""


class Workspace:
    """A fresh folder for one candidate; removed when the ``with`` block ends.

    ``root`` holds ``ws`` (what the candidate sees), ``checker`` (ours alone) and ``home``. ``owner`` is the uid that the
    candidate's processes get, None when they keep ours.
    """

    def __init__(self, task: Task, code: bytes, owner: int | None, scratch: Path | None = None) -> None:
        self.task = task
        self._owner = owner
        try:
            self.root = Path(tempfile.mkdtemp(prefix="beaver-", dir=scratch))
            self.root.chmod(0o711)  # an unprivileged sandbox must be able to reach what lies inside
            self.path = self.root / "ws"
            for folder in (self.path, self.root / "home"):
                folder.mkdir(mode=0o700)
            (self.root / "checker").mkdir(mode=0o700)
            for name, source in task.harness_files.items():
                self._place(name, source.read_bytes(), executable=os.access(source, os.X_OK))
            self._place(task.spec.solution_file, code)
            self.solution = self.path / task.spec.solution_file
            if owner is not None:
                _give(self.root / "home", owner)
                _give(self.path, owner)
        except OSError as error:
            self.close()
            raise InfraError(f"workspace for {task.id}: {error}", kind="disk") from error

    @property
    def checker(self) -> Path:
        return self.root / "checker"

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
            shutil.rmtree(target)
        if source is not None:
            shutil.copytree(source, target)
        else:
            target.mkdir(mode=0o700)
        if self._owner is not None:
            _give(target, self._owner)
        return target

    def files(self) -> tuple[str, ...]:
        """Every regular file, relative: what the next step must leave as it is."""
        found = []
        for place, _, names in os.walk(self.path):
            for name in names:
                path = Path(place, name)
                if stat.S_ISREG(path.lstat().st_mode):
                    found.append(str(path.relative_to(self.path)))
        return tuple(sorted(found))

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
        """Copy the regular files of a folder that the candidate wrote; links, devices and what is too large stay behind and
        are named in the result."""
        left_behind, total = [], 0
        into.mkdir(parents=True, exist_ok=True)
        folder = self.path / name
        if folder.is_symlink() or not folder.is_dir():
            return [f"{name} is no folder"]
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            if not entry.is_file(follow_symlinks=False):
                left_behind.append(f"{entry.name} is no regular file")
                continue
            total += entry.stat(follow_symlinks=False).st_size
            if total > _OUTPUT_LIMIT:
                left_behind.append(f"{entry.name} is too large")
                break
            descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "rb") as source, (into / entry.name).open("wb") as target:
                shutil.copyfileobj(source, target)
        return left_behind

    def close(self) -> None:
        root = getattr(self, "root", None)
        if root is not None:
            shutil.rmtree(root, ignore_errors=True)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _give(path: Path, owner: int) -> None:
    os.chown(path, owner, owner, follow_symlinks=False)
    if path.is_dir() and not path.is_symlink():
        for place, folders, names in os.walk(path):
            for name in (*folders, *names):
                os.chown(Path(place, name), owner, owner, follow_symlinks=False)
