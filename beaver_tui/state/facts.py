"""What is known of one step and of the way to it: the facts beside a diff, and the alert that a stagnation raises."""

from __future__ import annotations

from dataclasses import dataclass

from beaver_tui.state.lines import one_line, readable, shortened
from beaver_tui.state.pcurve import p_curve
from beaver_tui.state.speedtext import Speed, beside_line
from beaver_tui.state.steps import StepRow, gate_of
from engine.stopping import RESUBMITTED, stopped_by_signal
from engine.trajectory import Iteration, Trajectory
from engine.verdict import SEVERITY, Signal, armed

Best = tuple[int, str, float | None]
"""A step's number, category and speedup."""


@dataclass(frozen=True)
class Facts:
    """Facts of a step. Texts are single harmless lines, empty while unknown.

    ``from_category`` is the step before's. ``armed`` says how near the threshold signals were after this step: (name, have,
    need). ``stage`` is where the evidence came from. ``budget_left`` counts iterations still to come; ``best`` is the step that got farthest up to this one. ``samples``
    and ``reference_samples`` are milliseconds of one launch each; ``tokens`` and ``cost`` (US dollars, None when no price is known)
    add up all replies up to this step. ``findings`` are of the code's structure. ``interval`` is that of the speedup (95 %);
    ``beside`` compares with the pinned step; ``flags`` are what to know before a time is believed; ``passes_up_to`` is the highest
    threshold of the p-curve at which a step of the trajectory passes.
    """

    from_category: str = ""
    category: str = ""
    signature: str = ""
    evidence: str = ""
    stage: str = ""
    span: str = ""
    rivals: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()
    armed: tuple[tuple[str, int, int], ...] = ()
    signals: tuple[str, ...] = ()
    budget_left: int = 0
    best: Best | None = None
    gate: str = ""
    speedup: float | None = None
    cv: float | None = None
    interval: tuple[float, ...] = ()
    beside: str = ""
    flags: tuple[str, ...] = ()
    passes_up_to: float | None = None
    samples: tuple[float, ...] = ()
    reference_samples: tuple[float, ...] = ()
    tokens: int = 0
    cost: float | None = None
    stop_reason: str = ""
    device: str = ""
    interactive: bool = False
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alert:
    """A stagnation that has just been seen. ``choices`` are (id of a key, label): what can be done next."""

    signal: str
    iterations: tuple[int, ...]
    category: str
    signature: str
    sentence: str
    choices: tuple[tuple[str, str], ...]


def facts_of(trajectory: Trajectory, rows: list[StepRow], step: int, speed: Speed | None = None) -> Facts:
    """The facts of ``step``, of whose trajectory ``rows`` are the rows. Later iterations take no part in them. ``speed`` is what is
    known of its time beside the trajectory's own events."""
    row = rows[step]
    played = trajectory.iterations[:step]
    iteration = played[-1] if played else None
    verdict = iteration.verdict if iteration is not None else None
    timed = speed.timed if speed is not None else iteration.timed if iteration is not None else None
    opened, closed = trajectory.opened, trajectory.closed
    tokens, cost = spent(played)
    return Facts(
        from_category=rows[step - 1].category if step else "",
        category=row.category,
        signature=readable(one_line(verdict.signature)) if verdict is not None else "",
        evidence=row.note,
        stage=one_line(verdict.stage) if verdict is not None else "",
        span=one_line(verdict.span) if verdict is not None else "",
        rivals=tuple(one_line(name) for name in verdict.rivals) if verdict is not None else (),
        hazards=tuple(one_line(name) for name in verdict.hazards) if verdict is not None else (),
        armed=_armed(trajectory, played),
        signals=row.signals,
        budget_left=budget_left(trajectory, played),
        best=best_step(rows[: step + 1]),
        gate=gate_of(iteration, timed) if iteration is not None else "",
        speedup=timed.speedup if timed is not None else None,
        cv=timed.cv if timed is not None else None,
        interval=tuple(timed.interval) if timed is not None else (),
        beside=beside_line(speed.beside) if speed is not None and speed.beside is not None else "",
        flags=tuple(one_line(flag) for flag in timed.flags) if timed is not None else (),
        passes_up_to=_passes_up_to(trajectory, played),
        samples=tuple(timed.candidate_ms) if timed is not None else (),
        reference_samples=tuple(timed.reference_ms) if timed is not None else (),
        tokens=tokens,
        cost=cost,
        stop_reason=one_line(closed.stop_reason) if closed is not None and row is rows[-1] else "",
        device=one_line(opened.device) if opened is not None else "",
        interactive=opened.interactive if opened is not None else False,
    )


