"""The structures of sources, read once each: steps are looked at again and again, and a long source takes longer than a frame."""

from __future__ import annotations

import threading
from collections import OrderedDict

from engine.verdict.degeneration import Finding, lens
from engine.verdict.structure import Structure, structure

SMALL = 6_000
"""Bytes up to which a source is read at once: about 150 lines, some milliseconds."""
MOST_BYTES = 400_000
"""A longer source is not read at all."""
_KEPT = 64


class Structures:
    """``known`` answers at once, ``read`` takes as long as it takes and may be called on any thread."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[bytes, str], Structure] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, code: bytes, suffix: str) -> Structure | None:
        """The structure of a source that was read before, or that is small enough to be read now."""
        with self._lock:
            found = self._held.get((code, suffix))
            if found is not None:
                self._held.move_to_end((code, suffix))
        return self.read(code, suffix) if found is None and len(code) <= SMALL else found

    def read(self, code: bytes, suffix: str) -> Structure:
        """The structure of a source, kept for the next question. Pure work of a processor: 0.1 ms a line."""
        with self._lock:
            found = self._held.get((code, suffix))
        if found is None:
            found = structure(code, suffix)
            with self._lock:
                self._held[code, suffix] = found
                while len(self._held) > _KEPT:
                    self._held.popitem(last=False)
        return found

    def findings(self, start: bytes | None, this: bytes | None, suffix: str) -> tuple[Finding, ...] | None:
        """What a candidate gave up against the broken start; None while a source of them is not read."""
        if start is None or this is None or max(len(start), len(this)) > MOST_BYTES:
            return ()
        before, after = self.known(start, suffix), self.known(this, suffix)
        return None if before is None or after is None else lens(before, after)


STRUCTURES = Structures()
"""Those of this process: a source is the same in every pane."""
