"""Takes a model's thinking out of its answer when both come in one text (``<think>...</think>``), while it streams."""

from __future__ import annotations

TAGS = ("<think>", "<thinking>")
"""Recognised at the very start of a reply and right after another such block: never inside an answer, whose bytes are
a program's."""


class ThinkSplitter:
    """Feed it pieces of a reply; it gives back (piece, is it thinking) pairs.

    A tag may be cut anywhere between two pieces. A block that never closes (a reply cut by its token limit) is thinking
    to its end. Some chat templates put the opening tag into the prompt, so that the reply holds only the closing one;
    that is noticed at the end only, when the text has been shown already: see ``final``.
    """

    def __init__(self) -> None:
        self._held = ""
        """What cannot be judged yet: a possible beginning of a tag."""
        self._closing = ""
        """The tag that ends the block we are in, or empty outside of one."""
        self._answering = False
        self._text: list[str] = []
        self._thinking: list[str] = []

    def feed(self, piece: str) -> list[tuple[str, bool]]:
        found: list[tuple[str, bool]] = []
        self._held += piece
        while self._step(found):
            pass
        return found

    def end(self) -> list[tuple[str, bool]]:
        """No more is coming: what was held back is what it looks like."""
        rest, self._held = self._held, ""
        found: list[tuple[str, bool]] = []
        self._take(rest, bool(self._closing), found)
        return found

    def final(self) -> tuple[str, str]:
        """(answer, thinking) of the whole reply, to be called after ``end``."""
        text, thinking = "".join(self._text), "".join(self._thinking)
        if not thinking:
            for tag in TAGS:
                before, closing, after = text.partition(_closing(tag))
                if closing:
                    return after.lstrip("\n"), before.strip("\n")
        return text.lstrip("\n") if thinking else text, thinking.strip("\n")

    def _step(self, found: list[tuple[str, bool]]) -> bool:
        """Consumes a part of ``_held``; False when more input is needed."""
        if not self._held:
            return False
        if self._answering:
            self._take(self._held, False, found)
            self._held = ""
            return False
        if self._closing:
            return self._think(found)
        return self._decide(found)

    def _think(self, found: list[tuple[str, bool]]) -> bool:
        before, closing, after = self._held.partition(self._closing)
        if closing:
            self._take(before, True, found)
            self._held, self._closing = after, ""
            return True
        keep = _overlap(self._held, self._closing)
        cut = len(self._held) - keep
        self._take(self._held[:cut], True, found)
        self._held = self._held[cut:]
        return False

    def _decide(self, found: list[tuple[str, bool]]) -> bool:
        """Before the answer has begun: is this a tag, may it become one, or is it the answer?"""
        start = self._held.lstrip()
        for tag in TAGS:
            if start.startswith(tag):
                self._held, self._closing = start[len(tag) :], _closing(tag)
                return True
        if not start or any(tag.startswith(start) for tag in TAGS):
            return False
        self._answering = True
        return True

    def _take(self, piece: str, thinking: bool, found: list[tuple[str, bool]]) -> None:
        if piece:
            (self._thinking if thinking else self._text).append(piece)
            found.append((piece, thinking))


def _closing(tag: str) -> str:
    return "</" + tag[1:]


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of ``tag``."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0
