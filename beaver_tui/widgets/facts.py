"""What is known of one step, in the order in which a reader asks for it; and the alert that takes its place."""

from __future__ import annotations

from rich.text import Text
from textual.geometry import Size
from textual.strip import Strip

from beaver_tui.glyphs import sign
from beaver_tui.keymap import shown_keys
from beaver_tui.state.facts import Alert, Facts
from beaver_tui.widgets.lined import Lined
from beaver_tui.widgets.painting import Colours, category_text, harmless, money, speed
from engine.figures import percent, within


class FactsPane(Lined, can_focus=False):
    """``show`` replaces everything; an alert is drawn above the facts until it is read. Long lines are wrapped."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._facts: Facts | None = None
        self._alert: Alert | None = None
        self._strips: list[Strip] = []

    def show(self, facts: Facts, alert: Alert | None) -> None:
        if (facts, alert) == (self._facts, self._alert):
            return
        self._facts, self._alert = facts, alert
        self.set_class(alert is not None, "-alert")
        self._draw()

    @property
    def text(self) -> Text:
        """All that is shown, before it is wrapped."""
        text = Text()
        if self._facts is None:
            return text
        colours = self.app.theme_variables
        if self._alert is not None:
            text.append_text(alert_text(colours, self._alert)).append("\n")
        return text.append_text(facts_text(colours, self._facts))

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        console = self.app.console
        options = console.options.update(width=width, height=None, highlight=False)
        lines = console.render_lines(self.text, options, style=self.rich_style, pad=True)
        self._strips = [Strip(line, width) for line in lines]
        self.fit(Size(width, len(self._strips)))
        self.refresh()

    def on_resize(self) -> None:
        self._draw()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._draw()

    def render_line(self, y: int) -> Strip:
        row = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if row >= len(self._strips):
            return Strip.blank(width, self.rich_style)
        return self._strips[row].adjust_cell_length(width, self.rich_style)


def facts_text(colours: Colours, facts: Facts) -> Text:
    """All sections that have anything to say."""
    quiet = colours.get("quiet", "")
    text = Text()

    def title(words: str) -> None:
        text.append(f"{words}\n", style=f"bold {quiet}")

    if facts.from_category and facts.from_category != facts.category:
        text.append_text(category_text(colours, facts.from_category)).append(f"\n  {sign('down')}\n", style=quiet)
    if facts.category:
        text.append_text(category_text(colours, facts.category)).append("\n")
    if facts.signature:
        text.append_text(Text(harmless(facts.signature).plain, style="italic")).append("\n")
    text.append("\n")
    if facts.evidence:
        title("evidence")
        text.append(harmless(facts.evidence).plain + "\n\n")
    _measured(text, colours, facts, title)
    if facts.hazards or facts.rivals:
        title("also seen")
        for word in (*facts.hazards, *facts.rivals):
            text.append(harmless(word).plain + "\n")
        text.append("\n")
    if facts.armed or facts.signals:
        title("signals")
        for name in facts.signals:
            text.append(f"{sign('signal')} {name}\n", style=colours["warning"])
        for name, have, need in facts.armed:
            if name not in facts.signals:
                text.append(f"{name} {have} of {need}\n", style=colours["warning"] if have + 1 >= need else "")
        text.append("\n")
    if facts.findings:
        title("structure")
        for finding in facts.findings:
            text.append(f"{sign('lost')} {harmless(finding).plain}\n", style=colours["warning"])
        text.append("\n")
    _totals(text, colours, facts, title)
    return text


def _measured(text: Text, colours: Colours, facts: Facts, title) -> None:  # type: ignore[no-untyped-def]
    if facts.speedup is None:
        return
    title("speed")
    quiet = colours.get("quiet", "")
    failed = facts.gate == "fail"
    text.append(speed(facts.speedup), style=colours["error"] if failed else colours["success"])
    text.append(f" gate {facts.gate}\n")
    if facts.cv is not None:
        text.append(f"CV {percent(facts.cv)}, {len(facts.samples)} launches\n", style=quiet)
    if facts.interval:
        text.append(f"95 % {within(facts.interval)}\n", style=quiet)
    if facts.beside:
        text.append(f"{facts.beside}\n")
    for flag in facts.flags:
        text.append(f"{sign('fault')} {harmless(flag).plain}\n", style=colours["warning"])
    text.append("\n")


def _totals(text: Text, colours: Colours, facts: Facts, title) -> None:  # type: ignore[no-untyped-def]
    title("trajectory")
    text.append(f"budget {facts.budget_left} left\n")
    if facts.best is not None:
        step, category, speedup = facts.best
        text.append(f"{sign('best')} {step} ").append_text(category_text(colours, category))
        text.append(f" {speed(speedup)}\n" if speedup is not None else "\n")
    if facts.passes_up_to is not None:
        text.append(f"passes up to p {facts.passes_up_to:g}\n")
    if facts.tokens:
        text.append(f"{facts.tokens} tokens {money(facts.cost)}\n")
    if facts.stop_reason:
        text.append(f"ended: {facts.stop_reason}\n")
    if facts.interactive:
        text.append("interactive: not scored\n", style=colours["warning"])


def alert_text(colours: Colours, alert: Alert) -> Text:
    """What happened, where, and the keys of what can be done next."""
    text = Text().append(f"{sign('signal')} {harmless(alert.sentence).plain}\n", style=f"bold {colours['warning']}")
    for key, label in (*alert.choices, ("workbench.dismiss", "put away")):
        text.append(f" {shown_keys(key)}", style=f"bold {colours['accent']}").append(f" {label}\n")
    return text