def _passes_up_to(trajectory: Trajectory, played: list[Iteration]) -> float | None:
    if trajectory.opened is None:
        return None
    points = p_curve(played, trajectory.opened.protocol).points
    return max((point.p for point in points if point.known and point.passes), default=None)


def spent(iterations: list[Iteration]) -> tuple[int, float | None]:
    """Tokens in and out, and US dollars, of these iterations' replies."""
    replies = [iteration.reply for iteration in iterations if iteration.reply is not None]
    tokens = sum((reply.tokens_in or 0) + (reply.tokens_out or 0) for reply in replies)
    costs = [reply.cost for reply in replies if reply.cost is not None]
    return tokens, sum(costs) if costs else None


def budget_left(trajectory: Trajectory, played: list[Iteration]) -> int:
    """Iterations that the protocol still allows after these; an unfinished one is still to come."""
    if trajectory.opened is None:
        return 0
    finished = sum(iteration.closed is not None for iteration in played)
    return max(0, trajectory.opened.protocol.iterations - finished)


def best_step(rows: list[StepRow]) -> Best | None:
    """The iteration that got farthest in D.3's order, the fastest among equals, the earliest among those; None when none has a
    place in that order. The broken start is not an attempt."""
    placed = [row for row in rows if row.number and row.category in SEVERITY]
    if not placed:
        return None
    best = max(placed, key=lambda row: (SEVERITY[row.category], row.speedup or 0.0, -row.number))
    return best.number, best.category, best.speedup


def _armed(trajectory: Trajectory, played: list[Iteration]) -> tuple[tuple[str, int, int], ...]:
    if trajectory.opened is None:
        return ()
    protocol = trajectory.opened.protocol
    steps = [item.step for item in played if item.closed is not None and item.verdict is not None]
    near = armed(
        steps,
        oscillation_m=protocol.oscillation_m,
        oscillation_n=protocol.oscillation_n,
        no_progress_c=protocol.no_progress_c,
    )
    return tuple((str(state.signal), state.have, state.need) for state in near)


def alert_of(trajectory: Trajectory) -> Alert | None:
    """The alert after the last closed iteration, None when it raised no signal or has passed. Of several signals the one that
    would be the stop reason speaks."""
    finished = trajectory.finished
    if not finished or finished[-1].passed or not finished[-1].signals:
        return None
    last = finished[-1]
    order = [*Signal, RESUBMITTED]
    name = min(last.signals, key=lambda signal: order.index(signal) if signal in order else len(order))
    iterations = tuple(last.signals[name].iterations)
    category = one_line(last.verdict.category) if last.verdict is not None else ""
    signature = readable(one_line(last.verdict.signature)) if last.verdict is not None else ""
    seen = ", ".join(str(number) for number in iterations)
    what = f"{category} “{shortened(signature, 60)}”" if signature else category
    sentence = f"{one_line(name)}: {_SENTENCES.get(name, '{what} at {seen}').format(what=what, seen=seen)}"
    return Alert(one_line(name), iterations, category, signature, sentence, _choices(trajectory))


_SENTENCES = {
    Signal.DUPLICATE_CODE: "the same file twice in a row, at {seen}: {what}",
    Signal.CODE_CYCLE: "an earlier file came back, {seen}: {what}",
    Signal.CATEGORY_OSCILLATION: "the category goes to and fro over {seen}; now {what}",
    Signal.NO_PROGRESS: "{what} at {seen}",
    RESUBMITTED: "the broken start was handed back at {seen}: {what}",
}


def _choices(trajectory: Trajectory) -> tuple[tuple[str, str], ...]:
    """What the keys would do now: to go on, only observing, is a choice where a signal has stopped the trajectory."""
    go_on = (("workbench.observe", "go on, only observing"),) if stopped_by_signal(trajectory) else ()
    return (
        *go_on,
        ("workbench.level", "change the feedback level"),
        ("workbench.human", "take over"),
    )
