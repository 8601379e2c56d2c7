"""What is wrong with a value in a file that a user wrote, in words for that user: the field first, then what belongs there."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, get_args, get_type_hints

import msgspec

KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "array": "a list",
    "object": "a mapping of keys",
    "null": "nothing",
}
"""msgspec's name of a type, in words."""

EXAMPLES = {"tasks": '["scan_*"]', "extra_body": "{top_p: 0.9}"}
"""By field: what it may look like, where the type alone says too little."""

_EXPECTED = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_ENUM = "Invalid enum value "


def complaint(error: msgspec.ValidationError, kind: type[msgspec.Struct], place: str = "") -> str:
    """ "protocol.k: must be a whole number, not text". ``kind`` is what the value should have been, ``place`` where it lies:
    a dotted prefix of its fields, or a sentence's beginning that ends in a blank."""
    reason, _, inner = str(error).partition(" - at `$")
    field = inner.rstrip("`").lstrip(".")
    where = place if not place or place.endswith((" ", ".")) else f"{place}."
    named = f"{where}{field}: " if field else (f"{place.rstrip('. :')}: " if place else "")
    return named + _reason(reason, kind, field)


def _reason(reason: str, kind: type[msgspec.Struct], field: str) -> str:
    if reason.startswith(_ENUM):
        return f"{reason.removeprefix(_ENUM)} is unknown; use {', '.join(_choices(kind, field))}"
    if found := _EXPECTED.fullmatch(reason):
        wanted = [KINDS.get(name, name) for name in found[1].split(" | ") if name != "null"]
        example = f", for example {EXAMPLES[field]}" if field in EXAMPLES else ""
        return f"must be {' or '.join(wanted)}{example or f', not {KINDS.get(found[2], found[2])}'}"
    reason = re.sub(r"Object missing required field `([^`]+)`", r"\1 must be given", reason)
    return re.sub(r"Object contains unknown field `([^`]+)`", r"\1 is unknown", reason)


def _choices(kind: Any, field: str) -> list[str]:
    """The words that a field may hold, where it is one of a few."""
    first, _, rest = field.partition(".")
    hint = get_type_hints(kind).get(first)
    if rest:
        return _choices(hint, rest)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return [str(item.value) for item in hint]
    return [str(word) for word in get_args(hint)]
