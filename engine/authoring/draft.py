"""A task folder written from a user's files and commands: everything of a task but what only running it can tell."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.authoring.collect import Collected
from engine.errors import ConfigError
from engine.task import is_inner_path

ORIGIN = "origin.json"
"""Beside input.json: where the program came from. Readers of tasks do not need it."""

_MAKE = re.compile(r"(?<![\w./-])(?:make|cmake|ninja|ctest)(?![\w.-])")
_OTHER_ARCH = re.compile(r"(?:arch|compute|sm)[=_]\$[({]ARCH[)}]|\bARCH\s*[:?]?=\s*(?!-)\S")
"""ARCH in a Makefile that is no flag of its own: what a make task is given (ARCH=-arch=sm_90) would spoil it."""


@dataclass(frozen=True)
class Wish:
    """What the user says about a program. ``file`` is the editable one, relative to ``folder``; times are in seconds."""

    folder: Path
    file: str
    build: str
    test: str
    name: str = ""
    timing_regex: str | None = None
    pass_regex: str | None = None
    reference: Path | None = None
    build_seconds: float | None = None
    test_seconds: float | None = None
    exclude: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.name or f"{self.folder.resolve().name}-{Path(self.file).stem}"


def editable(wish: Wish) -> bytes:
    """The file that is to be repaired. Raises ConfigError when there is nothing to edit."""
    path = wish.folder / wish.file
    for option, pattern in (("--pass-regex", wish.pass_regex), ("--timing-regex", wish.timing_regex)):
        try:
            groups = re.compile(pattern or "()").groups
        except re.error as error:
            raise ConfigError(f"{option} {pattern}: is not a regular expression: {error}") from error
        if option == "--timing-regex" and not groups:
            raise ConfigError(f"{option} {pattern}: needs a group that captures the milliseconds")
    if not wish.folder.is_dir():
        raise ConfigError(f"{wish.folder}: no such folder; init takes the folder of a failing program")
    if not is_inner_path(wish.file):
        raise ConfigError(f"--file {wish.file}: must be a path inside {wish.folder}")
    if not path.is_file():
        raise ConfigError(f"--file {wish.file}: there is no such file in {wish.folder}; nothing to edit")
    content = path.read_bytes()
    if not content.strip():
        raise ConfigError(f"--file {wish.file}: is empty; nothing to edit")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"--file {wish.file}: is not UTF-8 text at byte {error.start}; nothing to edit") from error
    return content


def write_draft(wish: Wish, collected: Collected, broken: bytes, folder: Path) -> None:
    """The task folder without an error log's content and without a label."""
    suffix = Path(wish.file).suffix or ".txt"
    bench = folder / "testbench"
    bench.mkdir(parents=True)
    for name, source in collected.files.items():
        if name == wish.file:
            continue
        target = bench / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    (folder / f"broken{suffix}").write_bytes(broken)
    if wish.reference is not None:
        try:
            shutil.copyfile(wish.reference, folder / f"reference{suffix}")
        except OSError as error:
            raise ConfigError(f"--reference {wish.reference}: {error.strerror}") from error
    (folder / "error.log").write_text("")
    (folder / "prompt.txt").write_text(prompt(wish, sorted(collected.files)))
    write_spec(folder, _fields(wish, collected))
    origin = {"folder": str(wish.folder.resolve()), "file": wish.file}
    (folder / ORIGIN).write_text(json.dumps(origin, indent=2) + "\n")


def write_spec(folder: Path, fields: dict[str, Any]) -> None:
    """input.json, with one field a line so that a person may edit it. What says nothing is left out."""
    text = json.dumps({name: value for name, value in fields.items() if value not in (None, [], {}, "")}, indent=2)
    (folder / "input.json").write_text(text + "\n")


def _fields(wish: Wish, collected: Collected) -> dict[str, Any]:
    budgets = {
        name: value for name, value in (("build", wish.build_seconds), ("test", wish.test_seconds)) if value is not None
    }
    return {
        "task_id": wish.id,
        "source": "init",
        "backend": backend(wish.build, collected),
        "solution_file": wish.file,
        "build_cmd": wish.build,
        "test_cmd": wish.test,
        "pass_evidence": wish.pass_regex,
        "timing_parser": wish.timing_regex,
        "timeouts": {"cuda": budgets} if budgets else None,
    }


def backend(build: str, collected: Collected) -> str:
    """make for what goes through make or CMake; nvcc, which leaves all but -arch=native alone, for the rest and for Makefiles
    that mean something else by ARCH."""
    if not _MAKE.search(build):
        return "nvcc"
    makefiles = (
        path for name, path in collected.files.items() if re.search(r"(?i)(?:^|/)(?:gnu)?makefile$|\.mk$", name)
    )
    return "nvcc" if any(_OTHER_ARCH.search(path.read_text("utf-8", "replace")) for path in makefiles) else "make"


def prompt(wish: Wish, names: list[str]) -> str:
    """What a fixer is told: commands and files, as they are."""
    passes = "it ends with exit code 0"
    if wish.pass_regex is not None:
        passes += f", and its standard output matches the regular expression {wish.pass_regex}"
    others = [name for name in names if name != wish.file]
    beside = "".join(f"    {name}\n" for name in others[:40])
    more = f"    and {len(others) - 40} more\n" if len(others) > 40 else ""
    files = f"Beside it, and not to be changed, there are\n\n{beside}{more}\n" if others else ""
    return (
        f"{wish.file} belongs to a program that fails. Repair it: only this file may be changed, and the whole file is wanted.\n\n"
        f"{files}"
        f"The program is built with\n\n    {wish.build}\n\n"
        f"and tested with\n\n    {wish.test}\n\n"
        f"The test passes when {passes}.\n"
    )
