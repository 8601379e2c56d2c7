"""Nsight Compute's log, read: recorded on an H200 (tests/fixtures/h200/ncu), and what a hostile process could put there."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.events import Profiled
from engine.verdict.profile_metrics import STALLS, stall_metric, tool_metrics
from engine.verdict.profile_report import MOST_KERNELS, read_report, refused_metrics, without_parameters
from engine.verdict.profile_table import profile_table

RECORDED = (Path(__file__).parents[1] / "fixtures" / "h200" / "ncu" / "metrics.csv").read_text()
HEADER = next(line for line in RECORDED.split("\n") if line.startswith('"ID"'))


def row(number: int, kernel: str, metric: str, value: str, unit: str = "") -> str:
    cells = (
        *(str(number), "565", "probe", "127.0.0.1", kernel.replace('"', '""'), "1", "7", "(256, 1, 1)", "(8, 1, 1)"),
        *("0", "9.0", "Command line profiler metrics", metric, unit, value),
    )
    return ",".join(f'"{cell}"' for cell in cells)


def log(*rows: str) -> str:
    return "\n".join((HEADER, *rows)) + "\n"


def table(text: str) -> str:
    return profile_table(Profiled(iteration=1, figures=read_report(text).figures))


def test_the_recorded_kernels_are_one_each_the_longest_first():
    report = read_report(RECORDED)
    assert list(report.figures) == ["tile", "saxpy"] and report.problem == ""
    tile, saxpy = report.figures["tile"], report.figures["saxpy"]
    assert (tile["launches"], saxpy["launches"]) == (2, 2)
    assert tile["duration_us"] == 1082 and saxpy["duration_us"] == 45.09
    assert tile["time_pct"] + saxpy["time_pct"] == pytest.approx(100, abs=0.1)
    assert (saxpy["dram_read_mb"], saxpy["dram_throughput_pct"], saxpy["l2_hit_pct"]) == (134.2, 82.63, 33.44)
    assert (tile["blocks"], tile["threads_per_block"], tile["registers_per_thread"]) == (65536, 256, 31)


def test_launches_are_weighted_by_their_durations_and_facts_are_the_longest_launchs():
    report = read_report(
        log(
            row(0, "k(int)", "gpu__time_duration.sum", "1,000", "ns"),
            row(0, "k(int)", "lts__t_sector_hit_rate.pct", "10", "%"),
            row(0, "k(int)", "launch__grid_size", "1"),
            row(1, "k(int)", "gpu__time_duration.sum", "3,000", "ns"),
            row(1, "k(int)", "lts__t_sector_hit_rate.pct", "50", "%"),
            row(1, "k(int)", "launch__grid_size", "12,345"),
        )
    )
    assert report.figures["k"] == {
        "launches": 2.0,
        "duration_us": 2.0,
        "l2_hit_pct": 40.0,
        "blocks": 12345.0,
        "time_pct": 100.0,
    }


def test_other_units_than_the_base_are_taken_as_they_are_written():
    text = log(
        row(0, "k", "gpu__time_duration.sum", "1.5", "usecond"), row(0, "k", "dram__bytes_read.sum", "2", "Mbyte")
    )
    assert read_report(text).figures["k"] | {"time_pct": 0} == {
        "launches": 1.0,
        "duration_us": 1.5,
        "dram_read_mb": 2.0,
        "time_pct": 0,
    }


def test_stalls_are_shares_of_all_the_cycles_of_a_warp_issuing_included():
    reasons = {"long_scoreboard": "6", "barrier": "3", "selected": "1"}
    rows = [row(0, "k", stall_metric(reason), value, "inst") for reason, value in reasons.items()]
    text = log(row(0, "k", "gpu__time_duration.sum", "1000", "ns"), *rows)
    figures = read_report(text).figures["k"]
    assert {name: value for name, value in figures.items() if name.startswith("stall")} == {
        "stall_long_scoreboard_pct": 60.0,
        "stall_barrier_pct": 30.0,
    }
    lines = [line for line in table(text).split("\n") if "of cycles" in line]
    assert "60 % of cycles: a load from global or local memory (long_scoreboard)" in lines[0]
    assert "30 % of cycles: other warps at __syncthreads (barrier)" in lines[1] and len(lines) == 2


def test_a_part_of_the_stalls_is_no_whole():
    """The recorded run asked for three reasons only: shares of those three would say something else."""
    assert not any(name.startswith("stall") for name in read_report(RECORDED).figures["tile"])


def test_what_limits_the_occupancy_is_named():
    limits = {"registers": "2", "shared_mem": "2", "warps": "8", "blocks": "32"}
    text = log(
        row(0, "k", "gpu__time_duration.sum", "1000", "ns"),
        row(0, "k", "sm__maximum_warps_per_active_cycle_pct", "25", "%"),
        *(row(0, "k", f"launch__occupancy_limit_{name}", value, "block") for name, value in limits.items()),
    )
    assert "25 % of warps, limited by registers and shared memory to 2 blocks an SM" in table(text)


def test_a_value_that_is_none_is_left_out():
    values = ("n/a", "nan", "inf", "-3", "(!) nan", "1e300")
    rows = [row(0, "k", "lts__t_sector_hit_rate.pct", value) for value in values]
    assert "l2_hit_pct" not in read_report(log(row(0, "k", "gpu__time_duration.sum", "5", "ns"), *rows)).figures["k"]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("saxpy(const float4 *, float4 *, int)", "saxpy"),
        ("void gemm<(int)128, float>(const T1 *, T1 (*)[4])", "gemm<(int)128, float>"),
        ("void <unnamed>::k<<unnamed>::Max>(const float *)", "<unnamed>::k<<unnamed>::Max>"),
        ("(anonymous namespace)::k(int)", "(anonymous namespace)::k"),
        ("plain", "plain"),
        ("(int)", "(int)"),
        ("broken)", "broken)"),
    ],
)
def test_a_kernel_is_named_without_its_parameters(name: str, short: str):
    assert without_parameters(name) == short


def test_a_name_that_a_candidate_chose_is_one_short_plain_line():
    hostile = 'k\x1b]52;c;ZXZpbA==\x07"\r' + "x" * 5000
    (name,) = read_report(log(row(0, hostile, "gpu__time_duration.sum", "5", "ns"))).figures
    assert "\x1b" not in name and len(name) <= 120 and name.startswith('k" x')


def test_what_a_program_printed_is_no_row():
    """With a log file of its own the profiler's table never mixes with the program's output; rows before the header, and
    lines that are no rows, count for nothing all the same."""
    fake = row(0, "fast", "gpu__time_duration.sum", "1", "ns")
    assert read_report(fake).figures == {}
    text = log(row(0, "k", "gpu__time_duration.sum", "5", "ns"), "Kernel time: 0.001 ms", '"half a row')
    assert list(read_report(text).figures) == ["k"]


def test_a_flood_of_kernels_is_bounded():
    rows = [row(number, f"k{number}", "gpu__time_duration.sum", str(number + 1), "ns") for number in range(200)]
    report = read_report(log(*rows))
    assert len(report.figures) == MOST_KERNELS and next(iter(report.figures)) == "k199"
    assert "28 more kernels" in profile_table(Profiled(iteration=1, figures=report.figures))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Nsight Compute reported no kernel"),
        (
            "==PROF== Connected to process 7\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
            "NVIDIA GPU Performance Counters on the target device 0.\n==WARNING== No kernels were profiled.\n",
            "ERR_NVGPUCTRPERM",
        ),
        (
            "==ERROR== The application returned an error code (1).\n==WARNING== No kernels were profiled.\n"
            "==WARNING== Profiling kernels launched by child processes requires the --target-processes all option.\n",
            "saw no launch of the kernels",
        ),
        ("==ERROR== Something new \x1b[2J happened\n", "Nsight Compute says: Something new happened"),
        ("==ERROR== The application returned an error code (11).\n", "Nsight Compute reported no kernel"),
    ],
)
def test_a_failure_is_told_in_words(text: str, problem: str):
    report = read_report(text)
    assert report.figures == {} and problem in report.problem and "\n" not in report.problem


def test_every_metric_is_asked_for_once():
    names = tool_metrics()
    assert len(set(names)) == len(names) and all(stall_metric(reason) in names for reason in STALLS)


def test_a_metric_that_this_nsight_compute_does_not_have_is_found_in_its_complaint():
    complaint = (
        "==ERROR== Failed to find metric sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active\n"
        "==WARNING== No kernels were profiled.\n"
    )
    assert refused_metrics(complaint) == ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",)
    assert refused_metrics("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n") == ()
    assert refused_metrics(complaint + RECORDED) == (), "there are figures: a second run would give no more"
