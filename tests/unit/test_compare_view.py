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


def test_both_sides_begin_where_their_sessions_stand(comparison: Comparison):
    assert (comparison.positions, comparison.last) == ((1, 4), 4)


def test_a_step_of_both_ends_at_each_ones_own_end(comparison: Comparison):
    comparison.align(0)
    for expected in [(1, 1), (1, 2), (1, 3), (1, 4), (1, 4)]:
        comparison.step(1)
        assert comparison.positions == expected
    comparison.step(-1)
    assert comparison.positions == (0, 3)


def test_one_side_moves_alone(comparison: Comparison):
    comparison.align(1)
    comparison.move("right", 2)
    assert comparison.positions == (1, 3)
    comparison.move("left", -1)
    assert comparison.positions == (0, 3)


def test_sides_are_swapped_with_their_places(comparison: Comparison):
    before, sources = comparison.categories, comparison.sources
    comparison.swap()
    assert comparison.positions == (4, 1)
    assert comparison.sources == sources[::-1]
    assert comparison.categories == [(right, left) for left, right in before]


def test_categories_are_aligned_step_by_step(comparison: Comparison):
    assert comparison.categories == [
        ("illegal_memory_access", "illegal_memory_access"),
        ("passed", "illegal_memory_access"),
        ("", "functional_correctness"),
        ("", "buildability"),
        ("", "illegal_memory_access"),
    ]
    assert comparison.parted == 1


def test_what_differs_is_named_with_both_sides(comparison: Comparison):
    comparison.align(1)
    found = {item.name: (item.left, item.right) for item in comparison.differences}
    assert found["category"] == ("passed", "illegal_memory_access")
    assert found["speedup"] == ("0.79x", "")
    assert found["gate"] == ("pass", "")
    assert "device" not in found
    assert comparison.sources[0] != comparison.sources[1]
    assert found["code"][0].endswith(" lines")


def test_the_same_trajectory_differs_in_nothing():
    comparison = Comparison(stored("softmax_rows", "good"), stored("softmax_rows", "good"))
    assert (comparison.differences, comparison.parted, comparison.same_task) == ([], None, True)
    comparison = Comparison(stored("softmax_rows", "good"), stored("image_luma", "good"))
    assert not comparison.same_task
