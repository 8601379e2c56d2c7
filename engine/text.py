"""Text from outside, made harmless: one sanitizer for everything that is shown, logged or prompted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

_CONTROL = re.compile(
    r"(?:\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: title, clipboard, links
    r"|\x1b[PX^_].*?(?:\x1b\\|$)"  # DCS, SOS, PM, APC
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor, erase
    r"|\x1b[ -/]*[0-~]?"  # two-character escapes
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\x80-\x9f]+"  # other C0 and C1 controls
    r")++",  # all that follow each other at once: a flood of them costs no more than a flood of letters
    re.DOTALL,
)

_LONG_CONTROL = re.compile(r"\x1b[\]PX^_]")
"""Begins a sequence that may go on over the ends of lines."""

_PIECE = 64 << 10
"""Characters."""


_GAP = re.compile(r"\.\.\. \d+ (?:bytes|lines|characters) left out \.\.\.")


def is_gap(line: str) -> bool:
    """Whether a line is our own remark that something was left out of a log: it says nothing about a program."""
    return _GAP.fullmatch(line.strip()) is not None


def plain_text(text: str) -> str:
    """Text without terminal control sequences; line ends become ``\\n``, tabs and newlines stay.

    Everything that a candidate, a compiler or a model printed goes through here before anything shows or prompts it.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) <= _PIECE or ("\x1b" in text and _LONG_CONTROL.search(text) is not None):
        return _CONTROL.sub("", text)
    return "".join(_CONTROL.sub("", piece) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Whole lines, some at a time: a screen may want its turn in between when a log of megabytes is cleaned in a thread."""
    start = 0
    while start < len(text):
        end = text.rfind("\n", start, start + _PIECE) + 1 or text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def shown_name(name: str, width: int = 60) -> str:
    """A file name from outside, on one short line: undecodable bytes as escapes, no controls, no line ends."""
    text = plain_text(name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"


MOST_SLUG = 255
"""Bytes of a path part that every file system takes."""


def slug(name: str) -> str:
    """A path part for any name, reversible by ``unslug``: CUDA/10 becomes CUDA%2F10."""
    text = quote(name, safe="")
    return text.replace(".", "%2E", 1) if text.startswith(".") else text


def unslug(part: str) -> str:
    """The name that ``slug`` made ``part`` of."""
    return unquote(part)
