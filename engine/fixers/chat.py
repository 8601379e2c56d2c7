"""A chat model behind any OpenAI-compatible address: a cloud service, vLLM, Ollama, a llama.cpp server."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engine.errors import InfraError
from engine.fixers import failures
from engine.fixers.base import FixRequest, Interrupted, Notice, Reply
from engine.fixers.config import DUMMY_KEY, OPENAI_URL, FixerConfig, is_loopback
from engine.fixers.failures import ADVICE, RENAMED, Failure
from engine.fixers.prices import cost
from engine.fixers.retry import BASE_SECONDS, Clock, backoff
from engine.fixers.stream import Answer, get

if TYPE_CHECKING:
    from openai import AsyncOpenAI

SYSTEM_CLOCK = Clock()

SEEDS_PER_SAMPLE = 1000
"""More than any trajectory has iterations, so that no two draws share a seed."""


class ChatFixer:
    """Asks a chat model for a candidate, streaming, with its own retries.

    Belongs to one event loop. Calls may overlap; at most ``max_concurrency`` are on their way, and when one is told to
    slow down (429) all wait. ``api_key`` never appears in an error, a log or a repr.
    """

    def __init__(self, config: FixerConfig, *, api_key: str = DUMMY_KEY, clock: Clock = SYSTEM_CLOCK) -> None:
        self.name = config.name
        self.config = config
        self._key = _Key(api_key)
        self._clock = clock
        self._slots = asyncio.Semaphore(config.max_concurrency)
        self._quiet_until = 0.0
        """On the monotonic clock: no call starts before, because a 429 asked for it."""
        self._refused: set[str] = set()
        """Parameters that this service does not take (keys of RENAMED)."""
        self._opened: AsyncOpenAI | None = None
        self._interrupted = asyncio.Event()
        self._notices: list[Notice] = []

    def __repr__(self) -> str:
        return f"ChatFixer({self.name!r}, model={self.config.model!r}, host={self.config.host!r})"

    async def propose(self, request: FixRequest) -> Reply:
        """The model's reply; its ``seconds`` leave out the wait for a free slot.

        Raises InfraError, of kind auth, rate_limit, timeout, connection, server or protocol, when the attempts or the
        deadline of the configuration are used up. Tokens of a call that broke off are unknown, and in no count.
        """
        async with self._slots:
            if self._opened is None:
                # Half a second, once: not at every start of the program, and not in the way of a screen.
                await asyncio.to_thread(importlib.import_module, "openai")
            return await self._ask(request)

    def interrupt(self) -> None:
        """Ask for nothing more: every pause, and the wait for a free slot, ends with Interrupted."""
        self._interrupted.set()

    def subscribe_notices(self, notice: Notice) -> Callable[[], None]:
        """``notice`` is told why and how long a request waits to be sent again."""
        self._notices.append(notice)
        return lambda: self._notices.remove(notice)

    async def close(self) -> None:
        if self._opened is not None:
            opened, self._opened = self._opened, None
            await opened.close()

    async def _ask(self, request: FixRequest) -> Reply:
        started = self._clock.monotonic()
        give_up_at = started + self.config.retries.deadline
        calls = failed = 0
        failure = Failure("rate_limit", "asks to wait longer than this fixer's deadline")
        next_call = started
        while True:
            await self._wait_until(next_call, give_up_at, failure, calls)
            calls += 1
            left_out = set(self._refused)
            answer = Answer(request.on_delta)
            outcome = await self._call(request, answer, give_up_at - self._clock.monotonic())
            if outcome is None:
                return self._reply(answer, calls, self._clock.monotonic() - started)
            failure = outcome
            if failure.refused and failure.refused not in left_out:
                self._refused.add(failure.refused)
                continue
            failed += 1
            next_call = self._after(failure, failed)
            if not failure.retryable or failed >= self.config.retries.attempts:
                raise self._error(failure, calls)
            if answer.begun:
                request.on_delta("\n[the answer broke off; asking again]\n", True)
            self._announce(failure, failed, next_call)

    def _announce(self, failure: Failure, failed: int, next_call: float) -> None:
        wait = max(next_call, self._quiet_until) - self._clock.monotonic()
        text = (
            f"{self.name}: {self.config.host} {failure.text}; "
            f"try {failed + 1} of {self.config.retries.attempts} in {max(wait, 0.0):.0f} s"
        )
        for notice in list(self._notices):
            notice(text)

    def _after(self, failure: Failure, failed: int) -> float:
        """When to call again, on the monotonic clock. A service's own word counts; jitter keeps callers apart."""
        now, chance = self._clock.monotonic(), self._clock.random()
        wait = backoff(failed, chance) if failure.wait is None else failure.wait + BASE_SECONDS * chance
        if failure.kind == "rate_limit":
            self._quiet_until = max(self._quiet_until, now + wait)
        return now + wait

    async def _wait_until(self, next_call: float, give_up_at: float, failure: Failure, calls: int) -> None:
        # In a loop: while this call waits, another one may be told to wait longer.
        while (wait := max(next_call, self._quiet_until) - self._clock.monotonic()) > 0:
            if self._clock.monotonic() + wait >= give_up_at:
                raise self._error(failure, calls)
            await self._pause(wait)
        if self._interrupted.is_set():
            raise Interrupted
        if self._clock.monotonic() >= give_up_at:
            raise self._error(failure, calls)

    async def _pause(self, seconds: float) -> None:
        """Sleep, or less: until somebody interrupts."""
        sleeping = asyncio.ensure_future(self._clock.sleep(seconds))
        interrupted = asyncio.ensure_future(self._interrupted.wait())
        try:
            await asyncio.wait({sleeping, interrupted}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            interrupted.cancel()
        if self._interrupted.is_set():
            raise Interrupted

    async def _call(self, request: FixRequest, answer: Answer, seconds: float) -> Failure | None:
        """One request. None when ``answer`` is complete. Errors become data here, outside of any ``except``, so that no
        exception of ours drags along one that may hold the key."""
        limit = min(self.config.timeouts.total, seconds)
        try:
            async with asyncio.timeout(limit):
                found = await self._stream(request, answer)
        except TimeoutError:
            found = Failure("timeout", f"gave no whole answer within {limit:g} s")
        except Exception as error:
            failure = failures.from_error(error, self.config.model, self._clock.now())
            if failure is None:
                raise
            found = failure
        # A reply whose last word has come is whole, even if the connection broke before its token count.
        if found is None or answer.complete:
            return None
        # Some services repeat the key that they refuse. Hidden before anything is cut: half a key is one too many.
        return replace(found, text=failures.shorten(self._key.scrub(found.text)))

    async def _stream(self, request: FixRequest, answer: Answer) -> Failure | None:
        create: Any = self._client().chat.completions.create
        if not self.config.stream:
            return self._whole(await create(**self._body(request)), answer)
        async with await create(**self._body(request)) as stream:
            kind = stream.response.headers.get("content-type", "")
            if "json" in kind:  # a service that does not stream
                return self._whole(json.loads(await stream.response.aread()), answer)
            if kind and "event-stream" not in kind:
                return Failure("protocol", f"answered with {failures.one_line(kind)} instead of a completion")
            async for chunk in stream:
                answer.feed(chunk)
                if answer.too_long:
                    break
        if not answer.any_choice:
            return Failure("protocol", "sent an answer without choices")
        return Failure("connection", "broke off in the middle of its answer")

    def _whole(self, completion: object, answer: Answer) -> Failure | None:
        """A completion in one piece: the SDK's object, its text when it was no JSON, or JSON that we read ourselves."""
        if isinstance(completion, str):
            return Failure("protocol", f"answered with text instead of a completion ({failures.one_line(completion)})")
        if error := get(completion, "error"):
            return failures.from_body(error, self.config.model)
        answer.feed(completion, part="message")
        if not answer.any_choice:
            return Failure("protocol", "sent an answer without choices")
        answer.finish_reason = answer.finish_reason or "stop"
        return None

    def _body(self, request: FixRequest) -> dict[str, Any]:
        config = self.config
        temperature = request.temperature if config.temperature is None else config.temperature
        body: dict[str, Any] = {
            "model": config.model,
            "messages": request.messages,
            "temperature": temperature if temperature != "default" else None,
            "max_tokens": config.max_tokens,
            "seed": None if config.seed is None else seed_for(config.seed, request.sample, request.iteration),
            "stream_options": {"include_usage": True},
        }
        if not config.stream:
            del body["stream_options"]
        for name in self._refused:
            value, other_name = body.pop(name, None), RENAMED[name]
            if other_name:
                body[other_name] = value
        body = {name: value for name, value in body.items() if value is not None}
        return {**body, "stream": config.stream, "extra_body": config.extra_body or None}

    def _client(self) -> AsyncOpenAI:
        if self._opened is None:
            import openai

            timeouts = self.config.timeouts
            # A proxy from the environment cannot reach this machine's own services.
            direct = is_loopback(urlsplit(self.config.url).hostname or "")
            self._opened = openai.AsyncOpenAI(
                api_key=self._key.reveal(),
                base_url=self.config.url,
                max_retries=0,
                timeout=openai.Timeout(timeouts.read, connect=timeouts.connect),
                http_client=openai.DefaultAsyncHttpxClient(trust_env=False) if direct else None,
            )
            if not self.config.url.startswith(OPENAI_URL):
                # The SDK takes them from the environment and would tell them to every service.
                self._opened.organization = self._opened.project = None
        return self._opened

    def _reply(self, answer: Answer, calls: int, seconds: float) -> Reply:
        text, reasoning = answer.end()
        return Reply(
            text=text,
            model=answer.model or self.config.model,
            finish_reason=answer.finish_reason or "stop",
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            cost=cost(self.config.prices, answer.tokens_in, answer.tokens_out),
            seconds=seconds,
            calls=calls,
            reasoning=reasoning,
        )

    def _error(self, failure: Failure, calls: int) -> InfraError:
        advice = ADVICE[failure.kind]
        if failure.kind == "auth" and self.config.api_key_env:
            advice = f"check the key in {self.config.api_key_env} and what it may use"
        times = "1 call" if calls == 1 else f"{calls} calls"
        message = f"fixer {self.name!r}: {self.config.host} {failure.text}, after {times}; {advice}"
        return InfraError(message, kind=failure.kind, retryable=failure.retryable)


def seed_for(seed: int, sample: int, iteration: int) -> int:
    """A seed of its own for every draw. Iterations count too: without history (H=0) all prompts of a trajectory are the
    same, and one seed would draw the same candidate again, which the loop takes for stagnation."""
    return seed + SEEDS_PER_SAMPLE * (sample - 1) + iteration - 1


class _Key:
    """An API key that cannot be shown by accident."""

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "<key>"

    def reveal(self) -> str:
        return self._value

    def scrub(self, text: str) -> str:
        return text if self._value == DUMMY_KEY else text.replace(self._value, "<key>")
