"""A whole run as a matrix: tasks by fixers, each cell the fold of its events, and what they add up to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from beaver_tui.state.fetching import fetch
from beaver_tui.state.lines import one_line
from beaver_tui.state.sources import StoredSource, is_live
from beaver_tui.state.status import DAMAGED, NOT_BEGUN, OPEN, PASSED, RUNNING, ended_as
from beaver_tui.state.tally import Tally
from beaver_tui.state.transitions import Rate, histogram, transitions
from engine.protocol import Sampling
from engine.rundir import Cell, RunDirectory


@dataclass(frozen=True)
class MatrixCell:
    """A trajectory in one cell. ``status`` is one of the words of ``beaver_tui.state.status``; ``categories`` are those of its
    closed iterations; ``speedup`` is the best so far."""

    status: str
    categories: tuple[str, ...] = ()
    iterations: int = 0
    speedup: float | None = None
    problem: str = ""

    @property
    def running(self) -> bool:
        return self.status == RUNNING


@dataclass(frozen=True)
class News:
    """What a reading of the journals has found: the new counts of trajectories that have gone on, what is wrong with others, and
    whether somebody plays the run."""

    tallies: dict[Cell, Tally]
    problems: dict[Cell, str]
    live: bool


class SweepView:
    """A run that is on show while it is played, by whomever, or long after. Nothing is known of its trajectories before the first
    reading.

    ``failures_first`` puts tasks with failures on top. ``clock`` gives seconds. Raises RunError when the run has no sound plan.
    """

    def __init__(self, run: RunDirectory, clock: Callable[[], float] = time.monotonic) -> None:
        self.run = run
        self.failures_first = False
        self.live = False
        self._clock, self._began, self._over_before = clock, clock(), 0
        self.known = False
        """Whether the journals were read at least once."""
        self._sources: dict[Cell, StoredSource] = {}
        """Made when they are first read."""
        self._tallies = {cell: Tally() for cell in run.plan}
        self._problems: dict[Cell, str] = {}
        self._cells = {(cell.task, column_of(cell)): cell for cell in run.plan}
        self._by_task: dict[str, list[Cell]] = {}
        for cell in run.plan:
            self._by_task.setdefault(cell.task, []).append(cell)
        self.columns = list(dict.fromkeys(column_of(cell) for cell in run.plan))
        """Fixers, each attempt of one with a column of its own, as the plan names them: data from outside."""

    # readings

    def read(self) -> News:
        """Read what has come to the journals, and change nothing that is on show. It takes a second for some thousand of them, so
        this may be called in a thread, one call at a time."""
        tallies, problems = {}, {}
        if not self._sources:
            self._sources = {cell: StoredSource(self.run, cell) for cell in self.run.plan}
            fetch(source.path for source in self._sources.values())
        for cell, source in self._sources.items():
            if events := source.read():
                tallies[cell] = self._tallies[cell].after(events)
            if source.problem:
                problems[cell] = source.problem
        return News(tallies, problems, is_live(self.run.path))

    def take(self, news: News) -> bool:
        """Show what was read; whether anything is another than before."""
        changed = not self.known or bool(news.tallies) or news.problems != self._problems or news.live != self.live
        self._tallies |= news.tallies
        self._problems, self.live = news.problems, news.live
        if not self.known:
            self.known, self._began, self._over_before = True, self._clock(), self.over
        return changed

    def poll(self) -> bool:
        """Read and show what has come to the journals; whether anything is another than before."""
        return self.take(self.read())

    # cells

    @property
    def tasks(self) -> list[str]:
        """The rows: in the plan's order, or those with failures first, then those under way, those not begun, the solved."""
        if not self.failures_first:
            return list(self._by_task)
        return sorted(self._by_task, key=self._urgency)

    def key(self, task: str, column: str) -> Cell | None:
        """The cell of the plan there; None where a fixer has nothing to do with a task."""
        return self._cells.get((task, column))

    def cell(self, task: str, column: str) -> MatrixCell | None:
        """What stands in a cell of the matrix, None where there is none."""
        cell = self.key(task, column)
        return self.matrix_cell(cell) if cell is not None else None

    def matrix_cell(self, cell: Cell) -> MatrixCell:
        """What stands in the cell of a trajectory of the plan."""
        tally = self._tallies[cell]
        return MatrixCell(
            status=self._status(cell, tally),
            categories=tally.categories,
            iterations=tally.iterations,
            speedup=tally.speedup,
            problem=self._problems.get(cell, ""),
        )

    def _status(self, cell: Cell, tally: Tally) -> str:
        if cell in self._problems:
            return DAMAGED
        if not tally.begun:
            return NOT_BEGUN
        if tally.over:
            return ended_as(tally.stop_reason, tally.passed)
        return RUNNING if tally.busy and self.live else OPEN

    def _urgency(self, task: str) -> int:
        ranks = {PASSED: 3, NOT_BEGUN: 2, RUNNING: 1, OPEN: 1}
        return min(ranks.get(self._status(cell, self._tallies[cell]), 0) for cell in self._by_task[task])

    # sums

    @property
    def total(self) -> int:
        """Trajectories that the run promises."""
        return len(self._tallies)

    @property
    def over(self) -> int:
        """Trajectories that have come to an end. A damaged one has not: who knows what it lacks; it counts in no rate and no
        map either."""
        return sum(tally.over for tally in self._sound().values())

    @property
    def running(self) -> int:
        """Trajectories that a step of is under way."""
        return sum(self._status(cell, tally) == RUNNING for cell, tally in self._tallies.items())

    @property
    def eta(self) -> float | None:
        """Seconds to go at the pace since the view was opened; None before the first end, when nothing is left, and when nobody
        plays the run."""
        done = self.over - self._over_before
        if not self.live or done <= 0 or self.over >= self.total:
            return None
        return (self._clock() - self._began) / done * (self.total - self.over)

    @property
    def tokens(self) -> int:
        return sum(tally.tokens for tally in self._tallies.values())

    @property
    def cost(self) -> float | None:
        """US dollars, None when no price is known."""
        costs = [tally.cost for tally in self._tallies.values() if tally.cost is not None]
        return sum(costs) if costs else None

    @property
    def faults(self) -> int:
        """Faults of the machine or of a model's service at which a trajectory was given up."""
        return sum(tally.faults for tally in self._tallies.values())

    @property
    def histogram(self) -> Counter[str]:
        """Iterations by category."""
        return histogram(self._paths())

    @property
    def transitions(self) -> Counter[tuple[str, str]]:
        """Pairs of iterations that follow each other, by their categories."""
        return transitions(self._paths())

    @property
    def rates(self) -> list[Rate]:
        """pass@k so far, one a fixer. Under repeated sampling a task counts once: passed when any attempt has, over when one
        has or all are. What this machine cannot run has not been tried."""
        groups: dict[str, dict[tuple[str, int], list[Tally]]] = {}
        repeated = self.run.record.protocol.sampling is Sampling.REPEATED
        for cell, tally in self._sound().items():
            unit = (cell.task, 1 if repeated else cell.attempt)
            groups.setdefault(cell.fixer, {}).setdefault(unit, []).append(tally)
        return [_rate(fixer, list(units.values())) for fixer, units in groups.items()]

    def _paths(self) -> list[tuple[str, ...]]:
        return [tally.categories for tally in self._sound().values()]

    def _sound(self) -> dict[Cell, Tally]:
        """The trajectories whose journals are not damaged."""
        return {cell: tally for cell, tally in self._tallies.items() if cell not in self._problems}


def column_of(cell: Cell) -> str:
    """The name of a cell's column: its fixer, with the number of a further attempt."""
    return cell.fixer if cell.attempt == 1 else f"{cell.fixer} #{cell.attempt}"


def _rate(fixer: str, units: list[list[Tally]]) -> Rate:
    passed = sum(any(tally.passed for tally in unit) for unit in units)
    failed = sum(
        all(tally.over and not tally.passed and tally.stop_reason != "needs_device" for tally in unit) for unit in units
    )
    return Rate(one_line(fixer), passed, passed + failed)
