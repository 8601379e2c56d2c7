"""A streaming chat completion, piece by piece: text, thinking, usage, and whether it came to its end."""

from __future__ import annotations

from typing import Any

from engine.fixers.base import Delta
from engine.fixers.thinking import ThinkSplitter

MAX_CHARACTERS = 8_000_000
"""A longer reply is cut, and counts as cut by its length: no file in a corpus comes near, and memory is finite."""

THINKING_FIELDS = ("reasoning_content", "reasoning")
"""Where services put thinking that they have already taken apart: vLLM and DeepSeek, then Ollama and OpenRouter."""


class Answer:
    """Collects the pieces of one reply. Tolerant of what services leave out; only the first choice counts."""

    def __init__(self, on_delta: Delta) -> None:
        self._on_delta = on_delta
        self._splitter = ThinkSplitter()
        self._thinking: list[str] = []
        self._characters = 0
        self.model = ""
        self.finish_reason: str | None = None
        self.tokens_in: int | None = None
        self.tokens_out: int | None = None
        self.any_choice = False

    @property
    def complete(self) -> bool:
        """False for a stream that ended, or a connection that broke, in the middle."""
        return self.finish_reason is not None

    @property
    def begun(self) -> bool:
        """True once a watcher has been shown something."""
        return self._characters > 0

    def feed(self, chunk: object, part: str = "delta") -> None:
        """One chunk of a stream, or a whole completion with ``part="message"``: an object of the SDK or plain JSON."""
        self.model = get(chunk, "model") or self.model
        self._count(get(chunk, "usage"))
        for choice in get(chunk, "choices") or ():
            self.any_choice = True
            if (get(choice, "index") or 0) != 0:
                continue
            piece = get(choice, part)
            self._think(next((t for name in THINKING_FIELDS if (t := get(piece, name))), None))
            self._say(_text(get(piece, "content")) or _text(get(piece, "refusal")))
            reason = get(choice, "finish_reason")
            self.finish_reason = str(reason) if reason else self.finish_reason
        if self._characters > MAX_CHARACTERS:
            self.finish_reason = "length"

    @property
    def too_long(self) -> bool:
        return self._characters > MAX_CHARACTERS

    def end(self) -> tuple[str, str | None]:
        """(text, thinking or None) of the whole reply."""
        for piece, thinking in self._splitter.end():
            self._on_delta(piece, thinking)
        text, inline = self._splitter.final()
        thought = "".join(self._thinking) + inline
        return text, thought or None

    def _think(self, piece: object) -> None:
        if isinstance(piece, str) and piece:
            self._characters += len(piece)
            self._thinking.append(piece)
            self._on_delta(piece, True)

    def _say(self, piece: str) -> None:
        self._characters += len(piece)
        for text, thinking in self._splitter.feed(piece):
            self._on_delta(text, thinking)

    def _count(self, usage: object) -> None:
        """The last usage wins: some services send a running count with every chunk."""
        tokens_in, tokens_out = get(usage, "prompt_tokens"), get(usage, "completion_tokens")
        if isinstance(tokens_in, int) and isinstance(tokens_out, int):
            self.tokens_in, self.tokens_out = tokens_in, tokens_out


def get(thing: object, name: str) -> Any:
    """A field of an object of the SDK or of plain JSON; None where there is none."""
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def _text(content: object) -> str:
    """``content`` is text, or a list of parts of which some are text."""
    if isinstance(content, list):
        return "".join(_text(get(part, "text")) for part in content)
    return content if isinstance(content, str) else ""
