"""Logs cut for prompts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.verdict.condense import condense


def test_a_short_log_stays_whole():
    assert condense("one\ntwo\n", 100) == "one\ntwo"


def test_error_lines_survive_with_context_head_and_tail():
    lines = [f"compiling part {number}" for number in range(2000)]
    lines[1000] = "solution.cu(7): error: expected a ';'"
    text = condense("\n".join(lines), 1000)
    assert "solution.cu(7): error: expected a ';'" in text
    assert "compiling part 999\n" in text
    assert "compiling part 1001\n" in text
    assert text.startswith("compiling part 0\n")
    assert text.endswith("compiling part 1999")
    assert "lines left out" in text


def test_of_many_errors_the_first_and_the_last_survive():
    text = condense("\n".join(f"error number {number}" for number in range(5000)), 600)
    assert text.startswith("error number 0\n")
    assert text.endswith("error number 4999")


def test_one_endless_line_is_cut():
    assert len(condense("error " + "x" * 1_000_000, 1000)) < 700


def test_random_names_of_temporary_files_go():
    one = "ptxas /tmp/tmpxft_00001a2b_00000000-6_solution.ptx, line 3; error"
    two = "ptxas /tmp/tmpxft_0000ffff_00000000-6_solution.ptx, line 3; error"
    assert condense(one, 500) == condense(two, 500) == "ptxas solution.ptx, line 3; error"


@given(st.text(alphabet="abc \nerror:", max_size=3000), st.integers(200, 1000))
def test_the_budget_holds(log, budget):
    text = condense(log, budget)
    notes = sum(len(line) + 1 for line in text.split("\n") if line.endswith("lines left out ..."))
    assert len(text) - notes <= budget
