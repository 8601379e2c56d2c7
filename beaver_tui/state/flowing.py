"""What has no place in a journal: the reply and the output of the step that runs, as far as they have come."""

from __future__ import annotations

from dataclasses import dataclass, field

from beaver_tui.state.steplogs import LOG_OF
from engine import events as ev
from engine.text import plain_text

MOST = 8 << 20
"""Characters of one log that are kept while it grows; the whole is in the run's files when its step has ended."""

_OVER_WITH = {ev.Built: "build", ev.Tested: "test", ev.Sanitized: "sanitizer", ev.Timed: "profile"}
"""The log that is told from the run's own records once this event has come."""

_PHASES = {"build": "building", "test": "testing", "sanitizer": "sanitizing", "profile": "timing"}


@dataclass(frozen=True)
class Flowed:
    """What an event brought: lines of a log, a new phase."""

    log: str = ""
    lines: int = 0
    phase_changed: bool = False


@dataclass
class Flowing:
    """The unfinished iteration's texts. Each piece is made harmless by itself when it comes: of a sequence that was cut in two the
    visible half may stay, and asking for a long text costs nothing but joining. ``phase`` is empty when nothing has said more than the last event of the journal."""

    iteration: int = 0
    phase: str = ""
    _logs: dict[str, list[str]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _reply: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)

    @property
    def reply(self) -> str:
        return _joined(self._reply)

    @property
    def reasoning(self) -> str:
        return _joined(self._reasoning)

    def log(self, name: str) -> str:
        """What has come of a log, harmless."""
        return _joined(self._logs.get(name, []))

    def apply(self, event: ev.Event) -> Flowed:
        """Take an event in."""
        if isinstance(event, ev.TrajectoryClosed):
            self._forget()
        if not isinstance(event, ev.IterationEvent):
            return Flowed()
        if event.iteration != self.iteration:
            self.iteration = event.iteration
            self._forget()
        if isinstance(event, ev.ReplyDelta):
            (self._reasoning if event.reasoning else self._reply).append(plain_text(event.text))
            return self._in_phase("replying")
        if isinstance(event, ev.OutputArrived):
            return self._output(event)
        return self._recorded(event)

    def _output(self, event: ev.OutputArrived) -> Flowed:
        name = LOG_OF.get(event.step, "test")
        room = MOST - self._sizes.get(name, 0)
        if room > 0:
            text = plain_text(event.text[:room])
            self._logs.setdefault(name, []).append(text)
            self._sizes[name] = self._sizes.get(name, 0) + len(text)
        phase = self._in_phase(_PHASES[name])
        return Flowed(name, event.text.count("\n"), phase.phase_changed)

    def _recorded(self, event: ev.IterationEvent) -> Flowed:
        """A durable event ends what flowed before it: its own record takes that place."""
        self.phase = ""
        if isinstance(event, ev.RequestBuilt | ev.ReplyReceived):
            self._reply, self._reasoning = [], []
        if isinstance(event, ev.CandidateMade | ev.InfraFailed | ev.VerdictReached):
            self._forget()
        if (name := _OVER_WITH.get(type(event))) is None:
            return Flowed(phase_changed=True)
        flowed = self._logs.pop(name, None)
        self._sizes.pop(name, None)
        return Flowed(name, 0 if flowed else _lines(event), phase_changed=True)

    def _in_phase(self, phase: str) -> Flowed:
        changed, self.phase = self.phase != phase, phase
        return Flowed(phase_changed=changed)

    def _forget(self) -> None:
        self.phase = ""
        self._logs, self._sizes, self._reply, self._reasoning = {}, {}, [], []


def _joined(pieces: list[str]) -> str:
    """The pieces as one text. They stay joined: whoever asks at every drawing pays for what is new."""
    if len(pieces) > 1:
        pieces[:] = ["".join(pieces)]
    return pieces[0] if pieces else ""


def _lines(event: ev.IterationEvent) -> int:
    """Lines of the excerpts of an event whose output nobody streamed."""
    if isinstance(event, ev.Built | ev.Tested):
        return event.step.stdout.text.count("\n") + event.step.stderr.text.count("\n")
    return event.output.text.count("\n") if isinstance(event, ev.Sanitized) else 0
