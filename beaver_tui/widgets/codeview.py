"""The code pane: a source with its line numbers and colours, and short sentences beside the lines they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style

from beaver_tui.glyphs import sign
from beaver_tui.state.sourcetext import SourceText, Token
from beaver_tui.state.visible import visible_line
from beaver_tui.widgets.strips import Styled, cells, fitted, pane_sign, windowed
from beaver_tui.widgets.textview import TextView

KINDS = ("keyword", "type", "function", "string", "number", "comment", "preprocessor", "cuda", "operator", "name")

MOST_OF_A_MARK = 0.5
"""The share of a row that a sentence beside a line may take."""


class SourceView(TextView):
    """A pane with source in it: the colours that all of them share."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"code--{kind}" for kind in KINDS}

    DEFAULT_CSS = """
    SourceView {
        & > .code--keyword { color: $text-primary; text-style: bold; }
        & > .code--type { color: $text-secondary; }
        & > .code--function { color: $text-accent; }
        & > .code--string { color: $text-success; }
        & > .code--number { color: $text-warning; }
        & > .code--comment { color: $foreground 55%; text-style: italic; }
        & > .code--preprocessor { color: $text-secondary; text-style: italic; }
        & > .code--cuda { color: $text-accent; text-style: bold; }
    }
    """

    def token_layer(self, tokens: Sequence[Token]) -> list[Styled]:
        """The colours of a line's words."""
        return [(token.start, token.end, self.style_of(f"code--{token.kind}")) for token in tokens]


class CodeView(SourceView):
    """Shows a SourceText. ``marks`` are sentences by line number, drawn at the right end of their lines."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"code--mark"}

    DEFAULT_CSS = """
    CodeView > .code--mark { color: $text-warning; text-style: italic; }
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._source = SourceText((), ())
        self._marks: Mapping[int, str] = {}
        self._longest = 0
        self._goal = 0

    def show(self, source: SourceText, marks: Mapping[int, str] | None = None) -> None:
        """Show another source. The cursor stays on its line, or goes to the one that was asked for before the source was there."""
        self._source = source
        self._marks = {line: visible_line(mark) for line, mark in (marks or {}).items()}
        self._longest = max(map(cells, source.lines), default=0)
        goal, self._goal = self._goal, 0
        self.cursor = min(self.cursor, max(len(source.lines) - 1, 0))
        self.redraw()
        self.show_cursor()
        if goal:
            self.go_to(goal)

    def go_to(self, line: int) -> None:
        """Put the cursor on a line, counted from 1, and what is around it in view. A line that is not there yet is gone to by the
        next ``show``."""
        if line > self.row_count:
            self._goal = line
        self.cursor = line - 1
        self.centre_cursor()

    @property
    def row_count(self) -> int:
        return len(self._source.lines)

    def row_text(self, row: int) -> str:
        return self._source.lines[row]

    @property
    def longest(self) -> int:
        """A sentence beside a line takes its room: that line is so much longer to go through."""
        marked = (
            cells(self._source.lines[line - 1]) + cells(self._beside(line))
            for line in self._marks
            if 0 < line <= self.row_count
        )
        return max([self._longest, *marked])

    def _beside(self, line: int) -> str:
        """What is drawn at the right end of a line."""
        mark = self._marks.get(line, "")
        room = int(self.text_cells(self.row_width) * MOST_OF_A_MARK)
        return f" {pane_sign('said')} {fitted(mark, room)}" if mark and room > 0 else ""

    @property
    def _digits(self) -> int:
        return max(len(str(self.row_count)), 3)

    def text_cells(self, width: int) -> int:
        return width - self._digits - 2

    def draw_row(self, row: int, width: int, offset: int, base: Style) -> list[Segment]:
        text, tail = self._source.lines[row], self._beside(row + 1)
        quiet = base + self.style_of("text--quiet")
        layers = [self.token_layer(self._source.tokens[row]), self.hit_layer(text)]
        head = [
            Segment(sign("selected") if row == self.cursor else " ", base + self.style_of("text--sign")),
            Segment(f"{row + 1:>{self._digits}} ", quiet),
        ]
        line = windowed(text, base, layers, offset, self.text_cells(width) - cells(tail), quiet)
        return [*head, *line, Segment(tail, base + self.style_of("code--mark"))]
