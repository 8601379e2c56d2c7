"""Two versions of a file, line by line: what is equal, what changed, and which words of a changed line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from beaver_tui.state.matching import Span, alike, changed_words, matches
from beaver_tui.state.sourcetext import raw_lines, source_lines

Kind = Literal["equal", "add", "remove", "change", "fold"]


@dataclass(frozen=True)
class DiffRow:
    """One row, side by side. ``old`` and ``new`` are line numbers from 1, None where a side has no line. ``left_words`` and
    ``right_words`` are the characters ``[start, end)`` that changed; empty when nothing is common. A fold stands for
    unchanged rows, ``left`` says how many, ``old`` and ``new`` are the first of them."""

    kind: Kind
    old: int | None
    new: int | None
    left: str
    right: str
    left_words: tuple[Span, ...] = ()
    right_words: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Diff:
    """All rows, the number of added and removed lines, the first row of each hunk, and what the rows cannot show."""

    rows: tuple[DiffRow, ...]
    added: int
    removed: int
    hunks: tuple[int, ...]
    note: str = ""


def diff(before: bytes, after: bytes, *, context: int | None = 3, ignore_space: bool = False) -> Diff:
    """Compare two files. ``context`` is the number of unchanged rows kept around a change, None for all."""
    old, new = source_lines(before), source_lines(after)
    # bytes decide what is equal: a tab and eight blanks look the same
    keys = [[b"".join(line.split()) if ignore_space else line for line in raw_lines(code)] for code in (before, after)]
    rows: list[DiffRow] = []
    old_at = new_at = 0
    for i, j, size in [*matches(keys[0], keys[1]), (len(old), len(new), 0)]:
        rows += _block(old, new, (old_at, i), (new_at, j))
        rows += [DiffRow("equal", i + n + 1, j + n + 1, old[i + n], new[j + n]) for n in range(size)]
        old_at, new_at = i + size, j + size
    added = sum(row.kind in ("add", "change") for row in rows)
    removed = sum(row.kind in ("remove", "change") for row in rows)
    note = _note(before, after, bool(added or removed))
    if any(row.kind == "change" and row.left == row.right for row in rows):
        note = "; ".join(filter(None, [note, "lines that look the same differ in white space"]))
    whole = Diff(tuple(rows), added, removed, hunks_of(rows), note)
    return folded(whole, context)


def folded(whole: Diff, context: int | None) -> Diff:
    """A diff with all rows, folded to ``context`` unchanged rows around its changes. Without a change it is the file that is
    looked at: all rows are kept."""
    if context is None or all(row.kind == "equal" for row in whole.rows):
        return whole
    rows: list[DiffRow] = []
    at, size = 0, len(whole.rows)
    while at < size:
        end = at
        while end < size and whole.rows[end].kind == "equal":
            end += 1
        if end == at:
            rows.append(whole.rows[at])
            at += 1
            continue
        first = at + (context if at > 0 else 0)
        last = end - (context if end < size else 0)
        # a fold takes a row itself: in place of a single row it would hide without saving anything
        if last - first > 1:
            hidden = whole.rows[first]
            fold = DiffRow("fold", hidden.old, hidden.new, f"{last - first} unchanged lines", "")
            rows += [*whole.rows[at:first], fold, *whole.rows[last:end]]
        else:
            rows += whole.rows[at:end]
        at = end
    return replace(whole, rows=tuple(rows), hunks=hunks_of(rows))


def unified(diff: Diff) -> tuple[DiffRow, ...]:
    """The rows one below the other: of each hunk what was removed, then what was added. A changed row becomes two."""
    rows: list[DiffRow] = []
    added: list[DiffRow] = []
    for row in diff.rows:
        if row.kind in ("equal", "fold"):
            rows += [*added, row]
            added = []
            continue
        if row.old is not None:
            rows.append(replace(row, kind="remove", new=None, right="", right_words=()))
        if row.new is not None:
            added.append(replace(row, kind="add", old=None, left="", left_words=()))
    return (*rows, *added)


def hunks_of(rows: Sequence[DiffRow]) -> tuple[int, ...]:
    """The index of the first row of each run of changes."""
    quiet = ("equal", "fold")
    return tuple(
        index
        for index, row in enumerate(rows)
        if row.kind not in quiet and (index == 0 or rows[index - 1].kind in quiet)
    )


def _note(before: bytes, after: bytes, changed: bool) -> str:
    """What two files differ in besides their lines, in words."""
    if before == after:
        return "no differences"
    notes = []
    if b"\n" in before and b"\n" in after and _line_ends(before) != _line_ends(after):
        notes.append("line ends differ")
    missing = [name for name, side in (("before", before), ("after", after)) if side and not side.endswith(b"\n")]
    if missing:
        notes.append("no newline at end" + (f" {missing[0]}" if len(missing) == 1 else ""))
    if changed:
        return "; ".join(notes)
    if notes == ["line ends differ"] or (not notes and _unix(before) == _unix(after)):
        return "only line ends differ"
    return "; ".join(notes) if _unix(before).rstrip(b"\n") == _unix(after).rstrip(b"\n") else "only white space differs"


def _line_ends(code: bytes) -> tuple[bool, bool]:
    """Whether a file has line ends of DOS, and of Unix."""
    dos = code.count(b"\r\n")
    return dos > 0, code.count(b"\n") > dos


def _unix(code: bytes) -> bytes:
    return code.replace(b"\r\n", b"\n")


def _block(old: Sequence[str], new: Sequence[str], olds: Span, news: Span) -> Iterator[DiffRow]:
    """The rows of a block without equal lines: lines that are alike side by side, the rest filled up from the top."""
    lefts, rights = old[olds[0] : olds[1]], new[news[0] : news[1]]
    at = (0, 0)
    for i, j in [*alike(lefts, rights), (len(lefts), len(rights))]:
        for left, right in zip_longest(range(at[0], i), range(at[1], j)):
            yield _row(old, new, _moved(left, olds[0]), _moved(right, news[0]))
        if i < len(lefts):
            yield _row(old, new, olds[0] + i, news[0] + j)
        at = i + 1, j + 1


def _moved(index: int | None, by: int) -> int | None:
    return None if index is None else index + by


def _row(old: Sequence[str], new: Sequence[str], i: int | None, j: int | None) -> DiffRow:
    if i is None or j is None:
        assert i is not None or j is not None
        left, right = "" if i is None else old[i], "" if j is None else new[j]
        return DiffRow("remove" if j is None else "add", _moved(i, 1), _moved(j, 1), left, right)
    return DiffRow("change", i + 1, j + 1, old[i], new[j], *changed_words(old[i], new[j]))
