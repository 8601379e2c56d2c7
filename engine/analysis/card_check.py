"""Whether a card keeps to its schema: the few keywords that the schema is written with, and no library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.analysis.card_schema import CARD, Schema


def faults(card: object) -> list[str]:
    """What is wrong with a card, each with its place; empty for a sound one. Knows the keywords that CARD is written with."""
    return list(_faults(card, CARD, "card"))


def required_fields(schema: Schema = CARD, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every required field; a step into the items of a list is "0", and "*" into an object of any names."""
    schema = _resolved(schema)
    for name in schema.get("required", ()):
        yield (*place, name)
        yield from required_fields(schema["properties"][name], (*place, name))
    if "items" in schema:
        yield from required_fields(schema["items"], (*place, "0"))
    for choice in schema.get("anyOf", ())[:1]:  # the second one is the reason why there is no value
        yield from required_fields(choice, place)
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        yield from required_fields(more, (*place, "*"))


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def _faults(value: Any, schema: Schema, place: str) -> Iterator[str]:
    schema = _resolved(schema)
    if "anyOf" in schema:
        yield from _none_fits(value, schema["anyOf"], place)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place}: must be {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: must be one of {', '.join(schema['enum'])}"
    kind = schema.get("type")
    if kind is None:
        return
    fits = isinstance(value, _KINDS[kind])
    if not fits or (isinstance(value, bool) and kind != "boolean"):
        yield f"{place}: must be of type {kind}"
    elif kind == "object":
        yield from _object_faults(value, schema, place)
    elif kind == "array":
        if len(value) < schema.get("minItems", 0):
            yield f"{place}: must have at least {schema['minItems']} items"
        for index, item in enumerate(value):
            yield from _faults(item, schema.get("items", {}), f"{place}[{index}]")
    elif kind == "string":
        if len(value) < schema.get("minLength", 0):
            yield f"{place}: must not be empty"
    elif kind != "boolean" and not schema.get("minimum", float("-inf")) <= value <= schema.get("maximum", float("inf")):
        yield f"{place}: {value} is out of bounds"  # NaN lies within none


def _object_faults(value: dict[str, Any], schema: Schema, place: str) -> Iterator[str]:
    properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place}.{name}: is missing"
    for name, item in value.items():
        if name in properties:
            yield from _faults(item, properties[name], f"{place}.{name}")
        elif more is False:
            yield f"{place}.{name}: is no field of a card"
        elif isinstance(more, dict):
            yield from _faults(item, more, f"{place}.{name}")


def _none_fits(value: Any, choices: Sequence[Schema], place: str) -> Iterator[str]:
    """Nothing when one of the choices fits; else what is wrong for the first, which is the one with a value."""
    found = [list(_faults(value, choice, place)) for choice in choices]
    if all(found):
        yield from found[0]


def _resolved(schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Schema = CARD["$defs"][schema["$ref"].rpartition("/")[2]]
    return found
