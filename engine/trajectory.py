"""The fold: events to a Trajectory. Live view, replay, resume, manifest and metrics all come through here.

Folding the first n events gives the state at that moment; nothing else is ever stored about a trajectory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine import events as ev
from engine.verdict import Step


@dataclass
class Iteration:
    """One round: what was asked, answered, built, tested and concluded. Fields are None until their event arrives."""

    number: int
    started: str = ""
    request: ev.RequestBuilt | None = None
    reply: ev.ReplyReceived | None = None
    candidate: ev.CandidateMade | None = None
    preflight: ev.PreflightDone | None = None
    built: ev.Built | None = None
    tested: ev.Tested | None = None
    sanitized: dict[str, ev.Sanitized] = field(default_factory=dict)
    """By tool: memcheck, racecheck, ..."""
    timed: ev.Timed | None = None
    profiled: ev.Profiled | None = None
    verdict: ev.VerdictReached | None = None
    signals: dict[str, ev.SignalRaised] = field(default_factory=dict)
    feedback: ev.FeedbackGiven | None = None
    closed: ev.IterationClosed | None = None
    infra: list[ev.InfraFailed] = field(default_factory=list)
    in_flight: bool = False
    """A request was sent, and neither a reply nor a failure has come back."""

    @property
    def step(self) -> Step:
        """What the stagnation signals look at."""
        assert self.verdict is not None
        solution = self.candidate.solution if self.candidate else None
        return Step(solution, self.verdict.category, self.verdict.signature)

    @property
    def passed(self) -> bool:
        return self.closed is not None and self.closed.passed

    def forget_examination(self) -> None:
        """A candidate is examined anew after a resume or a fault of the machine: nothing of the first try may stay."""
        self.preflight = self.built = self.tested = self.timed = self.profiled = None
        self.verdict = self.feedback = None
        self.sanitized, self.signals = {}, {}


@dataclass
class Trajectory:
    """The state after some events. ``iterations`` are in order; the last one may be unfinished."""

    opened: ev.TrajectoryOpened | None = None
    iterations: list[Iteration] = field(default_factory=list)
    closed: ev.TrajectoryClosed | None = None
    controls: list[ev.Controlled] = field(default_factory=list)
    lost_calls: int = 0
    """Calls that were in flight when the process died: paid perhaps, answered never."""

    @property
    def finished(self) -> list[Iteration]:
        """The iterations that count: closed ones."""
        return [iteration for iteration in self.iterations if iteration.closed is not None]

    @property
    def pending(self) -> Iteration | None:
        """The iteration that was begun and not closed."""
        return self.iterations[-1] if self.iterations and self.iterations[-1].closed is None else None

    @property
    def steps(self) -> list[Step]:
        return [iteration.step for iteration in self.finished]

    @property
    def passed(self) -> bool:
        return any(iteration.passed for iteration in self.iterations)

    @property
    def infra_faults(self) -> list[ev.InfraFailed]:
        return [fault for iteration in self.iterations for fault in iteration.infra]

    def iteration(self, number: int) -> Iteration:
        """The iteration with that number, created when it is the next one."""
        while len(self.iterations) < number:
            self.iterations.append(Iteration(len(self.iterations) + 1))
        return self.iterations[number - 1]

    def apply(self, event: ev.Event) -> Trajectory:
        """Fold one event in; returns self."""
        if isinstance(event, ev.IterationEvent):
            self._apply_to(self.iteration(event.iteration), event)
        elif isinstance(event, ev.TrajectoryOpened):
            self.opened = event
        elif isinstance(event, ev.TrajectoryClosed):
            self.closed = event
        elif isinstance(event, ev.Controlled):
            self.controls.append(event)
            if event.action == "resume" and self.pending is not None and self.pending.in_flight:
                self.pending.in_flight = False
                self.lost_calls += 1
        return self

    @staticmethod
    def _apply_to(iteration: Iteration, event: ev.IterationEvent) -> None:
        iteration.started = iteration.started or event.at
        if isinstance(event, ev.CandidateMade | ev.InfraFailed):
            iteration.forget_examination()
        if isinstance(event, ev.RequestBuilt | ev.ReplyReceived | ev.InfraFailed):
            iteration.in_flight = isinstance(event, ev.RequestBuilt)
        if isinstance(event, ev.SignalRaised):
            iteration.signals[event.name] = event
        elif isinstance(event, ev.Sanitized):
            iteration.sanitized[event.tool] = event
        elif isinstance(event, ev.InfraFailed):
            iteration.infra.append(event)
        elif name := _FIELDS.get(type(event)):
            setattr(iteration, name, event)


_FIELDS: dict[type[ev.IterationEvent], str] = {
    ev.RequestBuilt: "request",
    ev.ReplyReceived: "reply",
    ev.CandidateMade: "candidate",
    ev.PreflightDone: "preflight",
    ev.Built: "built",
    ev.Tested: "tested",
    ev.Timed: "timed",
    ev.Profiled: "profiled",
    ev.VerdictReached: "verdict",
    ev.FeedbackGiven: "feedback",
    ev.IterationClosed: "closed",
}
"""Events of which an iteration keeps the last."""


def fold(events: Iterable[ev.Event]) -> Trajectory:
    """The trajectory that these events tell."""
    trajectory = Trajectory()
    for event in events:
        trajectory.apply(event)
    return trajectory
