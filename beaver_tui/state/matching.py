"""Which lines two versions share, which changed lines belong together, and which words of those changed.

The standard library's matcher takes time with the square of the lines. Here lines that occur once on both sides are matched first
(Bram Cohen's patience diff), and a shortest edit is looked for in the short blocks between them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

Span = tuple[int, int]

MOST_EDITS = 1000
"""Lines by which a block may differ when nothing in it is unique; beyond that it counts as changed whole."""

MOST_WORDS, MOST_PAIRS = 40_000, 400
"""Pairs that are compared one by one: words of two lines, changed lines that may belong together. What has more counts as
changed whole."""

ALIKE = 0.5
"""The share of common words from which on two lines are one line that changed. Punctuation is common to all code and does not
count."""

LONGEST_JUDGED = 2000
"""Characters of a line that are looked at to tell which line it became."""

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_NAME = re.compile(r"\w+")


def matches(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int, int]]:
    """Runs of equal lines in order: index in ``old``, index in ``new``, length."""
    pairs: list[Span] = []
    open_blocks = [((0, len(old)), (0, len(new)))]
    while open_blocks:
        (i, i_end), (j, j_end) = open_blocks.pop()
        while i < i_end and j < j_end and old[i] == new[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        while i < i_end and j < j_end and old[i_end - 1] == new[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
            pairs.append((i_end, j_end))
        if i == i_end or j == j_end:
            continue
        anchors = _anchors(old, new, (i, i_end), (j, j_end))
        if not anchors:
            pairs += [(i + a, j + b) for a, b in _shortest(old[i:i_end], new[j:j_end])]
            continue
        for i_next, j_next in [*anchors, (i_end, j_end)]:
            open_blocks.append(((i, i_next), (j, j_next)))
            i, j = i_next, j_next
    return _runs(sorted(pairs))


def _anchors(old: Sequence[Hashable], new: Sequence[Hashable], olds: Span, news: Span) -> list[Span]:
    """Lines that occur once on both sides, the most of them that are in the same order on both."""
    count_old, count_new = Counter(old[slice(*olds)]), Counter(new[slice(*news)])
    where = {new[j]: j for j in range(*news) if count_new[new[j]] == 1}
    common = [(i, where[old[i]]) for i in range(*olds) if count_old[old[i]] == 1 and old[i] in where]
    # the longest rising sequence: ends[k] is the smallest last position of a sequence of k + 1 lines, seen so far
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(common):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [index]
    chain: list[Span] = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(common[at])
        at = before[at]
    return chain[::-1]


def _shortest(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Span]:
    """The equal pairs of a shortest edit from ``old`` to ``new`` (Myers 1986, the greedy algorithm); none when it takes more
    than MOST_EDITS. On diagonal k = i - j, ``reach[k]`` is the furthest i that the edits so far come to."""
    rows, columns = len(old), len(new)
    reach = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(min(rows + columns, MOST_EDITS) + 1):
        history.append(reach)
        now: dict[int, int] = {}
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
            i = reach[k + 1] if down else reach[k - 1] + 1
            j = i - k
            while i < rows and j < columns and old[i] == new[j]:
                i, j = i + 1, j + 1
            now[k] = i
            if i >= rows and j >= columns:
                return _way_back(history, rows, columns)
        reach = now
    return []


def _way_back(history: list[dict[int, int]], i: int, j: int) -> list[Span]:
    """The equal pairs on the way that ``history`` tells, from its end at (i, j) back to the start."""
    pairs: list[Span] = []
    for edits in reversed(range(len(history))):
        reach, k = history[edits], i - j
        down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
        k = k + 1 if down else k - 1
        start = max(reach[k], 0), max(reach[k] - k, 0)
        while i > start[0] and j > start[1]:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        i, j = start
    return pairs[::-1]


def _runs(pairs: list[Span]) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    for i, j in pairs:
        if runs and (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]) == (i, j):
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((i, j, 1))
    return runs


def alike(lefts: Sequence[str], rights: Sequence[str]) -> list[Span]:
    """The pairs of lines, in the same order on both sides, that have the most words in common."""
    rows, columns = len(lefts), len(rights)
    if not 0 < rows * columns <= MOST_PAIRS:
        return []
    words = [[_words(line[:LONGEST_JUDGED]) for line in side] for side in (lefts, rights)]
    likeness = [[_likeness(left, right) for right in words[1]] for left in words[0]]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], likeness[i][j] + best[i + 1][j + 1])
    pairs: list[Span] = []
    i = j = 0
    while i < rows and j < columns:
        if likeness[i][j] and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(left: Counter[str], right: Counter[str]) -> float:
    """The share of common words; 0 when it is too small to call the lines one line."""
    common, every = sum((left & right).values()), left.total() + right.total()
    share = 2 * common / every if every else 0.0
    return share if share >= ALIKE else 0.0


def changed_words(left: str, right: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The characters ``[start, end)`` of either line that the other does not have, whole words; nothing when the lines
    have too little in common to point at the rest."""
    olds, news = _WORD.findall(left), _WORD.findall(right)
    if not _likeness(_words(left), _words(right)):
        return (), ()
    head = 0
    while head < min(len(olds), len(news)) and olds[head] == news[head]:
        head += 1
    tail = 0
    while tail < min(len(olds), len(news)) - head and olds[-1 - tail] == news[-1 - tail]:
        tail += 1
    changes = [(head, len(olds) - tail, head, len(news) - tail)]
    middle = olds[head : len(olds) - tail], news[head : len(news) - tail]
    if len(middle[0]) * len(middle[1]) <= MOST_WORDS:
        codes = SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
        changes = [(a + head, b + head, c + head, d + head) for code, a, b, c, d in codes if code != "equal"]
    return _spans(olds, [change[:2] for change in changes]), _spans(news, [change[2:] for change in changes])


def _words(line: str) -> Counter[str]:
    """What a line is told by: its names and numbers, or its signs where it has no others."""
    return Counter(_NAME.findall(line) or line.split())


def _spans(words: list[str], changes: list[Span]) -> tuple[Span, ...]:
    """Ranges of words as ranges of characters; two with nothing but a blank between them are one."""
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    joined: list[Span] = []
    for a, b in changes:
        if joined and b > a and all(word.isspace() for word in words[joined[-1][1] : a]):
            joined[-1] = (joined[-1][0], b)
        elif b > a:
            joined.append((a, b))
    return tuple((starts[a], starts[b]) for a, b in joined)
