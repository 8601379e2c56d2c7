"""corpus/VERIFIED.md: one section a device, written by the command itself, the others left as they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from engine.store import write_whole
from engine.verify.rows import REJECTED, Row

_TITLE = """\
# The corpus, verified

One section a device, each written by `beaver-tui verify --markdown` on that device. What the verdicts mean: docs/verify.md.
"""

_COLUMNS = (
    "task",
    "verdict",
    "category seen",
    "signature",
    "seconds",
    "speedup of the start",
    "patch",
    "rejects",
    "lint",
)
_SIGNATURE = 80


def section(rows: Sequence[Row], heading: str, command: str, now: datetime | None = None) -> str:
    """The section of one device. ``heading`` names it, ``command`` is what made the section."""
    day = (now or datetime.now(UTC)).strftime("%Y-%m-%d")
    first = next((row for row in rows if row.device), None)
    driver = f", driver {first.driver}" if first is not None and first.driver else ""
    toolkit = f", CUDA {first.toolkit}" if first is not None else ""
    verdicts = Counter(row.verdict for row in rows)
    counted = ", ".join(f"{count} {name}" for name, count in verdicts.most_common())
    lines = [f"## {heading}", "", f"{day}: {heading}{driver}{toolkit}; {counted}.", "", f"    {command}", ""]
    lines += [_table_row(_COLUMNS), _table_row(["---"] * len(_COLUMNS))]
    lines += [_table_row(_cells(row)) for row in sorted(rows, key=lambda row: row.task)]
    return "\n".join(lines) + "\n"


def write_section(path: Path, text: str) -> None:
    """Put a section in place of the one with the same heading, or at the end."""
    before = path.read_text("utf-8") if path.is_file() else _TITLE
    heading = text.split("\n", 1)[0]
    head, *sections = re.split(r"(?m)^(?=## )", before)
    kept = [old for old in sections if old.split("\n", 1)[0] != heading]
    write_whole(path, "\n".join(part.rstrip("\n") + "\n" for part in (head, *kept, text)).encode(), durable=False)


def _cells(row: Row) -> list[str]:
    verdict = f"{row.verdict}: {row.reason}" if row.reason else row.verdict
    rejected = [name for name, holds in row.rejects.items() if holds]
    return [
        row.task,
        verdict,
        row.category or "",
        row.signature[:_SIGNATURE],
        f"{row.seconds:.0f}",
        f"{row.speedup:.3f}" if row.speedup is not None else "",
        str(row.patch_lines) if row.patch_lines is not None else "",
        "all" if len(rejected) == len(REJECTED) else ", ".join(rejected),
        "; ".join(row.lint),
    ]


def _table_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") for cell in cells) + " |"
