"""The last step before the terminal, whatever a widget drew: no control character leaves, and no byte above 127 where ASCII is
all there is.

Outside text is made harmless where it comes in; a name or a path that somebody forgot must not reach the terminal all the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

STAND_INS = {
    "…": ".",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "·": "-",
    "•": "*",
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "x",
    "≤": "<",
    "≥": ">",
    "→": ">",
    "←": "<",
    **dict.fromkeys("─━═┄┅┈┉╌╍▁▔▂▃▄▀", "-"),
    **dict.fromkeys("│┃║┆┇┊┋╎╏▏▎▍▌▋▊▉▐▕", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬", "+"),
    **dict.fromkeys("█▓▒░▇▆▅", "#"),
}
"""What is drawn, by widgets or in words of our own. Everything else, such as a letter of somebody's name, is a question mark."""


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, marks that turn the direction of writing, and halves of characters, which no encoding takes."""


class HarmlessLines(LineFilter):
    """Leaves out what a terminal would obey; every line stays as wide as it was."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(_CONTROL.sub(_stand_in, segment.text), segment.style, segment.control)
            if _CONTROL.search(segment.text)
            else segment
            for segment in segments
        ]


class AsciiLines(LineFilter):
    """Replaces signs beyond ASCII one by one; every line stays as wide as it was."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.text.isascii() else Segment(ascii_text(segment.text), segment.style, segment.control)
            for segment in segments
        ]


@lru_cache(4096)
def ascii_text(text: str) -> str:
    """``text`` in ASCII, in as many cells."""
    return "".join(sign if sign.isascii() else STAND_INS.get(sign, "?" * cell_len(sign)) for sign in text)


def _stand_in(found: re.Match[str]) -> str:
    return "?" * cell_len(found[0])
