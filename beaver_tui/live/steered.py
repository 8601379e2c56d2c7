"""A fixer whose answers a person steers: the configured fixer alone, the same with every reply read first, or the person."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from beaver_tui.live.draft import DraftFile
from beaver_tui.live.proposal import Proposal, edited, propose, spent_words, with_earlier
from engine.errors import RunError
from engine.fixers.base import Fixer, FixRequest, Interrupted, Notice, Reply, Waiting
from engine.fixers.human import HumanFixer

Mode = Literal["auto", "confirm", "human"]
"""auto: the configured fixer answers. confirm: its replies wait for a person. human: a person answers at the desk."""

Intervention = Literal["mode", "rejected", "edited"]

Journaling = Callable[[Intervention, str, Reply | None], None]
"""Told what a person did: the action, one line about it, and the model's reply that it was done to."""


@dataclass(frozen=True)
class _Accepted:
    reply: Reply


@dataclass(frozen=True)
class _Rejected:
    remark: str


class SteeredFixer:
    """Answers for ``inner`` in the way that ``mode`` says, which may change while a question is open.

    ``desk`` is the person's place; when ``inner`` is itself a person it is the same fixer, and every mode means that person.
    ``drafts`` keeps what is paid for and not answered yet, so that a run that was stopped meanwhile goes on where it was.
    ``journaling`` is called for all that changes what would have happened otherwise, ``changed`` whenever a proposal comes or
    goes. Belongs to one event loop.
    """

    def __init__(
        self,
        inner: Fixer,
        desk: HumanFixer,
        mode: Mode,
        drafts: DraftFile,
        journaling: Journaling,
        changed: Callable[[Literal["mode", "proposal"]], None],
    ) -> None:
        self.name = inner.name
        self.mode: Mode = mode
        self.proposal: Proposal | None = None
        self._inner, self._desk, self._drafts = inner, desk, drafts
        self._journaling, self._changed = journaling, changed
        self._asking: int | None = None
        self._decision: _Accepted | _Rejected | None = None
        self._turned = asyncio.Event()
        self._interrupted = False

    async def propose(self, request: FixRequest) -> Reply:
        """The reply that counts. Tokens, cost, seconds and calls of all that was asked on the way to it are added up in it."""
        self._asking = request.iteration
        try:
            return await self._answer(request)
        finally:
            self._asking = None

    async def _answer(self, request: FixRequest) -> Reply:
        draft = self._drafts.load(request.attempt, request.iteration)
        while True:
            if self._by_person:
                if draft.waiting is not None:
                    draft = self._drafts.save(draft.put_aside())
                reply = await self._unless_turned(self._desk.propose(request))
                if reply is not None:
                    return with_earlier(reply, draft.spent, draft.lost_calls)
                continue
            if draft.waiting is None:
                reply = await self._unless_turned(self._inner.propose(draft.question(request)))
                draft = draft.answered(reply)
                if self.mode != "auto" or draft.spent:
                    self._drafts.save(draft)  # a reply is paid for: it must not be lost while a person thinks about it
                continue
            decision = await self._decide(request, draft.waiting)
            if isinstance(decision, _Accepted):
                return with_earlier(decision.reply, draft.spent, draft.lost_calls)
            draft = self._drafts.save(draft.put_aside() if decision is None else draft.reject(decision.remark))

    async def close(self) -> None:
        await self._inner.close()
        await self._desk.close()

    def interrupt(self) -> None:
        """End every wait with Interrupted; a reply on its way may still arrive."""
        self._interrupted = True
        for fixer in {id(fixer): fixer for fixer in (self._inner, self._desk)}.values():
            if isinstance(fixer, Waiting):
                fixer.interrupt()
        self._turned.set()

    def subscribe_notices(self, notice: Notice) -> Callable[[], None]:
        """``notice`` is told what the configured fixer or the desk waits for."""
        fixers = {id(fixer): fixer for fixer in (self._inner, self._desk)}.values()
        ends = [fixer.subscribe_notices(notice) for fixer in fixers if isinstance(fixer, Waiting)]

        def end() -> None:
            for each in ends:
                each()

        return end

    # what a person does

    def set_mode(self, mode: Mode) -> None:
        """Who answers from now on, an open question included. A model that is being asked is cancelled for a person, and a
        person who is waited for is asked no longer (what was saved stays on the desk); a proposal that waits is accepted
        when the mode becomes auto, and put aside when it becomes human."""
        if mode == self.mode:
            return
        where = "" if self._asking is None else f" · in iteration {self._asking}"
        self._journaling("mode", f"{self.mode} → {mode}{where}", None)
        self.mode = mode
        self._turned.set()
        self._changed("mode")

    def accept(self) -> None:
        """The proposal is the reply. RunError when none waits."""
        self._decide_with(_Accepted(self._waiting().reply))

    def reject(self, remark: str) -> None:
        """The fixer is asked again, with the remark in its messages; this costs no iteration. RunError when none waits."""
        proposal = self._waiting()
        words = f"iteration {proposal.iteration} · {spent_words(proposal.reply)}"
        self._journaling("rejected", f"{words}: {remark.strip()}" if remark.strip() else words, proposal.reply)
        self._decide_with(_Rejected(remark))

    def edit(self, code: bytes) -> None:
        """``code`` is the reply, in the place of the proposal's. RunError when none waits."""
        proposal = self._waiting()
        if code == proposal.code:
            self.accept()
            return
        reply = edited(proposal, code)
        self._journaling("edited", f"iteration {proposal.iteration} · {len(code)} bytes", proposal.reply)
        self._decide_with(_Accepted(reply))

    # waiting

    @property
    def _by_person(self) -> bool:
        return self.mode == "human" or self._inner is self._desk

    def _waiting(self) -> Proposal:
        if self.proposal is None or self._decision is not None:
            raise RunError(f"fixer {self.name!r}: no proposal waits for a decision")
        return self.proposal

    def _decide_with(self, decision: _Accepted | _Rejected) -> None:
        self._decision = decision
        self._turned.set()

    async def _decide(self, request: FixRequest, reply: Reply) -> _Accepted | _Rejected | None:
        """What becomes of a model's reply; None when a person answers instead."""
        if self.mode == "auto":
            return _Accepted(reply)
        if self.mode == "human":
            return None
        self._decision, self.proposal = None, await asyncio.to_thread(propose, request, reply)
        self._changed("proposal")
        try:
            while self._decision is None and self.mode == "confirm":
                if self._interrupted:
                    raise Interrupted
                self._turned.clear()
                await self._turned.wait()
            return self._decision or (_Accepted(reply) if self.mode == "auto" else None)
        finally:
            self.proposal = self._decision = None
            self._changed("proposal")

    async def _unless_turned(self, asking: Coroutine[Any, Any, Reply]) -> Reply | None:
        """The reply, or None when the mode says meanwhile that somebody else is to answer."""
        by_person = self._by_person
        task = asyncio.ensure_future(asking)
        try:
            while not task.done() and self._by_person is by_person:
                self._turned.clear()
                turned = asyncio.ensure_future(self._turned.wait())
                try:
                    await asyncio.wait({task, turned}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    turned.cancel()
            return task.result() if task.done() else None
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
