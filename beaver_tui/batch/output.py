"""Standard output that may go away: ``beaver-tui --batch | head -1`` must neither crash nor lose what is running."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO


class Output(io.TextIOBase):
    """Writes through to ``stream``, at once. When nobody reads it any more, or its disk is full, ``on_gone`` is called once
    with the reason, and everything after that is dropped."""

    def __init__(self, stream: TextIO, on_gone: Callable[[str], None] = lambda reason: None) -> None:
        self._stream = stream
        self.on_gone = on_gone
        self.gone = False

    def write(self, text: str) -> int:
        if not self.gone:
            try:
                self._stream.write(_encodable(text, self.encoding))
                self._stream.flush()
            except OSError as error:
                self._leave(error.strerror or str(error))
        return len(text)

    def _leave(self, reason: str) -> None:
        self.gone = True
        with suppress(OSError, ValueError):
            # what the stream still holds must go somewhere when the interpreter flushes it at its end
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        self.on_gone(reason)

    def flush(self) -> None:
        """Every write is flushed already."""

    def isatty(self) -> bool:
        return self._stream.isatty()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding


def _encodable(text: str, encoding: str) -> str:
    """Signs that the terminal's encoding does not have become question marks."""
    return text.encode(encoding, "replace").decode(encoding)
