"""What a source is built of, beside the versions it came from: the pane where a repair by degeneration is seen."""

from __future__ import annotations

from functools import lru_cache

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from beaver_tui.glyphs import sign
from beaver_tui.state import structuretext
from beaver_tui.state.facts import Facts
from beaver_tui.widgets.painting import harmless
from engine.verdict.structure import Structure, compare, findings, structure

_TONES = {"worse": "error", "better": "success", "other": "warning"}

ROOM_FOR_LINES = 56
"""Cells from which on the numbers of lines have room beside the counts."""

_MOST_BYTES = 400_000
"""A longer source is not read: parsing must not hold up the screen."""


class StructureView(VerticalScroll, can_focus=True):
    """``show`` takes the versions as bytes; the reference only where whoever looks may see it."""

    def __init__(self, *, start: str = "start", this: str = "this", **options: object) -> None:
        """``start`` and ``this`` are what the columns of the first and of the shown version are called."""
        super().__init__(**options)  # type: ignore[arg-type]
        self._names = {"start": start, "this": this}

    def compose(self) -> ComposeResult:
        yield Static(classes="structure")

    def show(
        self, this: bytes | None, start: bytes | None, previous: bytes | None, reference: bytes | None, facts: Facts
    ) -> None:
        body = self.query_one(".structure", Static)
        if this is None or start is None:
            body.update(Text("no usable file to read the structure of"))
            return
        if max(len(this), len(start)) > _MOST_BYTES:
            body.update(Text(f"longer than {_MOST_BYTES // 1000} kB: the structure is not read"))
            return
        versions = [None if code is None else known_structure(code) for code in (this, start, previous, reference)]
        body.update(self._drawn(versions[0], versions[1], versions[2], versions[3], facts))  # type: ignore[arg-type]

    def _drawn(
        self, this: Structure, start: Structure, previous: Structure | None, reference: Structure | None, facts: Facts
    ) -> Table:
        colours = self.app.theme_variables
        quiet = colours.get("quiet", "")
        whole = Table.grid(expand=True)
        changes = compare(reference or start, this)
        words = structuretext.verdict_line(facts.category, facts.speedup, changes)
        whole.add_row(
            harmless(words, f"bold {colours['warning' if any(c.is_loss for c in changes) else 'foreground']}")
        )
        whole.add_row(Text())
        table = Table.grid(padding=(0, 2))
        rows = structuretext.rows(this, start=start, previous=previous, reference=reference)
        absent = _absent(previous, reference) | ({"lines"} if self.size.width < ROOM_FOR_LINES else set())
        shown = [index for index, name in enumerate(structuretext.HEADINGS) if name not in absent]
        for index in shown:
            table.add_column(justify="left" if index in (0, len(structuretext.HEADINGS) - 1) else "right")
        table.add_column()
        names = [structuretext.HEADINGS[index] for index in shown]
        table.add_row(*(Text(self._names.get(name, name), style=f"bold {quiet}") for name in names), Text())
        for row in rows:
            texts = (row.words, row.start, row.previous, row.this, row.reference, row.lines)
            tone = colours.get(_TONES.get(row.tone, ""), "")
            mark = f"{sign('lost')} {row.change}" if row.tone == "worse" else row.change
            table.add_row(
                *(harmless(texts[index], tone if index == 3 else "") for index in shown), Text(mark, style=tone)
            )
        whole.add_row(table)
        for line in (*structuretext.launches(this), *structuretext.notes(this, reference or start)):
            whole.add_row(harmless(line, quiet))
        return whole


def _absent(previous: Structure | None, reference: Structure | None) -> set[str]:
    return {name for name, version in (("previous", previous), ("reference", reference)) if version is None}


def given_up(start: bytes | None, this: bytes | None) -> tuple[str, ...]:
    """What a candidate lacks of the structure that the broken start had, in short words."""
    if start is None or this is None or max(len(start), len(this)) > _MOST_BYTES:
        return ()
    return findings(compare(known_structure(start), known_structure(this)))


@lru_cache(maxsize=64)
def known_structure(code: bytes) -> Structure:
    """The structure of a source, read once: steps are looked at again and again."""
    return structure(code)
