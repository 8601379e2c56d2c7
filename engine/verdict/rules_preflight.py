"""Rules for preflight findings: what the harness found wrong with a candidate, or with the machine, before any build.

Findings are text of the form "kind: what" (engine/evidence.py). Whatever is not about the machine is about the contract, so
the stage's default is integration: a forbidden call, a reply without code, part of a file (protocol, points 9 and 11).
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.rule import Cond, Rule, Weight, token

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_INTEG: Final = Category.INTEGRATION
_FIELDS: Final = ("preflight",)


def _finding(
    id_: str,
    category: Category,
    literals: tuple[str, ...],
    pattern: str,
    weight: Weight = Weight.EXACT,
    when: tuple[Cond, ...] = (),
) -> Rule:
    return Rule(
        id=id_,
        category=category,
        stages=("preflight",),
        fields=_FIELDS,
        literals=literals,
        pattern=pattern,
        weight=weight,
        when=when,
        source="the harness's preflight; Table 5, integration",
    )


PREFLIGHT_RULES: Final[tuple[Rule, ...]] = (
    _finding(
        "preflight.machine",
        _ENV,
        (
            "requires",
            "needs",
            "min_sm",
            "arch",
            "not installed",
            "not available",
            "missing library",
            "missing program",
            "missing toolkit",
            "no gpu",
            "no device",
            "toolchain",
            "environment",
            "compute capability",
        ),
        r"(?i)"
        + token(
            r"^(?:requires|needs|min_sm|arch\w*|device|environment|toolchain|toolkit|library|program)\b\s*:.*",
            # what follows a code may be the candidate's own words: only the code, or a finding without one, speaks
            r"^(?!\w+:).*\b(?:not installed|not available on this machine|no (?:GPU|device) (?:found|available)|missing (?:library|program|toolkit))\b.*",
            r"^(?!\w+:).*\b(?:needs|requires) (?:a GPU|sm_\w+|compute capability|lib:|header:|program:).*",
        ),
    ),
    _finding(
        "preflight.harness_file",
        _ENV,
        ("missing_file",),
        r"(?P<token>^missing_file: (?P<file>\S+).*)",
        # Whatever is absent and is not the candidate's file belongs to the task.
        when=(Cond("file", "solution", False),),
    ),
    _finding(
        "preflight.solution_file",
        _INTEG,
        ("missing_file",),
        r"(?P<token>^missing_file: (?P<file>\S+).*)",
        when=(Cond("file", "solution"),),
    ),
    _finding(
        "preflight.anti_cheat",
        _INTEG,
        ("anti_cheat", "anti-cheat", "forbidden"),
        r"(?i)(?P<token>^.*?(?:anti[_-]cheat|forbidden).*)",
    ),
    _finding(
        "preflight.reply",
        _INTEG,
        ("no code", "no_code", "empty", "truncated", "whole file", "partial", "no fenced", "cut off", "placeholder"),
        r"(?i)(?P<token>.*(?:no[ _]code|\bempty|truncated|whole file|partial|no fenced|cut off|placeholder).*)",
    ),
    _finding(
        "preflight.contract",
        _INTEG,
        (
            "no such file",
            "required source",
            "missing ",
            "must ",
            "signature",
            "contract",
            "entry point",
            "solution",
        ),
        r"(?i)(?P<token>^(?!missing_file:).*(?:no such file|required source|missing|must (?:define|export|contain|reference|not)"
        r"|signature|contract|entry point|solution).*)",
        Weight.GENERIC,
    ),
)
