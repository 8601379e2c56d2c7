"""Signs for things on the screen, each with a stand-in for terminals that have no more than ASCII."""

from __future__ import annotations

import os

CATEGORY_SIGNS: dict[str, tuple[str, str]] = {
    "environment_dependency": ("⌂", "E"),
    "integration": ("⊄", "I"),
    "buildability": ("✗", "B"),
    "out_of_memory": ("▣", "O"),
    "illegal_memory_access": ("↯", "A"),
    "timeout": ("◷", "T"),
    "functional_correctness": ("≠", "F"),
    "passed": ("✓", "P"),
    "unclassified": ("?", "?"),
    "": ("·", "."),
}
"""One sign per category, the same wherever a category is shown."""

SIGNS: dict[str, tuple[str, str]] = {
    "selected": ("▸", ">"),
    "live": ("●", "*"),
    "running": ("◐", "~"),
    "signal": ("≡", "="),
    "fault": ("!", "!"),
    "fold": ("⋯", "..."),
    "arrow": ("→", "->"),
    "down": ("↓", "v"),
    "minus": ("−", "-"),
    "dot": ("·", "-"),
    "line": ("─", "-"),
    "thick_line": ("━", "="),
    "bar": ("▰", "#"),
    "empty_bar": ("▱", "."),
    "block": ("█", "#"),
    "ellipsis": ("…", "~"),
    "mark": ("◆", "x"),
    "pin": ("⚑", "P"),
    "best": ("★", "*"),
    "lost": ("▲", "^"),
    "yes": ("✓", "+"),
    "no": ("✗", "-"),
}

_ascii = False


def use_ascii(wanted: bool) -> None:
    """Draw with ASCII alone from now on, or with all signs again."""
    global _ascii
    _ascii = wanted


def ascii_wanted() -> bool:
    """Whether signs are drawn in ASCII: asked for, or the locale has no other."""
    return _ascii


def locale_is_ascii(environment: dict[str, str] | None = None) -> bool:
    """Whether the user's locale names no encoding beyond ASCII."""
    variables = os.environ if environment is None else environment
    name = variables.get("LC_ALL") or variables.get("LC_CTYPE") or variables.get("LANG") or ""
    return name in ("C", "POSIX")


def sign(name: str) -> str:
    """The sign called ``name`` in SIGNS."""
    return SIGNS[name][_ascii]


def category_sign(category: str) -> str:
    """The sign of a category; unknown ones have that of unclassified."""
    return CATEGORY_SIGNS.get(category, CATEGORY_SIGNS["unclassified"])[_ascii]
