"""Cut a log for a prompt: error lines with their context, the head and the tail stay; the rest goes."""

from __future__ import annotations

import re

_TELLING = re.compile(
    r"error|fatal|undefined|warning|mismatch|fail|assert|abort|signal|invalid|exceed|not found|no such|cannot|"
    r"timed out|out of memory|traceback|exception|=========",
    re.IGNORECASE,
)

_TEMPORARY = re.compile(r"/tmp/tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_|tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_|/tmp/cc\w{6}(?=\.[os])")

_CONTEXT = 2
_LONGEST_LINE = 500


def condense(log: str, budget: int) -> str:
    """At most about ``budget`` characters of ``log``. Names of compilers' temporary files lose their random part, so that
    two runs of the same failure give the same prompt."""
    lines = [
        line
        if len(line) <= _LONGEST_LINE
        else f"{line[:_LONGEST_LINE]} ... {len(line) - _LONGEST_LINE} more characters"
        for line in _TEMPORARY.sub("", log).strip("\n").split("\n")
    ]
    if sum(len(line) + 1 for line in lines) <= budget:
        return "\n".join(lines).strip()
    kept: set[int] = set()
    room = budget
    for index in _by_importance(lines):
        cost = len(lines[index]) + 1
        if index in kept:
            continue
        if cost > room:
            break
        kept.add(index)
        room -= cost
    return _join(lines, sorted(kept))


def _by_importance(lines: list[str]) -> list[int]:
    """Error lines first, in order; then their context; then head and tail in turns."""
    telling = [index for index, line in enumerate(lines) if _TELLING.search(line)]
    near = [
        index + offset
        for index in telling
        for offset in range(-_CONTEXT, _CONTEXT + 1)
        if 0 <= index + offset < len(lines)
    ]
    # a log of nothing but error lines must still show how it ended
    first, last = telling[: len(telling) // 2 + 1], telling[len(telling) // 2 + 1 :][::-1]
    half = (len(lines) + 1) // 2
    ends = [index for pair in zip(range(half), range(len(lines) - 1, -1, -1), strict=False) for index in pair]
    return [*_in_turns(first, last), *near, *ends]


def _in_turns(first: list[int], last: list[int]) -> list[int]:
    merged = []
    for index in range(max(len(first), len(last))):
        merged += first[index : index + 1] + last[index : index + 1]
    return merged


def _join(lines: list[str], kept: list[int]) -> str:
    text, expected = [], 0
    for index in kept:
        if index > expected:
            text.append(f"... {index - expected} lines left out ...")
        text.append(lines[index])
        expected = index + 1
    if expected < len(lines):
        text.append(f"... {len(lines) - expected} lines left out ...")
    return "\n".join(text)
