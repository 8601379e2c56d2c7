"""Text from outside as a screen may hold it: nothing that moves the cursor, nothing that cannot be seen."""

from __future__ import annotations

import re

from engine.text import plain_text

TAB = 8
"""Columns of a tab, as compilers count them."""

_UNSEEN = re.compile(
    "[\xad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Characters without a shape: joiners, marks that turn the direction of writing, tags, and halves of characters, which
no terminal's encoding takes."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible_source(text: str) -> str:
    """Source text, whole: what has no shape stands there as its escape (``\\x1b``, ``\\u202e``), tabs are blanks.

    A source is judged by all of its characters, so none is left out. ``text`` is one line, or lines that end with ``\\n``.
    """
    return _seen(plain_text(_CONTROL.sub(_escape, text)))


def visible_output(text: str) -> str:
    """What a program printed: terminal control sequences are gone, tabs are blanks, unseen characters are escapes."""
    return _seen(plain_text(text))


def visible_line(text: str) -> str:
    """Outside text, such as a name, as one line."""
    return " ".join(visible_output(text).split())


def _seen(text: str) -> str:
    if not text.isascii():
        text = _UNSEEN.sub(_escape, text)
    return text.expandtabs(TAB) if "\t" in text else text


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
