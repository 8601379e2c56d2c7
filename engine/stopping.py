"""When a trajectory is over, and which signals its last iteration raised. Pure functions of the fold (paper 3.5, D.1)."""

from __future__ import annotations

from engine.protocol import EarlyStop, Protocol
from engine.trajectory import Trajectory
from engine.verdict import Signal, Step, signals, stop_reason

RESUBMITTED = "resubmitted_broken_start"
"""A flag beside the four signals: the broken start is not the fixer's own attempt, so it is no duplicate (protocol 15)."""


def raised_signals(steps: list[Step], protocol: Protocol) -> dict[str, list[int]]:
    """The stagnation signals that the last step raises, each with the iterations that a reader should look at to see why."""
    fired = signals(
        steps,
        oscillation_m=protocol.oscillation_m,
        oscillation_n=protocol.oscillation_n,
        no_progress_c=protocol.no_progress_c,
    )
    return {str(name): _culprits(name, steps, protocol) for name in fired}


def stopped_by_signal(trajectory: Trajectory) -> bool:
    """Whether stagnation ended the trajectory: whoever goes on from its last step can only observe the signals."""
    return trajectory.closed is not None and trajectory.closed.stop_reason in tuple(Signal)


def why_over(trajectory: Trajectory, protocol: Protocol) -> str | None:
    """The stop reason after the last closed iteration, None to go on. A pass outranks every signal."""
    finished = trajectory.finished
    if not finished:
        return None
    last = finished[-1]
    if last.passed:
        return "passed"
    if last.tested is not None and last.tested.step.not_run:
        return "needs_device"  # no answer can change what this machine lacks: ask, and pay, no further
    if protocol.early_stop is EarlyStop.STOP:
        stagnation = stop_reason(Signal(name) for name in last.signals if name != RESUBMITTED)
        if stagnation is not None:
            return stagnation
    if protocol.stop_on_resubmitted_start and RESUBMITTED in last.signals:
        return RESUBMITTED
    return "max_iterations" if len(finished) >= protocol.iterations else None


def _culprits(name: Signal, steps: list[Step], protocol: Protocol) -> list[int]:
    last = len(steps)
    if name is Signal.DUPLICATE_CODE:
        return [last - 1, last]
    if name is Signal.CODE_CYCLE:
        return [next(index for index, step in enumerate(steps, 1) if step.sha == steps[-1].sha), last]
    # n transitions lie between n + 1 iterations
    width = protocol.oscillation_n + 1 if name is Signal.CATEGORY_OSCILLATION else protocol.no_progress_c
    return list(range(max(1, last - width + 1), last + 1))
