"""Classifies records of evidence, one JSON object a line: what ``beaver-tui classify`` does, without the command line.

Other harnesses write such records too, so much is forgiven: unknown fields, nulls, a missing test, numbers as text, a signal by
its name, logs as lists of lines. A line that still makes no sense is reported with its number, and the rest goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import msgspec

from engine.evidence import Evidence
from engine.verdict.classify import classify
from engine.verdict.facts import SIGNALS
from engine.verdict.model import Verdict


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict, in the order in which its fields are written. ``line`` is the line of evidence that decided."""

    id: str
    category: str
    outcome_bucket: str
    rule: str
    signature: str
    stage: str
    rivals: tuple[str, ...]
    line: str
    hazards: tuple[str, ...] = ()


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line that could not be read: its number, counted from 1, and why."""

    number: int
    reason: str


_STEPS: Final = ("build", "test")
_SIGNAL_NUMBERS: Final = {name: number for number, (name, _, _) in SIGNALS.items()}


def classify_lines(lines: Iterable[bytes], *, ambiguous_unclassified: bool = False) -> Iterator[Row | BadLine]:
    """A row for every record and a BadLine for every line that is none, in the order of the lines. Blank lines are skipped."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            evidence = read_evidence(line)
        except (msgspec.DecodeError, ValueError) as error:
            yield BadLine(number=number, reason=str(error))
            continue
        except RecursionError:
            yield BadLine(number=number, reason="nested too deeply to be a record")
            continue
        yield row_of(evidence.id or f"line {number}", classify(evidence, ambiguous_unclassified=ambiguous_unclassified))


def row_of(id_: str, verdict: Verdict) -> Row:
    return Row(
        id=id_,
        category=verdict.category,
        outcome_bucket=verdict.outcome_bucket,
        rule=verdict.rule,
        signature=verdict.signature,
        stage=verdict.stage,
        rivals=verdict.rivals,
        line=verdict.line,
        hazards=verdict.hazards,
    )


def read_evidence(line: bytes) -> Evidence:
    """One record. Raises ValueError or msgspec.DecodeError, whose message says what is wrong."""
    record = msgspec.json.decode(line.strip().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, found {type(record).__name__}")
    plain = cast("dict[str, Any]", _without_nulls(record))
    if not any(name in plain for name in ("preflight", "build", "test", "sanitizer", "check")):
        raise ValueError("holds no evidence: none of preflight, build, test, check, sanitizer")
    if isinstance(plain.get("preflight"), str):
        plain["preflight"] = [plain["preflight"]]
    for name in _STEPS:
        if isinstance(plain.get(name), dict):
            plain[name] = _step(plain[name])
    if isinstance(plain.get("sanitizer"), dict):
        plain["sanitizer"] = {**plain["sanitizer"], "output": _text(plain["sanitizer"].get("output", ""))}
    if "id" in plain:
        plain["id"] = str(plain["id"])
    return msgspec.convert(plain, Evidence, strict=False)


def _without_nulls(value: Any) -> Any:
    """A field that is null counts as absent, at any depth; a list keeps its nulls (they can be values of an output)."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _step(step: dict[str, Any]) -> dict[str, Any]:
    found = dict(step)
    for name in ("stdout", "stderr"):
        found[name] = _text(found.get(name, ""))
    if isinstance(found.get("signal"), str):
        found["signal"] = _signal(found["signal"])
    return found


def _signal(text: str) -> int | None:
    name = text.strip().upper()
    if re.fullmatch(r"-?\d+", name):
        return int(name)
    return _SIGNAL_NUMBERS.get(name if name.startswith("SIG") else f"SIG{name}")


def _text(value: Any) -> Any:
    return "\n".join(map(str, value)) if isinstance(value, list) else value
