"""A growing log as harmless lines, and what its lines say."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beaver_tui.state.logtext import LONGEST_LINE, LogText, Place, line_kind, line_place
from engine.text import plain_text

LOGS = Path(__file__).parents[1] / "fixtures" / "logs.jsonl"

pieces = st.lists(
    st.sampled_from(
        [
            "a",
            "é",
            "\t",
            "\n",
            "\r",
            "\r\n",
            "\x1b",
            "[31m",
            "\x1b[0m",
            "\x1b]52;c;",
            "aGk=",
            "\x07",
            "\x00",
            "\u202e",
            "x[N][M]",
        ]
    )
)


@given(pieces, st.integers(0, 5))
def test_where_a_piece_ends_changes_nothing(parts: list[str], width: int):
    """The log is the same whether it came in one piece or in many, and it shows the unfinished line in between."""
    text = "".join(parts)
    log = LogText()
    for start in range(0, len(text), width + 1):
        log.append(text[start : start + width + 1])
        assert log.lines == LogText(text[: start + width + 1]).lines
    assert log.lines == LogText(text).lines


@given(pieces)
def test_no_control_character_is_left(parts: list[str]):
    for line in LogText("".join(parts)).lines:
        assert line.isprintable()


def test_the_last_line_may_still_grow():
    log = LogText("building\nnv")
    assert (log.lines, log.settled) == (["building", "nv"], 1)
    log.append("cc -O3\n")
    assert (log.lines, log.settled) == (["building", "nvcc -O3"], 2)


def test_a_sequence_that_is_left_open_hides_no_more_than_its_line():
    assert LogText("\x1b]0;title\nkernel\tdone\x1b[").lines == ["", "kernel  done"]


def test_a_line_without_end_is_broken():
    log = LogText()
    for _ in range(5):
        log.append("." * (LONGEST_LINE // 2))
    assert [len(line) for line in log.lines] == [LONGEST_LINE, LONGEST_LINE, LONGEST_LINE // 2]
    assert LogText("." * (LONGEST_LINE + 1) + "\n").lines == ["." * LONGEST_LINE, "."]


LINES = [
    ("solution.cu(48): error: expected a ';'", "error", Place("solution.cu", 48)),
    ("solution.cu(6): warning #177-D: variable was declared", "warning", Place("solution.cu", 6)),
    ("solution.cu(5): note #3196-D: to match this", "note", Place("solution.cu", 5)),
    ("solution.cu:4:10: fatal error: cutlass/array.h: No such file or directory", "error", Place("solution.cu", 4, 10)),
    ('1 error detected in the compilation of "solution.cu".', "error", None),
    ("ptxas solution.ptx, line 12; error   : Unknown symbol", "error", Place("solution.ptx", 12)),
    ("ptxas fatal   : Ptx assembly aborted due to errors", "error", None),
    ("ptxas info    : Used 40 registers, 1024 bytes smem", "note", None),
    ("/usr/bin/ld: a.cudafe1.cpp:(.text+0x45): undefined reference to `solve'", "error", None),
    ("collect2: error: ld returned 1 exit status", "error", None),
    ("make: *** [Makefile:7: driver] Error 1", "error", Place("Makefile", 7)),
    ("========= Invalid __global__ write of size 4 bytes", "error", None),
    ("=========     at add(const float *)+0x1b0 in solution.cu:19", "", Place("solution.cu", 19)),
    ("========= Error: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :", "hazard", None),
    ("========= Barrier error detected. Divergent thread(s) in warp.", "hazard", None),
    ("========= ERROR SUMMARY: 2 errors", "error", None),
    ("========= ERROR SUMMARY: 0 errors", "", None),
    (
        "CUDA error 716 (cudaErrorMisalignedAddress): misaligned address at driver.cu:16",
        "error",
        Place("driver.cu", 16),
    ),
    ('  File "/workspace/check.py", line 31, in <module>', "", Place("/workspace/check.py", 31)),
    ("checker: y: 969992 of 1024000 values differ", "error", None),
    ("checker: failed: y: 969992 of 1024000 values differ", "error", None),
    ("checker: passed: y: 0 of 1024000 values differ", "", None),
    ("the test was killed at its time limit", "error", None),
    ("the result is correct, but it takes 0.5 ms", "", None),
    ("12:30:45 relative error 0.25 of std::vector", "", None),
]


@pytest.mark.parametrize(("line", "kind", "place"), LINES)
def test_what_a_line_says(line: str, kind: str, place: Place | None):
    assert (line_kind(line), line_place(line)) == (kind, place)


@pytest.mark.parametrize("piece", ["x", "Assertion ", "error ", "a.b", '" line ', "in ", "********* "])
def test_a_hostile_line_is_looked_at_in_good_time(piece: str):
    line = piece * (LONGEST_LINE // len(piece))
    began = time.thread_time()
    line_kind(line)
    line_place(line)
    assert time.thread_time() - began < 0.5


def test_errors_are_found_as_the_log_grows():
    log = LogText("a.cu(1): error: x\nfine\na.cu(3): err")
    assert log.errors == [0]
    log.append("or: y")
    assert log.errors == [0, 2]
    log.append("\nfine\n")
    assert log.errors == [0, 2]


def test_a_pattern_with_a_capital_means_it():
    log = LogText("Tile\ntile\nTILE\n")
    assert log.matching("tile") == [0, 1, 2]
    assert log.matching("Tile") == [0]
    assert log.matching("tile", 1) == [1, 2]


def test_nothing_is_lost_of_what_real_tools_printed():
    """But for white space: every line is there, and every tool's complaint about the solution has its place."""
    for record in map(json.loads, LOGS.read_text().splitlines()):
        for step in filter(None, (record["build"], record["test"])):
            text = step["stdout"] + step["stderr"]
            log = LogText(text)
            assert "".join("".join(log.lines).split()) == "".join(plain_text(text).split())
            for index, line in enumerate(log.lines):
                if line.startswith(("solution.cu(", "solution.cu:")):
                    place = log.place(index)
                    assert place is not None and place.file == "solution.cu", line
