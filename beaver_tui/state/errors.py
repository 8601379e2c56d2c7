"""Errors in a log, as rows that lead to a line of the code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from beaver_tui.state.lines import one_line, readable

MOST = 500
"""Rows of one log: a template error can fill thousands of lines, and nobody reads that many rows."""

LONGEST = 2000
"""Characters of a line that are looked at."""


@dataclass(frozen=True)
class ErrorRow:
    """``file`` is empty and ``line`` None where the message names no place. ``severity``: error, warning or hazard (a
    sanitizer's report). ``log`` is the log that it stands in."""

    file: str
    line: int | None
    severity: str
    message: str
    log: str = ""


_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\s:(][^:(]{0,300}?\.\w{1,6})(?:\((?P<edg>\d+)(?:,\d+)?\)|:(?P<gcc>\d+)(?::\d+)?)\s?: "
    r"(?:catastrophic |fatal )?(?P<severity>error|warning)\b[^:]{0,20}:\s*(?P<message>.*)$"
)
"""EDG "f.cu(3): error: ...", "f.cu(3): warning #177-D: ..."; GCC "f.cu:3:5: error: ..."."""

_TOOL = re.compile(
    r"^(?P<tool>nvcc|ptxas|nvlink|fatbinary|cicc|cc1plus|collect2|make|ld|At end of source)\b[^:]{0,80}?\s*:?\s*"
    r"(?P<severity>fatal|error|warning)\s*:\s*(?P<message>.*)$",
    re.IGNORECASE,
)
_UNDEFINED = re.compile(r"(?P<message>undefined reference to .*|multiple definition of .*)$")
_REPORT = re.compile(
    r"^={5,9} (?:Error: |Warning: )?(?P<message>(?:Invalid|Misaligned|Race|Uninitialized|Barrier|Program hit)\b.*)$"
)
_PLACE = re.compile(r"\b(?:in|at) (?P<file>[^\s:()]{1,300}\.\w{1,6}):(?P<line>\d+)")
_CHECKER = re.compile(r"^checker: (?!passed)(?:failed: )?(?P<message>.*)$")
_AT_CALL = re.compile(r"^(?P<file>[^\s:()]{1,300}\.(?:cu|cuh|cpp|cc|c|h|hpp|py)):(?P<line>\d+):\s+(?P<message>\S.*)$")
_RUNTIME = re.compile(r"(?P<message>(?:CUDA error|cudaError|CUDA_ERROR_).*)$")
"""What a program says of a failed call; many name the call's own line."""

_WORDS = ("error", "warning", "undefined ref", "multiple def", "====", "checker:", "fatal", ".cu:", ".cpp:")
"""One of them stands in every line that is looked at closely: most lines of a long log need no more than this."""


def error_rows(log: str, text: str) -> list[ErrorRow]:
    """The errors in ``text``, the log called ``log``, in its order; repeated ones once, and MOST at most."""
    found: dict[ErrorRow, None] = {}
    report: ErrorRow | None = None
    for whole in text.splitlines():
        line = whole[:LONGEST]
        if report is not None:
            # the line under a sanitizer's finding names its place, where the build has line tables
            found[_placed(report, _PLACE.search(line))] = None
            report = None
        lower = line.lower()
        if not any(word in lower for word in _WORDS):
            continue
        if (match := _REPORT.match(line)) is not None:
            report = ErrorRow("", None, "hazard", _message(match), log)
        elif (row := _row(log, line)) is not None:
            found[row] = None
        if len(found) >= MOST:
            return list(found)
    if report is not None:
        found[report] = None
    return list(found)


def evidence_row(line: str, log: str) -> ErrorRow:
    """The line that decided a verdict, whatever it looks like: the classifier knows far more tools than this module."""
    row = _row(log, line[:LONGEST])
    return (
        row
        if row is not None
        else _placed(ErrorRow("", None, "error", readable(one_line(line)), log), _PLACE.search(line))
    )


def _row(log: str, line: str) -> ErrorRow | None:
    if line.startswith(("$ ", "======")):
        return None  # a command, and what a sanitizer says beside its findings
    if (match := _DIAGNOSTIC.match(line)) is not None:
        number = int(match["edg"] or match["gcc"])
        return ErrorRow(one_line(match["file"]), number, match["severity"], _message(match), log)
    if (match := _TOOL.match(line)) is not None:
        severity = "warning" if match["severity"].lower() == "warning" else "error"
        return ErrorRow("", None, severity, f"{match['tool']}: {_message(match)}", log)
    if (match := _UNDEFINED.search(line) or _CHECKER.match(line)) is not None:
        return ErrorRow("", None, "error", _message(match), log)
    if log == "test" and (match := _AT_CALL.match(line)) is not None:
        return ErrorRow(one_line(match["file"]), int(match["line"]), "error", _message(match), log)
    if log == "test" and (match := _RUNTIME.search(line)) is not None:
        return _placed(ErrorRow("", None, "error", _message(match), log), _PLACE.search(line))
    return None


def _message(match: re.Match[str]) -> str:
    return readable(one_line(match["message"]))


def _placed(row: ErrorRow, place: re.Match[str] | None) -> ErrorRow:
    if place is None:
        return row
    return ErrorRow(one_line(place["file"]), int(place["line"]), row.severity, row.message, row.log)
