"""Times, means and the gate (paper appendix G)."""

from __future__ import annotations

import pytest

from engine.harness.timing import interleave, parse_time, summarize

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


async def test_reference_and_candidate_take_turns():
    order: list[str] = []

    def program(name: str, times: list[float]):
        async def measure() -> str:
            order.append(name)
            return f"Kernel time: {times.pop(0)} ms"

        return measure

    found = await interleave(PARSER, program("reference", [2.0, 2.2]), program("candidate", [1.0, 1.1]), 2)
    assert found == ([2.0, 2.2], [1.0, 1.1], "")
    assert order == ["reference", "candidate", "reference", "candidate"]


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
