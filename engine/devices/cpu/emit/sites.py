"""Places in the source: which line of the user's own code an instruction belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.devices.cpu.ptx import nodes

TOOLKIT_FILE = re.compile(r"(^|/)(cuda[^/]*|cu\d+|nvidia|targets)/(.*/)?include/|/crt/[^/]*\.hp*$")
"""Headers that come with the toolkit. A fault in an inlined function of theirs is shown where the user's code called it."""


@dataclass(slots=True)
class Sites:
    """The table of places of a unit's instructions; rows are (file, function, line, offset)."""

    rows: dict[tuple[str, str, int, int], int] = field(default_factory=dict)

    def number(self, file: str, function: str, line: int, offset: int) -> int:
        return self.rows.setdefault((file, function, line, offset), len(self.rows))

    def table(self) -> str:
        """C text. Offsets are bytes: 16 an instruction."""
        lines = [
            f"    {{{quote(file)}, {quote(function)}, {line}, {offset * 16}}},"
            for file, function, line, offset in self.rows
        ]
        return "\n".join(["const beaver_site sites[] = {", *lines, "};"])


def quote(text: str) -> str:
    """A C string literal of the text's UTF-8 bytes."""
    safe = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "replace")
    )
    return f'"{"".join(safe)}"'


def place(loc: nodes.Loc | None, files: dict[int, str]) -> tuple[str, int] | None:
    """(file, line) of the innermost line outside the toolkit's headers, or of the innermost line where all are inside; None
    where the compiler says nothing (no .loc, or line 0)."""
    innermost = None
    while loc is not None:
        file = files.get(loc.file, "")
        if loc.line:
            if not TOOLKIT_FILE.search(file):
                return file, loc.line
            innermost = innermost or (file, loc.line)
        loc = loc.inlined_at
    return innermost
