"""Four signs that a trajectory no longer gets anywhere (the paper's 3.5 and D.1).

Every function looks at the iterations played so far, in order, iteration 1 first. The broken start is step 0 and takes no
part: a fixer that hands it back has not repeated an attempt of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

OSCILLATION_M: Final = 3
"""Category transitions that make an oscillation (D.1: at least three ...)."""
OSCILLATION_N: Final = 5
"""... within so many last iterations."""
NO_PROGRESS_C: Final = 3
"""Consecutive iterations with the same category and signature."""


class Signal(StrEnum):
    """The signals, in the order in which they become the stop reason when several fire at once (protocol, point 18)."""

    DUPLICATE_CODE = "duplicate_code"
    CODE_CYCLE = "code_cycle"
    CATEGORY_OSCILLATION = "category_oscillation"
    NO_PROGRESS = "no_progress"


class Step(NamedTuple):
    """What stagnation needs to know of one iteration: SHA-256 of the candidate's bytes (None when the reply held no usable
    file: what is no code is no duplicate of any), category, signature."""

    sha: str | None
    category: str
    signature: str


class Armed(NamedTuple):
    """How near a threshold signal is: it fires when ``have`` reaches ``need``."""

    signal: Signal
    have: int
    need: int

    @property
    def fires(self) -> bool:
        return self.have >= self.need


def signals(
    steps: Sequence[Step],
    *,
    oscillation_m: int = OSCILLATION_M,
    oscillation_n: int = OSCILLATION_N,
    no_progress_c: int = NO_PROGRESS_C,
) -> tuple[Signal, ...]:
    """All signals that hold after the last of ``steps``, in stop-reason order.

    A resubmission of the attempt just before is both a duplicate and a cycle, as D.1 defines them. Raises ValueError for
    thresholds below one transition, one iteration, or two equal iterations.
    """
    near = armed(steps, oscillation_m=oscillation_m, oscillation_n=oscillation_n, no_progress_c=no_progress_c)
    fired = {state.signal for state in near if state.fires}
    if len(steps) >= 2 and steps[-1].sha is not None:
        last, earlier = steps[-1].sha, [step.sha for step in steps[:-1]]
        if last == earlier[-1]:
            fired.add(Signal.DUPLICATE_CODE)
        if last in earlier:
            fired.add(Signal.CODE_CYCLE)
    return tuple(signal for signal in Signal if signal in fired)


def armed(
    steps: Sequence[Step],
    *,
    oscillation_m: int = OSCILLATION_M,
    oscillation_n: int = OSCILLATION_N,
    no_progress_c: int = NO_PROGRESS_C,
) -> tuple[Armed, Armed]:
    """The state of the two threshold signals after the last of ``steps``: oscillation first, then no_progress."""
    if oscillation_m < 1 or oscillation_n < 1 or no_progress_c < 2:
        raise ValueError(
            "stagnation thresholds out of range: oscillation_m >= 1, oscillation_n >= 1 and no_progress_c >= 2 are needed, "
            f"not {oscillation_m}, {oscillation_n} and {no_progress_c}"
        )
    return (
        Armed(Signal.CATEGORY_OSCILLATION, _transitions(steps, oscillation_n), oscillation_m),
        Armed(Signal.NO_PROGRESS, _same_run(steps), no_progress_c),
    )


def stop_reason(fired: Iterable[Signal]) -> Signal | None:
    """The signal that names the stop, whatever the order in which they are given; None when none fired."""
    found = set(fired)
    return next((signal for signal in Signal if signal in found), None)


def _transitions(steps: Sequence[Step], n: int) -> int:
    """D.1: |{t : cat(t) != cat(t-1), t in {max(2, i-n+1), ..., i}}| with i the last iteration, counted from 1."""
    i = len(steps)
    return sum(steps[t - 1].category != steps[t - 2].category for t in range(max(2, i - n + 1), i + 1))


def _same_run(steps: Sequence[Step]) -> int:
    """How many iterations, counted back from the last, share its category and signature."""
    if not steps:
        return 0
    want = (steps[-1].category, steps[-1].signature)
    run = 0
    for step in reversed(steps):
        if (step.category, step.signature) != want:
            break
        run += 1
    return run
