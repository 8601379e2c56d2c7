"""The parent's clock: a driver is told what to time and when, and both ends of every batch are seen from outside.

The driver (corpus/shared/beaver_driver.cuh) shares its process with the candidate, so its CUDA events may lie. Here the other
end of its pipes takes the time: from the "go" that starts a batch to the line that ends it. docs/timing.md says what is compared.
"""

from __future__ import annotations

import asyncio
import math
import os
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

MARK = b"beaver: "
VARIABLES = {"BEAVER_CLOCK": "1"}
"""What a driver's environment holds when somebody is there to ask it."""

_LONGEST_LINE = 256
_MOST_LINES = 64
"""Marks that may wait to be read: an honest driver is never more than one ahead."""


class Refused(Exception):
    """What the program said cannot be taken for a time; the text says why."""


class Left(Refused):
    """The program ended, or stopped listening, before it was done."""


class Silent(Exception):
    """The program ended, or began to time on its own, without a word for the clock."""


class Talk:
    """Both ends of a program's pipes, with the moment (seconds, monotonic) at which every mark arrived.

    ``opened``, ``heard`` and ``closed`` are called by who runs the program.
    """

    def __init__(self) -> None:
        self._input: int | None = None
        self._line = b""
        self._marks: asyncio.Queue[tuple[str, float] | None] = asyncio.Queue()
        self._over = False

    def opened(self, descriptor: int) -> None:
        """The program's standard input, which is ours to close."""
        os.set_blocking(descriptor, False)
        self._input = descriptor

    def heard(self, chunk: bytes, moment: float) -> None:
        """Standard output, piece by piece. Whatever is no mark is a print of the candidate's."""
        *lines, rest = (self._line + chunk).split(b"\n")
        self._line = rest[:_LONGEST_LINE]
        for line in lines:
            if line.startswith(MARK) and self._marks.qsize() < _MOST_LINES:
                text = line[len(MARK) : _LONGEST_LINE].decode("ascii", "replace")
                self._marks.put_nowait((text.strip(), moment))

    def closed(self) -> None:
        """The program has ended: nothing more will be heard."""
        if not self._over:
            self._over = True
            self._marks.put_nowait(None)
        self.hang_up()

    def hang_up(self) -> None:
        """End of the program's standard input."""
        if self._input is not None:
            os.close(self._input)
            self._input = None

    def say(self, line: str) -> float:
        """Send a line; the moment right before it left. Raises Left when the program does not listen any more."""
        moment = time.monotonic()
        if self._input is None:
            raise Left("it ended before its batches were over")
        try:
            os.write(self._input, f"{line}\n".encode())  # short: a pipe takes it whole
        except OSError as error:
            raise Left("it closed its standard input") from error
        return moment

    async def hear(self) -> tuple[str, float]:
        """The next mark and its moment. Raises Silent when there is none to come."""
        mark = await self._marks.get()
        if mark is None:
            self._marks.put_nowait(None)
            raise Silent
        return mark


@dataclass(frozen=True)
class Batch:
    """``calls`` calls: milliseconds by the program's own clock and by ours."""

    calls: int
    own_ms: float
    wall_ms: float

    def agrees(self, slack: float, slack_ms: float) -> bool:
        """Whether both lie within ``slack`` (a fraction of the program's own figure) and ``slack_ms``."""
        return abs(self.wall_ms - self.own_ms) <= slack * self.own_ms + slack_ms


@dataclass(frozen=True)
class Rules:
    """How a launch is timed. A batch lasts at least ``batch_ms`` by the program's own clock."""

    batch_ms: float = 100.0
    batches: int = 3
    most_batches: int = 10
    """Batches whose clocks disagree are taken again: the parent, too, may have been kept from its clock."""
    slack: float = 0.10
    slack_ms: float = 2.0
    fresh_factor: float = 1.5
    fresh_slack_ms: float = 0.02
    """A call on poisoned buffers may take this many times as long as one in a row, so much more, and twice what the reference's
    takes more: what lay in L2 is driven out for both."""
    fresh_ms: float = 20.0
    fresh_tries: int = 4
    fresh_most: int = 500
    """Calls of a fresh batch: a candidate that skips its calls would else be asked for millions."""
    long_ms: float = 400.0
    """A program whose batch takes longer is timed by one batch."""

    def filling(self, batch: Batch) -> int:
        """How many calls fill a batch with some room, by one that was measured."""
        return int(1.2 * batch.calls * self.batch_ms / batch.own_ms) + 1


@dataclass
class Heard:
    """What a launch said. ``batches`` are those whose clocks agree, ``again`` counts those that did not."""

    batches: list[Batch] = field(default_factory=list)
    again: int = 0
    threads: int = 0
    fresh_ms: float | None = None
    """What a call takes when the buffers are poisoned before it, None where every batch is such a call."""

    @property
    def excess_ms(self) -> float:
        """What poisoned buffers cost."""
        return max(0.0, self.fresh_ms - self.ms) if self.fresh_ms is not None else 0.0

    @property
    def ms(self) -> float:
        """Mean milliseconds of a call, by the program's own clock, which has seen less of everything else."""
        return math.fsum(batch.own_ms / batch.calls for batch in self.batches) / len(self.batches)


