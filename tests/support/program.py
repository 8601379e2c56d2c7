"""The program as a user starts it: another process, its output, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = [sys.executable, "-P", "-m", "beaver_tui"]


@dataclass
class Finished:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]


def beaver(*arguments: object, folder: Path | None = None, given: str = "", **environment: str) -> Finished:
    """Run the program to its end."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        input=given,
        cwd=folder,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def start_beaver(*arguments: object) -> subprocess.Popen[str]:
    """Start the program and read what it prints while it runs."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def manifest(run: Path) -> list[dict[str, Any]]:
    """The rows of a run."""
    return [json.loads(line) for line in (run / "manifest.jsonl").read_text().splitlines()]


VOLATILE = {"run", "started", "seconds", "speedup", "cv", "cost"}
"""Columns in which two runs of the same thing may differ."""


def comparable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in VOLATILE} for row in rows]
