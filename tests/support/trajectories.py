"""Trajectories of known content for the analysis: written by hand, or drawn by hypothesis and played by the loop's rules."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import strategies as st

from engine.analysis.build import PAPER, IterationRecord, TrajectoryRecord
from engine.protocol import EarlyStop, Protocol, Sampling
from engine.verdict import Category, Step, signals, stop_reason

FAILURES = [str(category) for category in Category if category is not Category.PASSED]


def played(
    task: str, fixer: str, iterations: Sequence[IterationRecord], protocol: Protocol = PAPER, **more: object
) -> TrajectoryRecord:
    """A trajectory as the loop would have played these iterations: it ends with a pass, with the budget, or with a signal where
    signals stop. Signals and the stop reason are those of engine.verdict, one step at a time."""
    done: list[IterationRecord] = []
    reason = "max_iterations"
    for item in iterations[: protocol.iterations]:
        passed = item.category == Category.PASSED
        steps = [Step(one.solution, one.category, one.signature) for one in [*done, item]]
        raised = signals(
            steps,
            oscillation_m=protocol.oscillation_m,
            oscillation_n=protocol.oscillation_n,
            no_progress_c=protocol.no_progress_c,
        )
        if protocol.sampling is Sampling.REPEATED:
            raised = ()
        done.append(item._replace(passed=passed, signals=[str(name) for name in raised]))
        if passed:
            reason = "passed"
            break
        if raised and protocol.early_stop is EarlyStop.STOP:
            reason = str(stop_reason(raised))
            break
    return TrajectoryRecord(task, fixer, done, protocol, stop_reason=reason, **more)  # type: ignore[arg-type]


def attempt(
    category: str, solution: str | None = None, signature: str = "", speedup: float = math.nan
) -> IterationRecord:
    """One iteration; a solution of its own unless one is given."""
    attempt.count += 1  # type: ignore[attr-defined]
    own = f"solution {attempt.count}" if solution is None else solution  # type: ignore[attr-defined]
    return IterationRecord(category, own, signature or own, speedup=speedup)


attempt.count = 0  # type: ignore[attr-defined]


def _iteration(values: tuple[str, str | None, str, float, float, float, bool]) -> IterationRecord:
    names = ("category", "solution", "signature", "speedup", "seconds", "tokens", "truncated")
    return IterationRecord(**dict(zip(names, values, strict=True)))  # type: ignore[arg-type]


iterations = st.tuples(
    st.sampled_from([*FAILURES, "unclassified", "passed", "passed", "passed"]),
    st.sampled_from(["x", "y", "z", "w", None]),
    st.sampled_from(["s", "t"]),
    st.sampled_from([math.nan, 0.05, 0.5, 0.7, 1.2]),
    st.sampled_from([1.0, 2.5]),
    st.sampled_from([math.nan, 10.0, 30.0]),
    st.booleans(),
).map(_iteration)

STOPPING, OBSERVING = PAPER, Protocol(early_stop=EarlyStop.OBSERVE)


def panels(protocol: Protocol = STOPPING, most: int = 8) -> st.SearchStrategy[list[TrajectoryRecord]]:
    """Some trajectories of one setting: three tasks, two fixers, one of which made some of the broken starts."""
    one = st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["gpt-5.4", "other"]),
        st.lists(iterations, min_size=1, max_size=6),
        st.sampled_from(["", "GPT-5.4", "Manual injection"]),
        st.sampled_from(["compile_error", "logic_error", "perf_broken"]),
    ).map(lambda drawn: played(*drawn[:3], protocol, source=drawn[3], bucket=drawn[4]))
    return st.lists(one, min_size=1, max_size=most)
