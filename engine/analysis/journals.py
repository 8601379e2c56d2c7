"""A journal read for its numbers only: the fields that a Frame holds, decoded past everything else.

Folding whole events costs a second for a few thousand iterations, most of it logs and mismatches that no number is made of. What
is folded here is tested to give the rows of engine.manifest, and a journal that looks odd is read again by engine.cells, which says
what is wrong with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from engine.analysis import narrow
from engine.analysis.build import IterationRecord, TrajectoryRecord
from engine.errors import BeaverError
from engine.events import SCHEMA_VERSION
from engine.rundir import Cell

_NO_REPLY, _NOT_TIMED = narrow.Reply(), narrow.Timed()


class Odd(Exception):
    """The journal is not the story of one cell, or not in this version's words: read it in full."""


@dataclass
class Outline:
    """What a journal tells in numbers. ``infra`` counts faults, ``fault`` is the last one's message while nothing followed it,
    ``fell_back`` counts iterations whose feedback is of another level than the protocol's."""

    opened: narrow.Opened
    iterations: list[IterationRecord] = field(default_factory=list)
    model: str = ""
    stop_reason: str | None = None
    infra: int = 0
    fell_back: int = 0
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
            fell_back=self.fell_back,
        )


def outline(content: bytes, cell: Cell) -> Outline | None:
    """What the journal with these bytes tells of ``cell``, None when it tells nothing yet. A torn last line is left out. Raises
    Odd for a journal that engine.cells should judge."""
    try:
        events = narrow.DECODER.decode_lines(content[: content.rfind(b"\n") + 1])
    except (msgspec.MsgspecError, ValueError, BeaverError) as error:  # BeaverError: a protocol that is none
        raise Odd from error
    if events and isinstance(events[0], narrow.Opened) and events[0].schema_version != SCHEMA_VERSION:
        raise Odd
    return _fold(events, cell) if events else None


def outline_of(events: Sequence[object], cell: Cell) -> Outline | None:
    """The same of decoded events, whatever version they were written under."""
    plain = [msgspec.to_builtins(event) for event in events]
    return _fold([msgspec.convert(event, narrow.ANY_EVENT) for event in plain], cell) if plain else None


@dataclass(slots=True)
class _Draft:
    """An iteration that is not closed yet. Whatever a new candidate or a fault makes void is taken back by ``forget``."""

    reply: narrow.Reply = _NO_REPLY
    candidate: narrow.Candidate | None = None
    built: float = 0.0
    tested: float = 0.0
    sanitized: dict[str, float] = field(default_factory=dict)
    timed: narrow.Timed = _NOT_TIMED
    verdict: narrow.Verdict | None = None
    signals: list[str] = field(default_factory=list)
    fell_back: bool = False

    def forget(self) -> None:
        self.built = self.tested = 0.0
        self.timed, self.verdict = _NOT_TIMED, None
        self.sanitized, self.signals = {}, []
        self.fell_back = False

    def record(self, passed: bool) -> IterationRecord:
        reply, candidate, verdict, timed = self.reply, self.candidate, self.verdict, self.timed
        if verdict is None or candidate is None:
            raise Odd
        seconds = reply.seconds + self.built + self.tested + sum(self.sanitized.values()) + timed.seconds
        known = reply.tokens_in is not None or reply.tokens_out is not None
        return IterationRecord(
            verdict.category,
            candidate.solution,
            verdict.signature,
            passed,
            _number(timed.speedup),
            _number(timed.cv),
            timed.gate,
            seconds,
            float((reply.tokens_in or 0) + (reply.tokens_out or 0)) if known else math.nan,
            _number(reply.cost),
            self.signals,
            candidate.truncated,
        )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _fold(events: Sequence[narrow.Event], cell: Cell) -> Outline:
    opened = events[0]
    if not isinstance(opened, narrow.Opened) or (opened.task, opened.fixer, opened.attempt) != (
        cell.task,
        cell.fixer,
        cell.attempt,
    ):
        raise Odd
    told, draft = Outline(opened), None
    for event in events[1:]:
        if event.iteration:
            if event.iteration != len(told.iterations) + 1:
                raise Odd
            draft = draft or _Draft()
            apply = _APPLY.get(type(event))
            if apply is not None:
                apply(told, draft, event)
            if type(event) is narrow.IterationClosed:
                draft = None
        elif isinstance(event, narrow.Closed):
            told.stop_reason = event.stop_reason
            if event.iterations != len(told.iterations):
                raise Odd
        elif isinstance(event, narrow.Opened):
            raise Odd
    return told


def _reply(told: Outline, draft: _Draft, event: narrow.Reply) -> None:
    draft.reply = event
    told.model, told.fault = told.model or event.model, None


def _candidate(_: Outline, draft: _Draft, event: narrow.Candidate) -> None:
    draft.forget()
    draft.candidate = event


def _built(_: Outline, draft: _Draft, event: narrow.Built) -> None:
    draft.built = event.step.seconds


def _tested(_: Outline, draft: _Draft, event: narrow.Tested) -> None:
    draft.tested = event.step.seconds


def _sanitized(_: Outline, draft: _Draft, event: narrow.Sanitized) -> None:
    draft.sanitized[event.tool] = event.seconds


def _timed(_: Outline, draft: _Draft, event: narrow.Timed) -> None:
    draft.timed = event


def _verdict(_: Outline, draft: _Draft, event: narrow.Verdict) -> None:
    draft.verdict = event


def _signal(_: Outline, draft: _Draft, event: narrow.Signal) -> None:
    draft.signals.append(event.name)


def _feedback(_: Outline, draft: _Draft, event: narrow.Feedback) -> None:
    draft.fell_back = bool(event.note)


def _iteration_closed(told: Outline, draft: _Draft, event: narrow.IterationClosed) -> None:
    told.iterations.append(draft.record(event.passed))
    told.fell_back += draft.fell_back
    told.fault = None


def _infra(told: Outline, draft: _Draft, event: narrow.Infra) -> None:
    draft.forget()
    told.infra += 1
    told.fault = f"{event.kind}: {event.message}"


_APPLY: dict[type[narrow.Event], Callable[[Outline, _Draft, Any], None]] = {
    narrow.Reply: _reply,
    narrow.Candidate: _candidate,
    narrow.Built: _built,
    narrow.Tested: _tested,
    narrow.Sanitized: _sanitized,
    narrow.Timed: _timed,
    narrow.Verdict: _verdict,
    narrow.Signal: _signal,
    narrow.Feedback: _feedback,
    narrow.IterationClosed: _iteration_closed,
    narrow.Infra: _infra,
}
"""What each event does to the iteration that is open."""
