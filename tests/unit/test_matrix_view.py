"""A run as a matrix: what stands in its cells, and what they add up to."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaver_tui.state.matrix import News, SweepView
from beaver_tui.state.summary import summarize_run
from beaver_tui.state.tally import Tally
from beaver_tui.state.transitions import histogram, transitions
from engine import events as ev
from engine.analysis.wilson import wilson_interval
from engine.cells import read_cell
from engine.journal import Journal, read_journal
from engine.protocol import Protocol, Sampling
from engine.rundir import Cell, RunDirectory
from engine.verdict import Category
from tests.support.stores import RECORDED, make_store

RUN = RunDirectory(RECORDED)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Three trajectories that are planned, none of them begun."""
    run = make_store(tmp_path, runs=1, cells=3, iterations=1)[0]
    for cell in run.plan:
        run.journal(cell).unlink()
    return run


class Teller:
    """What readings of a run's journals bring, event by event."""

    def __init__(self, view: SweepView) -> None:
        self._view = view
        self._events: dict[Cell, list[ev.Event]] = defaultdict(list)

    def __call__(self, cell: Cell, event: ev.Event) -> None:
        self._events[cell].append(event)
        self._view.take(News({cell: Tally().after(self._events[cell])}, {}, live=True))


def test_a_recorded_run_is_shown_as_its_journals_tell_it():
    view = seen(RUN)
    assert view.columns == ["scripted:good", "scripted:degenerate", "scripted:stagnating", "scripted:cheat"]
    assert view.tasks == list(dict.fromkeys(cell.task for cell in RUN.plan))
    assert (view.over, view.total, view.running, view.live, view.eta) == (44, 44, 0, False, None)
    for cell in RUN.plan:
        told = read_cell(RUN, cell)
        assert view.cell(cell.task, cell.fixer) == view.matrix_cell(cell)
        assert view.matrix_cell(cell).iterations == len(told.finished)
        assert view.matrix_cell(cell).categories == tuple(step.category for step in told.steps)
        assert (view.matrix_cell(cell).status == "passed") == told.passed
    solved = {summary.fixer: (summary.solved, summary.cells) for summary in summarize_run(RUN)}
    assert {rate.fixer: (rate.passed, rate.over) for rate in view.rates} == solved


def test_a_cell_says_why_its_trajectory_was_stopped():
    cell = seen(RUN).cell("image_luma", "scripted:stagnating")
    assert (cell.status, cell.iterations) == ("stopped: category_oscillation", 4)


def test_where_a_fixer_has_nothing_to_do_the_matrix_is_empty():
    view = seen(RUN)
    assert Cell("image_luma", "scripted:cheat") not in RUN.plan
    assert (view.key("image_luma", "scripted:cheat"), view.cell("image_luma", "scripted:cheat")) == (None, None)


def test_failures_come_first_when_asked_for():
    view = seen(RUN)
    order = view.tasks
    view.failures_first = True
    ranked = view.tasks
    assert sorted(ranked) == sorted(order)
    solved = [
        all(view.matrix_cell(cell).status == "passed" for cell in RUN.plan if cell.task == task) for task in ranked
    ]
    assert solved == sorted(solved)


def test_a_run_that_is_followed_is_what_its_journals_tell_anew(run: RunDirectory):
    """Event by event: the same matrix at every moment."""
    theirs = seen(run)
    cell = run.plan[0]
    recorded = read_journal(RUN.journal(Cell("image_luma", "scripted:stagnating")))
    opened = msgspec.structs.replace(recorded[0], task=cell.task, fixer=cell.fixer)
    with run.lock(), Journal(run.journal(cell)) as journal:
        for event in [opened, *recorded[1:]]:
            journal.append(event)
            assert theirs.poll()
            assert not theirs.poll()
            assert seen(run).matrix_cell(cell) == theirs.matrix_cell(cell)
            # between two iterations nothing runs: under two phases that is long
            assert theirs.running == (not isinstance(event, ev.IterationClosed | ev.TrajectoryClosed))
    assert theirs.poll(), "nobody writes it any more"
    assert (theirs.live, theirs.over) == (False, 1)


def test_the_time_to_go_is_the_pace_so_far(run: RunDirectory):
    now = 100.0
    view = seen(run, clock=lambda: now)
    tell = Teller(view)
    first, second, _ = run.plan
    tell(first, ev.Controlled(action="resume"))
    now = 110.0
    assert view.eta is None
    tell(first, closed(passed=False))
    assert view.eta == 20.0
    tell(second, closed(passed=True))
    assert view.eta == 5.0


