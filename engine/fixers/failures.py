"""What went wrong between us and a model's service: SDK and HTTP errors as one record with a kind and a next step."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.fixers.retry import retry_after

RETRIED_STATUS = frozenset({408, 409, 425, 429})
"""Besides every 5xx. All other 4xx are our own mistake and would fail again."""

READ_AT_MOST = 10_000
"""Characters of a service's message that are looked at: some send a whole page, or the prompt."""

SHOWN_AT_MOST = 400
"""Characters of a failure that go into our message."""

ADVICE = {
    "auth": "check the key and what it may use",
    "rate_limit": "wait or lower max_concurrency, then resume",
    "timeout": "raise its timeouts, or check that the service is not stuck",
    "connection": "check that the service runs and that base_url is right",
    "server": "the service is failing; resume later",
    "protocol": "check base_url (it usually ends in /v1) and the model's name",
}
"""The next step, by kind."""

RENAMED = {"stream_options": None, "max_tokens": "max_completion_tokens"}
"""Parameters that some services refuse although they can do the same without (None) or under another name. A refusal
is known by the name to use, or by the parameter's own where there is none: "max_tokens is too large" is no refusal."""


@dataclass(frozen=True)
class Failure:
    """One request that gave no reply. ``wait`` is what the service asked for, in seconds. ``refused`` names a parameter
    of RENAMED that it does not take, so that the request can be sent again at once without it."""

    kind: str
    text: str
    retryable: bool = True
    wait: float | None = None
    refused: str | None = None


def from_error(error: BaseException, model: str, now: float) -> Failure | None:
    """The failure that an exception of the SDK, its HTTP library or the event loop stands for; None for anything else.

    The HTTP library is told by class names: the SDK has changed it between its versions, and lets its errors through.
    ``now`` is in seconds since 1970.
    """
    names = {cls.__name__ for cls in type(error).__mro__}
    status = getattr(error, "status_code", None)
    if "APIStatusError" in names and isinstance(status, int):
        headers = getattr(error, "response").headers  # noqa: B009 (its class is the SDK's, which is not imported here)
        return from_status(status, getattr(error, "body", None), headers, model, now)
    if names & {"APITimeoutError", "TimeoutException"}:
        cause = error.__cause__ or error
        reached = "connection" if type(cause).__name__ == "ConnectTimeout" else "answer"
        return Failure("timeout", f"gave no {reached} in time")
    if names & {"APIConnectionError", "TransportError", "RequestError"}:
        cause = error.__cause__ or error
        if "Connect" in type(cause).__name__:
            return Failure("connection", f"could not be reached ({one_line(str(cause)) or type(cause).__name__})")
        return Failure("connection", f"broke the connection ({one_line(str(cause)) or type(cause).__name__})")
    if names & {"APIResponseValidationError", "JSONDecodeError", "UnicodeDecodeError"}:
        return Failure("protocol", "sent something that is not JSON")
    if "APIError" in names:
        return from_body(getattr(error, "body", None) or str(error), model)
    return None


def from_status(status: int, body: object, headers: Mapping[str, str], model: str, now: float) -> Failure:
    """An HTTP status other than 2xx."""
    said = one_line(message_of(body))
    text = f"answered {status}" + (f" ({said})" if said else "")
    if status in (401, 402, 403):
        return Failure("auth", text, retryable=False)
    if status == 404:
        return Failure("protocol", f"knows no model {model!r} at this address: {text}", retryable=False)
    if status in (400, 422):
        refused = next((name for name, other in RENAMED.items() if (other or name) in said), None)
        return Failure("protocol", text, retryable=False, refused=refused)
    if status == 429:
        has_quota = "insufficient_quota" not in code_of(body)
        return Failure("rate_limit", text, retryable=has_quota, wait=retry_after(headers, now))
    if status in RETRIED_STATUS or status >= 500:
        return Failure("timeout" if status == 408 else "server", text, wait=retry_after(headers, now))
    return Failure("protocol", text, retryable=False)


def from_body(body: object, model: str) -> Failure:
    """An error inside a stream or an answer whose HTTP status was 200."""
    code = code_of(body)
    if code.isdigit() and 400 <= int(code) < 600:
        return from_status(int(code), body, {}, model, 0.0)
    if "rate_limit" in code:
        return Failure("rate_limit", f"stopped with an error ({one_line(message_of(body))})")
    return Failure("server", f"stopped with an error ({one_line(message_of(body))})")


def message_of(body: object) -> str:
    """The sentence in a service's error body, whatever its shape."""
    if isinstance(body, Mapping):
        inner = body.get("error", body.get("message", body.get("detail")))
        return message_of(inner) if inner is not None else json.dumps(body, default=str)
    return re.sub(r"<[^>]*>", " ", str(body)) if body is not None else ""


def code_of(body: object) -> str:
    """The service's error code or type, as text; empty when it names none."""
    if not isinstance(body, Mapping):
        return ""
    inner: Any = body.get("error")
    found = inner if isinstance(inner, Mapping) else body
    return str(found.get("code") or found.get("type") or "")


def one_line(text: str) -> str:
    """One printable line: no terminal controls can pass."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:READ_AT_MOST]).split())


def shorten(text: str) -> str:
    return text if len(text) <= SHOWN_AT_MOST else text[:SHOWN_AT_MOST] + "..."
