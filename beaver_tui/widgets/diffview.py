"""The diff pane: two versions of a file side by side or one below the other, folded, with the words that changed."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from beaver_tui.glyphs import sign
from beaver_tui.keymap import bindings
from beaver_tui.state.difftext import Diff, DiffRow, folded, hunks_of, unified
from beaver_tui.state.matching import Span
from beaver_tui.state.sourcetext import SourceText
from beaver_tui.state.versions import Sources, Versions, coloured, compared
from beaver_tui.state.visible import visible_line
from beaver_tui.widgets.codeview import SourceView
from beaver_tui.widgets.strips import Styled, cells, hits, pane_sign, windowed
from beaver_tui.widgets.textview import next_of

AT_ONCE = 20_000
"""Bytes of both versions that are compared before the next frame; more is done in a thread."""

SPLIT_FROM = 100
"""Cells of a pane from which on it shows the versions side by side, until a person says how."""

CONTEXTS: tuple[int | None, ...] = (0, 1, 3, 8, 20, None)
"""Unchanged rows around a change, the steps of ``{`` and ``}``."""

_NOTHING = Diff((), 0, 0, ())


class DiffView(SourceView):
    """Shows what changed between two versions of a file."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("diff")]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "diff--add",
        "diff--remove",
        "diff--added-words",
        "diff--removed-words",
        "diff--fold",
    }

    DEFAULT_CSS = """
    DiffView {
        & > .diff--add { background: $success 15%; }
        & > .diff--remove { background: $error 15%; }
        & > .diff--added-words { background: $success 40%; text-style: bold; }
        & > .diff--removed-words { background: $error 40%; text-style: bold; }
        &:nocolor > .diff--added-words { text-style: reverse; }
        &:nocolor > .diff--removed-words { text-style: reverse; }
        & > .diff--fold { color: $foreground 60%; background: $panel; }
    }
    """

    class Compared(Message):
        """A thread has compared ``of``: first without colours, then with them."""

        def __init__(self, of: tuple[Versions, bool], whole: Diff, sources: Sources, last: bool) -> None:
            super().__init__()
            self.of, self.whole, self.sources, self.last = of, whole, sources, last

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._versions = self._shown = Versions()
        self._sources = SourceText((), ()), SourceText((), ())
        self._whole = self._diff = _NOTHING
        self._rows: tuple[DiffRow, ...] = ()
        self._hunks: tuple[int, ...] = ()
        self._kept = CONTEXTS.index(3)
        self._wanted_split: bool | None = None
        self._drawn_split = False
        self._ignore_space = False
        self._longest = 0
        self._working = False
        self.busy = False
        """Whether a comparison is going on."""

    def show(
        self, before: bytes, after: bytes, file: str = "solution.cu", before_title: str = "", after_title: str = ""
    ) -> None:
        """Compare two versions of ``file``. Large ones are compared in a thread; what is shown until then stays."""
        versions = Versions(before, after, file, visible_line(before_title), visible_line(after_title))
        if versions == self._versions and not self.busy:
            return
        self._versions = versions
        self._compare()

    @property
    def diff(self) -> Diff:
        """What is shown: its rows and counts."""
        return self._diff

    @property
    def split(self) -> bool:
        """Whether the versions are shown side by side."""
        return self.row_width >= SPLIT_FROM if self._wanted_split is None else self._wanted_split

    # Comparing

    @property
    def _wanted(self) -> tuple[Versions, bool]:
        """What to compare, and whether white space is ignored."""
        return self._versions, self._ignore_space

    def _compare(self) -> None:
        """Small versions at once, large ones in a thread: one at a time, and what is wanted when it ends comes next."""
        versions, ignore_space = self._wanted
        self.busy = len(versions.before) + len(versions.after) > AT_ONCE
        if not self.busy:
            whole, _ = compared(versions, ignore_space)
            self._take(versions, whole, coloured(versions))
        elif not self._working:
            self._working = True
            self.run_worker(partial(self._compare_in_thread, self._wanted), group="compare", thread=True)
            self.redraw()

    def _compare_in_thread(self, of: tuple[Versions, bool]) -> None:
        """Colours take longer than the comparison, and nobody misses those of a comparison that is not wanted any more."""
        whole, plain = compared(*of)
        stale = of != self._wanted
        self.post_message(self.Compared(of, whole, plain, last=stale))
        if not stale:
            self.post_message(self.Compared(of, whole, coloured(of[0]), last=True))

    def on_diff_view_compared(self, message: Compared) -> None:
        message.stop()
        self._working = not message.last
        if message.of == self._wanted:
            self.busy = False
            self._take(self._versions, message.whole, message.sources)
        elif message.last and self.busy:
            self._compare()

    def _take(self, versions: Versions, whole: Diff, sources: Sources) -> None:
        """Show a comparison. Of other versions than before the first change is shown, of the same ones the same line."""
        self._whole, self._sources = whole, sources
        self._longest = max((cells(line) for source in sources for line in source.lines), default=0)
        self._arrange()
        if versions is not self._shown:
            self._shown = versions
            self.cursor = self._hunks[0] if self._hunks else 0
            self.centre_cursor()

    def _arrange(self) -> None:
        """Fold, and put the rows side by side or one below the other; the cursor stays at its line."""
        here = self._rows[self.cursor] if self._rows else None
        self._diff = folded(self._whole, CONTEXTS[self._kept])
        self._drawn_split = self.split
        self._rows = self._diff.rows if self._drawn_split else unified(self._diff)
        self._hunks = hunks_of(self._rows)
        if here is not None:
            self.cursor = next((index for index, row in enumerate(self._rows) if _reaches(row, here)), self.cursor)
        self.cursor = min(self.cursor, max(len(self._rows) - 1, 0))
        self.redraw()
        self.show_cursor()

    def redraw(self) -> None:
        if self._drawn_split != self.split:
            self._arrange()
        else:
            super().redraw()

    # Rows

    @property
    def row_count(self) -> int:
        return max(len(self._rows), 1)

    def row_text(self, row: int) -> str:
        if not self._rows:
            return self._diff.note
        shown = self._rows[row]
        return shown.left if shown.new is None or shown.kind == "fold" else shown.right

    def matching(self, pattern: str) -> list[int]:
        return [index for index, row in enumerate(self._rows) if hits(row.left, pattern) or hits(row.right, pattern)]

    @property
    def longest(self) -> int:
        return self._longest

    @property
    def _digits(self) -> int:
        return max(len(str(max(len(source.lines) for source in self._sources))), 3)

    def text_cells(self, width: int) -> int:
        if self._drawn_split:
            return (width - 2) // 2 - self._digits - 3
        return width - 1 - 2 * self._digits - 4

    def draw_row(self, row: int, width: int, offset: int, base: Style) -> list[Segment]:
        quiet = base + self.style_of("text--quiet")
        cursor = Segment(sign("selected") if row == self.cursor else " ", base + self.style_of("text--sign"))
        if not self._rows:
            return [cursor, *windowed(self._diff.note, quiet, [], 0, width - 1, quiet)]
        shown = self._rows[row]
        if shown.kind == "fold":
            style = base + self.style_of("diff--fold")
            words = f"{'':>{self._digits}} {sign('fold')} {shown.left}"
            return [cursor, *windowed(words, style, [], 0, width - 1, style)]
        if not self._drawn_split:
            numbers = f"{_shown_number(shown.old, self._digits)} {_shown_number(shown.new, self._digits)}"
            side = self._side(shown, shown.kind != "remove", numbers, width - 1, offset, base)
            return [cursor, *side]
        left = (width - 2) // 2
        before = self._side(shown, False, _shown_number(shown.old, self._digits), left, offset, base)
        after = self._side(shown, True, _shown_number(shown.new, self._digits), width - 2 - left, offset, base)
        return [cursor, *before, Segment(pane_sign("between"), quiet), *after]

    def _side(self, row: DiffRow, new: bool, numbers: str, width: int, offset: int, base: Style) -> list[Segment]:
        """The old or the new line of a row: its numbers, its sign, its text; blank where that side has no line."""
        number, text = (row.new, row.right) if new else (row.old, row.left)
        if number is None:
            return [Segment(" " * width, base)]
        words: tuple[Span, ...] = ()
        mark = " "
        if row.kind != "equal":
            base += self.style_of("diff--add" if new else "diff--remove")
            words, mark = (row.right_words, "+") if new else (row.left_words, sign("minus"))
        quiet = base + self.style_of("text--quiet")
        over = self.style_of("diff--added-words" if new else "diff--removed-words")
        changed: list[Styled] = [(start, end, over) for start, end in words]
        layers = [self.token_layer(self._sources[new].tokens[number - 1]), changed, self.hit_layer(text)]
        head = f"{numbers} {mark} "
        return [Segment(head, quiet), *windowed(text, base, layers, offset, width - len(head), quiet)]

    # What a person can do

    @property
    def badge(self) -> str:
        """What the rows cannot show: "line ends differ  white space ignored"."""
        space = "white space ignored" if self._ignore_space else ""
        busy = "comparing" if self.busy else ""
        return "  ".join(filter(None, [self._diff.note, space, busy, super().badge]))

    @property
    def status(self) -> str:
        """ "step 2 → step 3  +6 −4  line ends differ"."""
        names = self._versions
        titles = (
            f"{names.before_title} {sign('arrow')} {names.after_title}" if names.before_title else names.after_title
        )
        counts = f"+{self._diff.added} {sign('minus')}{self._diff.removed}"
        return "  ".join(filter(None, [titles, counts, self.badge]))

    def jump(self, step: int) -> None:
        """To the next hunk or the one before, round the ends."""
        if self._hunks:
            self.cursor = next_of(self._hunks, self.cursor, step)
            self.centre_cursor()

    def copied(self) -> str:
        """The hunk under the cursor, as a diff shows it; elsewhere the line."""
        first = max((row for row in self._hunks if row <= self.cursor), default=None)
        if first is None or not self._rows:
            return super().copied()
        last = first
        while last < len(self._rows) and self._rows[last].kind not in ("equal", "fold"):
            last += 1
        if self.cursor >= last:
            return super().copied()
        hunk = unified(Diff(self._rows[first:last], 0, 0, ()))
        return "\n".join(f"+{row.right}" if row.kind == "add" else f"-{row.left}" for row in hunk)

    def action_split(self) -> None:
        self._wanted_split = not self.split
        self._arrange()

    def action_context(self, step: int) -> None:
        self._kept = max(0, min(self._kept + step, len(CONTEXTS) - 1))
        self._arrange()

    def action_whitespace(self) -> None:
        self._ignore_space = not self._ignore_space
        self._compare()


def _shown_number(number: int | None, digits: int) -> str:
    return f"{'' if number is None else number:>{digits}}"


def _reaches(row: DiffRow, wanted: DiffRow) -> bool:
    """Whether a row is at or behind the line of another one."""
    return any(
        ours is not None and theirs is not None and ours >= theirs
        for ours, theirs in ((row.new, wanted.new), (row.old, wanted.old))
    )
