"""Evidence in, meaning out: categories, rules, the classifier and the stagnation signals. Pure functions of data."""

from engine.verdict.categories import (
    OUTCOME_BUCKETS,
    SEVERITY,
    UNCLASSIFIED,
    Category,
    Stage,
    is_progression,
    outcome_bucket,
)
from engine.verdict.classify import classify
from engine.verdict.model import Verdict
from engine.verdict.stagnation import Armed, Signal, Step, armed, signals, stop_reason

__all__ = [
    "OUTCOME_BUCKETS",
    "SEVERITY",
    "UNCLASSIFIED",
    "Armed",
    "Category",
    "Signal",
    "Stage",
    "Step",
    "Verdict",
    "armed",
    "classify",
    "is_progression",
    "outcome_bucket",
    "signals",
    "stop_reason",
]
