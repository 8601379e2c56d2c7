"""Which files of a user's folder belong to the program: its sources, and nothing that a build, an editor or a VCS left there."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import ConfigError

MOST_FILES = 2000
MOST_BYTES = 64 << 20

_FOLDERS = {"__pycache__", "node_modules", "venv", "CMakeFiles"}
_BUILT = (".o", ".obj", ".a", ".so", ".pyc", ".ptx", ".cubin", ".fatbin", ".gch", ".d", ".ii", ".gpu", ".reg.c")
_ELF = b"\x7fELF"


@dataclass
class Collected:
    """``files`` maps names relative to the folder to what lies there. ``left_out`` says, by reason, how much stayed behind."""

    folder: Path
    files: dict[str, Path] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    total: int = 0

    def describe(self) -> str:
        """For the user: what was taken and what was not."""
        count = len(self.files)
        taken = f"taken from {self.folder}: {count} file{'s' if count != 1 else ''}, {max(1, self.total >> 10)} KiB"
        rest = ", ".join(f"{number} {reason}" for reason, number in sorted(self.left_out.items()))
        return f"{taken}; left out: {rest}" if rest else taken


def collect(folder: Path, exclude: tuple[str, ...] = (), without: Path | None = None) -> Collected:
    """The program's files. ``exclude`` are globs over relative names, ``without`` is a folder that is passed over whatever it
    holds. Raises ConfigError when there are too many, or too large ones."""
    found = Collected(folder)
    for place, folders, names in os.walk(folder):
        inner = Path(place)
        kept = [name for name in sorted(folders) if _enters(inner / name, found, exclude, without)]
        folders[:] = kept
        for name in sorted(names):
            _take(inner / name, found, exclude)
    return found


def _enters(path: Path, found: Collected, exclude: tuple[str, ...], without: Path | None) -> bool:
    if path.is_symlink():
        reason = "links"
    elif path.name.startswith("."):
        reason = "hidden folders"
    elif path.name in _FOLDERS or (path / "CMakeCache.txt").is_file() or (path / "pyvenv.cfg").is_file():
        reason = "folders of built or installed things"
    elif (without is not None and path.resolve() == without) or _excluded(path, found.folder, exclude):
        reason = "excluded"
    else:
        return True
    found.left_out[reason] += 1
    return False


def _take(path: Path, found: Collected, exclude: tuple[str, ...]) -> None:
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            reason = "links"
        elif not stat.S_ISREG(status.st_mode):
            reason = "special files"
        elif path.name.startswith("."):
            reason = "hidden files"
        elif _excluded(path, found.folder, exclude):
            reason = "excluded"
        elif path.name.endswith(_BUILT) or path.name == "CMakeCache.txt" or _is_program(path):
            reason = "built files"
        else:
            _add(path, status.st_size, found)
            return
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; leave it out with --exclude") from error
    found.left_out[reason] += 1


def _add(path: Path, size: int, found: Collected) -> None:
    found.files[str(path.relative_to(found.folder))] = path
    found.total += size
    if len(found.files) > MOST_FILES:
        raise ConfigError(f"{found.folder}: more than {MOST_FILES} files; name a smaller folder, or use --exclude GLOB")
    if found.total > MOST_BYTES:
        largest = max(found.files.values(), key=lambda file: file.stat().st_size)
        raise ConfigError(
            f"{found.folder}: more than {MOST_BYTES >> 20} MiB; the largest file is {largest}: leave it out with --exclude GLOB"
        )


def _is_program(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == _ELF


def _excluded(path: Path, folder: Path, exclude: tuple[str, ...]) -> bool:
    name = str(path.relative_to(folder))
    return any(fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(path.name, glob) for glob in exclude)
