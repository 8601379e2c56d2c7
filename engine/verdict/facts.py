"""Structured facts that count as matches: a time-out, a signal, an exit status, a process that never ran (protocol, point 3).

A shell reports a child that a signal ended as 128 + the signal's number, and Python's subprocess as minus the number; both
count as the signal. ``timeout(1)`` exits with 124, a shell with 126 for a file that it cannot execute and 127 for one it cannot find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from engine.evidence import StepEvidence
from engine.verdict.categories import Category, Stage
from engine.verdict.rule import Weight
from engine.verdict.signature import normalise

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_OOM: Final = Category.OUT_OF_MEMORY
_IMA: Final = Category.ILLEGAL_MEMORY_ACCESS
_TIME: Final = Category.TIMEOUT
_LOGIC: Final = Category.FUNCTIONAL_CORRECTNESS


class Fact(NamedTuple):
    """One fact as a match: which rule it stands for, what it means, its signature, and a sentence for the evidence line."""

    rule: str
    category: Category
    signature: str
    line: str
    weight: Weight
    yields_to: str = ""
    """Dropped when a rule whose id starts so matched anywhere in the step's texts: the text says who did it."""


SIGNALS: Final[Mapping[int, tuple[str, Category, Weight]]] = MappingProxyType(
    {
        4: ("SIGILL", _LOGIC, Weight.GENERIC),
        5: ("SIGTRAP", _LOGIC, Weight.GENERIC),
        6: ("SIGABRT", _LOGIC, Weight.LAST),
        7: ("SIGBUS", _IMA, Weight.GENERIC),
        8: ("SIGFPE", _LOGIC, Weight.GENERIC),
        9: ("SIGKILL", _OOM, Weight.GENERIC),
        11: ("SIGSEGV", _IMA, Weight.GENERIC),
        13: ("SIGPIPE", _LOGIC, Weight.LAST),
        15: ("SIGTERM", _TIME, Weight.WEAK),
        24: ("SIGXCPU", _TIME, Weight.GENERIC),
        25: ("SIGXFSZ", _LOGIC, Weight.GENERIC),
        31: ("SIGSYS", _ENV, Weight.GENERIC),
    }
)
"""What a signal means for a running candidate. SIGABRT says only that the program gave up: the text says why. A SIGKILL that
no watch of the harness sent is the system's out-of-memory killer. SIGSYS is a system call that the sandbox refuses."""

WINDOWS_STATUS: Final[Mapping[int, int]] = MappingProxyType(
    {0xC0000005: 11, 0xC00000FD: 11, 0xC0000409: 6, 0xC000001D: 4, 0xC0000094: 8}
)
"""NTSTATUS values that other systems' records carry as exit codes, and the signal that means the same."""

_EXITS: Final[Mapping[int, tuple[str, Category, str, Weight]]] = MappingProxyType(
    {
        124: ("fact.exit_124", _TIME, "timeout", Weight.GENERIC),
        126: ("fact.exit_126", _ENV, "exit code 126: not executable", Weight.WEAK),
        127: ("fact.exit_127", _ENV, "exit code 127: not found", Weight.WEAK),
    }
)


def signal_of(step: StepEvidence) -> int | None:
    """The signal that ended the process, said outright or in one of the exit status' spellings."""
    if step.signal:
        return abs(step.signal)
    code = step.exit_code
    if code is None:
        return None
    if code in WINDOWS_STATUS:
        return WINDOWS_STATUS[code]
    if code < 0 and -code in SIGNALS:
        return -code
    return code - 128 if code - 128 in SIGNALS else None


def facts(step: StepEvidence, stage: Stage) -> Iterator[Fact]:
    """The facts of one step that failed, as matches."""
    if step.not_run is not None:
        yield Fact("fact.not_run", _ENV, f"not run: {normalise(step.not_run)}", step.not_run, Weight.EXACT)
        return
    if step.memory_killed:
        yield Fact(
            "fact.memory_killed", _OOM, "host memory (watch)", "ended by the watch on resident memory", Weight.EXACT
        )
    if step.timed_out:
        yield Fact("fact.timed_out", _TIME, "timeout", "ended by the wall-clock watch", Weight.EXACT)
    number = signal_of(step)
    if number is not None:
        name, category, weight = SIGNALS.get(number, (f"signal {number}", _LOGIC, Weight.WEAK))
        # What the harness' own watches sent says nothing more about the candidate.
        if not (number in (2, 9, 15) and (step.timed_out or step.memory_killed)):
            line = (
                f"ended by signal {number} ({name})"
                if step.signal
                else f"exit code {step.exit_code}: signal {number} ({name})"
            )
            if stage == "build":
                # A compiler that a signal ended: the toolchain's fault, whatever source it was reading (protocol, point 10).
                yield Fact("fact.compiler_signal", _ENV, f"compiler: signal {number} ({name})", line, Weight.GENERIC)
            else:
                sender = "time." if number in (9, 15) else ""
                rule = f"fact.{name.lower().replace(' ', '_')}"
                yield Fact(rule, category, f"signal {number} ({name})", line, weight, sender)
    elif step.exit_code is not None and step.exit_code in _EXITS:
        rule, category, signature, weight = _EXITS[step.exit_code]
        yield Fact(rule, category, signature, f"exit code {step.exit_code}", weight)
