"""A real HTTP server on the loopback that speaks OpenAI's chat completions, and misbehaves on command.

    with OpenAIServer(answer=lambda messages: "the repaired file") as server:
        server.queue(status(503), drop_mid_stream("half of"))      # the first two requests; then it behaves
        ...  # talk to server.url
        assert server.requests[0].body["model"] == "a-model"

A behaviour is a function that is handed an Exchange, one request, and answers it in its own way.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[[list[dict[str, str]]], str]
Behaviour = Callable[["Exchange"], None]

PATIENCE = 30.0
"""Seconds after which a hanging request gives up by itself, should a test never end it."""


@dataclass
class Recorded:
    """A request as it came: header names in lower case, the body decoded."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any] = field(default_factory=dict)


class OpenAIServer:
    """``answer``: what to reply, or a function of the messages. Use it as a context manager; ``url`` is the base_url."""

    def __init__(self, answer: str | Answering = "a reply", model: str = "stub-model") -> None:
        self.answer: Answering = answer if callable(answer) else lambda _: answer
        self.model = model
        self.requests: list[Recorded] = []
        self.peak_in_flight = 0
        self.hung_up = threading.Event()
        """Set when a client closed its connection before it had its answer."""
        self.closing = threading.Event()
        self._behaviours: deque[Behaviour] = deque()
        self._in_flight = 0
        self._changed = threading.Condition()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of all chat completion requests so far."""
        return [request.body for request in self.requests if request.path.endswith("/chat/completions")]

    def queue(self, *behaviours: Behaviour) -> None:
        """One behaviour for each of the next requests; when they are used up, the server behaves."""
        self._behaviours.extend(behaviours)

    def wait_for_requests(self, count: int, seconds: float = 10.0) -> None:
        """Blocks until ``count`` requests have come in all."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, seconds):
                raise AssertionError(f"{len(self.requests)} of {count} requests came within {seconds} s")

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def arrived(self, request: Recorded) -> None:
        with self._changed:
            self.requests.append(request)
            self._in_flight += 1
            self.peak_in_flight = max(self.peak_in_flight, self._in_flight)
            self._changed.notify_all()

    def left(self) -> None:
        with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()

    def next_behaviour(self) -> Behaviour:
        try:
            return self._behaviours.popleft()
        except IndexError:
            return answering()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    owner: OpenAIServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what many tests are about: nothing to print."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server.owner
        server.arrived(Recorded("GET", self.path, self._lower_headers()))
        try:
            models = {"object": "list", "data": [{"id": server.model, "object": "model"}]}
            Exchange(self, server, {}).send(200 if self.path == "/v1/models" else 404, json.dumps(models))
        finally:
            server.left()

    def do_POST(self) -> None:
        server = self.server.owner
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.arrived(Recorded("POST", self.path, self._lower_headers(), body))
        try:
            exchange = Exchange(self, server, body)
            if self.path == "/v1/chat/completions":
                server.next_behaviour()(exchange)
            else:
                exchange.send(404, '{"error": {"message": "no such path"}}')
        except ConnectionError:
            server.hung_up.set()
            self.close_connection = True
        finally:
            server.left()

    def _lower_headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}


class Exchange:
    """One request that waits for its answer, and the ways to give one."""

    def __init__(self, handler: _Handler, server: OpenAIServer, body: dict[str, Any]) -> None:
        self.handler = handler
        self.server = server
        self.body = body

    @property
    def text(self) -> str:
        """What a server that behaves would reply."""
        return self.server.answer(self.body["messages"])

    def send(self, status: int, content: str, headers: dict[str, str] | None = None) -> None:
        """A whole response; JSON unless ``headers`` say otherwise."""
        data = content.encode()
        self.handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.handler.send_header(name, value)
        self.handler.send_header("Content-Length", str(len(data)))
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def start_stream(self, chunked: bool = True) -> None:
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.handler.send_header("Transfer-Encoding", "chunked") if chunked else self.handler.send_header(
            "Connection", "close"
        )
        self.handler.end_headers()
        self.handler.close_connection = not chunked
        self._chunked = chunked

    def raw(self, text: str) -> None:
        data = text.encode()
        self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data)
        self.handler.wfile.flush()

    def chunk(self, choices: list[dict[str, Any]] | None, **more: Any) -> None:
        event = {"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": self.server.model}
        self.raw(f"data: {json.dumps({**event, 'choices': choices, **more})}\n\n")

    def delta(self, delta: dict[str, str], index: int = 0, finish_reason: str | None = None) -> None:
        self.chunk([{"index": index, "delta": delta, "finish_reason": finish_reason}])

    def end_stream(self) -> None:
        self.raw("data: [DONE]\n\n")
        if self._chunked:
            self.handler.wfile.write(b"0\r\n\r\n")

    def wants_usage(self) -> bool:
        return bool((self.body.get("stream_options") or {}).get("include_usage"))

    def usage(self, text: str) -> dict[str, int]:
        """Tokens are words here: in the messages, and in ``text``."""
        tokens_in = sum(len(message["content"].split()) for message in self.body["messages"])
        tokens_out = len(text.split())
        return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}

    def hang(self, seconds: float = PATIENCE) -> bool:
        """Says nothing until the client hangs up (True) or ``seconds`` are over; a closing server ends it too."""
        steps = max(1, round(seconds / 0.01))
        for _ in range(steps):
            if self.server.closing.is_set():
                return True
            readable, _, _ = select.select([self.handler.connection], [], [], 0.01)
            if readable and not self.handler.connection.recv(1, socket.MSG_PEEK):
                self.server.hung_up.set()
                return True
        return False

    def cut(self) -> None:
        """Ends the connection without a word."""
        self.handler.wfile.flush()
        self.handler.close_connection = True
        self.handler.connection.shutdown(socket.SHUT_RDWR)


