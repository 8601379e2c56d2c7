"""The four stagnation signals, as D.1 defines them and the protocol's points 14 to 18 read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.verdict import Armed, Category, Signal, Step, armed, signals, stop_reason

B, T, F = "buildability", "timeout", "functional_correctness"


def trajectory(*categories: str, shas: str = "abcdefghij", same_signature: bool = False) -> list[Step]:
    """One step per category; code and signature differ from step to step unless said otherwise."""
    return [Step(shas[t], category, "s" if same_signature else f"s{t}") for t, category in enumerate(categories)]


def test_nothing_holds_before_the_second_iteration() -> None:
    assert signals([]) == () and signals(trajectory(B)) == ()


def test_a_verbatim_resubmission_is_a_duplicate_and_a_cycle_and_stops_as_a_duplicate() -> None:
    fired = signals(trajectory(B, T, shas="aa"))
    assert fired == (Signal.DUPLICATE_CODE, Signal.CODE_CYCLE)
    assert stop_reason(fired) is Signal.DUPLICATE_CODE


def test_an_older_attempt_again_is_a_cycle_only() -> None:
    assert signals(trajectory(B, T, F, shas="aba")) == (Signal.CODE_CYCLE,)


def test_only_the_last_iteration_counts_for_code() -> None:
    assert signals(trajectory(B, T, F, shas="aab")) == ()


def test_oscillation_is_first_possible_at_iteration_4() -> None:
    assert signals(trajectory(B, T, B)) == ()
    assert signals(trajectory(B, T, B, T)) == (Signal.CATEGORY_OSCILLATION,)


def test_oscillation_looks_at_the_last_five_iterations() -> None:
    # t in {max(2, i-4), ..., i}: at iteration 7 that is 3 to 7, and the transition at t=2 is forgotten.
    assert Signal.CATEGORY_OSCILLATION in signals(trajectory(B, T, B, B, B, T))
    assert signals(trajectory(B, T, B, B, B, B, T)) == ()


def test_any_change_of_category_is_a_transition_even_towards_the_goal() -> None:
    assert Signal.CATEGORY_OSCILLATION in signals(trajectory(B, "out_of_memory", T, F))


def test_no_progress_needs_three_in_a_row_with_one_signature() -> None:
    assert signals(trajectory(F, F, same_signature=True)) == ()
    assert signals(trajectory(F, F, F, same_signature=True)) == (Signal.NO_PROGRESS,)
    assert signals(trajectory(F, F, F)) == ()
    assert signals(trajectory(F, T, F, F, same_signature=True)) == ()


def test_thresholds_are_parameters_and_are_checked() -> None:
    steps = trajectory(F, F, same_signature=True)
    assert signals(steps, no_progress_c=2) == (Signal.NO_PROGRESS,)
    assert signals(trajectory(B, T, B), oscillation_m=2, oscillation_n=4) == (Signal.CATEGORY_OSCILLATION,)
    with pytest.raises(ValueError, match="no_progress_c >= 2"):
        signals(steps, no_progress_c=1)


def test_all_at_once_stop_in_the_protocols_order() -> None:
    steps = [*trajectory(B, T, B), Step("x", T, "s"), Step("x", T, "s"), Step("x", T, "s")]
    assert signals(steps, oscillation_n=6) == tuple(Signal)
    assert stop_reason(reversed(tuple(Signal))) is Signal.DUPLICATE_CODE
    assert stop_reason((Signal.NO_PROGRESS, Signal.CATEGORY_OSCILLATION)) is Signal.CATEGORY_OSCILLATION
    assert stop_reason(()) is None


def test_armed_tells_how_near_a_signal_is() -> None:
    assert armed([]) == (Armed(Signal.CATEGORY_OSCILLATION, 0, 3), Armed(Signal.NO_PROGRESS, 0, 3))
    oscillation, no_progress = armed(trajectory(B, T, F, F, same_signature=True))
    assert (oscillation.have, oscillation.fires) == (2, False)
    assert (no_progress.have, no_progress.need) == (2, 3)


CATEGORIES = st.sampled_from(sorted(Category))


@st.composite
def healthy(draw: st.DrawFn) -> tuple[list[Step], dict[str, int]]:
    """A trajectory with distinct code, a signature that changes each time, and fewer than m transitions in all."""
    m = draw(st.integers(1, 5))
    length = draw(st.integers(1, 12))
    changes = draw(st.lists(st.integers(1, max(1, length - 1)), max_size=m - 1, unique=True))
    categories = [draw(CATEGORIES)]
    for t in range(1, length):
        last = categories[-1]
        categories.append(draw(CATEGORIES.filter(lambda c, last=last: c != last)) if t in changes else last)
    steps = [Step(f"sha{t}", category, f"signature {t}") for t, category in enumerate(categories)]
    thresholds = {
        "oscillation_m": m,
        "oscillation_n": draw(st.integers(1, 8)),
        "no_progress_c": draw(st.integers(2, 5)),
    }
    return steps, thresholds


@given(healthy())
def test_no_signal_fires_on_a_healthy_trajectory(case: tuple[list[Step], dict[str, int]]) -> None:
    steps, thresholds = case
    assert all(signals(steps[:length], **thresholds) == () for length in range(len(steps) + 1))


STEPS = st.lists(
    st.builds(Step, st.sampled_from("abcd"), st.sampled_from([B, T, F]), st.sampled_from(["x", "y"])), max_size=9
)


@given(STEPS)
def test_signals_agree_with_the_formulas_written_out(steps: list[Step]) -> None:
    i = len(steps)
    cat = {t: steps[t - 1].category for t in range(1, i + 1)}
    want = set()
    if i >= 2 and steps[-1].sha == steps[-2].sha:
        want.add(Signal.DUPLICATE_CODE)
    if i >= 2 and steps[-1].sha in {step.sha for step in steps[:-1]}:
        want.add(Signal.CODE_CYCLE)
    if len({t for t in range(max(2, i - 4), i + 1) if cat[t] != cat[t - 1]}) >= 3:
        want.add(Signal.CATEGORY_OSCILLATION)
    if i >= 3 and len({step[1:] for step in steps[-3:]}) == 1:
        want.add(Signal.NO_PROGRESS)
    assert set(signals(steps)) == want
