"""Which parts of a screen an event changes: what is not named here need not be drawn again."""

from __future__ import annotations

from beaver_tui.state.flowing import Flowed
from beaver_tui.state.steplogs import LOGS
from engine import events as ev

LOG_CHANGES = frozenset(f"log:{name}" for name in LOGS)

EVERYTHING = frozenset({"steps", "facts", "source", "prompt", "reply", "alert"}) | LOG_CHANGES

_CHANGES: dict[type[ev.Event], frozenset[str]] = {
    ev.TrajectoryOpened: EVERYTHING,
    ev.RequestBuilt: frozenset({"steps", "facts", "prompt", "reply"}),
    ev.ReplyReceived: frozenset({"steps", "facts", "reply"}),
    ev.CandidateMade: EVERYTHING,  # whatever was known of an examination before it is forgotten
    ev.PreflightDone: frozenset({"steps", "facts", "log:build"}),
    ev.Built: frozenset({"steps", "log:build"}),
    ev.Tested: frozenset({"steps", "facts", "log:test"}),
    ev.Sanitized: frozenset({"steps", "log:sanitizer"}),
    ev.Timed: frozenset({"steps", "facts", "log:profile"}),
    ev.Profiled: frozenset({"steps", "facts", "log:profile"}),
    ev.VerdictReached: frozenset({"steps", "facts", "log:test", "log:sanitizer"}),
    ev.SignalRaised: frozenset({"steps", "facts", "alert"}),
    ev.FeedbackGiven: frozenset({"facts"}),
    ev.IterationClosed: frozenset({"steps", "facts", "alert"}),
    ev.InfraFailed: EVERYTHING,
    ev.Controlled: frozenset({"steps", "facts"}),
    ev.TrajectoryClosed: frozenset({"steps", "facts", "alert"}),
}


def changed_by(event: ev.Event, flowed: Flowed) -> frozenset[str]:
    """The parts that this event changes, and with what it brought, no others."""
    if isinstance(event, ev.ReplyDelta):
        changed = frozenset({"reply"})
    elif isinstance(event, ev.OutputArrived):
        changed = frozenset({f"log:{flowed.log}"})
    else:
        return _CHANGES.get(type(event), EVERYTHING)
    return changed | {"steps"} if flowed.phase_changed else changed
