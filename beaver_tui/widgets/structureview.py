"""What a source is built of, beside the versions it came from: the pane where a repair by degeneration is seen."""

from __future__ import annotations

from typing import NamedTuple

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from beaver_tui.glyphs import sign
from beaver_tui.state import structuretext
from beaver_tui.state.facts import Facts
from beaver_tui.state.structures import MOST_BYTES, STRUCTURES
from beaver_tui.widgets.painting import harmless
from engine.verdict.degeneration import Finding, lens
from engine.verdict.structure import Structure

_TONES = {"worse": "error", "better": "success", "other": "warning"}

ROOM_FOR_LINES = 56
"""Cells from which on the numbers of lines have room beside the counts."""


class _Shown(NamedTuple):
    """What the pane was asked for last: sources in the order this, start, previous, reference."""

    sources: tuple[bytes | None, ...]
    facts: Facts
    suffix: str


class StructureView(VerticalScroll, can_focus=True):
    """``show`` takes the versions as bytes; the reference only where whoever looks may see it. Long ones are read on a thread."""

    def __init__(self, *, start: str = "start", this: str = "this", **options: object) -> None:
        """``start`` and ``this`` are what the columns of the first and of the shown version are called."""
        super().__init__(**options)  # type: ignore[arg-type]
        self._names = {"start": start, "this": this}
        self._shown: _Shown | None = None

    def compose(self) -> ComposeResult:
        yield Static(classes="structure")

    def show(
        self,
        this: bytes | None,
        start: bytes | None,
        previous: bytes | None,
        reference: bytes | None,
        facts: Facts,
        suffix: str = ".cu",
    ) -> None:
        """``suffix`` is that of the file: of a ".py" the CUDA in its strings is read."""
        self._shown = None
        if this is None or start is None:
            self._say("no usable file to read the structure of")
            return
        if max(len(this), len(start)) > MOST_BYTES:
            self._say(f"longer than {MOST_BYTES // 1000} kB: the structure is not read")
            return
        self._shown = _Shown((this, start, previous, reference), facts, suffix)
        if not self._draw():
            self._say("reading the structure")
            self.run_worker(self._read, thread=True, exclusive=True, group="structure", exit_on_error=False)

    def _say(self, words: str) -> None:
        self.query_one(".structure", Static).update(Text(words))

    def _read(self) -> None:
        asked = self._shown
        if asked is None:
            return
        for code in asked.sources:
            if code is not None:
                STRUCTURES.read(code, asked.suffix)
        self.app.call_from_thread(self._read_through, asked)

    def _read_through(self, asked: _Shown) -> None:
        if self._shown is asked and self.is_mounted:
            self._draw()

    def _draw(self) -> bool:
        """Draw what was asked for; False where a source of it was not read yet."""
        if self._shown is None:
            return True
        sources, facts, suffix = self._shown
        found = [None if code is None else STRUCTURES.known(code, suffix) for code in sources]
        if any(code is not None and version is None for code, version in zip(sources, found, strict=True)):
            return False
        this, start, previous, reference = found
        if this is not None and start is not None:
            self.query_one(".structure", Static).update(self._drawn(this, start, previous, reference, facts))
        return True

    def _drawn(
        self, this: Structure, start: Structure, previous: Structure | None, reference: Structure | None, facts: Facts
    ) -> Table:
        colours = self.app.theme_variables
        quiet = colours.get("quiet", "")
        whole = Table.grid(expand=True)
        lost = lens(start, this)
        words = structuretext.verdict_line(facts.category, facts.speedup, lost)
        whole.add_row(harmless(words, f"bold {colours['warning' if lost else 'foreground']}"))
        for name, version in (("previous", previous), ("reference", reference)):
            against = () if version is None else lens(version, this)
            if against and against != lost:
                whole.add_row(harmless(f"against the {name}, {structuretext.losses(against)}", colours["warning"]))
        whole.add_row(Text())
        for line in structuretext.evidence(lost, self._names["start"], self._names["this"]):
            whole.add_row(harmless(line))
        if lost:
            whole.add_row(Text())
        whole.add_row(self._table(this, start, previous, reference))
        for line in (*structuretext.launches(this), *structuretext.notes(this, reference or start)):
            whole.add_row(harmless(line, quiet))
        return whole

    def _table(
        self, this: Structure, start: Structure, previous: Structure | None, reference: Structure | None
    ) -> Table:
        colours = self.app.theme_variables
        table = Table.grid(padding=(0, 2))
        rows = structuretext.rows(this, start=start, previous=previous, reference=reference)
        absent = _absent(previous, reference) | ({"lines"} if self.size.width < ROOM_FOR_LINES else set())
        shown = [index for index, name in enumerate(structuretext.HEADINGS) if name not in absent]
        for index in shown:
            table.add_column(justify="left" if index in (0, len(structuretext.HEADINGS) - 1) else "right")
        table.add_column()
        names = [structuretext.HEADINGS[index] for index in shown]
        heading = f"bold {colours.get('quiet', '')}"
        table.add_row(*(Text(self._names.get(name, name), style=heading) for name in names), Text())
        for row in rows:
            texts = (row.words, row.start, row.previous, row.this, row.reference, row.lines)
            tone = colours.get(_TONES.get(row.tone, ""), "")
            mark = f"{sign('lost')} {row.change}" if row.tone == "worse" else row.change
            table.add_row(
                *(harmless(texts[index], tone if index == 3 else "") for index in shown), Text(mark, style=tone)
            )
        return table


def _absent(previous: Structure | None, reference: Structure | None) -> set[str]:
    return {name for name, version in (("previous", previous), ("reference", reference)) if version is None}


def given_up(start: bytes | None, this: bytes | None, suffix: str = ".cu") -> tuple[str, ...] | None:
    """What a candidate lacks of the structure that the broken start had, in short words; None while a source is not read."""
    found: tuple[Finding, ...] | None = STRUCTURES.findings(start, this, suffix)
    return None if found is None else tuple(finding.text for finding in found)
