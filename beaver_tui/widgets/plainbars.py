"""Scrollbars of whole cells, for terminals that have no more than ASCII."""

from __future__ import annotations

from typing import ClassVar

from textual.scrollbar import ScrollBar, ScrollBarRender


class PlainBars(ScrollBarRender):
    """Textual's bar, without the eighths of a block that end it."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


def use_plain_bars(wanted: bool) -> None:
    """Draw all scrollbars plain from now on, or as Textual does again."""
    ScrollBar.renderer = PlainBars if wanted else ScrollBarRender