def test_tokens_money_and_faults_are_added_up(run: RunDirectory):
    view = seen(run)
    tell = Teller(view)
    assert (view.tokens, view.cost, view.faults) == (0, None, 0)
    first, second, _ = run.plan
    tell(first, ev.ReplyReceived(iteration=1, response="r", tokens_in=10, tokens_out=5, cost=0.25))
    tell(second, ev.ReplyReceived(iteration=1, response="r", tokens_in=1, cost=None))
    tell(first, ev.InfraFailed(iteration=1, kind="disk", message="", final=False))
    tell(second, ev.InfraFailed(iteration=1, kind="server", message="503", final=True))
    assert (view.tokens, view.cost, view.faults) == (16, 0.25, 1)
    assert [view.matrix_cell(cell).status for cell in run.plan] == ["running", "open", "not begun"]


def test_a_damaged_journal_is_a_cell_that_says_so(run: RunDirectory):
    run.journal(run.plan[0]).write_bytes(b"{\n")
    cell = seen(run).matrix_cell(run.plan[0])
    assert cell.status == "damaged"
    assert "not a journal" in cell.problem


def test_a_journal_that_lost_an_iteration_in_its_middle_is_damaged_and_counts_nowhere(tmp_path: Path):
    run = make_store(tmp_path, runs=1, cells=2, iterations=3)[0]
    path = run.journal(run.plan[0])
    lines = path.read_bytes().splitlines(keepends=True)
    second = b'"iteration":2'
    path.write_bytes(b"".join(line for line in lines[:-1] if second not in line))  # the end would tell, too
    view = seen(run)
    damaged, sound = map(view.matrix_cell, run.plan)
    assert (damaged.status, sound.status) == ("damaged", "failed")
    assert "iteration 3 where 1 is over; lines are missing or doubled" in damaged.problem
    assert (view.over, view.total, [rate.over for rate in view.rates]) == (1, 2, [1])
    assert sum(view.histogram.values()) == 3


def test_a_run_that_is_moved_while_it_is_on_show_says_that_it_is_gone(run: RunDirectory):
    view = seen(run)
    assert [view.matrix_cell(cell).status for cell in run.plan] == ["not begun"] * 3
    run.path.rename(run.path.with_name("elsewhere"))
    assert view.poll()
    for cell in run.plan:
        assert view.matrix_cell(cell).status == "damaged"
        assert "is gone; it was moved or removed" in view.matrix_cell(cell).problem


def test_what_cannot_be_tried_here_does_not_count_as_failed(run: RunDirectory):
    view = seen(run)
    tell = Teller(view)
    for cell, reason in zip(run.plan, ("needs_device", "max_iterations", "passed"), strict=True):
        tell(cell, closed(reason, passed=reason == "passed"))
    assert [(rate.passed, rate.over) for rate in view.rates] == [(1, 2)]


def test_attempts_of_repeated_sampling_are_one_try(tmp_path: Path):
    record = msgspec.structs.replace(RUN.record, protocol=Protocol(sampling=Sampling.REPEATED))
    plan = [Cell(task, "f", attempt) for task in ("a", "b") for attempt in (1, 2)]
    run = RunDirectory.create(record, plan, tmp_path / "run")
    view = seen(run)
    tell = Teller(view)
    assert view.columns == ["f", "f #2"]
    tell(plan[0], closed())
    assert [(rate.passed, rate.over) for rate in view.rates] == [(0, 0)]
    tell(plan[1], closed(passed=True))
    tell(plan[2], closed())
    tell(plan[3], closed())
    assert [(rate.passed, rate.over) for rate in view.rates] == [(1, 2)]


@pytest.mark.parametrize(
    ("passed", "total", "low", "high"),
    [(0, 0, 0, 1), (0, 10, 0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1), (1, 1, 0.2065, 1)],
)
def test_wilsons_interval(passed: int, total: int, low: float, high: float):
    assert wilson_interval(passed, total) == pytest.approx((low, high), abs=5e-5)


@given(total=st.integers(1, 2000), data=st.data())
def test_the_interval_holds_the_share_and_stays_within_the_scale(total: int, data: st.DataObject):
    passed = data.draw(st.integers(0, total))
    low, high = wilson_interval(passed, total)
    assert 0 <= low <= passed / total <= high <= 1
    assert high - low < 1


@given(paths=st.lists(st.lists(st.sampled_from(list(Category)), max_size=6), max_size=6))
def test_every_pair_of_neighbours_is_one_transition(paths: list[list[str]]):
    assert sum(transitions(paths).values()) == sum(max(0, len(path) - 1) for path in paths)
    assert sum(histogram(paths).values()) == sum(map(len, paths))
    assert transitions([["timeout", "timeout", "passed"]]) == Counter(
        {("timeout", "timeout"): 1, ("timeout", "passed"): 1}
    )


def seen(run: RunDirectory, clock: Callable[[], float] = time.monotonic) -> SweepView:
    """The matrix of a run after its journals were read once."""
    view = SweepView(run, clock)
    assert view.poll()
    return view


def closed(reason: str = "max_iterations", *, passed: bool = False) -> ev.TrajectoryClosed:
    return ev.TrajectoryClosed(stop_reason=reason, passed=passed, iterations=1)
