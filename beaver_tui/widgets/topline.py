"""The first line of a screen: what is shown on the left, where it stands on the right."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

from beaver_tui.glyphs import sign
from beaver_tui.widgets.painting import harmless


class TopLine(Static):
    """One line. ``show`` takes outside text; ``live`` adds the mark of a run that is going on."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self._left: tuple[str, ...] = ()
        self._right, self._state = "", ""

    def show(self, left: tuple[str, ...], right: str = "", state: str = "") -> None:
        """``left``: parts from the most to the least important; what does not fit is left out from its end. ``state``: LIVE,
        REPLAY, PAUSED."""
        self._left, self._right, self._state = left, right, state
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        colours = self.app.theme_variables
        right = Text(harmless(self._right).plain)
        if self._state:
            live = self._state.startswith("LIVE")
            mark = f"  {sign('live')} {self._state}" if live else f"  {self._state}"
            right.append(mark, style=f"bold {colours['success' if live else 'accent']}")
        right.append(" ")
        room = self.size.width - right.cell_len - 1
        text = Text(no_wrap=True, overflow="ellipsis").append(" beaver", style=f"bold {colours['primary']}")
        for index, part in enumerate(self._left):
            shown = harmless(part)
            joint = "  " if index == 0 else f" {sign('dot')} "
            if index and text.cell_len + len(joint) + shown.cell_len > room:
                continue
            text.append(joint, style=colours.get("quiet", "")).append(shown.plain, style="bold" if index == 0 else "")
        text.truncate(max(room, 8), overflow="ellipsis")
        text.append(" " * max(1, self.size.width - text.cell_len - right.cell_len)).append_text(right)
        self.update(text, layout=False)
