"""Stagnation over stored trajectories: the signals in columns, the rates, and what other thresholds would have said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.analysis.build import TrajectoryRecord, frame_from
from engine.analysis.frame import SIGNALS
from engine.analysis.signals import signal_bits
from engine.analysis.stagnation import (
    TABLE_7,
    Thresholds,
    dominant_signal,
    failing,
    rerun,
    sensitivity,
    stagnated,
    stagnation_rates,
)
from engine.protocol import EarlyStop, Protocol
from engine.verdict import Step, signals
from tests.support.trajectories import OBSERVING, STOPPING, attempt, panels, played

few = settings(max_examples=60, deadline=None)

THRESHOLDS = st.builds(Thresholds, st.integers(1, 4), st.integers(1, 6), st.integers(2, 5))
ENDS = {name: code for code, name in enumerate(SIGNALS)}


def names_of(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in enumerate(SIGNALS) if bits >> bit & 1)


@few
@given(panels(OBSERVING), THRESHOLDS)
def test_signals_in_columns_are_those_of_one_trajectory_at_a_time(
    rows: list[TrajectoryRecord], variant: Thresholds
) -> None:
    frame = frame_from(rows)
    bits = iter(rerun(frame, variant))
    for row in rows:
        steps = [Step(item.solution, item.category, item.signature) for item in row.iterations]
        for played_so_far in range(1, len(steps) + 1):
            expected = signals(
                steps[:played_so_far],
                oscillation_m=variant.oscillation_m,
                oscillation_n=variant.oscillation_n,
                no_progress_c=variant.no_progress_c,
            )
            assert names_of(next(bits)) == tuple(map(str, expected))


B, T, F = "buildability", "timeout", "functional_correctness"


@pytest.mark.parametrize(
    ("steps", "raised"),
    [
        (["Ba", "Ta"], {2: ("duplicate_code", "code_cycle")}),
        (["Ba", "Tb", "Fa"], {3: ("code_cycle",)}),
        (["Ba", "Tb", "Bc", "Td"], {4: ("category_oscillation",)}),
        (["Fa", "Fb", "Fc", "Fd"], {3: ("no_progress",), 4: ("no_progress",)}),
        (["Fa", "Fb", "Ta", "Fb"], {3: ("code_cycle",), 4: ("code_cycle",)}),
        (["Ba", "Tb", "Fc", "Fd"], {}),
    ],
)
def test_every_signal_at_its_exact_iteration(steps: list[str], raised: dict[int, tuple[str, ...]]) -> None:
    names = {"B": B, "T": T, "F": F}
    row = played("a", "f", [attempt(names[step[0]], step[1], step[0]) for step in steps], OBSERVING)
    bits = rerun(frame_from([row]), Thresholds())
    assert {number: names_of(code) for number, code in enumerate(bits, 1) if code} == raised


@few
@given(panels(STOPPING))
def test_the_end_of_a_stopped_trajectory_is_its_stop_reason(rows: list[TrajectoryRecord]) -> None:
    frame = frame_from(rows)
    assert stagnated(frame).tolist() == [ENDS.get(row.stop_reason, -1) for row in rows]
    failed = [row for row in rows if row.stop_reason != "passed"]
    rates = {name: tally.total() for name, tally in stagnation_rates(frame).items()}
    assert rates["stagnation"].denominator == rates["oscillation"].denominator == len(rows)
    assert rates["stagnation"].numerator == sum(row.stop_reason in ENDS for row in rows)
    assert rates["oscillation"].numerator == sum(row.stop_reason == "category_oscillation" for row in rows)
    for name in SIGNALS:
        assert rates[name].denominator == len(failed)
        assert rates[name].numerator == sum(row.stop_reason == name for row in failed)
    overall = rates["stagnation_failing"]
    assert overall.numerator == sum(rates[name].numerator for name in SIGNALS)  # Table 6: the columns sum to it
    assert failing(frame).tolist() == [row in failed for row in rows]


@few
@given(panels(OBSERVING))
def test_observing_gives_the_rates_that_stopping_would_have(rows: list[TrajectoryRecord]) -> None:
    stopped = [played(row.task, row.fixer, row.iterations, STOPPING) for row in rows]
    assert stagnated(frame_from(rows)).tolist() == stagnated(frame_from(stopped)).tolist()


@few
@given(panels(STOPPING))
def test_a_looser_threshold_takes_away_exactly_its_own_signal(rows: list[TrajectoryRecord]) -> None:
    """F.2 as the paper ran it, on trajectories that the signals had ended: overall at c=4 is overall minus no_progress, because what
    would have come after the stop was never played."""
    frame = frame_from(rows)
    default, c4 = sensitivity(frame, [Thresholds(), Thresholds(no_progress_c=4)])
    alone = [row.stop_reason == "no_progress" for row in rows]
    assert default.stagnation.total().numerator - c4.stagnation.total().numerator == sum(alone)
    assert default.censored == 0
    assert c4.censored == sum(
        stop and len(row.iterations) < row.protocol.k for stop, row in zip(alone, rows, strict=True)
    )


def test_only_trajectories_that_were_cut_short_are_censored() -> None:
    stuck = [attempt(F, None, "same") for _ in range(5)]
    looser = [Thresholds(no_progress_c=6)]
    assert sensitivity(frame_from([played("a", "f", stuck, STOPPING)]), looser)[0].censored == 1
    assert sensitivity(frame_from([played("a", "f", stuck, OBSERVING)]), looser)[0].censored == 0
    full = Protocol(no_progress_c=5)
    assert sensitivity(frame_from([played("a", "f", stuck, full)]), looser)[0].censored == 0


def test_tighter_thresholds_saturate_as_table_7_says() -> None:
    rows = [
        played("a", "f", [attempt(F, None, "s"), attempt(F, None, "s"), attempt(T)]),
        played("b", "f", [attempt(B), attempt(T), attempt(B)]),
    ]
    found = {str(item.thresholds): item.stagnation.total().value for item in sensitivity(frame_from(rows), TABLE_7)}
    assert found["3-of-5, c=3"] == 0 and found["2-of-4, c=3"] == 0.5 and found["3-of-5, c=2"] == 0.5


def test_a_pass_outranks_a_signal_of_the_same_iteration() -> None:
    row = played("a", "f", [attempt(B), attempt(T), attempt(B), attempt("passed")])
    assert names_of(int(rerun(frame_from([row]), Thresholds())[3])) == ("category_oscillation",)
    assert row.stop_reason == "passed" and stagnated(frame_from([row])).tolist() == [-1]


def test_the_dominant_signal_is_the_most_frequent_end() -> None:
    assert dominant_signal({"no_progress": 0.4, "duplicate_code": 0.5}) == "duplicate_code"
    assert dominant_signal({"no_progress": 0.5, "duplicate_code": 0.5}) == "duplicate_code"
    assert dominant_signal(dict.fromkeys(SIGNALS, 0.0)) is None


def test_repeated_sampling_has_no_stagnation_and_says_why() -> None:
    protocol = Protocol(sampling="repeated", early_stop=EarlyStop.OBSERVE)  # type: ignore[arg-type]
    rates = stagnation_rates(frame_from([played("a", "f", [attempt(T)], protocol)]))
    assert rates["stagnation"].total().value is None and "repeated sampling" in str(rates["stagnation"].total())


@pytest.mark.parametrize("variant", [{"oscillation_m": 0}, {"oscillation_n": 0}, {"no_progress_c": 1}])
def test_thresholds_out_of_range_are_refused(variant: dict[str, int]) -> None:
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="must be at least 1"):
        signal_bits(none.astype(bool), none, none, none, **variant)
