"""PTX text to tokens, and the cursor that the parser moves over them. See PTX ISA 4, "Syntax"."""

from __future__ import annotations

import re

# The debugger's sections are most of a -G build's text, and nothing is translated from them: they go before the scan.
_BLANK = re.compile(
    r"""
      "(?:[^"\\\n]|\\.)*"
    | //[^\n]*
    | /\*.*?\*/
    | ^[ \t]*\.section\s[^{"/]*\{[^}]*\}
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

# A mnemonic with its modifiers is one token, and so is a register with its component: %tid.x, ld.global.L1::no_allocate.v4.u32.
# What nothing else matches is a token of one character, for the parser to refuse where it stands.
_TOKEN = re.compile(
    r"""
      [%$]?[A-Za-z_$][\w$]*(?:\.\w+(?:::\w+)*)*
    | %\d[\w$]*
    | \.[A-Za-z_]\w*(?:::\w+)*
    | 0[fF][0-9a-fA-F]{8}\b
    | 0[dD][0-9a-fA-F]{16}\b
    | 0[xX][0-9a-fA-F]+U?
    | 0[bB][01]+U?
    | \d+\.\d*(?:[eE][+-]?\d+)?
    | \d+[eE][+-]?\d+
    | \d+U?
    | "(?:[^"\\]|\\.)*"
    | << | >> | <= | >= | == | != | && | \|\| | ::
    | \S
    """,
    re.VERBOSE | re.ASCII,
)

_SHOWN = 120
"""Characters of a line that a message shows."""


class PtxError(ValueError):
    """The text is not PTX, or PTX that this parser does not know. The message names the line and shows it."""


class Cursor:
    """The tokens of a text and a place among them. ``texts`` ends with two empty tokens: looking at the next and
    at the one behind it needs no check.

    The fields are for the parser's inner loops; elsewhere the methods say what is meant.
    """

    __slots__ = ("_source", "at", "lines", "texts")

    def __init__(self, source: str) -> None:
        self._source = source
        self.texts: list[str] = []
        self.lines: list[int] = []
        self.at = 0
        find = _TOKEN.findall
        number = 0
        for number, line in enumerate(_BLANK.sub(_blank, source).split("\n"), 1):
            if found := find(line):
                self.texts += found
                self.lines += [number] * len(found)
        self.texts += ["", ""]
        self.lines += [number, number]

    @property
    def word(self) -> str:
        """The next token; empty at the end of the text."""
        return self.texts[self.at]

    @property
    def shown(self) -> str:
        """The next token as a message names it."""
        return repr(self.word) if self.word else "the end of the text"

    @property
    def line(self) -> int:
        """Where the next token stands, from 1."""
        return self.lines[self.at]

    def take(self) -> str:
        """The next token, and move on. Raises PtxError at the end of the text."""
        text = self.texts[self.at]
        if not text:
            raise self.error("the text ends too early")
        self.at += 1
        return text

    def accept(self, text: str) -> bool:
        """Move over the next token when it is ``text``."""
        if self.texts[self.at] != text:
            return False
        self.at += 1
        return True

    def expect(self, text: str) -> None:
        if self.texts[self.at] != text:
            raise self.error(f"{text!r} expected before {self.shown}")
        self.at += 1

    def name(self) -> str:
        """The next token, which must be an identifier without a dot."""
        text = self.take()
        if not (text[0].isalpha() or text[0] in "_$%") or "." in text or text == "%":
            self.at -= 1
            raise self.error(f"a name expected before {text!r}")
        return text

    def error(self, what: str) -> PtxError:
        """``what`` with the line of the next token."""
        source = self._source.split("\n")
        shown = source[min(self.line, len(source)) - 1].strip()
        return PtxError(f"PTX line {self.line}: {what}: {shown[:_SHOWN]}")


def _blank(match: re.Match[str]) -> str:
    """Strings stay, for they may contain what looks like a comment; the rest leaves its line ends, which count lines."""
    text = match[0]
    return text if text[0] == '"' else " " + "\n" * text.count("\n")
