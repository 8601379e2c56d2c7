"""The suite's own tools: reading what was recorded, and telling near from far."""

from __future__ import annotations

import pytest

from tests.conformance import suite
from tests.conformance.record import headlines
from tests.conformance.tolerance import close, differences


def test_output_is_read_back_by_case():
    text = "[first] f32 ulp 2\na: 00000000\n  00000001\n[second]\nhello 1\nexit code 3\n"
    first, second = suite.parse("program", text)
    assert (first.name, first.tolerance, first.lines) == ("first", "f32 ulp 2", ("a: 00000000", "  00000001"))
    assert (second.name, second.tolerance, second.lines) == ("second", "", ("hello 1", "exit code 3"))


def test_programs_are_single_sources_and_folders_with_a_main():
    programs = {program.name: program for program in suite.programs()}
    assert len(programs["separate"].sources) == 2
    assert programs["separate"].flags == ("-rdc=true",)
    assert programs["integer"].flags == ()


def test_every_marked_line_is_found():
    lines = {fault.name: fault.line for fault in suite.faults() if fault.function}
    assert min(lines.values()) > 0


@pytest.mark.parametrize(
    ("tolerance", "expected", "got"),
    [
        ("f32 ulp 2", "3f800000", "3f800002"),
        ("f32 ulp 2", "00000001", "80000001"),  # across zero
        ("f32 ulp 0", "7fc12345", "ffffffff"),  # NaN and NaN
        ("f32 relative 1e-6", "3f800000", "3f800008"),
        ("f64 absolute 1e-9", "3ff0000000000000", "3ff0000000100000"),
        ("f32 relative 1e-6 absolute 1e-6", "00000000", "35000000"),
        ("f16 ulp 1", "7bff", "7c00"),
        ("bf16 ulp 1", "3f80", "3f81"),
    ],
)
def test_near_enough(tolerance: str, expected: str, got: str):
    assert close(tolerance, expected, got)


@pytest.mark.parametrize(
    ("tolerance", "expected", "got"),
    [
        ("f32 ulp 2", "3f800000", "3f800003"),
        ("f32 ulp 2", "7fc12345", "3f800000"),
        ("f32 relative 1e-6", "7f800000", "ff800000"),
        ("f64 absolute 1e-9", "3ff0000000000000", "3ff0000001000000"),
        ("f16 ulp 2", "00003c00", "00003c00"),  # another type's digits
    ],
)
def test_too_far(tolerance: str, expected: str, got: str):
    assert not close(tolerance, expected, got)


def test_a_difference_names_label_and_place():
    assert differences("", ["add: 00000000 00000001", "  00000002"], ["add: 00000000 00000001", "  00000003"]) == [
        "add [2]: recorded 00000002, here 00000003"
    ]


def test_text_must_be_equal_and_only_its_order_can_be_free():
    assert differences("f32 ulp 2", ["done"], ["failed"])
    assert differences("", ["a", "b"], ["b", "a"])
    assert differences("any order", ["a", "b"], ["b", "a"]) == []
    assert differences("any order", ["a", "b"], ["b", "c"])


def test_many_differences_are_counted():
    expected, got = ["x: " + " ".join(["00000000"] * 20)], ["x: " + " ".join(["00000001"] * 20)]
    told = differences("", expected, got)
    assert len(told) == 7
    assert told[-1] == "20 of 20 differ"


def test_too_few_words_are_told():
    assert differences("", ["x: 00000000 00000000"], ["x: 00000000"]) == [
        "recorded: x: 00000000 00000000",
        "here: x: 00000000",
    ]


def test_the_error_of_a_run_is_the_first_that_it_printed():
    printed = "launch: 0 cudaSuccess\nend: 700 cudaErrorIllegalAddress\n"
    assert suite.printed_error(suite.Run(printed, "", "exit code 1")) == "cudaErrorIllegalAddress"
    assert suite.printed_error(suite.Run("end: 0 cudaSuccess\n", "", "")) == "cudaSuccess"
    assert suite.printed_error(suite.Run("", "", "signal 11")) == "signal 11"


def test_a_program_that_does_not_end_is_killed():
    assert suite.run(["sh", "-c", "sleep 100 & wait"], seconds=0.2).ended == "hangs"


def test_headlines_leave_out_the_hosts_stack():
    report = "hello\n========= Invalid __global__ write\n=========     Saved host backtrace up to driver\n=========     Host Frame: main\n"
    assert headlines(report) == ["========= Invalid __global__ write"]