def answering(
    text: str | None = None,
    *,
    finish_reason: str | None = "stop",
    usage: bool = True,
    thinking: str = "",
    thinking_field: str = "reasoning_content",
    pieces: int = 0,
    others: Sequence[str] = (),
) -> Behaviour:
    """A proper answer, streamed or whole as the request asks for; ``others`` are further choices.

    A stream is cut into lines, or into pieces of ``pieces`` characters (1 cuts every tag in two).
    """

    def behave(exchange: Exchange) -> None:
        reply = exchange.text if text is None else text
        if not exchange.body.get("stream"):
            message = {"role": "assistant", "content": reply, **({thinking_field: thinking} if thinking else {})}
            choices = [{"index": 0, "message": message, "finish_reason": finish_reason}]
            for index, other in enumerate(others, 1):
                choices.append({"index": index, "message": {"content": other}, "finish_reason": "stop"})
            whole: dict[str, Any] = {"id": "c-1", "model": exchange.server.model, "choices": choices}
            exchange.send(200, json.dumps({**whole, **({"usage": exchange.usage(reply)} if usage else {})}))
            return
        exchange.start_stream()
        exchange.delta({"role": "assistant", "content": ""})
        for piece in _cut(thinking, pieces):
            exchange.delta({thinking_field: piece})
        for piece in _cut(reply, pieces):
            exchange.delta({"content": piece})
        for index, other in enumerate(others, 1):
            exchange.delta({"content": other}, index, "stop")
        if finish_reason is not None:
            exchange.delta({}, finish_reason=finish_reason)
        if usage and exchange.wants_usage():
            exchange.chunk([], usage=exchange.usage(reply))
        exchange.end_stream()

    return behave


def whole(text: str) -> Behaviour:
    """Answers in one JSON object although a stream was asked for."""

    def behave(exchange: Exchange) -> None:
        exchange.body["stream"] = False
        answering(text)(exchange)

    return behave


def status(code: int, message: str = "no", *, error_code: str | None = None, **headers: str) -> Behaviour:
    """An error response; ``Retry_After="2"`` becomes the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    error = {"message": message, "type": "error", "code": error_code}
    return lambda exchange: exchange.send(code, json.dumps({"error": error}), named)


def refuse(parameter: str, message: str) -> Behaviour:
    """400 when the request holds ``parameter``, else a proper answer."""

    def behave(exchange: Exchange) -> None:
        (status(400, message) if parameter in exchange.body else answering())(exchange)

    return behave


def page(
    content: str = "<html><body>Sign in</body></html>", content_type: str = "text/html", code: int = 200
) -> Behaviour:
    """Something that is no API at all."""
    return lambda exchange: exchange.send(code, content, {"Content-Type": content_type})


def hang_before_headers(exchange: Exchange) -> None:
    exchange.hang()
    exchange.handler.close_connection = True


def hang_mid_stream(text: str, finish_reason: str | None = None) -> Behaviour:
    def behave(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.delta({"content": text}, finish_reason=finish_reason)
        exchange.hang()
        exchange.handler.close_connection = True

    return behave


def drop_mid_stream(text: str, *, chunked: bool = True, finish_reason: str | None = None) -> Behaviour:
    """The connection ends after ``text``. With ``chunked`` HTTP itself shows the loss; without, the stream just ends."""

    def behave(exchange: Exchange) -> None:
        exchange.start_stream(chunked)
        exchange.delta({"content": text}, finish_reason=finish_reason)
        exchange.cut()

    return behave


def drop_before_headers(exchange: Exchange) -> None:
    exchange.cut()


def empty_choices(exchange: Exchange) -> None:
    exchange.start_stream()
    exchange.chunk([])
    exchange.chunk(None)
    exchange.end_stream()


def stream_of(*lines: str) -> Behaviour:
    """A stream of ``data:`` lines that need not be JSON."""

    def behave(exchange: Exchange) -> None:
        exchange.start_stream()
        for line in lines:
            exchange.raw(f"data: {line}\n\n")
        exchange.end_stream()

    return behave


def drip(exchange: Exchange) -> None:
    """A word every few milliseconds, without an end: never silent, never done."""
    exchange.start_stream()
    while not exchange.hang(0.01):
        exchange.delta({"content": "word "})
    exchange.handler.close_connection = True


def held(gate: threading.Event) -> Behaviour:
    """A proper answer once ``gate`` is set."""

    def behave(exchange: Exchange) -> None:
        gate.wait(PATIENCE)
        answering()(exchange)

    return behave


def _cut(text: str, size: int) -> list[str]:
    if size:
        return [text[i : i + size] for i in range(0, len(text), size)]
    return [line for line in text.splitlines(keepends=True) if line]
