"""Events of a journal, cut down to the fields that numbers are made of. msgspec skips the rest without making objects of it."""

from __future__ import annotations

import msgspec

from engine.protocol import Protocol


class Event(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    iteration: int = 0


class Opened(Event, frozen=True, gc=False, kw_only=True, tag="trajectory_opened"):
    task: str
    fixer: str
    attempt: int
    protocol: Protocol
    device: str = ""
    start_bucket: str | None = None
    source_model: str | None = None
    interactive: bool = False
    schema_version: int = 1


class Reply(Event, frozen=True, gc=False, tag="reply_received"):
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0


class Candidate(Event, frozen=True, gc=False, tag="candidate"):
    solution: str | None = None
    truncated: bool = False


class Step(msgspec.Struct, frozen=True, gc=False):
    seconds: float = 0.0


class Built(Event, frozen=True, gc=False, tag="built"):
    step: Step = Step()


class Tested(Event, frozen=True, gc=False, tag="tested"):
    step: Step = Step()


class Sanitized(Event, frozen=True, gc=False, tag="sanitized"):
    tool: str = ""
    seconds: float = 0.0


class Timed(Event, frozen=True, gc=False, tag="timed"):
    speedup: float | None = None
    cv: float | None = None
    gate: str = "unmeasured"
    seconds: float = 0.0


class Verdict(Event, frozen=True, gc=False, tag="verdict"):
    category: str = ""
    signature: str = ""


class Signal(Event, frozen=True, gc=False, tag="signal"):
    name: str = ""


class Feedback(Event, frozen=True, gc=False, tag="feedback"):
    note: str = ""
    """Why the level is not the protocol's."""


class IterationClosed(Event, frozen=True, gc=False, tag="iteration_closed"):
    passed: bool = False


class Infra(Event, frozen=True, gc=False, tag="infra_error"):
    kind: str = ""
    message: str = ""


class Closed(Event, frozen=True, gc=False, kw_only=True, tag="trajectory_closed"):
    stop_reason: str
    iterations: int = 0


def _passing(tag: str) -> type[Event]:
    """An event of which only the iteration is looked at."""
    made: type[Event] = msgspec.defstruct(f"_{tag}", [], bases=(Event,), frozen=True, gc=False, tag=tag)  # type: ignore[assignment]
    return made


_OTHERS = tuple(
    _passing(tag)
    for tag in ("request_built", "reply_delta", "preflight", "output", "profiled", "control", "run_opened")
)
ANY_EVENT = (
    Opened | Reply | Candidate | Built | Tested | Sanitized | Timed | Verdict | Signal | Feedback | IterationClosed
    | Infra | Closed
)  # fmt: skip
for _other in _OTHERS:
    ANY_EVENT |= _other
DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(ANY_EVENT)
