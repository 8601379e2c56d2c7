"""The diff pane: two versions of a file side by side or one below the other, folded, with the words that changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.strip import Strip

from beaver_tui.glyphs import sign
from beaver_tui.keymap import bindings
from beaver_tui.state.difftext import Diff, DiffRow, diff, folded, hunks_of, unified
from beaver_tui.state.lines import one_line
from beaver_tui.state.matching import Span
from beaver_tui.state.sourcetext import SourceText, plain_source, source_text
from beaver_tui.widgets.codeview import SourceView
from beaver_tui.widgets.strips import Styled, cells, pane_sign, windowed

AT_ONCE = 20_000
"""Bytes of both versions that are compared before the next frame; more is done in a thread."""

SPLIT_FROM = 100
"""Cells of a pane from which on it shows the versions side by side, until a person says how."""

CONTEXTS: tuple[int | None, ...] = (0, 1, 3, 8, 20, None)
"""Unchanged rows around a change, the steps of ``{`` and ``}``."""

_NOTHING = Diff((), 0, 0, ())


@dataclass(frozen=True)
class Versions:
    """What is compared: two versions of a file and what they are called."""

    before: bytes = b""
    after: bytes = b""
    file: str = "solution.cu"
    before_title: str = ""
    after_title: str = ""


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
        & > .diff--fold { color: $foreground 60%; background: $panel; }
    }
    """

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._versions = Versions()
        self._sources = SourceText((), ()), SourceText((), ())
        self._whole = self._diff = _NOTHING
        self._rows: tuple[DiffRow, ...] = ()
        self._hunks: tuple[int, ...] = ()
        self._kept = CONTEXTS.index(3)
        self._wanted_split: bool | None = None
        self._drawn_split = False
        self._ignore_space = False
        self._longest = 0
        self.busy = False
        """Whether a comparison is going on."""

    def show(
        self, before: bytes, after: bytes, file: str = "solution.cu", before_title: str = "", after_title: str = ""
    ) -> None:
        """Compare two versions of ``file``. Large ones are compared in a thread; what is shown until then stays."""
        versions = Versions(before, after, file, one_line(before_title), one_line(after_title))
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

    def _compare(self) -> None:
        versions, ignore_space = self._versions, self._ignore_space
        if len(versions.before) + len(versions.after) <= AT_ONCE:
            # a group has one worker: what a thread still works on must not come after this
            self.workers.cancel_group(self, "compare")
            self._take(versions, ignore_space, *_compared(versions, ignore_space, colours=True))
            return
        self.busy = True
        self.run_worker(
            partial(self._compare_in_thread, versions, ignore_space), group="compare", exclusive=True, thread=True
        )

    def _compare_in_thread(self, versions: Versions, ignore_space: bool) -> None:
        """First what changed, then, which takes longer, its colours."""
        for colours in (False, True):
            found = _compared(versions, ignore_space, colours=colours)
            self.app.call_from_thread(self._take, versions, ignore_space, *found)

    def _take(self, versions: Versions, ignore_space: bool, whole: Diff, before: SourceText, after: SourceText) -> None:
        """A comparison is done; one that nobody waits for any more is dropped."""
        if versions is not self._versions or ignore_space != self._ignore_space or not self.is_attached:
            return
        fresh = whole.rows != self._whole.rows
        self.busy = False
        self._whole, self._sources = whole, (before, after)
        self._longest = max(map(cells, (*before.lines, *after.lines)), default=0)
        self._arrange()
        if fresh:
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
        from beaver_tui.widgets.strips import hits

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

    def draw_row(self, row: int, width: int, offset: int, base: Style) -> Strip:
        cursor = Segment(sign("selected") if row == self.cursor else " ", base + self.style_of("text--sign"))
        quiet = base + self.style_of("text--quiet")
        if not self._rows:
            return Strip([cursor, *windowed(self._diff.note, quiet, [], 0, width - 1, quiet)], width)
        shown = self._rows[row]
        if shown.kind == "fold":
            style = base + self.style_of("diff--fold")
            return Strip([cursor, *windowed(f"  {sign('fold')} {shown.left}", style, [], 0, width - 1, style)], width)
        if not self._drawn_split:
            new = shown.kind == "add" or shown.kind == "equal"
            room = width - 1 - self._digits - 1
            number = Segment(f"{shown.old or '':>{self._digits}} ", quiet)
            return Strip([cursor, number, *self._side(shown, new, room, offset, base)], width)
        left = (width - 2) // 2
        between = Segment(pane_sign("between"), quiet)
        sides = self._side(shown, False, left, offset, base), self._side(shown, True, width - 2 - left, offset, base)
        return Strip([cursor, *sides[0], between, *sides[1]], width)

    def _side(self, row: DiffRow, new: bool, width: int, offset: int, base: Style) -> list[Segment]:
        """The old or the new side of a row: number, sign, text."""
        number, text = (row.new, row.right) if new else (row.old, row.left)
        if number is None and self._drawn_split:
            return [Segment(" " * width, base)]
        words: tuple[Span, ...] = ()
        mark = " "
        if row.kind != "equal":
            base += self.style_of("diff--add" if new else "diff--remove")
            words, mark = (row.right_words, "+") if new else (row.left_words, sign("minus"))
        quiet = base + self.style_of("text--quiet")
        shown = (row.new or "") if not self._drawn_split else number
        head = Segment(f"{shown:>{self._digits}} {mark} ", quiet)
        over = self.style_of("diff--added-words" if new else "diff--removed-words")
        changed: list[Styled] = [(start, end, over) for start, end in words]
        tokens = self._sources[new].tokens
        layers = [
            self.token_layer(tokens[number - 1]) if number is not None else [],
            changed,
            self.hit_layer(text),
        ]
        return [head, *windowed(text, base, layers, offset, width - self._digits - 3, quiet)]

    # What a person can do

    @property
    def status(self) -> str:
        """ "step 2 → step 3  +6 −4  line ends differ"."""
        names = self._versions
        titles = (
            f"{names.before_title} {sign('arrow')} {names.after_title}" if names.before_title else names.after_title
        )
        counts = f"+{self._diff.added} {sign('minus')}{self._diff.removed}"
        space = "white space ignored" if self._ignore_space else ""
        return "  ".join(filter(None, [titles, counts, self._diff.note, space, super().status]))

    def jump(self, step: int) -> None:
        """To the next hunk or the one before, round the ends."""
        if not self._hunks:
            return
        if step > 0:
            self.cursor = next((row for row in self._hunks if row > self.cursor), self._hunks[0])
        else:
            self.cursor = next((row for row in reversed(self._hunks) if row < self.cursor), self._hunks[-1])
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


def _compared(versions: Versions, ignore_space: bool, *, colours: bool) -> tuple[Diff, SourceText, SourceText]:
    whole = diff(versions.before, versions.after, context=None, ignore_space=ignore_space)
    read = partial(source_text, file=versions.file) if colours else plain_source
    return whole, read(versions.before), read(versions.after)


def _reaches(row: DiffRow, wanted: DiffRow) -> bool:
    """Whether a row is at or behind the line of another one."""
    return any(
        ours is not None and theirs is not None and ours >= theirs
        for ours, theirs in ((row.new, wanted.new), (row.old, wanted.old))
    )
