"""Bounded capture of a process's output: the head, the tail and an exact byte count, whatever the process prints."""

from __future__ import annotations

from collections import deque

from engine.events import Excerpt
from engine.text import plain_text

HEAD_BYTES = 4 << 20
TAIL_BYTES = 4 << 20
"""8 MiB a stream hold every honest build log in full; a flood costs no more than that."""

EXCERPT_BYTES = 16 << 10
"""What an event carries of each end: enough for feedback and for reading, small enough to fold ten thousand of them."""


class Capture:
    """Keeps the first ``head`` and the last ``tail`` bytes of a stream."""

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._head_limit, self._tail_limit = head, tail
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def feed(self, chunk: bytes) -> None:
        self.total += len(chunk)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if not chunk:
            return
        self._tail.append(chunk)
        self._tail_size += len(chunk)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            self._tail_size -= len(self._tail.popleft())

    @property
    def omitted(self) -> int:
        """Bytes that were printed and not kept."""
        return self.total - len(self._head) - min(self._tail_size, self._tail_limit)

    def _parts(self) -> tuple[bytes, bytes]:
        return bytes(self._head), b"".join(self._tail)[-self._tail_limit :]

    def text(self) -> str:
        """All that was kept as plain text, with a line that says what was left out."""
        head, tail = self._parts()
        gap = f"\n... {self.omitted} bytes left out ...\n".encode() if self.omitted else b""
        return plain_text((head + gap + tail).decode("utf-8", "replace"))

    def excerpt(self, size: int = EXCERPT_BYTES) -> Excerpt:
        """Both ends for an event, ``size`` bytes each at most."""
        head, tail = self._parts()
        kept = head + tail
        if len(kept) <= 2 * size and not self.omitted:
            return Excerpt(head=plain_text(kept.decode("utf-8", "replace")), bytes=self.total)
        last = tail[-size:] if len(tail) >= size else kept[-size:]
        return Excerpt(
            head=plain_text(head[:size].decode("utf-8", "replace")),
            tail=plain_text(last.decode("utf-8", "replace")),
            bytes=self.total,
        )
