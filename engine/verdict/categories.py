"""The eight failure categories, their buckets, their order of severity and their priority within a stage.

Source: the paper's Appendix E (Table 4: categories and five buckets; classifier mechanism: priorities and fallbacks) and
D.3 (the monotone order that progression_rate uses). Everything here is a table; nothing decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal


class Category(StrEnum):
    """What an iteration's evidence says, in the numbering of Table 4 (1 is the first)."""

    ENVIRONMENT_DEPENDENCY = "environment_dependency"
    INTEGRATION = "integration"
    BUILDABILITY = "buildability"
    OUT_OF_MEMORY = "out_of_memory"
    ILLEGAL_MEMORY_ACCESS = "illegal_memory_access"
    TIMEOUT = "timeout"
    FUNCTIONAL_CORRECTNESS = "functional_correctness"
    PASSED = "passed"

    @classmethod
    def parse(cls, name: str) -> Category:
        """The category called ``name``; the ``*_bug`` spellings of other harnesses are understood too.

        Raises ValueError, naming the eight, when there is no such category.
        """
        plain = name.strip().lower().replace("-", "_").removesuffix("_bug")
        try:
            return cls(plain)
        except ValueError:
            known = ", ".join(cls)
            raise ValueError(f"unknown category {name!r}: expected one of {known} (or the same with _bug)") from None


UNCLASSIFIED: Final = "unclassified"
"""The paper's label for a stage in which several categories matched. An option here, and never one of the eight."""

Stage = Literal["preflight", "build", "test", "sanitizer"]
"""Where the deciding evidence came from. ``passed`` carries the last stage that ran."""

OUTCOME_BUCKETS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Category.ENVIRONMENT_DEPENDENCY: "compile_error",
        Category.INTEGRATION: "compile_error",
        Category.BUILDABILITY: "compile_error",
        Category.OUT_OF_MEMORY: "memory_crash",
        Category.ILLEGAL_MEMORY_ACCESS: "memory_crash",
        Category.TIMEOUT: "timeout",
        Category.FUNCTIONAL_CORRECTNESS: "logic_error",
        Category.PASSED: "passed",
        UNCLASSIFIED: UNCLASSIFIED,
    }
)
"""Table 4, column "5-bucket". Its introduction also sends timeout to logic_error; the table wins (protocol, point 2)."""


def outcome_bucket(category: str) -> str:
    """The bucket of a category (Table 4). Raises KeyError for a name that is none."""
    return OUTCOME_BUCKETS[category]


SEVERITY: Final[Mapping[str, int]] = MappingProxyType(
    {
        Category.ENVIRONMENT_DEPENDENCY: 0,
        Category.INTEGRATION: 0,
        Category.BUILDABILITY: 0,
        Category.OUT_OF_MEMORY: 1,
        Category.ILLEGAL_MEMORY_ACCESS: 1,
        Category.TIMEOUT: 1,
        Category.FUNCTIONAL_CORRECTNESS: 2,
        Category.PASSED: 3,
    }
)
"""D.3: how far a candidate got. A transition to a larger number is progression; ``unclassified`` has no place in it."""


def is_progression(before: str, after: str) -> bool:
    """Whether a step from one category to the next climbs D.3's order. Unknown names never do."""
    return before in SEVERITY and after in SEVERITY and SEVERITY[after] > SEVERITY[before]


BUILD_PRIORITY: Final[tuple[Category, ...]] = (
    Category.ENVIRONMENT_DEPENDENCY,
    Category.INTEGRATION,
    Category.BUILDABILITY,
    Category.OUT_OF_MEMORY,
    Category.TIMEOUT,
)
RUNTIME_PRIORITY: Final[tuple[Category, ...]] = (
    Category.ENVIRONMENT_DEPENDENCY,
    Category.INTEGRATION,
    Category.BUILDABILITY,
    Category.OUT_OF_MEMORY,
    Category.ILLEGAL_MEMORY_ACCESS,
    Category.TIMEOUT,
    Category.FUNCTIONAL_CORRECTNESS,
)
PRIORITY: Final[Mapping[Stage, tuple[Category, ...]]] = MappingProxyType(
    {
        "preflight": (Category.ENVIRONMENT_DEPENDENCY, Category.INTEGRATION),
        "build": BUILD_PRIORITY,
        "test": RUNTIME_PRIORITY,
        "sanitizer": (Category.ILLEGAL_MEMORY_ACCESS, Category.FUNCTIONAL_CORRECTNESS),
    }
)
"""Within the stage that fired, the first of these that has a match is the verdict; the others are its rivals."""

FALLBACK: Final[Mapping[Stage, Category]] = MappingProxyType(
    {
        "preflight": Category.INTEGRATION,
        "build": Category.BUILDABILITY,
        "test": Category.FUNCTIONAL_CORRECTNESS,
        "sanitizer": Category.FUNCTIONAL_CORRECTNESS,
    }
)
"""What a stage that fired means when nothing in it is recognised (Appendix E, the two defaults)."""
