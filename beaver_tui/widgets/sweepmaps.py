"""The small pictures beside a matrix: how many of each category, which followed which, pass@k so far."""

from __future__ import annotations

from rich.text import Text

from beaver_tui.glyphs import category_sign, sign
from beaver_tui.state.matrix import SweepView
from beaver_tui.widgets.painting import Colours, category_colour, category_text, harmless
from engine.verdict.categories import Category

BAR = 10
"""Characters of the longest bar."""


def rates_text(colours: Colours, view: SweepView) -> Text:
    """pass@k per fixer with its Wilson interval. Of correctness alone: a gate that acts when scoring is the report's."""
    quiet = colours.get("quiet", "")
    text = Text().append(f"pass@{view.run.record.protocol.k} so far, correctness (95 %)\n", style=f"bold {quiet}")
    for rate in view.rates:
        text.append(f"{harmless(rate.fixer).plain}\n")
        text.append(f"  {rate.passed} of {rate.over}", style="bold")
        if rate.over:
            text.append(f"  {rate.passed / rate.over:.0%} [{rate.low:.0%}, {rate.high:.0%}]", style=quiet)
        text.append("\n")
    text.rstrip()
    return text.append("\n")


def histogram_text(colours: Colours, view: SweepView) -> Text:
    """Iterations by category, of all steps."""
    text = Text().append("\niterations by category\n", style=f"bold {colours.get('quiet', '')}")
    counts = view.histogram
    most = max(counts.values(), default=0)
    for category in Category:
        count = counts.get(category, 0)
        length = -(-count * BAR // most) if most else 0
        text.append(sign("block") * length, style=category_colour(colours, category))
        text.append(" " * (BAR - length) + f"{count:5} ").append_text(category_text(colours, category)).append("\n")
    return text


def transitions_text(colours: Colours, view: SweepView) -> Text:
    """8 x 8: rows are where an iteration stood, columns where the next one did; darker is more."""
    quiet = colours.get("quiet", "")
    text = Text().append("\nfrom (row) to (column)\n", style=f"bold {quiet}")
    text.append("    ")
    for category in Category:
        text.append(f"{category_sign(category):>3}", style=category_colour(colours, category))
    text.append("\n")
    counts = view.transitions
    most = max(counts.values(), default=0)
    for before in Category:
        text.append(f" {category_sign(before)}  ", style=category_colour(colours, before))
        for after in Category:
            count = counts.get((before, after), 0)
            tone = "bold reverse" if most and count * 2 > most else "bold" if count else quiet
            text.append(f"{count or sign('dot'):>3}", style=tone)
        text.append("\n")
    return text
