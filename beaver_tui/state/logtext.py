"""A growing log as harmless lines, with what its lines say: errors, warnings, places in files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from beaver_tui.state.visible import visible_output

LONGEST_LINE = 100_000
"""Characters of a line; what is longer goes on in the next, so that a program without line ends cannot slow the log down."""

LOOKED_AT = 2000
"""Characters of a line that are looked at to say what it is."""


@dataclass(frozen=True)
class Place:
    """A position in a file, as a line of a log names it. ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int | None = None


_FILE = r"(?P<file>[^\s:()\"'`<>,]{1,300}\.\w{1,6}|[Mm]akefile)"

_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bin {_FILE}:(?P<line>\d+)",  # compute-sanitizer: at kernel(int*)+0x50 in solution.cu:31
        rf"{_FILE}\((?P<line>\d+)(?:,(?P<column>\d+))?\)",  # nvcc: solution.cu(48): error
        rf"{_FILE}:(?P<line>\d+)(?::(?P<column>\d+))?",  # g++, ld, make, the checker: driver.cu:16:3:
        rf"{_FILE}, line (?P<line>\d+)",  # ptxas: solution.ptx, line 12
        r"File \"(?P<file>[^\"]{1,300})\", line (?P<line>\d+)",  # Python
    )
)

_KINDS = (
    (
        "hazard",
        "race|hazard|barrier error|divergent|uninit|unused memory",
        re.compile(
            r"Race reported between|(?:RAW|WAR|WAW) hazard|RACECHECK SUMMARY: [1-9]|Barrier error|Divergent thread\(s\)"
            r"|= (?:Host API )?Uninitialized |Unused memory in allocation"
        ),
    ),
    (
        "error",
        "error|fatal|undefined ref|multiple def|exit |***|fail|===|mismatch|terminate|traceback|checker|the ",
        re.compile(
            r"\berror(?:\s#?[\w-]+)?\s*:|\bfatal\s*:|\berrors? detected in the compilation|\bERROR SUMMARY: [1-9]|Error: "
            r"|undefined reference to|multiple definition of|returned \d+ exit status|\*\*\* |^FAILED\b|Test failed"
            r"|^=+ (?:Invalid |Program hit |Leaked |Target application returned)|CUDA error|Assertion .* failed"
            r"|^Mismatch|^terminate called|^Traceback|^checker: (?!passed)"
            r"|^the \w+ was killed|^the \w+ ended with exit code"
        ),
    ),
    ("warning", "warn", re.compile(r"\bwarning(?:\s#?[\w-]+)?\s*:|\bWARN(?:ING)?\b")),
    (
        "note",
        "note|remark|ptxas info|instantiation|detected during",
        re.compile(r"\bnote(?:\s#?[\w-]+)?\s*:|^Remark: |^ptxas info\b|\binstantiation of\b|\bdetected during\b"),
    ),
)
"""What a line is, the first that fits: its name, words of which a line has one in any case, the pattern."""

_QUICK = [(kind, words.split("|"), pattern) for kind, words, pattern in _KINDS]
"""The words first: they are found in a tenth of the time that the patterns take."""


class LogText:
    """A log that grows. ``lines`` holds all of its lines; the last may still grow.

    Pieces may end anywhere: inside of a line, of an escape sequence, or between ``\\r`` and ``\\n``. A sequence never reaches
    beyond its line, so a program that leaves one open hides at most the rest of that line.
    """

    def __init__(self, text: str = "") -> None:
        self._whole: list[str] = []
        self._rest = ""
        """The raw text after the last line end that is sure; \\r at the end of a piece is not."""
        self._lines: list[str] | None = None
        self._errors: list[int] = []
        self._looked = 0
        self.append(text)

    def append(self, text: str) -> None:
        """Take in the next piece."""
        if not text:
            return
        text = self._rest + text
        held = text.endswith("\r")
        text = (text[:-1] if held else text).replace("\r\n", "\n").replace("\r", "\n")
        *whole, rest = text.split("\n")
        if any(len(line) > LONGEST_LINE for line in whole):
            whole = [part for line in whole for part in _parts(line)]
        *parts, rest = _parts(rest)
        self._whole += _harmless([*whole, *parts])
        self._rest = rest + "\r" if held else rest
        self._lines = None

    @property
    def lines(self) -> list[str]:
        """Every line, harmless, without its end. The list is this log's own: read it, change nothing."""
        if self._lines is None:
            if self._rest:
                self._lines = [*self._whole, visible_output(self._rest.removesuffix("\r"))]
            else:
                self._lines = self._whole
        return self._lines

    @property
    def settled(self) -> int:
        """How many lines will not change any more."""
        return len(self._whole)

    def kind(self, index: int) -> str:
        """What a line is: error, warning, note, hazard (a race, a barrier, an uninitialised read), or nothing."""
        return line_kind(self.lines[index])

    def place(self, index: int) -> Place | None:
        """The place in a file that a line names."""
        return line_place(self.lines[index])

    @property
    def errors(self) -> list[int]:
        """The indexes of all error lines, in order."""
        for index in range(self._looked, self.settled):
            if line_kind(self._whole[index]) == "error":
                self._errors.append(index)
        self._looked = self.settled
        last = len(self.lines) - 1
        return [*self._errors, last] if last >= self.settled and self.kind(last) == "error" else list(self._errors)

    def matching(self, pattern: str, start: int = 0) -> list[int]:
        """The indexes, from ``start`` on, of the lines that contain ``pattern``; without a capital in it case does not matter."""
        lines = self.lines
        if pattern != pattern.lower():
            return [index for index in range(start, len(lines)) if pattern in lines[index]]
        return [index for index in range(start, len(lines)) if pattern in lines[index].lower()]


def line_kind(line: str) -> str:
    """What one line of a log is (see LogText.kind)."""
    line = line[:LOOKED_AT]
    lower = line.lower()
    for kind, words, pattern in _QUICK:
        if any(word in lower for word in words) and pattern.search(line):
            return kind
    return ""


def line_place(line: str) -> Place | None:
    """The first place that a line names."""
    for pattern in _PLACES:
        found = pattern.search(line[:LOOKED_AT])
        if found is not None:
            parts = found.groupdict()
            column = parts.get("column")
            return Place(parts["file"], int(parts["line"]), int(column) if column else None)
    return None


def _parts(line: str) -> list[str]:
    """A line in parts of at most LONGEST_LINE."""
    if len(line) <= LONGEST_LINE:
        return [line]
    return [line[start : start + LONGEST_LINE] for start in range(0, len(line), LONGEST_LINE)]


def _harmless(lines: list[str]) -> list[str]:
    """Each line made harmless. What Python calls printable is so already, and most lines are: a fast way past the patterns."""
    return [line if line.isprintable() else visible_output(line) for line in lines]
