"""Files of a corpus as its readers take them: plain ones only, and every fault in words."""

from __future__ import annotations

from pathlib import Path

from engine.errors import TaskError
from engine.plain_file import read_plain
from engine.task import is_inner_path

_IGNORED_NAMES = {"__pycache__", ".git", ".DS_Store"}


def file_tree(folder: Path) -> dict[str, Path]:
    """All files below a folder by their relative names, without what tools leave behind; empty when there is no folder. A file
    is a folder that holds it alone."""
    if folder.is_file():
        return {folder.name: folder}
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if _IGNORED_NAMES & set(name.parts):
            continue
        if path.is_file() and is_inner_path(str(name)):
            files[str(name)] = path
    return files


def bytes_of(path: Path) -> bytes:
    """A file's content. Raises TaskError when it cannot be read."""
    try:
        return read_plain(path)
    except FileNotFoundError:
        raise TaskError(f"{path}: missing") from None
    except OSError as error:
        raise TaskError(f"{path}: {error.strerror}") from error


def text_of(path: Path) -> str:
    """A file's text. Raises TaskError when it cannot be read or is not UTF-8."""
    try:
        return bytes_of(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: not UTF-8 at byte {error.start}") from error
