"""From a reply to the candidate: its exact bytes, and what is said about them before anything is built."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path

from engine.events import CandidateMade, ReplyReceived
from engine.extract import extract
from engine.store import sha256
from engine.task import Task

_MOST_PAIRS = 4_000_000


def make_candidate(task: Task, reply: ReplyReceived, text: str, before: bytes) -> tuple[CandidateMade, bytes | None]:
    """The candidate in a reply's ``text``, None when there is no usable file. ``before`` is the file as it stood: lines added
    and removed are counted against it."""
    truncated = reply.finish_reason == "length"
    source: str | None = text
    problem: str | None = None
    if not reply.whole_file:
        start = task.broken.decode("utf-8", "replace")
        found = extract(text, suffix=Path(task.spec.solution_file).suffix, start=start, truncated=truncated)
        source, problem = found.source, found.problem
    if source is None:
        return CandidateMade(iteration=reply.iteration, problem=problem, truncated=truncated), None
    code = exact_bytes(source)
    added, removed = line_changes(before, code)
    made = CandidateMade(
        iteration=reply.iteration,
        solution=sha256(code),
        truncated=truncated,
        added=added,
        removed=removed,
        resubmitted_start=code == task.broken,
    )
    return made, code


def exact_bytes(text: str) -> bytes:
    """The bytes of a text that may carry undecodable bytes of a person's file as surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate from a model's JSON
        return text.encode("utf-8", "replace")


def line_changes(before: bytes, after: bytes) -> tuple[int, int]:
    """Lines added and removed. Beyond sizes that people read, lines are compared as a bag: an exact difference of hundreds
    of thousands of equal lines takes minutes."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) * len(new) > _MOST_PAIRS:
        was, now = Counter(old), Counter(new)
        return (now - was).total(), (was - now).total()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    added = removed = 0
    for _, first, last, start, end in (code for code in matcher.get_opcodes() if code[0] != "equal"):
        removed += last - first
        added += end - start
    return added, removed
