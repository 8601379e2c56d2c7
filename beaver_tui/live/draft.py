"""What was paid for and is not in the journal yet: the replies to an open question, on disk while a person thinks about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from engine.fixers.base import FixRequest, Reply
from engine.plain_file import read_plain
from engine.prompts import after_rejection
from engine.store import RunUnwritable, write_whole


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """The replies to one question, and the remarks with which a person rejected them, each with the reply before it.
    ``aside`` are replies that were neither accepted nor rejected: a person answered instead. ``lost_calls`` were cancelled."""

    attempt: int
    iteration: int
    rejected: list[tuple[Reply, str]] = []
    aside: list[Reply] = []
    waiting: Reply | None = None
    lost_calls: int = 0

    @property
    def spent(self) -> list[Reply]:
        """All replies that will not count, to be paid for by the one that does."""
        return [*(reply for reply, _ in self.rejected), *self.aside]

    def answered(self, reply: Reply | None) -> Draft:
        """After a call: with the reply that waits now, or with a call that was cancelled."""
        if reply is None:
            return msgspec.structs.replace(self, lost_calls=self.lost_calls + 1)
        return msgspec.structs.replace(self, waiting=reply)

    def reject(self, remark: str) -> Draft:
        assert self.waiting is not None
        return msgspec.structs.replace(self, rejected=[*self.rejected, (self.waiting, remark)], waiting=None)

    def put_aside(self) -> Draft:
        assert self.waiting is not None
        return msgspec.structs.replace(self, aside=[*self.aside, self.waiting], waiting=None)

    def question(self, request: FixRequest) -> FixRequest:
        """The request with all rejections in its messages."""
        messages = request.messages
        for reply, remark in self.rejected:
            messages = after_rejection(messages, reply.text, remark)
        return replace(request, messages=messages)


class DraftFile:
    """Where a live run keeps its draft. It is never removed: a draft of another iteration means nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, attempt: int, iteration: int) -> Draft:
        """The draft of that iteration, an empty one when there is none that can be read."""
        try:
            draft = msgspec.json.decode(read_plain(self._path), type=Draft)
        except (OSError, msgspec.MsgspecError, ValueError):
            draft = None
        if draft is not None and (draft.attempt, draft.iteration) == (attempt, iteration):
            return draft
        return Draft(attempt=attempt, iteration=iteration)

    def save(self, draft: Draft) -> Draft:
        """Returns the draft. Raises RunUnwritable."""
        try:
            write_whole(self._path, msgspec.json.encode(draft))
        except UnicodeEncodeError:
            pass  # a lone surrogate in a model's reply: JSON cannot hold it, and a draft is not worth an error
        except OSError as error:
            raise RunUnwritable(self._path, error) from error
        return draft
