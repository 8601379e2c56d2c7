"""Finds the lines of a log that rules can match, without looking at the others. Ten megabytes in a fraction of a second.

Every rule names words of which one stands in each line that it can match. A log's own vocabulary, the set of its distinct
words, is small even when the log is large; so a rule's words are first looked up there, and only those of which all parts occur are
searched in the text. Regular expressions see only lines in which a word was found, up to a bound from the start of the log
and a few from its end, so that a log in which every line holds every word costs no more than another. A line longer than a
bound is looked at through a window around the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple, Protocol

from engine.text import plain_text
from engine.verdict.categories import Stage
from engine.verdict.rule import Rule
from engine.verdict.rules import RULES

FIRST_HITS: Final = 250
"""Lines examined per word from the start of a log: the first error is the one that counts."""
FIRST_BYTES: Final = 60_000
"""Bytes examined per word: bounds the windows of a line without an end as FIRST_HITS bounds lines."""
LAST_HITS: Final = 30
"""Lines examined per word from the end: a long list of harmless hits must not hide the error that ended the run."""
BEFORE: Final = 400
AFTER: Final = 800
"""Bytes before and after a word within which its line is taken. No diagnostic that a rule knows spreads further."""
_BLOCK: Final = 1 << 18
_OVERLAP: Final = 256
"""Bytes that a block's vocabulary reaches into the next: more than the longest thing that is searched."""
_MANY_WORDS: Final = 200_000
"""Distinct words. No language has so many in ten megabytes: the text is a dump of data."""
_DUMP_ENDS: Final = 1 << 19
"""Bytes at either end of a dump in which errors are still looked for."""

_LETTERS_ONLY: Final = bytes(c if chr(c).isascii() and chr(c).islower() else 32 for c in range(256))

_ECHO: Final = re.compile(
    r"^\s*\d*\s\|"
    r"|^\s+(?!what\(\))(?:.*\b(?:f?printf|puts|cerr|cout|TORCH_CHECK|raise|throw|print|assert|static_assert|return|if|while)\b"
    r"\s*[(<\"{ ].*|.*;\s*)$"
)
"""A line of source that a compiler or a traceback shows under its message: what the program would say, not what it said."""

_NEGATED: Final = re.compile(
    r"(?i)(?:\b(?:no|zero|without|never|not)\s+(?:(?:a|an|any|more|cuda|memory|device|gpu|such)\s+){0,3}"
    r"|(?:^|[:=,(\[>]|\b(?:with|had|found|got|saw|reported|detected|were|are|and)\b)\s*0\s+)$"
)
_NONE_FOUND: Final = re.compile(
    r"(?i)^\s*(?:\w+\s+)?(?:errors?|reports?|count|events?|found|s|es)?\s*[:=]\s*(?:0|none|false)\b(?![.\d])"
)
_GOOD_NEWS: Final = re.compile(
    r"(?i)^\s*\[\s*(?:ok|passed)\s*\]|(?:\.{2,}|[:>\])–=-]|\s)\s*\[?(?:ok|pass(?:ed)?|success(?:ful(?:ly)?)?)\]?[\s.!]*$"
)
_BAD_WORD: Final = re.compile(
    r"(?i)\b(?:fail\w*|error:|fatal|not (?:ok|pass\w*|success\w*)|did(?: not|n't) pass|expected|un\w+)\b"
)


class Found(NamedTuple):
    """A rule's match: where (byte offset of the line in its log), on which line, and the match itself."""

    rule: Rule
    start: int
    line: str
    match: re.Match[str]


class Accepts(Protocol):
    """Decides whether a match counts: answers the conditions of the rule beside its pattern."""

    def __call__(self, found: Found, log: Log, end: int) -> bool: ...


class Word(NamedTuple):
    """One thing to search for: its bytes, the runs of letters in it, and the rules that it wakes."""

    word: bytes
    parts: tuple[bytes, ...]
    rules: tuple[Rule, ...]


@cache
def compiled(rule_id: str, pattern: str) -> re.Pattern[str]:
    """The compiled pattern, made when first needed: start-up pays for none of them."""
    return re.compile(pattern)


@cache
def plan(stage: Stage, field: str) -> tuple[Word, ...]:
    """The words of all rules that read ``field`` in ``stage``, grouped."""
    woken: dict[str, list[Rule]] = {}
    for rule in RULES:
        if stage in rule.stages and field in rule.fields:
            for word in rule.literals:
                woken.setdefault(word, []).append(rule)
    return tuple(
        Word(word.encode(), tuple(word.encode().translate(_LETTERS_ONLY).split()), tuple(rules))
        for word, rules in woken.items()
    )


