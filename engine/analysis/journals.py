"""A journal read for its numbers only: the fields that a Frame holds, decoded past everything else.

Folding whole events costs a second for a few thousand iterations, most of it logs and mismatches that no number is made of. What
is folded here is tested to give the rows of engine.manifest, and a journal that looks odd is read again by engine.cells, which says
what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from engine.analysis.build import IterationRecord, TrajectoryRecord
from engine.errors import BeaverError
from engine.events import SCHEMA_VERSION
from engine.protocol import Protocol
from engine.rundir import Cell


class _Event(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    iteration: int = 0


class _Opened(_Event, frozen=True, gc=False, kw_only=True, tag="trajectory_opened"):
    task: str
    fixer: str
    attempt: int
    protocol: Protocol
    device: str = ""
    start_bucket: str | None = None
    source_model: str | None = None
    interactive: bool = False
    schema_version: int = 1


class _Reply(_Event, frozen=True, gc=False, tag="reply_received"):
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0


class _Candidate(_Event, frozen=True, gc=False, tag="candidate"):
    solution: str | None = None
    truncated: bool = False


class _Step(msgspec.Struct, frozen=True, gc=False):
    seconds: float = 0.0
    not_run: str | None = None


class _Built(_Event, frozen=True, gc=False, tag="built"):
    step: _Step = _Step()


class _Tested(_Event, frozen=True, gc=False, tag="tested"):
    step: _Step = _Step()


class _Sanitized(_Event, frozen=True, gc=False, tag="sanitized"):
    tool: str = ""
    seconds: float = 0.0


class _Timed(_Event, frozen=True, gc=False, tag="timed"):
    speedup: float | None = None
    cv: float | None = None
    gate: str = "unmeasured"
    seconds: float = 0.0


class _Verdict(_Event, frozen=True, gc=False, tag="verdict"):
    category: str = ""
    signature: str = ""


class _Signal(_Event, frozen=True, gc=False, tag="signal"):
    name: str = ""


class _IterationClosed(_Event, frozen=True, gc=False, tag="iteration_closed"):
    passed: bool = False


class _Infra(_Event, frozen=True, gc=False, tag="infra_error"):
    kind: str = ""
    message: str = ""


class _Closed(_Event, frozen=True, gc=False, kw_only=True, tag="trajectory_closed"):
    stop_reason: str
    iterations: int = 0


def _passing(tag: str) -> type[_Event]:
    """An event of which only the iteration is looked at."""
    made: type[_Event] = msgspec.defstruct(f"_{tag}", [], bases=(_Event,), frozen=True, gc=False, tag=tag)  # type: ignore[assignment]
    return made


_OTHERS = tuple(
    _passing(tag)
    for tag in ("request_built", "reply_delta", "preflight", "output", "profiled", "feedback", "control", "run_opened")
)
_ANY = (
    _Opened | _Reply | _Candidate | _Built | _Tested | _Sanitized | _Timed | _Verdict | _Signal | _IterationClosed | _Infra | _Closed
)  # fmt: skip
for _other in _OTHERS:
    _ANY |= _other
_decoder: msgspec.json.Decoder[_Event] = msgspec.json.Decoder(_ANY)


class Odd(Exception):
    """The journal is not the story of one cell, or not in this version's words: read it in full."""


@dataclass
class Outline:
    """What a journal tells in numbers. ``infra`` counts faults, ``fault`` is the last one's message while nothing followed it."""

    opened: _Opened
    iterations: list[IterationRecord] = field(default_factory=list)
    model: str = ""
    stop_reason: str | None = None
    infra: int = 0
    fault: str | None = None

    def record(self, run: int, family: str = "", operation: str = "") -> TrajectoryRecord:
        opened = self.opened
        return TrajectoryRecord(
            task=opened.task,
            fixer=opened.fixer,
            iterations=self.iterations,
            protocol=opened.protocol,
            run=run,
            attempt=opened.attempt,
            model=self.model,
            family=family,
            source=opened.source_model or "",
            bucket=opened.start_bucket or "",
            operation=operation,
            device=opened.device,
            stop_reason=self.stop_reason or "",
            interactive=opened.interactive,
            infra=self.infra,
        )


