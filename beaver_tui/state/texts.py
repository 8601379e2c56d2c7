"""The stored texts of a trajectory, harmless: prompts, replies and logs, and solutions as their exact bytes."""

from __future__ import annotations

import msgspec

from engine import events as ev
from engine.errors import BeaverError
from engine.store import Store
from engine.text import plain_text

GONE = "(not stored in this run)"


class Texts:
    """Reads from a run's store. What is missing or damaged there is said in the text's place, and never raised: a screen must
    show what is left."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._solutions: dict[str, bytes] = {}

    def solution(self, digest: str) -> bytes | None:
        """A candidate's exact bytes, None when the run no longer has them. They are kept: every key draws them again."""
        if digest not in self._solutions:
            content = self._get("solutions", digest)
            if content is None:
                return None
            self._solutions[digest] = content
        return self._solutions[digest]

    def log(self, step: int, part: str) -> str | None:
        """The whole log of a step of the harness, None when it was not kept."""
        try:
            return self._store.read_log(step, part)
        except BeaverError as error:
            return f"(the log cannot be read: {error})"

    def prompt(self, request: ev.RequestBuilt) -> str:
        """A prompt's messages, each under its role."""
        content = self._get("prompts", request.prompt)
        if content is None:
            return f"(the prompt of {request.characters} characters is not stored in this run)"
        try:
            messages = msgspec.json.decode(content, type=list[dict[str, str]])
        except (msgspec.MsgspecError, ValueError):
            return plain_text(content.decode("utf-8", "replace"))
        parts = [f"── {message.get('role', '')} ──\n\n{message.get('content', '')}" for message in messages]
        return plain_text("\n\n".join(parts))

    def reply(self, reply: ev.ReplyReceived) -> str:
        """A reply, with its reasoning first and apart."""
        reasoning = self._text("responses", reply.reasoning) if reply.reasoning else ""
        return answer(reasoning, self._text("responses", reply.response))

    def _text(self, kind: str, digest: str) -> str:
        content = self._get(kind, digest)
        return plain_text(content.decode("utf-8", "replace")) if content is not None else GONE

    def _get(self, kind: str, digest: str) -> bytes | None:
        try:
            return self._store.get(kind, digest)
        except (BeaverError, KeyError):  # KeyError: a store in memory
            return None


def answer(reasoning: str, text: str) -> str:
    """A reply and what was thought before it, as one text."""
    return f"── reasoning ──\n\n{reasoning}\n\n── reply ──\n\n{text}" if reasoning else text