class Log:
    """One text of evidence, prepared for searching."""

    def __init__(self, text: str) -> None:
        # Bytes, because lower-casing and searching them is many times faster than the same on a text beyond Latin-1.
        self._raw = text.encode("utf-8", "replace")
        if b"\r" in self._raw:
            # What a progress bar overwrites is a line of its own.
            self._raw = self._raw.replace(b"\r", b"\n")
        self._low = self._raw.lower()
        self._blocks: list[bytes] = []
        """The distinct runs of letters of each block, joined: what cannot be found there need not be searched in the block."""
        self._vocabulary = b""
        self._learn()

    def __len__(self) -> int:
        return len(self._low)

    def _learn(self) -> None:
        """Collects the vocabulary. A dump of data has none worth having, and is cut to its ends."""
        letters = self._low.translate(_LETTERS_ONLY)
        words: set[bytes] = set()
        for start in range(0, len(letters), _BLOCK):
            found = set(letters[start : start + _BLOCK + _OVERLAP].split())
            words |= found
            if len(words) > _MANY_WORDS:
                self._raw = self._raw[:_DUMP_ENDS] + b"\n" + self._raw[-_DUMP_ENDS:]
                self._low = self._raw.lower()
                self._blocks = []
                return
            self._blocks.append(b" ".join(found))
        self._vocabulary = b" ".join(words)

    def _ranges(self, word: Word, ceiling: int) -> list[tuple[int, int]]:
        """The parts of the text before ``ceiling`` in which the word can start, with the end of what it may reach."""
        if not self._blocks:
            return [(0, ceiling)]
        if not all(part in self._vocabulary for part in word.parts):
            return []
        reach = _BLOCK + len(word.word) - 1
        return [
            (index * _BLOCK, min(index * _BLOCK + reach, ceiling))
            for index, block in enumerate(self._blocks[: ceiling // _BLOCK + 1])
            if all(part in block for part in word.parts)
        ]

    def line_at(self, position: int) -> tuple[int, int]:
        """Start and end of the line around a position, or of the window around it when the line is very long."""
        floor = max(0, position - BEFORE)
        start = self._raw.rfind(b"\n", floor, position) + 1 or floor
        end = self._raw.find(b"\n", position, position + AFTER)
        return start, end if end >= 0 else min(len(self._raw), position + AFTER)

    def text(self, start: int, end: int) -> str:
        return plain_text(self._raw[start:end].decode("utf-8", "replace").rstrip())

    def before(self, start: int, count: int) -> list[str]:
        """Up to ``count`` lines before the one that starts at ``start``, in their order."""
        return self.text(max(0, start - count * 300), start).split("\n")[-count:] if start else []

    def after(self, end: int, count: int) -> list[str]:
        return self.text(end + 1, end + 1 + count * 300).split("\n")[:count]

    def lines_with(self, word: Word, ceiling: int) -> Iterator[tuple[int, int]]:
        """Lines before ``ceiling`` that hold the word: the first ones, then a few last ones, backwards."""
        ranges = self._ranges(word, ceiling)
        needle, last = word.word, 0
        hits, spent = 0, 0
        for low, high in ranges:
            position = self._low.find(needle, max(low, last), high)
            while position >= 0:
                start, end = self.line_at(position)
                yield start, end
                hits, spent = hits + 1, spent + end - start
                last = max(end, position + len(needle))
                if hits >= FIRST_HITS or spent >= FIRST_BYTES:
                    yield from self._last_lines_with(needle, ranges, last)
                    return
                position = self._low.find(needle, last, high)

    def _last_lines_with(self, needle: bytes, ranges: list[tuple[int, int]], floor: int) -> Iterator[tuple[int, int]]:
        hits = 0
        for low, high in reversed(ranges):
            position = self._low.rfind(needle, max(low, floor), high)
            while position >= 0:
                start, end = self.line_at(position)
                yield start, end
                hits += 1
                if hits >= LAST_HITS:
                    return
                position = self._low.rfind(needle, max(low, floor), min(start, position))


def is_harmless(line: str, match: re.Match[str]) -> bool:
    """Whether the line denies what the match says ("0 out of memory errors", "illegal access test: PASSED"), or only quotes code."""
    if _ECHO.match(line):
        return True
    if _NEGATED.search(line, max(0, match.start() - 60), match.start()) or _NONE_FOUND.match(
        line[match.end() : match.end() + 60]
    ):
        return True
    return _GOOD_NEWS.search(line) is not None and _BAD_WORD.search(line) is None


def find(log: Log, words: Sequence[Word], accepts: Accepts) -> list[Found]:
    """For every rule its first match that ``accepts`` takes, among the lines that were examined. Not in order."""
    best: dict[str, Found] = {}
    tried: set[tuple[str, int]] = set()
    for word in words:
        # Where all rules of this word have matched already, only an earlier line is of interest.
        known = [best[rule.id].start for rule in word.rules if rule.id in best]
        ceiling = max(known) if len(known) == len(word.rules) else len(log)
        waiting = list(word.rules)
        for start, end in log.lines_with(word, ceiling):
            line = log.text(start, end)
            for rule in tuple(waiting):
                if (rule.id, start) in tried:
                    continue
                tried.add((rule.id, start))
                found = _match(rule, start, line)
                if found is None or not accepts(found, log, end):
                    continue
                waiting.remove(rule)
                if rule.id not in best or start < best[rule.id].start:
                    best[rule.id] = found
            if not waiting:
                break
    return list(best.values())


def _match(rule: Rule, start: int, line: str) -> Found | None:
    match = compiled(rule.id, rule.pattern).search(line)
    if match is None or is_harmless(line, match):
        return None
    if rule.unless and compiled(f"{rule.id}:unless", rule.unless).search(line):
        return None
    return Found(rule, start, line, match)
