"""Two trajectories side by side."""

from __future__ import annotations

import pytest

from beaver_tui.state.compare import Comparison
from beaver_tui.state.session import Session
from engine.corpora import builtin_folder, load_corpus
from engine.journal import read_journal
from engine.rundir import Cell, RunDirectory
from tests.support.stores import RECORDED

RUN = RunDirectory(RECORDED)
TASKS = load_corpus(builtin_folder()).tasks


def stored(task: str, fixer: str) -> Session:
    cell = Cell(task, f"scripted:{fixer}")
    session = Session(cell, RUN.store(cell), task=TASKS[task])
    for event in read_journal(RUN.journal(cell)):
        session.apply(event)
    return session


@pytest.fixture
def comparison() -> Comparison:
    """One that passes in its only step, and one that oscillates through four."""
    return Comparison(stored("image_luma", "good"), stored("image_luma", "stagnating"))


def at(comparison: Comparison, step: int) -> None:
    """Both sides at the same step."""
    comparison.left.go(step)
    comparison.right.go(step)


def test_both_sides_begin_where_their_sessions_stand(comparison: Comparison):
    assert comparison.positions == (1, 4)


def test_a_step_of_both_ends_at_each_ones_own_end(comparison: Comparison):
    at(comparison, 0)
    for expected in [(1, 1), (1, 2), (1, 3), (1, 4), (1, 4)]:
        comparison.step(1)
        assert comparison.positions == expected
    comparison.step(-1)
    assert comparison.positions == (0, 3)


def test_one_side_moves_alone(comparison: Comparison):
    at(comparison, 1)
    comparison.move("right", 2)
    assert comparison.positions == (1, 3)
    comparison.move("left", -1)
    assert comparison.positions == (0, 3)


def test_sides_are_swapped_with_their_places_and_their_runs(comparison: Comparison):
    sources = comparison.sources
    assert sources[0] != sources[1]
    comparison.runs = ("first", "second")
    comparison.swap()
    assert (comparison.positions, comparison.runs) == ((4, 1), ("second", "first"))
    assert comparison.sources == sources[::-1]


def test_the_right_step_is_timed_against_the_left_one_of_the_same_task():
    comparison = Comparison(stored("conv2d_same", "degenerate"), stored("conv2d_same", "good"))
    speed = comparison.speed
    assert speed is not None
    left, right = (session.timed(session.last) for session in (comparison.left, comparison.right))
    assert left is not None and right is not None and left.speedup and right.speedup
    assert speed.ratio == pytest.approx(right.speedup / left.speedup)
    comparison.right.go(1)
    assert comparison.speed is None, "step 1 did not pass, and was not timed"
    assert Comparison(stored("conv2d_same", "good"), stored("attention_window", "good")).speed is None
