"""The chat fixer against a real server on the loopback that misbehaves in every way we know. Nothing here is mocked but
the clock of the retries."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import traceback
from collections.abc import Iterator
from email.utils import formatdate
from typing import Any

import pytest

from engine.errors import InfraError
from engine.fixers.chat import ChatFixer
from engine.fixers.config import FixerConfig, Retries, Timeouts
from engine.fixers.prices import Price
from tests.support import openai_server as service
from tests.support.fixing import FakeClock, a_request
from tests.support.openai_server import OpenAIServer

KEY = "sk-very-secret-0123456789"
ANSWER = "```cuda\n__global__ void k(float* y) {\n  y[threadIdx.x] = 1.0f;\n}\n```\n"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(answer=ANSWER) as running:
        yield running


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def chat(server: OpenAIServer | str, clock: FakeClock, **fields: Any) -> ChatFixer:
    url = server if isinstance(server, str) else server.url
    config = FixerConfig(**{"name": "qwen:7b", "model": "qwen", "base_url": url, **fields})
    return ChatFixer(config, api_key=KEY, clock=clock.clock())


async def failure(fixer: ChatFixer) -> InfraError:
    with pytest.raises(InfraError) as caught:
        await fixer.propose(a_request())
    return caught.value


# The proper way


async def test_a_reply_streams_in_with_its_usage_and_cost(server: OpenAIServer, clock: FakeClock) -> None:
    pieces: list[tuple[str, bool]] = []
    fixer = chat(server, clock, prices=Price(input=2.0, output=10.0))

    reply = await fixer.propose(a_request(on_delta=lambda text, thinking: pieces.append((text, thinking))))

    assert reply.text == ANSWER
    assert "".join(text for text, _ in pieces) == ANSWER
    assert len(pieces) > 3
    assert (reply.model, reply.finish_reason, reply.calls, reply.whole_file) == ("stub-model", "stop", 1, False)
    assert (reply.tokens_in, reply.tokens_out) == (7, 11)
    assert reply.cost == pytest.approx((7 * 2.0 + 11 * 10.0) / 1e6)
    assert reply.reasoning is None
    await fixer.close()


async def test_the_request_says_what_the_configuration_says(server: OpenAIServer, clock: FakeClock) -> None:
    fixer = chat(server, clock, seed=100, max_tokens=2048, extra_body={"top_k": 20, "min_p": 0.1})

    await fixer.propose(a_request(sample=3, iteration=2, temperature=0.7))

    sent = server.requests[0]
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.body == {
        "model": "qwen",
        "messages": a_request().messages,
        "temperature": 0.7,
        "max_tokens": 2048,
        "seed": 2101,
        "stream": True,
        "stream_options": {"include_usage": True},
        "top_k": 20,
        "min_p": 0.1,
    }


async def test_no_two_draws_share_a_seed(server: OpenAIServer, clock: FakeClock) -> None:
    fixer = chat(server, clock, seed=1)
    for sample, iteration in [(1, 1), (1, 2), (2, 1), (2, 2)]:
        await fixer.propose(a_request(sample=sample, iteration=iteration))
    assert [body["seed"] for body in server.bodies] == [1, 2, 1001, 1002]


@pytest.mark.parametrize(("configured", "sent"), [(None, 0.7), (0.0, 0.0), ("default", None)])
async def test_temperature_is_the_protocols_unless_the_fixer_has_its_own(
    server: OpenAIServer, clock: FakeClock, configured: Any, sent: float | None
) -> None:
    await chat(server, clock, temperature=configured).propose(a_request(temperature=0.7))
    assert server.bodies[0].get("temperature") == sent


async def test_a_reply_cut_by_its_token_limit_says_so(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.answering("```cuda\n__global__ vo", finish_reason="length"))
    reply = await chat(server, clock).propose(a_request())
    assert (reply.text, reply.finish_reason) == ("```cuda\n__global__ vo", "length")


async def test_an_empty_reply_is_a_reply(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.answering("", finish_reason="content_filter"))
    reply = await chat(server, clock).propose(a_request())
    assert (reply.text, reply.finish_reason, reply.calls) == ("", "content_filter", 1)


async def test_without_usage_tokens_and_cost_are_unknown_not_zero(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.answering(usage=False))
    reply = await chat(server, clock, prices=Price(input=1, output=1)).propose(a_request())
    assert (reply.tokens_in, reply.tokens_out, reply.cost) == (None, None, None)


async def test_only_the_first_of_two_choices_counts(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.answering("first", others=["second"]))
    assert (await chat(server, clock).propose(a_request())).text == "first"


async def test_a_service_that_does_not_stream_is_understood(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.whole("all at once"))
    reply = await chat(server, clock).propose(a_request())
    assert (reply.text, reply.tokens_out, reply.finish_reason) == ("all at once", 3, "stop")


async def test_a_fixer_may_ask_for_replies_in_one_piece(server: OpenAIServer, clock: FakeClock) -> None:
    pieces: list[tuple[str, bool]] = []
    server.queue(service.answering("<think>hm</think>int x;", thinking="so "))

    fixer = chat(server, clock, stream=False)
    reply = await fixer.propose(a_request(on_delta=lambda *piece: pieces.append(piece)))

    assert (reply.text, reply.reasoning, reply.tokens_out, reply.finish_reason) == ("int x;", "so hm", 2, "stop")
    assert pieces == [("so ", True), ("hm", True), ("int x;", False)]
    assert server.bodies[0]["stream"] is False
    assert "stream_options" not in server.bodies[0]


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [
        (service.page(), "protocol", "text instead of a completion (<html>"),
        (service.page("oops", "application/json"), "protocol", "not JSON"),
        (service.page("{}", "application/json"), "protocol", "without choices"),
        (service.page('{"error": {"message": "dead"}}', "application/json"), "server", "dead"),
        (service.page('["a"]', "application/json"), "protocol", "without choices"),
    ],
)
async def test_nonsense_in_one_piece_is_named_too(
    server: OpenAIServer, clock: FakeClock, behaviour: service.Behaviour, kind: str, words: str
) -> None:
    server.queue(behaviour)
    error = await failure(chat(server, clock, stream=False, retries=Retries(attempts=1)))
    assert error.kind == kind
    assert words in str(error)


async def test_a_huge_reply_arrives_whole(server: OpenAIServer, clock: FakeClock) -> None:
    huge = "".join(f"// line {number} {'x' * 80}\n" for number in range(20_000))
    server.queue(service.answering(huge, pieces=50_000))
    assert (await chat(server, clock).propose(a_request())).text == huge


async def test_an_endless_reply_is_cut_as_too_long(
    server: OpenAIServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.fixers.stream.MAX_CHARACTERS", 100)
    server.queue(service.drip)
    reply = await chat(server, clock).propose(a_request())
    assert reply.finish_reason == "length"
    assert 100 < len(reply.text) < 200
    assert await asyncio.to_thread(server.hung_up.wait, 10)


# Thinking


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_thinking_in_its_own_field_is_kept_apart(server: OpenAIServer, clock: FakeClock, field: str) -> None:
    pieces: list[tuple[str, bool]] = []
    server.queue(service.answering("the file", thinking="a semicolon\nis missing", thinking_field=field))

    reply = await chat(server, clock).propose(a_request(on_delta=lambda *piece: pieces.append(piece)))

    assert (reply.text, reply.reasoning) == ("the file", "a semicolon\nis missing")
    assert pieces == [("a semicolon\n", True), ("is missing", True), ("the file", False)]


@pytest.mark.parametrize("pieces", [1, 2, 7, 1000])
async def test_thinking_between_tags_is_kept_apart_however_it_is_cut(
    server: OpenAIServer, clock: FakeClock, pieces: int
) -> None:
    shown: dict[bool, str] = {True: "", False: ""}

    def watch(text: str, thinking: bool) -> None:
        shown[thinking] += text

    server.queue(service.answering("\n<think>\na < b, so\n</think>\n\nint x; // <think>", pieces=pieces))

    reply = await chat(server, clock).propose(a_request(on_delta=watch))

    assert (reply.text, reply.reasoning) == ("int x; // <think>", "a < b, so")
    assert shown[True].strip() == reply.reasoning
    assert shown[False].strip() == reply.text


async def test_thinking_cut_by_the_token_limit_is_no_answer(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.answering("<think>hm, maybe </thi", finish_reason="length"))
    reply = await chat(server, clock).propose(a_request())
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("", "hm, maybe </thi", "length")


async def test_a_closing_tag_alone_ends_thinking_that_the_chat_template_opened(
    server: OpenAIServer, clock: FakeClock
) -> None:
    server.queue(service.answering("so the index is off\n</think>\n\nint x;"))
    reply = await chat(server, clock).propose(a_request())
    assert (reply.text, reply.reasoning) == ("int x;", "so the index is off")


# Retries


@pytest.mark.parametrize("code", [408, 409, 500, 502, 503, 529])
async def test_a_passing_fault_of_the_service_is_retried(server: OpenAIServer, clock: FakeClock, code: int) -> None:
    server.queue(service.status(code), service.status(code))
    reply = await chat(server, clock).propose(a_request())
    assert (reply.text, reply.calls) == (ANSWER, 3)
    assert clock.waits == [0.75, 1.5]  # 1 and 2 seconds, half of it jitter
    assert reply.seconds == pytest.approx(2.25)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry_After": "20"}, 20.5),
        ({"Retry_After": formatdate(1e9 + 90, usegmt=True)}, 90.5),
        ({"Retry_After": formatdate(1e9 - 90, usegmt=True)}, 0.5),
        ({"Retry_After_Ms": "1500", "Retry_After": "9"}, 2.0),
        ({"Retry_After": "soon"}, 0.75),
        ({"Retry_After": "-5"}, 0.75),
        ({}, 0.75),
    ],
)
async def test_a_429_is_retried_when_the_service_says(
    server: OpenAIServer, clock: FakeClock, headers: dict[str, str], wait: float
) -> None:
    server.queue(service.status(429, **headers))
    reply = await chat(server, clock).propose(a_request())
    assert (reply.text, reply.calls, clock.waits) == (ANSWER, 2, [wait])


async def test_after_a_429_other_calls_of_the_fixer_wait_too(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.status(429, Retry_After="60"))
    fixer = chat(server, clock, retries=Retries(attempts=1))
    assert (await failure(fixer)).kind == "rate_limit"

    await fixer.propose(a_request())

    assert clock.waits == [60.5]


async def test_it_gives_up_after_its_attempts(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(*[service.status(503, "overloaded")] * 3)
    error = await failure(chat(server, clock, retries=Retries(attempts=3)))
    assert (error.kind, error.retryable, len(server.requests)) == ("server", True, 3)
    assert str(error) == (
        f"fixer 'qwen:7b': {server.url[7:-3]} answered 503 (overloaded), after 3 calls; "
        "the service is failing; resume later"
    )


async def test_it_gives_up_at_its_deadline(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(*[service.status(500)] * 9)
    error = await failure(chat(server, clock, retries=Retries(attempts=9, deadline=10.0)))
    assert (error.kind, clock.waits) == ("server", [0.75, 1.5, 3.0])  # a wait of 6 s would end after 10 s
    assert len(server.requests) == 4


async def test_it_does_not_wait_for_a_retry_after_beyond_its_deadline(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.status(429, "come back tomorrow", Retry_After="86400"))
    error = await failure(chat(server, clock))
    assert (error.kind, clock.waits) == ("rate_limit", [])
    assert "come back tomorrow" in str(error)
    assert "max_concurrency" in str(error)


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_stream_that_breaks_off_is_asked_for_again(
    server: OpenAIServer, clock: FakeClock, chunked: bool
) -> None:
    pieces: list[tuple[str, bool]] = []
    server.queue(service.drop_mid_stream("```cuda\nhalf", chunked=chunked))

    reply = await chat(server, clock).propose(a_request(on_delta=lambda *piece: pieces.append(piece)))

    assert (reply.text, reply.calls) == (ANSWER, 2)
    assert pieces[:2] == [("```cuda\nhalf", False), ("\n[the answer broke off; asking again]\n", True)]


async def test_a_stream_that_breaks_after_the_last_word_is_a_whole_reply(
    server: OpenAIServer, clock: FakeClock
) -> None:
    server.queue(service.drop_mid_stream("the file", finish_reason="stop"))
    reply = await chat(server, clock).propose(a_request())
    assert (reply.text, reply.calls, reply.tokens_out) == ("the file", 1, None)


MISBEHAVIOURS = {
    "the connection drops before any answer": (service.drop_before_headers, "connection", "broke the connection"),
    "no choices": (service.empty_choices, "protocol", "without choices"),
    "an empty stream": (service.stream_of(), "protocol", "without choices"),
    "a stream that is not JSON": (service.stream_of("{not json"), "protocol", "not JSON"),
    "a stream of other JSON": (service.stream_of("[1]", "7", "null", '"x"'), "protocol", "without choices"),
    "an answer that is not JSON": (service.page("oops", "application/json"), "protocol", "not JSON"),
    "JSON that is no completion": (service.page("[]", "application/json"), "protocol", "without choices"),
    "a web page": (service.page(), "protocol", "text/html"),
    "a failing gateway's page": (service.page("<h1>Bad\ngateway</h1>", code=502), "server", "502 (Bad gateway)"),
    "an error in the stream": (
        service.stream_of('{"error": {"message": "the worker died", "code": "dead"}}'),
        "server",
        "the worker died",
    ),
    "a 429 in the stream": (service.stream_of('{"error": {"message": "slow", "code": 429}}'), "rate_limit", "slow"),
}


@pytest.mark.parametrize("name", MISBEHAVIOURS)
async def test_nonsense_is_retried_and_then_named(server: OpenAIServer, clock: FakeClock, name: str) -> None:
    behaviour, kind, words = MISBEHAVIOURS[name]

    server.queue(behaviour)
    assert (await chat(server, clock).propose(a_request())).text == ANSWER

    server.queue(behaviour, behaviour)
    error = await failure(chat(server, clock, retries=Retries(attempts=2)))
    assert error.kind == kind
    assert words in str(error)
    assert "'qwen:7b'" in str(error)
    assert "127.0.0.1:" in str(error)


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [
        (service.status(401, "bad key"), "auth", "check the key in A_KEY"),
        (service.status(403, "not yours"), "auth", "not yours"),
        (service.status(404, "model not found"), "protocol", "knows no model 'qwen'"),
        (service.status(400, "context too long"), "protocol", "context too long"),
        (service.status(413, "too big"), "protocol", "too big"),
        (service.status(429, "no money left", error_code="insufficient_quota"), "rate_limit", "no money left"),
    ],
)
async def test_our_own_mistakes_are_not_retried(
    server: OpenAIServer, clock: FakeClock, behaviour: service.Behaviour, kind: str, words: str
) -> None:
    server.queue(behaviour)
    error = await failure(chat(server, clock, api_key_env="A_KEY"))
    assert (error.kind, error.retryable, len(server.requests), clock.waits) == (kind, False, 1, [])
    assert words in str(error)


async def test_a_service_that_is_not_there(clock: FakeClock) -> None:
    with OpenAIServer() as gone:
        url = gone.url
    error = await failure(chat(url, clock, retries=Retries(attempts=2)))
    assert error.kind == "connection"
    assert "could not be reached" in str(error)
    assert "after 2 calls; check that the service runs and that base_url is right" in str(error)


# Parameters that a service refuses


async def test_a_service_that_refuses_stream_options_is_asked_without(server: OpenAIServer, clock: FakeClock) -> None:
    strict = service.refuse("stream_options", "Unknown parameter: stream_options")
    server.queue(strict, strict, strict)
    fixer = chat(server, clock, retries=Retries(attempts=1))

    first, second = await fixer.propose(a_request()), await fixer.propose(a_request())

    assert (first.text, first.calls, first.tokens_out) == (ANSWER, 2, None)
    assert (second.text, second.calls) == (ANSWER, 1)  # it remembers
    assert clock.waits == []


async def test_two_calls_may_learn_of_a_refusal_at_the_same_time(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(*[service.refuse("stream_options", "stream_options is not allowed")] * 8)
    replies = await asyncio.gather(*[chat(server, clock).propose(a_request()) for _ in range(2)])
    fixer = chat(server, clock)
    replies += await asyncio.gather(*[fixer.propose(a_request()) for _ in range(2)])
    assert [reply.text for reply in replies] == [ANSWER] * 4


async def test_max_tokens_gets_its_other_name_where_that_is_asked_for(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.refuse("max_tokens", "'max_tokens' is not supported. Use 'max_completion_tokens' instead."))
    await chat(server, clock, max_tokens=64).propose(a_request())
    assert server.bodies[1]["max_completion_tokens"] == 64
    assert "max_tokens" not in server.bodies[1]


async def test_a_limit_that_is_too_large_is_not_taken_for_a_refusal(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.refuse("max_tokens", "max_tokens is too large: 99999"))
    error = await failure(chat(server, clock, max_tokens=99_999))
    assert (error.kind, len(server.requests)) == ("protocol", 1)


# Timeouts and cancellation


@pytest.mark.parametrize("behaviour", [service.hang_before_headers, service.hang_mid_stream("half")])
async def test_silence_is_a_timeout(server: OpenAIServer, clock: FakeClock, behaviour: service.Behaviour) -> None:
    server.queue(behaviour, behaviour)
    error = await failure(chat(server, clock, timeouts=Timeouts(read=0.2), retries=Retries(attempts=2)))
    assert (error.kind, len(server.requests)) == ("timeout", 2)
    assert "gave no answer in time" in str(error)
    assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_a_drip_without_an_end_runs_into_the_total_timeout(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.drip)
    error = await failure(chat(server, clock, timeouts=Timeouts(total=0.3), retries=Retries(attempts=1)))
    assert error.kind == "timeout"
    assert "gave no whole answer within 0.3 s" in str(error)
    assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_the_deadline_also_ends_a_running_request(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.drip)
    error = await failure(chat(server, clock, retries=Retries(attempts=1, deadline=0.3)))
    assert "within 0.3 s" in str(error)


@pytest.mark.parametrize("behaviour", [service.hang_before_headers, service.hang_mid_stream("half"), service.drip])
async def test_cancelling_closes_the_connection(
    server: OpenAIServer, clock: FakeClock, behaviour: service.Behaviour
) -> None:
    server.queue(behaviour)
    fixer = chat(server, clock, max_concurrency=1)
    asking = asyncio.create_task(fixer.propose(a_request()))
    await asyncio.to_thread(server.wait_for_requests, 1)

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert await asyncio.to_thread(server.hung_up.wait, 10)
    assert (await fixer.propose(a_request())).text == ANSWER  # its slot is free again


async def test_no_more_calls_are_on_their_way_than_allowed(server: OpenAIServer, clock: FakeClock) -> None:
    gate = threading.Event()
    server.queue(*[service.held(gate)] * 6)
    fixer = chat(server, clock, max_concurrency=2)
    asking = [asyncio.create_task(fixer.propose(a_request())) for _ in range(6)]

    await asyncio.to_thread(server.wait_for_requests, 2)
    gate.set()
    replies = await asyncio.gather(*asking)

    assert [reply.text for reply in replies] == [ANSWER] * 6
    assert server.peak_in_flight == 2


async def test_a_proxy_from_the_environment_is_not_asked_for_the_loopback(
    server: OpenAIServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert (await chat(server, clock).propose(a_request())).text == ANSWER


# The key


@pytest.mark.parametrize(
    "behaviour",
    [
        service.status(401, f"Incorrect API key provided: {KEY}"),
        service.page(f"you sent {KEY}", code=400),
        *[service.status(400, "x" * before + KEY) for before in range(360, 400, 5)],  # where our message is cut
        service.stream_of(f'{{"error": {{"message": "who is {KEY}?"}}}}'),
        service.drop_before_headers,
        service.hang_before_headers,
    ],
)
async def test_the_key_is_in_no_message_traceback_log_or_repr(
    server: OpenAIServer, clock: FakeClock, caplog: pytest.LogCaptureFixture, behaviour: service.Behaviour
) -> None:
    server.queue(behaviour)
    fixer = chat(server, clock, timeouts=Timeouts(read=0.2), retries=Retries(attempts=1))
    with caplog.at_level(logging.DEBUG):
        error = await failure(fixer)

    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    seen = [str(error), repr(error), "".join(report.format()), repr(fixer), repr(vars(fixer)), caplog.text]
    assert error.__context__ is None  # nothing of the SDK's, whose requests hold the key
    assert not any(KEY[:12] in text for text in seen)
    assert server.requests[0].headers["authorization"].endswith(KEY)


async def test_an_organisation_from_the_environment_is_openais_alone(
    server: OpenAIServer, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_API_KEY", "OPENAI_WEBHOOK_SECRET"):
        monkeypatch.setenv(name, "private-matter")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    await chat(server, clock).propose(a_request())
    assert "private-matter" not in str(server.requests[0])


async def test_a_servers_terminal_controls_stay_out_of_messages(server: OpenAIServer, clock: FakeClock) -> None:
    server.queue(service.status(400, "\x1b[2J\x07 no\nsuch\tthing" + "!" * 5000))
    text = str(await failure(chat(server, clock)))
    assert text.isprintable()
    assert "no such thing!!!" in text
    assert len(text) < 600


# The server itself


async def test_the_server_can_be_a_model_that_answers_what_it_is_asked(clock: FakeClock) -> None:
    with OpenAIServer(answer=lambda messages: messages[-1]["content"].upper()) as echo:
        reply = await chat(echo, clock).propose(a_request(messages=[{"role": "user", "content": "fix me"}]))
    assert reply.text == "FIX ME"


async def test_the_clock_in_use_by_default_is_the_real_one(server: OpenAIServer) -> None:
    config = FixerConfig(name="real", model="m", base_url=server.url)
    before = time.monotonic()
    reply = await ChatFixer(config).propose(a_request())
    assert 0 < reply.seconds <= time.monotonic() - before
    assert server.requests[0].headers["authorization"] == "Bearer none"
