"""Opening the user's own editor and pager: what they do to the terminal is undone, and what they say is not believed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from textual.app import SuspendNotSupported

Suspend = Callable[[], AbstractContextManager[None]]
"""Gives the terminal away and takes it back: ``App.suspend``."""

FALLBACKS = ("nano", "vim", "vi")
WINDOWED = ("code", "codium", "gvim", "subl", "gedit", "kate", "mate", "zed")
"""Editors with windows of their own: they need no terminal and return at once. The folder's watch decides what was saved."""


class EditorLauncher:
    """Runs $VISUAL, $EDITOR or the first of FALLBACKS. ``environment`` and ``run`` can be given in a test."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = dict(os.environ if environment is None else environment)

    def command(self) -> list[str] | str:
        """The editor's words; or a complaint, when the one that is asked for is not there, or none is. One that was named is
        never exchanged for another in silence."""
        for name in ("VISUAL", "EDITOR"):
            wanted = self._environment.get(name, "")
            if wanted.strip():
                return _program(f"${name}", wanted, "an editor")
        found = next(([name] for name in FALLBACKS if shutil.which(name)), None)
        return found or "no editor found: set $EDITOR, or edit the file with any program; saves are noticed"

    def edit(self, path: Path, suspend: Suspend, line: int | None = None) -> str:
        """Open ``path``; returns a complaint for the user, empty when the editor ran. Never raises: the screen must come back."""
        words = self.command()
        if isinstance(words, str):
            return words
        name = Path(words[0]).name
        place = [f"+{line}"] if line and name in ("vi", "vim", "nvim", "nano", "emacs", "micro") else []
        command = [*words, *place, str(path)]
        if name in WINDOWED:
            return _start(command, self._environment)
        return _in_terminal(command, suspend, self._environment)

    def page(self, content: bytes, suspend: Suspend) -> str:
        """Show ``content`` in $PAGER, as it is but for control characters; returns a complaint, empty when it ran."""
        words = _program("$PAGER", self._environment.get("PAGER", "").strip() or "less -S", "a pager")
        if isinstance(words, str):
            return words
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            file.write(content)
            file.flush()
            return _in_terminal([*words, file.name], suspend, self._environment)


def _program(variable: str, text: str, kind: str) -> list[str] | str:
    """The words of a command line; or a complaint that names the variable and what is wrong with it."""
    try:
        words = shlex.split(text)
    except ValueError as error:  # a quote that never ends
        return f"{variable} is {text}: {error}; set it to {kind} that is there"
    if shutil.which(words[0]) is None:
        return f"{variable} is {text}: no such program here; set it to {kind} that is there"
    return words


def _start(command: list[str], environment: Mapping[str, str]) -> str:
    try:
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    return ""


def _in_terminal(command: list[str], suspend: Suspend, environment: Mapping[str, str]) -> str:
    complaint = ""
    try:
        with suspend():
            # inside, everything is caught: an exception on its way through suspend() would leave the terminal to the editor
            try:
                code = subprocess.run(command, env=environment, check=False).returncode
                complaint = f"{command[0]}: exit code {code}" if code else ""
            except OSError as error:
                complaint = f"{command[0]}: {error.strerror}"
            except KeyboardInterrupt:
                complaint = f"{command[0]}: interrupted"
    except SuspendNotSupported:
        complaint = f"{command[0]}: this terminal cannot be given away; open {command[-1]} in another one"
    return complaint
