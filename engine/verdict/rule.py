"""What a rule is. Rules are data: the tables are in ``rules_*.py``, the machinery that reads them in ``scan`` and ``classify``."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

import msgspec

from engine.verdict.categories import Category, Stage


class Weight(IntEnum):
    """How much a match says. The signature comes from the lowest weight that matched in the deciding category."""

    EXACT = 0
    """Names the fault."""
    GENERIC = 1
    """Names the category, but a more precise text is often near."""
    SUMMARY = 2
    """A tool's last word after its real complaint ("ld returned 1 exit status"): names a category, is never a rival."""
    WEAK = 3
    """Says only that something failed ("FAILED", "make: *** Error 1"): decides when nothing else did, is never a rival."""
    LAST = 4
    """Says only that it ended ("terminate called", exit status 1)."""


Test = Literal[
    "harness",
    "solution",
    "main",
    "reference",
    "build_file",
    "toolkit_header",
    "toolkit_library",
    "toolkit_symbol",
    "timed_out",
    "memory_killed",
    "arch_rewritten",
]
"""The questions that ``attribution`` can answer about a captured name, or about the step as a whole."""


class Cond(msgspec.Struct, frozen=True):
    """One condition beside the pattern: the answer to ``test`` about the text of ``group`` must be ``wanted``.

    The group "referrer" is not captured: it is the object or source file on whose behalf a linker complains, found on the
    line itself or on the lines around it. The group "step" stands for the process that printed the line, and "solution" for
    the name of the one editable file.
    """

    group: str
    test: Test
    wanted: bool = True


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One sub-rule of the classifier.

    ``literals`` are lower-case; every line that ``pattern`` can match holds at least one of them, so that a log without
    them needs no regular expression at all. ``pattern`` is searched within one line. ``source`` says who prints such lines.
    The signature is ``name``, or the normalised text of ``group`` (the whole match when the pattern has no such group), or
    both as "name: text". The group "cuda" is looked up in the table of CUDA errors instead, so that a number, a name and a
    text that mean the same error give the same signature.
    """

    id: str
    category: Category
    stages: tuple[Stage, ...]
    literals: tuple[str, ...]
    pattern: str
    source: str
    name: str = ""
    group: str = "token"
    weight: Weight = Weight.EXACT
    fields: tuple[str, ...] = ("stderr", "stdout")
    when: tuple[Cond, ...] = ()
    unless: str = ""
    """No match on a line in which this is found."""
    yields_to: str = ""
    """Dropped when a rule whose id starts so, of another category, matched earlier in the same log: this is then a consequence."""


BUILD: tuple[Stage, ...] = ("build",)
TEST: tuple[Stage, ...] = ("test",)
BUILD_AND_TEST: tuple[Stage, ...] = ("build", "test")
"""Compilers run inside the test step too (torch extensions, def.py): their complaints mean there what they mean in a build."""
TEST_AND_SANITIZER: tuple[Stage, ...] = ("test", "sanitizer")
ANY_STEP: tuple[Stage, ...] = ("preflight", "build", "test")

NOT_HARNESS = Cond("file", "harness", False)
IN_HARNESS = Cond("file", "harness")


def token(*alternatives: str) -> str:
    """A pattern for any of these, whose text is the error token."""
    return f"(?P<token>{'|'.join(alternatives)})"


def any_case(*alternatives: str) -> str:
    """A pattern for any of these in capitals or small letters."""
    return f"(?i:{'|'.join(alternatives)})"
