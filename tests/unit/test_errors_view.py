"""The errors of a log as a table that leads to lines of code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beaver_tui.state.errors import MOST, error_rows, evidence_row
from beaver_tui.state.session import Session
from engine import events as ev
from engine.rundir import Cell
from engine.store import MemoryStore
from engine.text import plain_text

RECORDED = [
    json.loads(line) for line in (Path(__file__).parents[1] / "fixtures" / "logs.jsonl").read_text().splitlines()
]
BUILD_LOGS = [item["build"] for item in RECORDED if item["build"]]


@pytest.mark.parametrize(
    ("log", "text", "row"),
    [
        ("build", 'solution.cu(19): error: identifier "x" is undefined', ("solution.cu", 19, "error")),
        ("build", "solution.cu(19): error #20-D: no", ("solution.cu", 19, "error")),
        ("build", 'solution.cu(7): warning #177-D: variable "t" was declared', ("solution.cu", 7, "warning")),
        ("build", "solution.cu:4:10: fatal error: cutlass/array.h: No such file", ("solution.cu", 4, "error")),
        ("build", "driver.cpp:4:10: warning: unused variable ‘n’ [-Wunused]", ("driver.cpp", 4, "warning")),
        ("build", "ptxas error   : Entry function 'f' uses too much shared data", ("", None, "error")),
        ("build", "nvcc fatal   : Unsupported gpu architecture 'compute_20'", ("", None, "error")),
        ("build", "/usr/bin/ld: driver.o: undefined reference to `solve'", ("", None, "error")),
        ("build", "collect2: error: ld returned 1 exit status", ("", None, "error")),
        (
            "test",
            "CUDA error 716 (cudaErrorMisalignedAddress): misaligned address at driver.cu:16",
            ("driver.cu", 16, "error"),
        ),
        ("test", "solution.cu:11: an illegal memory access was encountered", ("solution.cu", 11, "error")),
        ("test", "checker: failed: y: 3 of 900 values differ", ("", None, "error")),
        (
            "sanitizer",
            "========= Invalid __global__ read of size 4 bytes\n=========     at f(int*)+0x10 in solution.cu:31\n=========",
            ("solution.cu", 31, "hazard"),
        ),
        ("sanitizer", "========= Invalid __shared__ write of size 4", ("", None, "hazard")),
    ],
)
def test_a_line_of_a_log_is_a_row(log: str, text: str, row: tuple[str, int | None, str]):
    assert [(found.file, found.line, found.severity) for found in error_rows(log, text)] == [row]


@pytest.mark.parametrize(
    ("log", "text"),
    [
        ("build", "$ nvcc -Werror -o driver error.cu:3: error: x"),
        ("build", "      float error = 0.0f; // warning: hot"),
        ("build", '2 errors detected in the compilation of "solution.cu".'),
        ("test", "checker: passed: y: 0 of 900 values differ"),
        ("sanitizer", "========= ERROR SUMMARY: 0 errors"),
    ],
)
def test_other_lines_are_none(log: str, text: str):
    assert error_rows(log, text) == []


def test_what_is_said_many_times_is_one_row_and_a_flood_has_an_end():
    line = "solution.cu(3): error: no\n"
    assert len(error_rows("build", line * 100)) == 1
    flood = "".join(f"solution.cu({number}): error: no\n" for number in range(10 * MOST))
    assert len(error_rows("build", flood)) == MOST


def test_every_recorded_build_that_names_a_line_of_the_solution_leads_there():
    named = 0
    for log in BUILD_LOGS:
        text = plain_text(f"{log.get('stdout', '')}\n{log.get('stderr', '')}")
        if (
            log.get("exit_code")
            and "solution.cu(" in text
            and "error" in text
            and "detected in the compilation" in text
        ):
            rows = error_rows("build", text)
            named += any(row.file.endswith("solution.cu") and row.line for row in rows)
            assert rows
    assert named > 20


def test_the_evidence_is_a_row_whatever_it_looks_like():
    assert evidence_row("free(): invalid pointer", "test").message == "free(): invalid pointer"
    row = evidence_row("GPUassert: misaligned address in solution.cu:8", "test")
    assert (row.file, row.line) == ("solution.cu", 8)


def test_what_decided_the_verdict_comes_first_and_only_once():
    session = Session(Cell("t", "f"), MemoryStore())
    log = ev.Excerpt(head="solution.cu(3): warning #1-D: w\nsolution.cu(9): error: no\n")
    session.apply(ev.Built(iteration=1, step=ev.StepRecord(exit_code=2, stderr=log)))
    assert [row.line for row in session.error_rows(1)] == [3, 9]
    session.apply(
        ev.VerdictReached(
            iteration=1,
            category="buildability",
            outcome_bucket="compile_error",
            rule="r",
            signature="no",
            stage="build",
            line="solution.cu(9): error: no",
        )
    )
    assert [row.line for row in session.error_rows(1)] == [9, 3]