def outline(content: bytes, cell: Cell) -> Outline | None:
    """What the journal with these bytes tells of ``cell``, None when it tells nothing yet. A torn last line is left out. Raises
    Odd for a journal that engine.cells should judge."""
    try:
        events = _decoder.decode_lines(content[: content.rfind(b"\n") + 1])
    except (msgspec.MsgspecError, ValueError, BeaverError) as error:  # BeaverError: a protocol that is none
        raise Odd from error
    return _fold(events, cell) if events else None


def outline_of(events: Sequence[object], cell: Cell) -> Outline | None:
    """The same of decoded events, whatever version they were written under."""
    plain = [msgspec.to_builtins(event) for event in events]
    return _fold([msgspec.convert(event, _ANY) for event in plain], cell) if plain else None


@dataclass
class _Draft:
    """An iteration that is not closed yet. What a new candidate or a fault makes void is ``examined``."""

    reply: _Reply = field(default_factory=_Reply)
    candidate: _Candidate | None = None
    examined: dict[str, _Event] = field(default_factory=dict)
    signals: list[str] = field(default_factory=list)

    def forget(self) -> None:
        self.examined, self.signals = {}, []

    def record(self, passed: bool) -> IterationRecord:
        verdict, timed = self.examined.get("verdict"), self.examined.get("timed")
        if not isinstance(verdict, _Verdict) or self.candidate is None:
            raise Odd
        steps = [event for event in self.examined.values() if isinstance(event, _Built | _Tested)]
        seconds = self.reply.seconds + sum(event.step.seconds for event in steps)
        seconds += sum(event.seconds for event in self.examined.values() if isinstance(event, _Sanitized | _Timed))
        tokens = [count for count in (self.reply.tokens_in, self.reply.tokens_out) if count is not None]
        measured = timed if isinstance(timed, _Timed) else _Timed()
        return IterationRecord(
            category=verdict.category,
            solution=self.candidate.solution,
            signature=verdict.signature,
            passed=passed,
            speedup=_number(measured.speedup),
            cv=_number(measured.cv),
            gate=measured.gate,
            seconds=seconds,
            tokens=float(sum(tokens)) if tokens else math.nan,
            cost=_number(self.reply.cost),
            signals=self.signals,
            truncated=self.candidate.truncated,
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


_EXAMINED = {_Built: "built", _Tested: "tested", _Timed: "timed", _Verdict: "verdict"}


def _fold(events: Sequence[_Event], cell: Cell) -> Outline:
    opened = events[0]
    if not isinstance(opened, _Opened) or Cell(opened.task, opened.fixer, opened.attempt) != cell:
        raise Odd
    if opened.schema_version != SCHEMA_VERSION:
        raise Odd
    told, draft = Outline(opened), None
    for event in events[1:]:
        if event.iteration:
            if event.iteration != len(told.iterations) + 1:
                raise Odd
            draft = draft or _Draft()
            draft = _apply(told, draft, event)
        elif isinstance(event, _Closed):
            told.stop_reason = event.stop_reason
            if event.iterations != len(told.iterations):
                raise Odd
        elif isinstance(event, _Opened):
            raise Odd
    return told


def _apply(told: Outline, draft: _Draft, event: _Event) -> _Draft | None:
    """One event into the open iteration; None when it closed it."""
    kind = type(event)
    if kind in _EXAMINED:
        draft.examined[_EXAMINED[kind]] = event
    elif isinstance(event, _Reply):
        draft.reply = event
        told.model, told.fault = told.model or event.model, None
    elif isinstance(event, _Candidate):
        draft.forget()
        draft.candidate = event
    elif isinstance(event, _Sanitized):
        draft.examined[f"sanitized {event.tool}"] = event
    elif isinstance(event, _Signal):
        draft.signals.append(event.name)
    elif isinstance(event, _IterationClosed):
        told.iterations.append(draft.record(event.passed))
        told.fault = None
        return None
    elif isinstance(event, _Infra):
        draft.forget()
        told.infra += 1
        told.fault = f"{event.kind}: {event.message}"
    return draft
