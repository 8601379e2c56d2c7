"""All trajectories of all runs below a folder, as rows of a list; a run that is damaged is a row that says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from beaver_tui.state.lines import one_line
from beaver_tui.state.scan import Scan, scan_journal
from beaver_tui.state.sources import is_live
from engine.errors import BeaverError
from engine.rundir import PLAN, Cell, RunDirectory
from engine.text import shown_name

DEEPEST = 4
"""Folders below the first in which runs are looked for."""

NOT_BEGUN, RUNNING, OPEN, DAMAGED, PASSED, FAILED = "not begun", "running", "open", "damaged", "passed", "failed"

STATUSES = (PASSED, FAILED, "stopped", RUNNING, OPEN, DAMAGED, NOT_BEGUN)
"""What a status begins with. A stop has its reason behind it: "stopped: no_progress"; ``failed`` has used up its iterations,
``open`` was interrupted and can be resumed."""


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

    @property
    def openable(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.cell.task) and self.status != NOT_BEGUN

    @property
    def name(self) -> str:
        """The run's folder, for a reader."""
        return shown_name(self.run.name)


Stamp = tuple[int, int]
"""A file's time of change in nanoseconds, and its size in bytes."""


@dataclass
class Catalog:
    """What was read before: a file whose stamp is the same is not read again."""

    runs: dict[Path, tuple[Stamp, Stamp, RunDirectory]] = field(default_factory=dict)
    scans: dict[Path, tuple[Stamp, Scan]] = field(default_factory=dict)

    def run(self, path: Path) -> RunDirectory:
        """The run in a folder. Raises BeaverError when it cannot be read."""
        stamps = (_stamp(path / "run.json"), _stamp(path / PLAN))
        known = self.runs.get(path)
        if known is None or known[:2] != stamps:
            run = RunDirectory(path)
            _ = run.plan  # raises what is wrong with it
            known = self.runs[path] = (*stamps, run)
        return known[2]

    def scan(self, path: Path, cell: Cell) -> Scan | None:
        """A journal in figures; None when it is not there."""
        stamp = _stamp(path)
        if stamp == _MISSING:
            return None
        known = self.scans.get(path)
        if known is None or known[0] != stamp:
            known = self.scans[path] = (stamp, scan_journal(path, cell))
        return known[1]


_MISSING = (0, 0)


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return _MISSING
    return found.st_mtime_ns, found.st_size


def read_catalog(folder: Path, known: Catalog | None = None) -> list[CatalogRow]:
    """A row for every trajectory of every run below a folder, the newest run first, each in the order of its plan. ``known``
    makes a second reading cheap. Never raises for what lies there."""
    catalog = Catalog() if known is None else known
    runs = [(_created(catalog, path), path) for path in find_runs(folder)]
    rows = []
    for _, path in sorted(runs, key=lambda item: (item[0], str(item[1])), reverse=True):
        rows += run_rows(path, catalog)
    return rows


def run_rows(path: Path, catalog: Catalog) -> list[CatalogRow]:
    """The rows of one run."""
    try:
        run = catalog.run(path)
        cells = run.plan
    except BeaverError as error:
        return [CatalogRow(path, Cell("", "", 0), status=DAMAGED, problem=one_line(str(error)))]
    live = is_live(path)
    return [_row(run, cell, catalog.scan(run.journal(cell), cell), live) for cell in cells]


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


def _created(catalog: Catalog, path: Path) -> str:
    """When a run was begun, ISO 8601; for one that cannot be read, when its record was written."""
    try:
        return catalog.run(path).record.created
    except BeaverError:
        written = datetime.fromtimestamp(_stamp(path / "run.json")[0] / 1e9, UTC)
        return written.isoformat(timespec="milliseconds")


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
        stopped = FAILED if scan.stop_reason == "max_iterations" else f"stopped: {scan.stop_reason}"
        return PASSED if scan.passed else stopped
    return RUNNING if live and not scan.fault else OPEN
