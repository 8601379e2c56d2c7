"""The structure pane in words: a row for each feature, what did not parse, and the line that says what a fix gave up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from engine.text import shown_name
from engine.verdict.structure import Change, Structure, compare, constants_changed
from engine.verdict.structure_rules import FEATURES

Tone = Literal["", "worse", "better", "other"]

SHOWN_LINES = 6
"""Line numbers that a row or a note names before it only counts."""


@dataclass(frozen=True)
class Row:
    """One feature in all versions, as text: "2", "~2" where some of it was read as text, "" for a version that is not given.

    ``lines`` are those of this version. ``change`` is how it differs from the baseline ("lost", "fewer", "gained", "more", or
    nothing), ``tone`` what that means: worse for an optimisation given up or a fallback taken, better for its opposite.
    """

    feature: str
    words: str
    start: str
    previous: str
    this: str
    reference: str
    lines: str
    change: str = ""
    tone: Tone = ""


HEADINGS = ("structure", "start", "previous", "this", "reference", "lines")
"""The columns' names, in the order of a row's texts."""


def rows(
    this: Structure,
    *,
    start: Structure,
    previous: Structure | None = None,
    reference: Structure | None = None,
    baseline: Structure | None = None,
) -> list[Row]:
    """A row for each feature that any version has. Changes are against ``baseline``: the reference if it is given, else the
    broken start, unless another is named."""
    against = baseline or reference or start
    changes = {change.feature: change for change in compare(against, this)}
    versions = [version for version in (start, previous, this, reference) if version is not None]
    return [
        Row(
            feature=feature.name,
            words=feature.words,
            start=_count(start, feature.name),
            previous=_count(previous, feature.name),
            this=_count(this, feature.name),
            reference=_count(reference, feature.name),
            lines=numbers(this.lines(feature.name)),
            change=changes[feature.name].kind if feature.name in changes else "",
            tone=tone(changes.get(feature.name)),
        )
        for feature in FEATURES
        if any(version.count(feature.name) for version in versions)
    ]


def tone(change: Change | None) -> Tone:
    """What a change means to a program's speed, as far as the table of features says."""
    if change is None:
        return ""
    if change.is_loss:
        return "worse"
    return "better" if change.is_gain else "other"


def launches(this: Structure) -> list[str]:
    """Every launch with its configuration and line: "line 18  softmax_kernel<<<rows, 256, 0, stream>>>, in a loop"."""
    return [
        f"line {launch.line}  {shown_name(launch.configuration, 100)}"
        + ("" if launch.how == "<<<>>>" else f" by {launch.how}")
        + (", in a loop" if launch.loop else "")
        for launch in this.launches
    ]


def notes(this: Structure, baseline: Structure | None = None) -> list[str]:
    """What a reader has to know beside the counts: named numbers that differ from the baseline's, what did not parse, what was
    read as text, what nothing calls."""
    changed = () if baseline is None else constants_changed(baseline, this)
    found = [f"constants: {shown_name(', '.join(changed), 100)}"] if changed else []
    if this.errors:
        places = "1 place does" if len(this.errors) == 1 else f"{len(this.errors)} places do"
        found.append(f"{places} not parse (line {numbers(this.errors)}): counted as far as it could be read")
    if any(this.is_approximate(feature.name) for feature in FEATURES):
        found.append("~ marks counts that were read as text: in macros, or where the source does not parse")
    found += [f"nothing calls {shown_name(unused.name)} (line {unused.line}): not counted" for unused in this.unused]
    return found


def verdict_line(category: str, speedup: float | None, changes: Iterable[Change]) -> str:
    """The verdict in one line: "passes, 0.31x, lost: shared tiling (2 -> 0), 128-bit loads (8 -> 0)".

    ``speedup`` is the reference's time over the candidate's, None when nothing was timed.
    """
    parts = ["passes" if category == "passed" else category.replace("_", " ")]
    if speedup is not None:
        parts.append(f"{speedup:.2f}x")
    losses = [change for change in changes if change.is_loss]
    groups = {
        "lost": [change for change in losses if change.kind == "lost"],
        "fewer": [change for change in losses if change.kind == "fewer"],
        "fell back to": [change for change in losses if change.after > change.before],
    }
    named = [
        f"{said}: " + ", ".join(f"{change.words} {change.numbers}" for change in those)
        for said, those in groups.items()
        if those
    ]
    return ", ".join([*parts, "; ".join(named) or "structure kept"])


def numbers(lines: Iterable[int]) -> str:
    """Line numbers for a narrow column: "4, 9, 17", "4, 9, 17, 20, 21, 25 and 3 more"."""
    known = list(lines)
    shown = ", ".join(map(str, known[:SHOWN_LINES]))
    return shown if len(known) <= SHOWN_LINES else f"{shown} and {len(known) - SHOWN_LINES} more"


def _count(version: Structure | None, feature: str) -> str:
    if version is None:
        return ""
    return f"~{version.count(feature)}" if version.is_approximate(feature) else str(version.count(feature))
