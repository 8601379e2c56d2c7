"""What a model proposes, as a person sees it before anything is built; and what replies cost together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from engine.candidate import exact_bytes, make_candidate
from engine.events import CandidateMade, ReplyReceived
from engine.fixers.base import FixRequest, Reply
from engine.store import sha256

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Proposal:
    """A reply that waits for a person. ``code`` is the candidate in it, None when there is no usable file: then ``problem``
    says why. ``base`` is the file as it stands, against which ``added`` and ``removed`` lines are counted."""

    iteration: int
    reply: Reply
    base: bytes
    code: bytes | None
    problem: str | None
    added: int
    removed: int


def propose(request: FixRequest, reply: Reply) -> Proposal:
    """The proposal that ``reply`` makes, read as the loop would read it."""
    made, code = _candidate(request, reply)
    return Proposal(
        iteration=request.iteration,
        reply=reply,
        base=request.source,
        code=code,
        problem=made.problem,
        added=made.added,
        removed=made.removed,
    )


def edited(proposal: Proposal, code: bytes) -> Reply:
    """The reply that a person made of a proposal: the file itself, at the cost of the model's answer."""
    return msgspec.structs.replace(
        proposal.reply, text=code.decode("utf-8", "surrogateescape"), whole_file=True, finish_reason="stop"
    )


def with_earlier(reply: Reply, earlier: list[Reply], lost_calls: int) -> Reply:
    """``reply`` with all that was spent on the way to it: earlier replies that a person rejected, and requests that were
    cancelled, whose tokens nobody knows. A sum leaves out what is not known."""
    replies = [*earlier, reply]
    return msgspec.structs.replace(
        reply,
        tokens_in=_sum(each.tokens_in for each in replies),
        tokens_out=_sum(each.tokens_out for each in replies),
        cost=_sum(each.cost for each in replies),
        seconds=sum(each.seconds for each in replies),
        calls=sum(each.calls for each in replies) + lost_calls,
    )


def spent_words(reply: Reply) -> str:
    """What a reply cost, in words: "120 + 30 tokens, $0.0012"."""
    words = []
    if reply.tokens_in is not None or reply.tokens_out is not None:
        words.append(f"{reply.tokens_in or 0} + {reply.tokens_out or 0} tokens")
    if reply.cost is not None:
        words.append(f"${reply.cost:.4f}")
    return ", ".join(words) or "cost unknown"


def _candidate(request: FixRequest, reply: Reply) -> tuple[CandidateMade, bytes | None]:
    received = ReplyReceived(
        iteration=request.iteration,
        response=sha256(exact_bytes(reply.text)),
        whole_file=reply.whole_file,
        finish_reason=reply.finish_reason,
    )
    return make_candidate(request.task, received, reply.text, request.source)


def _sum(values: Iterable[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
