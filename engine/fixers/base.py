"""The fixer plug: a chat model, a person, a recorded list of answers and a replayed trajectory are all one protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import msgspec

from engine.task import Task

Message = dict[str, str]
"""A chat message: ``role`` (system, user) and ``content``."""

Delta = Callable[[str, bool], None]
"""Called with a piece of a streaming reply, and whether it is reasoning."""


def ignore_delta(text: str, reasoning: bool) -> None:
    """For callers that do not watch a reply arrive."""


@dataclass(frozen=True)
class FixRequest:
    """One question to a fixer.

    ``source`` is the file as it stands (the broken start, or the last candidate); ``feedback`` the message about it, empty
    in the first iteration. A chat model reads ``messages``, which say all of that in the protocol's form.
    ``sample`` numbers independent draws of the same prompt, so that a sampling seed can differ between them.
    """

    task: Task
    attempt: int
    iteration: int
    messages: list[Message]
    source: bytes
    feedback: str = ""
    temperature: float = 0.7
    sample: int = 1
    on_delta: Delta = field(default=ignore_delta)


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a fixer answered. With ``whole_file`` the text is the file itself and nothing is extracted from it.

    ``finish_reason`` is the service's word (stop, length, content_filter); ``cost`` is in US dollars; ``calls`` counts
    every request that was sent for this reply.
    """

    text: str
    whole_file: bool = False
    model: str = ""
    finish_reason: str = "stop"
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    calls: int = 1
    reasoning: str | None = None


class Fixer(Protocol):
    """Proposes a candidate for a failing program.

    ``propose`` raises InfraError when the service cannot be had (after its own retries), NoMoreAnswers when a recorded
    fixer has run out, Interrupted when a fixer that is Waiting was told so, and must stop cleanly when it is cancelled.
    """

    name: str

    async def propose(self, request: FixRequest) -> Reply: ...

    async def close(self) -> None: ...


@runtime_checkable
class Recorded(Protocol):
    """A fixer whose answers exist already, for some tasks and not for others."""

    def covers(self, task: Task) -> bool:
        """Whether there is any answer for the task: a sweep promises nothing where there is none."""
        ...


class Interrupted(Exception):
    """A wait was ended by ``interrupt``: nothing was answered and nothing failed; the request can be made again."""


Notice = Callable[[str], None]
"""Called in the event loop with one line for the user."""


@runtime_checkable
class Waiting(Protocol):
    """A fixer that waits at times: for a person, or until a service may be asked again. A wait is no running step."""

    def subscribe_notices(self, notice: Notice) -> Callable[[], None]:
        """``notice`` is told what is waited for, whenever a wait begins; call what this returns to end that."""
        ...

    def interrupt(self) -> None:
        """From now on every wait ends at once: its ``propose`` raises Interrupted. A reply on its way may still arrive."""
        ...
