"""Times, means and the gate (paper appendix G)."""

from __future__ import annotations

import pytest

from engine.events import TimedLaunch
from engine.harness.ratio import interval, outliers, widened_tail
from engine.harness.timing import parse_sizes, parse_time, summarize

PARSER = r"^Kernel time: (\S+) ms$"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Kernel time: 0.25 ms", 0.25),
        ("warm-up\nKernel time: 1e-3 ms\n", 0.001),
        ("Kernel time: 0 ms", None),
        ("Kernel time: -1 ms", None),
        ("Kernel time: nan ms", None),
        ("Kernel time: inf ms", None),
        ("Kernel time: fast ms", None),
        ("kernel time: 1 ms", None),
        ("", None),
        ("Kernel time: 0.0001 ms\nKernel time: 3 ms", None),
    ],
)
def test_only_a_finite_positive_time_counts(text: str, value: float | None):
    assert parse_time(PARSER, text) == value


def test_speedup_is_the_ratio_of_means_and_cv_is_the_candidates():
    timed = summarize(1, [2.0, 4.0], [1.0, 2.0], gate=0.7, note="", seconds=1.0)
    assert timed.speedup == 2.0
    assert timed.reference_mean_ms == 3.0
    assert timed.cv == pytest.approx(0.4714, abs=1e-4)
    assert timed.gate == "pass"


def test_the_gate_is_at_least_p():
    assert summarize(1, [0.7], [1.0], gate=0.7, note="", seconds=0).gate == "pass"
    assert summarize(1, [0.69], [1.0], gate=0.7, note="", seconds=0).gate == "fail"


def test_a_single_launch_has_no_cv():
    assert summarize(1, [1.0], [1.0], gate=0.7, note="", seconds=0).cv is None


@pytest.mark.parametrize(("reference", "candidate", "note"), [([1.0], [], ""), ([], [], ""), ([1.0], [1.0], "a fault")])
def test_what_is_incomplete_is_unmeasured(reference: list[float], candidate: list[float], note: str):
    timed = summarize(1, reference, candidate, gate=0.0, note=note, seconds=0)
    assert (timed.gate, timed.speedup) == ("unmeasured", None)


TEN = [2.00, 2.02, 1.99, 2.01, 2.00, 2.03, 1.98, 2.00, 2.01, 2.00]


def test_the_interval_holds_the_ratio_and_is_the_same_every_time():
    candidate = [time / 2 * (1 + 0.004 * (-1) ** number) for number, time in enumerate(TEN)]
    timed = summarize(1, TEN, candidate, gate=0.7, note="", seconds=0)
    low, high = timed.interval
    assert timed.speedup is not None
    assert low < timed.speedup < high
    assert high - low < 0.02
    assert summarize(1, TEN, candidate, gate=0.7, note="", seconds=0).interval == timed.interval


def test_what_both_of_a_pair_share_does_not_widen_the_interval():
    """A GPU that slows down slows both: pairs are drawn, not launches."""
    reference = [2.0 + 0.1 * number for number in range(10)]
    candidate = [time / 2 for time in reference]
    low, high = interval(reference, candidate)
    assert high - low < 1e-9
    shifted = candidate[5:] + candidate[:5]
    low, high = interval(reference, shifted)
    assert high - low > 0.3


def test_ten_launches_get_a_wider_interval_than_the_plain_percentiles():
    assert widened_tail(10) == pytest.approx(0.0086, abs=2e-4)
    assert widened_tail(10_000) == pytest.approx(0.025, abs=1e-4)


def test_the_interval_covers_the_true_ratio_as_often_as_it_says():
    import numpy as np

    random = np.random.default_rng(4)
    hits = 0
    for _ in range(200):
        drift = 1 + 0.01 * random.standard_normal(10)
        reference = 3.0 * drift * (1 + 0.02 * random.standard_normal(10))
        candidate = drift * (1 + 0.02 * random.standard_normal(10))
        low, high = interval(list(reference), list(candidate))
        hits += low <= 3.0 <= high
    assert 180 <= hits <= 199


def test_few_launches_have_no_interval():
    assert interval([1.0] * 4, [1.0] * 4) == []
    assert summarize(1, [1.0], [1.0], gate=0.7, note="", seconds=0).flags == ["single launch: no spread is known"]


def test_an_interval_across_the_gate_is_said_and_the_rule_stays_the_papers():
    candidate = [2.9 + 0.2 * (number % 2) for number in range(10)]
    timed = summarize(1, [2.0] * 10, candidate, gate=2 / 3, note="", seconds=0)
    assert timed.gate == "pass"
    assert any(flag.startswith("undecided at 95 %") for flag in timed.flags)
    clear = summarize(1, [2.0] * 10, candidate, gate=0.5, note="", seconds=0)
    assert not any(flag.startswith("undecided") for flag in clear.flags)


def test_an_outlier_is_named_and_stays():
    times = [*TEN[:9], 2.6]
    timed = summarize(1, TEN, times, gate=0.7, note="", seconds=0)
    assert [(one.side, one.number, one.ms) for one in timed.outliers] == [("candidate", 10, 2.6)]
    assert timed.candidate_ms == times
    assert timed.speedup == pytest.approx(sum(TEN) / sum(times))


def test_launches_that_agree_to_a_per_mille_have_no_outlier():
    assert outliers([1.0, 1.0, 1.0, 1.0, 1.0005]) == []
    assert [index for index, _ in outliers([1.0, 1.0, 1.0, 1.0, 1.05])] == [4]


def test_a_throttled_gpu_is_said():
    launches = [
        TimedLaunch(side="candidate", number=1, ms=1.0, sm_mhz=1980),
        TimedLaunch(side="candidate", number=2, ms=1.0, sm_mhz=1500, reasons=["sw_power_cap"]),
    ]
    flags = summarize(1, [1.0, 1.0], [1.0, 1.0], gate=0.7, note="", seconds=0, launches=launches).flags
    assert "sw_power_cap in 1 of 2 launches" in flags
    assert "SM clock between 1500 and 1980 MHz" in flags


TABLE = """\
=== 128x128 ===
Kernel time: 2.0 ms
Ref time: 1.0 ms
Speedup: 0.50x
=== 4096x4096 ===
Kernel time: 1.0 ms
Ref time: 8.0 ms
"""
OWN, REF = r"^Kernel time: (\S+) ms$", r"^Ref time: (\S+) ms$"


def test_a_table_of_sizes_is_read_size_by_size():
    rows = parse_sizes(OWN, REF, TABLE)
    assert rows is not None
    assert [(row.size, row.speedup) for row in rows] == [("128x128", 0.5), ("4096x4096", 8.0)]
    timed = summarize(1, [8.0**0.5], [2.0**0.5], gate=0.7, note="", seconds=0, sizes=rows)
    assert timed.speedup == pytest.approx(2.0)
    assert "geometric mean of 2 sizes; the least is 0.50x at 128x128" in timed.flags


@pytest.mark.parametrize(
    "output",
    [
        "Kernel time: 0.001 ms\nRef time: 9 ms\nKernel time: 2 ms\nRef time: 1 ms\n",
        TABLE + "Kernel time: 0.001 ms\nRef time: 9 ms\n",
        TABLE.replace("Ref time: 8.0 ms\n", ""),
        TABLE.replace("4096x4096", "128x128"),
        TABLE.replace("8.0", "0"),
    ],
    ids=["no headings", "a forged pair", "unpaired", "a size twice", "zero"],
)
def test_times_that_do_not_pair_up_below_headings_are_none(output: str):
    assert parse_sizes(OWN, REF, output) is None
