"""The structure pane in words: a row for each feature, what did not parse, and the line that says what a fix gave up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from engine.figures import times
from engine.text import shown_name
from engine.verdict.compiled import Compiled, CompiledKernel
from engine.verdict.degeneration import Finding, score
from engine.verdict.instruction_rules import CLASSES
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


def verdict_line(category: str, speedup: float | None, findings: Iterable[Finding]) -> str:
    """The verdict in one line: "passes, 0.31x, lost: shared tiling (2 -> 0), 128-bit loads (8 -> 0)".

    ``speedup`` is the reference's time over the candidate's, None when nothing was timed.
    """
    parts = ["passes" if category == "passed" else category.replace("_", " ")]
    if speedup is not None:
        parts.append(times(speedup))
    return ", ".join([*parts, losses(findings) or "structure kept"])


def losses(findings: Iterable[Finding]) -> str:
    """What was given up, by how: "lost: shared tiling (2 -> 0); fell back to: waits on the host (0 -> 1)"; empty for nothing."""
    groups: dict[str, list[str]] = {"lost": [], "fewer": [], "fell back to": []}
    for finding in findings:
        groups[finding.how].append(f"{finding.words} ({finding.before} -> {finding.after})")
    return "; ".join(f"{said}: {', '.join(those)}" for said, those in groups.items() if those)


def evidence(findings: Iterable[Finding], before: str, after: str) -> list[str]:
    """A line for each finding, with where it was and where it is gone: "lost shared tiling (2 -> 0)  start 12, 14 · this 9"; the
    lines of ``after`` are those of the kernels where nothing of the feature is left. The last line is the score."""
    found = list(findings)
    lines = []
    for finding in found:
        places = [
            f"{name} {numbers(those)}"
            for name, those in ((before, finding.lines_before), (after, finding.lines_after))
            if those
        ]
        seen = "" if finding.seen_in == "source" else f"  in {finding.seen_in}"
        lines.append(f"{finding.text}  {' · '.join(places)}{seen}".rstrip())
    return [*lines, f"degeneration score {score(found):.2f}"] if found else []


def compiled_rows(before: Compiled, after: Compiled) -> list[str]:
    """Instruction mixes side by side, then what each kernel takes: "tensor-core instructions  8 -> 0"."""
    sources = before.source if before.source == after.source else f"{before.source}; {after.source}"
    rows = [
        (row.words, before.count(row.name), after.count(row.name))
        for row in CLASSES
        if before.count(row.name) or after.count(row.name)
    ]
    wide = max((len(words) for words, _, _ in rows), default=0)
    mix = [f"{words:<{wide}}  {old} -> {new}" for words, old, new in rows]
    kernels = [
        f"{side}: {_taken(kernel)}"
        for side, of in (("baseline", before), ("candidate", after))
        for kernel in of.kernels
    ]
    return [f"instructions ({sources})", *mix, *kernels]


def _taken(kernel: CompiledKernel) -> str:
    """Registers and memory of one kernel, and what was spilled of it."""
    taken = kernel.resources
    parts = [f"{taken.registers} registers", f"{taken.shared} bytes shared", f"{taken.barriers} barriers"]
    if taken.stack:
        parts.append(f"{taken.stack} bytes stack")
    if taken.spill_stores or taken.spill_loads:
        parts.append(f"{taken.spill_stores} + {taken.spill_loads} bytes spilled")
    return f"{shown_name(kernel.name, 60)}: {', '.join(parts)}, {kernel.instructions} instructions"


def numbers(lines: Iterable[int]) -> str:
    """Line numbers for a narrow column: "4, 9, 17", "4, 9, 17, 20, 21, 25 and 3 more"."""
    known = list(lines)
    shown = ", ".join(map(str, known[:SHOWN_LINES]))
    return shown if len(known) <= SHOWN_LINES else f"{shown} and {len(known) - SHOWN_LINES} more"


def _count(version: Structure | None, feature: str) -> str:
    if version is None:
        return ""
    return f"~{version.count(feature)}" if version.is_approximate(feature) else str(version.count(feature))
