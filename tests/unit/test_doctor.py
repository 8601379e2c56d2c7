"""What doctor says of programs that runs start."""

from __future__ import annotations

from pathlib import Path

import pytest

from beaver_tui.doctor import TOOLS, tools


def tools_found(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """The lines about tools where the PATH holds these programs alone."""
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return [str(finding) for finding in tools()]


def test_what_is_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (line,) = tools_found(tmp_path, monkeypatch, *(name for name, *_ in TOOLS))
    assert line.split(maxsplit=1)[1] == "g++, gcc, make, prlimit"


def test_what_is_not_there_says_what_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    without_make, without_prlimit = tools_found(tmp_path, monkeypatch, "g++", "gcc")
    assert without_make.split(maxsplit=1)[1] == "no make, for tasks that are built with make"
    assert "missing: prlimit, for the limits of every program that is run" in without_prlimit
