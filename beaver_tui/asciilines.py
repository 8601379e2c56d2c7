"""The last step before the terminal where it has no more than ASCII: whatever a line holds, no byte above 127 leaves."""

from __future__ import annotations

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
