"""Text and colours for the small panes: data goes in as data, colours come from the theme by name."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import OverflowMethod
from rich.text import Text

from beaver_tui.glyphs import ascii_wanted, category_sign, sign
from beaver_tui.state.visible import visible_line
from engine.figures import times

Colours = Mapping[str, str]
"""The theme's variables by name, without the dollar: ``app.theme_variables``."""


def category_colour(colours: Colours, category: str) -> str:
    """The colour of a category, the same in every pane; that of quiet text for what has none."""
    return colours.get(f"category-{category}", colours.get("quiet", ""))


def category_text(colours: Colours, category: str, words: str | None = None) -> Text:
    """Sign and word of a category in its colour."""
    shown = f"{category_sign(category)} {category if words is None else words}".rstrip()
    return Text(shown, style=category_colour(colours, category))


def harmless(text: str, style: str = "") -> Text:
    """Outside text on one line, never read as markup."""
    overflow: OverflowMethod = "crop" if ascii_wanted() else "ellipsis"
    return Text(visible_line(text), style=style, no_wrap=True, overflow=overflow)


def lines_changed(added: int, removed: int) -> str:
    """ "+12 −3"."""
    return f"+{added} {sign('minus')}{removed}"


def speed(speedup: float | None) -> str:
    """ "1.31x"; empty when nothing was measured."""
    return times(speedup)


def money(cost: float | None) -> str:
    """ "$0.021"; empty when no price is known."""
    return f"${cost:.3f}" if cost is not None else ""


def duration(seconds: float) -> str:
    """ "1.4 s", "2:05", "1:02:05"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