During = Callable[[], Awaitable[None]]
"""Something to be done while a batch runs."""


async def question(
    talk: Talk,
    rules: Rules,
    first_calls: int = 1,
    during: During | None = None,
    reference_excess_ms: float | None = None,
) -> Heard:
    """Time one launch. ``first_calls`` is a first guess at how many calls fill a batch; ``reference_excess_ms`` is what poisoned
    buffers cost the reference, None for the reference itself.

    Raises Silent when the program does not know the clock, Refused when it cannot be believed.
    """
    said, _ = await talk.hear()
    if said != "clock 1":
        raise Refused(f"it began with {said[:40]!r}")
    try:
        heard = await _batches(talk, rules, first_calls, during)
        if heard.batches[0].calls > 1:  # a single call has fresh buffers
            await _fresh(talk, rules, heard, reference_excess_ms)
        talk.say("end")
        said, _ = await talk.hear()
        if not (said.startswith("end ") and said.endswith(" threads") and said[4:-8].isdigit()):
            raise Refused(f"it said {said[:40]!r} at the end")
        heard.threads = int(said[4:-8])
        await _nothing_more(talk)
        return heard
    except Silent:
        raise Left("it ended before its batches were over") from None
    finally:
        talk.hang_up()


async def _nothing_more(talk: Talk) -> None:
    try:
        said, _ = await talk.hear()
    except Silent:
        return
    raise Refused(f"it said {said[:40]!r} after its end")


async def _batches(talk: Talk, rules: Rules, calls: int, during: During | None) -> Heard:
    batch = await _batch(talk, "calls", 1)  # whatever is done on a first call only is not timed
    if batch.own_ms > rules.long_ms:
        calls = 1
    else:
        batch = await _batch(talk, "calls", calls)
    while batch.own_ms < rules.batch_ms and batch.wall_ms < 4 * rules.batch_ms + rules.slack_ms:
        calls = calls * 16 if batch.own_ms < 1.0 else rules.filling(batch)
        batch = await _batch(talk, "calls", calls)
    calls = min(calls, rules.filling(batch))  # one that was kept waiting took too many
    wanted = rules.batches if batch.own_ms / batch.calls * calls <= rules.long_ms else 1
    heard = Heard()
    watching = asyncio.ensure_future(during()) if during is not None else None
    try:
        for _ in range(rules.most_batches):
            # nobody in that process knows beforehand how many calls are the last
            batch = await _batch(talk, "calls", calls + secrets.randbelow(calls // 16 + 1))
            if not batch.agrees(rules.slack, rules.slack_ms):
                heard.again += 1
            elif batch.own_ms < rules.batch_ms:
                calls = max(rules.filling(batch), calls + 1)
            else:
                heard.batches.append(batch)
            if len(heard.batches) == wanted:
                break
    finally:
        if watching is not None:
            await watching
    if len(heard.batches) < wanted:
        raise Refused(
            f"its clock says {batch.own_ms:.1f} ms for a batch of {batch.calls} calls, the parent's {batch.wall_ms:.1f} ms"
        )
    return heard


async def _fresh(talk: Talk, rules: Rules, heard: Heard, reference_excess_ms: float | None) -> None:
    """What a call takes when the buffers are poisoned before every one: the least of several tries, by the parent's clock and
    without the poisoning. A candidate that computes only then has kept results between calls."""
    calls = max(1, min(heard.batches[0].calls, math.ceil(rules.fresh_ms / heard.ms), rules.fresh_most))
    most = rules.fresh_factor * heard.ms + rules.fresh_slack_ms + 2 * (reference_excess_ms or 0.0)
    least = math.inf
    for _ in range(rules.fresh_tries):
        with_calls = await _batch(talk, "fresh", calls)
        without = await _batch(talk, "blank", calls)
        taken = with_calls.wall_ms - rules.slack_ms - min(without.wall_ms, without.own_ms)
        least = min(least, max(0.0, taken / calls))
        if least <= most:
            break
    heard.fresh_ms = least
    if least > most and reference_excess_ms is not None:
        raise Refused(
            f"a call on fresh buffers takes {least:.4g} ms, one in a row {heard.ms:.4g} ms: results are kept between calls"
        )


async def _batch(talk: Talk, kind: str, calls: int) -> Batch:
    token = secrets.token_hex(8)
    talk.say(f"{kind} {token} {calls}")
    said, _ = await talk.hear()
    if said != f"ready {token}":
        raise Refused(f"it said {said[:40]!r} before a batch")
    began = talk.say(f"go {token}")
    said, ended = await talk.hear()
    words = said.split()
    if len(words) != 4 or words[:3] != ["done", token, str(calls)]:
        raise Refused(f"it said {said[:40]!r} instead of the end of its batch")
    try:
        own = float(words[3])
    except ValueError:
        own = math.nan
    if not (math.isfinite(own) and own > 0):
        raise Refused(f"it said that a batch took {words[3][:20]!r} ms")
    return Batch(calls, own, 1000 * (ended - began))
