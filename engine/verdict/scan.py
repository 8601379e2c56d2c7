"""Finds the lines of a log that rules can match, without looking at the others. Ten megabytes in a fraction of a second.

Most logs hold none of most rules' words, so the words are searched first, over the whole text, by the string search of the C
library of the interpreter; regular expressions see only lines in which a word was found. A rule is done with its first match
per word, and a word's lines are looked at up to a bound from the start and a few from the end, so that a log in which every line holds
every word costs no more than another. A line longer than a bound is looked at through a window around the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple, Protocol

from engine.verdict.categories import Stage
from engine.verdict.rule import Rule
from engine.verdict.rules import RULES
from engine.verdict.signature import strip_controls

FIRST_HITS: Final = 400
"""Lines examined per word from the start of a log: the first error is the one that counts."""
LAST_HITS: Final = 40
"""Lines examined per word from the end: a long list of harmless hits must not hide the error that ended the run."""
WINDOW: Final = 1000
"""Bytes on either side of a word within which its line is taken. No diagnostic line that a rule knows is longer."""

GATES: Final[tuple[str, ...]] = (
    "cuda",
    "error",
    "fail",
    "undefined",
    "unresolved",
    "cannot ",
    "could not",
    "not found",
    "no such file",
    "memory",
    "invalid",
    "illegal",
    "launch",
    "misaligned",
    "device",
    "stream",
    "kernel",
    "operation",
    "assert",
    "fault",
    "overflow",
    "corrupt",
    "free",
    "time",
    "mismatch",
    "expected",
    "wrong",
    "match",
    "differ",
    "toleran",
    "shape",
    "dtype",
    "max",
    "version",
    "multiple",
    "alloc",
    "killed",
    "module",
    "attribute",
    "nvcc",
    "ptxas",
    "nvlink",
    "nvvm",
    "compil",
    "make",
    "output",
    "entry point",
    "require",
    "gpu",
    "stack",
    "mps ",
    "peer",
    "capture",
    "= invalid",
    "hazard",
    "uninitialized",
    "barrier",
    "abort",
    "syntax",
    "_status_",
    "supported",
)
"""Words that many rules' words contain. When one is absent, none of those can be present, and one search has ruled out all."""

_ECHO: Final = re.compile(
    r"^\s*\d*\s\|"
    r"|^\s+(?!what\(\))(?:.*\b(?:f?printf|puts|cerr|cout|TORCH_CHECK|raise|throw|print|assert|static_assert|return|if|while)\b\s*[(<\"{ ].*|.*;\s*)$"
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


class Plan(NamedTuple):
    """What to search for in one kind of log: each word with its gate and the rules that it wakes."""

    words: tuple[tuple[bytes, bytes, tuple[Rule, ...]], ...]


@cache
def compiled(rule_id: str, pattern: str) -> re.Pattern[str]:
    """The compiled pattern, made when first needed: start-up pays for none of them."""
    return re.compile(pattern)


@cache
def plan(stage: Stage, field: str) -> Plan:
    """The words of all rules that read ``field`` in ``stage``, grouped."""
    woken: dict[str, list[Rule]] = {}
    for rule in RULES:
        if stage in rule.stages and field in rule.fields:
            for word in rule.literals:
                woken.setdefault(word, []).append(rule)
    gates = {word: next((gate for gate in GATES if gate in word), word) for word in woken}
    return Plan(tuple((word.encode(), gates[word].encode(), tuple(rules)) for word, rules in woken.items()))


class Log:
    """One text of evidence, prepared for searching."""

    def __init__(self, text: str) -> None:
        # Bytes, because lower-casing and searching them is many times faster than the same on a text beyond Latin-1.
        self._raw = text.encode("utf-8", "replace")
        self._low = self._raw.lower()
        self._gates: dict[bytes, bool] = {}

    def __len__(self) -> int:
        return len(self._raw)

    def may_hold(self, gate: bytes) -> bool:
        if gate not in self._gates:
            self._gates[gate] = gate in self._low
        return self._gates[gate]

    def line_at(self, position: int) -> tuple[int, int]:
        """Start and end of the line around a position, or of the window around it when the line is very long."""
        floor = max(0, position - WINDOW)
        start = self._raw.rfind(b"\n", floor, position) + 1 or floor
        end = self._raw.find(b"\n", position, position + WINDOW)
        return start, end if end >= 0 else min(len(self._raw), position + WINDOW)

    def text(self, start: int, end: int) -> str:
        return strip_controls(self._raw[start:end].decode("utf-8", "replace").rstrip())

    def before(self, start: int, count: int) -> list[str]:
        """Up to ``count`` lines before the one that starts at ``start``, in their order."""
        return self.text(max(0, start - count * 300), start).split("\n")[-count:] if start else []

    def after(self, end: int, count: int) -> list[str]:
        return self.text(end + 1, end + 1 + count * 300).split("\n")[:count]

    def lines_with(self, word: bytes) -> Iterator[tuple[int, int]]:
        """Lines that hold ``word``: the first ones, then a few last ones."""
        position, last = self._low.find(word), 0
        for _ in range(FIRST_HITS):
            if position < 0:
                return
            start, end = self.line_at(position)
            yield start, end
            last = max(end, position + len(word))
            position = self._low.find(word, last)
        ceiling = len(self._low)
        for _ in range(LAST_HITS):
            position = self._low.rfind(word, last, ceiling)
            if position < 0:
                return
            start, end = self.line_at(position)
            yield start, end
            ceiling = max(last, min(start, position))


def is_harmless(line: str, match: re.Match[str]) -> bool:
    """Whether the line denies what the match says ("0 out of memory errors", "illegal access test: PASSED"), or only quotes code."""
    if _ECHO.match(line):
        return True
    if _NEGATED.search(line, max(0, match.start() - 60), match.start()) or _NONE_FOUND.match(
        line[match.end() : match.end() + 60]
    ):
        return True
    return _GOOD_NEWS.search(line) is not None and _BAD_WORD.search(line) is None


def find(log: Log, words: Sequence[tuple[bytes, bytes, tuple[Rule, ...]]], accepts: Accepts) -> Iterator[Found]:
    """For every rule and every one of its words, the first match that ``accepts`` takes. Not in order."""
    for word, gate, rules in words:
        if not log.may_hold(gate):
            continue
        open_rules = list(rules)
        for start, end in log.lines_with(word):
            line = log.text(start, end)
            for rule in tuple(open_rules):
                match = compiled(rule.id, rule.pattern).search(line)
                if match is None or is_harmless(line, match):
                    continue
                if rule.unless and compiled(f"{rule.id}:unless", rule.unless).search(line):
                    continue
                found = Found(rule, start, line, match)
                if accepts(found, log, end):
                    yield found
                    open_rules.remove(rule)
            if not open_rules:
                break
