"""All trajectories of all runs below a folder, as rows of a list; a run that is damaged is a row that says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from beaver_tui.state.fetching import fetch
from beaver_tui.state.lines import one_line
from beaver_tui.state.scan import Scan, scan_journal
from beaver_tui.state.sources import is_live
from beaver_tui.state.status import DAMAGED, NOT_BEGUN, OPEN, RUNNING, ended_as
from engine.errors import BeaverError
from engine.rundir import PLAN, Cell, RunDirectory
from engine.text import shown_name

DEEPEST = 4
"""Folders below the first in which runs are looked for."""


@dataclass(frozen=True)
class CatalogRow:
    """One trajectory. ``run`` and ``cell`` open it; the other texts are single harmless lines. A run that cannot be read is one
    row with an empty cell. ``seconds`` are spent in replies and in the harness; ``cost`` is in US dollars."""

    run: Path
    cell: Cell
    task: str = ""
    fixer: str = ""
    device: str = ""
    status: str = NOT_BEGUN
    iterations: int = 0
    category: str = ""
    categories: tuple[str, ...] = ()
    speedup: float | None = None
    cost: float | None = None
    tokens: int = 0
    seconds: float = 0.0
    started: str = ""
    interactive: bool = False
    problem: str = ""

    @cached_property
    def key(self) -> str:
        """Names the trajectory among all of all runs."""
        return f"{self.run}\0{self.cell.task}\0{self.cell.fixer}\0{self.cell.attempt}"

    @cached_property
    def name(self) -> str:
        """The run's folder, for a reader."""
        return shown_name(self.run.name)


Stamp = tuple[int, int]
"""A file's time of change in nanoseconds, and its size in bytes."""


@dataclass
class Catalog:
    """The runs below a folder. What was read before is kept: a file whose stamp is the same is not read again."""

    folder: Path
    rows: list[CatalogRow] = field(default_factory=list)
    runs: dict[Path, tuple[Stamp, Stamp, RunDirectory]] = field(default_factory=dict)
    _journals: dict[Path, tuple[RunDirectory, list[tuple[Cell, Path]]]] = field(default_factory=dict)
    scans: dict[Path, tuple[Stamp, Scan]] = field(default_factory=dict)
    _rows: dict[Path, tuple[RunDirectory, Scan | None, bool, CatalogRow]] = field(default_factory=dict)
    """By journal: what a row was made of, and the row."""

    def read(self) -> list[CatalogRow]:
        """A row for every trajectory of every run, the newest run first, each in the order of its plan; the same object as before
        where nothing is new of it. Never raises for what lies there. Takes a second for some thousand trajectories: not for a screen's own thread."""
        found = sorted(((self._created(path), path) for path in find_runs(self.folder)), reverse=True)
        self.rows = [row for _, path in found for row in self._rows_of(path)]
        return self.rows

    def run(self, path: Path) -> RunDirectory:
        """The run in a folder. Raises BeaverError when it cannot be read."""
        stamps = (_stamp(path / "run.json"), _stamp(path / PLAN))
        known = self.runs.get(path)
        if known is None or known[:2] != stamps:
            run = RunDirectory(path)
            _ = run.plan  # raises what is wrong with it
            known = self.runs[path] = (*stamps, run)
        return known[2]

    def scan(self, path: Path, cell: Cell, stamp: Stamp) -> Scan | None:
        """A journal in figures; None when it is not there."""
        if stamp == _MISSING:
            return None
        if self._is_news(path, stamp):
            self.scans[path] = (stamp, scan_journal(path, cell))
        return self.scans[path][1]

    def _is_news(self, path: Path, stamp: Stamp) -> bool:
        known = self.scans.get(path)
        return stamp != _MISSING and (known is None or known[0] != stamp)

    def _rows_of(self, path: Path) -> list[CatalogRow]:
        try:
            run = self.run(path)
        except BeaverError as error:
            return [CatalogRow(path, Cell("", "", 0), status=DAMAGED, problem=one_line(str(error)))]
        live = is_live(path)
        journals = [(cell, journal, _stamp(journal)) for cell, journal in self._journals_of(run)]
        fetch(journal for _, journal, stamp in journals if self._is_news(journal, stamp))
        return [
            self._row(run, cell, self.scan(journal, cell, stamp), journal, live) for cell, journal, stamp in journals
        ]

    def _journals_of(self, run: RunDirectory) -> list[tuple[Cell, Path]]:
        known = self._journals.get(run.path)
        if known is None or known[0] is not run:
            known = self._journals[run.path] = (run, [(cell, run.journal(cell)) for cell in run.plan])
        return known[1]

    def _row(self, run: RunDirectory, cell: Cell, scan: Scan | None, journal: Path, live: bool) -> CatalogRow:
        known = self._rows.get(journal)
        if known is None or known[0] is not run or known[1] is not scan or known[2] != live:
            known = self._rows[journal] = (run, scan, live, _row(run, cell, scan, live))
        return known[3]

    def _created(self, path: Path) -> str:
        """When a run was begun, ISO 8601; for one that cannot be read, when its record was written."""
        try:
            return self.run(path).record.created
        except BeaverError:
            written = datetime.fromtimestamp(_stamp(path / "run.json")[0] / 1e9, UTC)
            return written.isoformat(timespec="milliseconds")


_MISSING = (0, 0)


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return _MISSING
    return found.st_mtime_ns, found.st_size


def find_runs(folder: Path, deepest: int = DEEPEST) -> Iterator[Path]:
    """The folders with a run.json at and below ``folder``. Links are not followed: they could lead round in a circle."""
    if (folder / "run.json").exists():
        yield folder
        return
    try:
        with os.scandir(folder) as entries:
            inner = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    if deepest > 0:
        for path in sorted(inner):
            yield from find_runs(Path(path), deepest - 1)


def _row(run: RunDirectory, cell: Cell, scan: Scan | None, live: bool) -> CatalogRow:
    scan_or_none, scan = scan, scan or Scan()
    return CatalogRow(
        run=run.path,
        cell=cell,
        task=one_line(cell.task),
        fixer=one_line(cell.fixer),
        device=scan.device or one_line(run.record.device.name),
        status=_status(scan_or_none, live),
        iterations=scan.iterations,
        category=scan.categories[-1] if scan.categories else "",
        categories=scan.categories,
        speedup=scan.speedup,
        cost=scan.cost,
        tokens=scan.tokens,
        seconds=scan.seconds,
        started=scan.started,
        interactive=scan.interactive,
        problem=scan.problem or scan.fault,
    )


def _status(scan: Scan | None, live: bool) -> str:
    if scan is None:
        return NOT_BEGUN
    if scan.problem:
        return DAMAGED
    if scan.over:
        return ended_as(scan.stop_reason, scan.passed)
    return RUNNING if live and not scan.fault else OPEN
