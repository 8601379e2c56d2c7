"""A line of text as a strip: the part of it that a window shows, in the styles of its layers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, get_character_cell_size, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from beaver_tui.glyphs import ascii_wanted, sign

Styled = tuple[int, int, Style]
"""Characters ``[start, end)`` of a line, and what is laid over their style."""

_SIGNS = {
    "cut": ("›", ">"),
    "between": ("│", "|"),
    "error": ("✗", "E"),
    "warning": ("!", "!"),
    "note": ("·", "."),
    "hazard": ("≠", "H"),
    "said": ("‹", "<"),
    "": (" ", " "),
}


def pane_sign(name: str) -> str:
    """A sign of the text panes, one cell wide."""
    return _SIGNS[name][ascii_wanted()]


def cells(text: str) -> int:
    """The width of a line in cells."""
    return len(text) if text.isascii() else cell_len(text)


def fitted(text: str, width: int) -> str:
    """At most ``width`` cells of a text, with a sign where it was cut."""
    if cells(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + sign("ellipsis") if width > 0 else ""


def windowed(
    text: str, base: Style, layers: Iterable[Sequence[Styled]], offset: int, width: int, cut: Style
) -> list[Segment]:
    """The cells ``[offset, offset + width)`` of a line, exactly ``width`` of them; each layer is laid over those before it. A sign
    in the last cell says that the line goes on. Lines are cut before they are painted: their length costs nothing."""
    if width <= 0:
        return []
    start, end, blanks = _visible(text, offset, width)
    goes_on = end < len(text)
    pieces: list[Styled] = [(start, end, base)]
    for layer in layers:
        pieces = list(_laid_over(pieces, layer))
    segments = [Segment(" " * blanks, base)] if blanks else []
    segments += [Segment(text[a:b], style) for a, b, style in pieces]
    strip = Strip(segments).adjust_cell_length(width - goes_on, base)
    return [*strip, Segment(pane_sign("cut"), cut)] if goes_on else list(strip)


def _visible(text: str, offset: int, width: int) -> tuple[int, int, int]:
    """The characters in a window of cells: first, end, and the blanks that stand for half of a wide one."""
    if text.isascii():
        return min(offset, len(text)), min(offset + width, len(text)), 0
    at = start = 0
    while start < len(text) and at < offset:
        at += get_character_cell_size(text[start])
        start += 1
    blanks, end = max(at - offset, 0), start
    while end < len(text) and at < offset + width:
        at += get_character_cell_size(text[end])
        end += 1
    while end < len(text) and get_character_cell_size(text[end]) == 0:
        end += 1
    if at > offset + width:
        end -= 1
    return start, end, blanks


def _laid_over(pieces: Iterable[Styled], layer: Sequence[Styled]) -> Iterator[Styled]:
    """``layer`` is in order and does not overlap itself."""
    at = 0
    for start, end, style in pieces:
        while start < end:
            while at < len(layer) and layer[at][1] <= start:
                at += 1
            if at == len(layer) or layer[at][0] >= end:
                yield start, end, style
                break
            first, last, over = layer[at]
            if first > start:
                yield start, first, style
            stop = min(last, end)
            yield max(first, start), stop, style + over
            start = stop


def hits(text: str, pattern: str) -> list[tuple[int, int]]:
    """Where ``pattern`` stands in a line; without a capital in it case does not matter."""
    if not pattern:
        return []
    if pattern == pattern.lower() and len(text.lower()) == len(text):
        text = text.lower()
    found: list[tuple[int, int]] = []
    at = text.find(pattern)
    while at >= 0:
        found.append((at, at + len(pattern)))
        at = text.find(pattern, at + len(pattern))
    return found
