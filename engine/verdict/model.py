"""The verdict: what one candidate's evidence means, with the place in the log that says so."""

from __future__ import annotations

import msgspec

from engine.verdict.categories import Category, Stage


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The meaning of one candidate's evidence.

    ``category`` is one of the eight ``Category`` values, or ``UNCLASSIFIED`` when that was asked for. ``rule`` is the id of the
    rule that decided ("fallback.build" when none matched). ``signature`` is the normalised first error token of that rule
    (empty for a pass): equal signatures mean the same concrete bug (no_progress, D.1).
    """

    category: str
    outcome_bucket: str
    rule: str
    signature: str = ""
    stage: Stage = "test"
    rivals: tuple[str, ...] = ()
    """Other categories that matched in the deciding stage, best first, each as "category/rule id"."""
    line: str = ""
    """The line of evidence, as the tool printed it, cut to a sane length."""
    span: str = ""
    """The part of that line which the rule matched."""
    hazards: tuple[str, ...] = ()
    """Sanitizer reports that do not decide the category, each as a signature: on a pass they make passed_with_hazards."""

    @property
    def passed(self) -> bool:
        return self.category == Category.PASSED

    @property
    def passed_with_hazards(self) -> bool:
        """The candidate passes, but the sanitizer saw something. A flag, not a failure (protocol, point 6)."""
        return self.passed and bool(self.hazards)

    @property
    def ambiguous(self) -> bool:
        """More than one category matched in the deciding stage."""
        return bool(self.rivals)
