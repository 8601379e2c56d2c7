"""A user's own keys: ``keymap.yaml`` in the config folder maps ids to keys, ``workbench.fork: ctrl+f``.

Every mistake in it is told before the screen is taken: an id that does not exist, a key that no terminal sends, a key that two
actions would share where both can be pressed.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

from textual.keys import Keys, format_key

from beaver_tui.keymap import KEYS, NOT_IN_DIALOGS, Key
from engine.errors import ConfigError
from engine.yaml_file import read_yaml

SCREENS = ("runs", "workbench", "human", "compare", "sweep")
DIALOGS = ("proposal", "errors", "confirm", "choose", "ask", "newrun", "messages", "help")
"""Scopes of what lies over a screen: the screen hears nothing meanwhile."""

INSIDE: dict[str, tuple[str, ...]] = {
    "text": ("workbench", "human", "proposal", "compare", "messages"),
    "log": ("text",),
    "diff": ("text",),
    "list": ("runs", "sweep", "errors", "choose"),
    "table": ("runs", "sweep", "errors"),
    "field": ("runs", "ask", "newrun"),
    "button": ("confirm", "proposal", "newrun"),
    "setting": ("newrun",),
    **dict.fromkeys(SCREENS, ("app",)),
    **dict.fromkeys(DIALOGS, ("app",)),
}
"""The scopes in which a scope can lie: the nearest that knows a key takes it."""

MEANT: dict[tuple[str, str], str] = {
    (
        "proposal.accept",
        "text.copy",
    ): "y is yes to a candidate that waits; its lines can be copied once it is in the timeline",
    ("human.submit", "log.choose"): "enter hands the file in from every pane, as the screen says",
    ("field.take", "runs.open"): "enter in the filter goes back to the list, and opens a row only there",
    ("field.take", "newrun.start"): "enter in a field starts the run, as it does beside the fields",
    ("button.press", "newrun.start"): "enter on a button presses that button",
}
"""Keys that two actions have where both can be pressed, on purpose: (the one that has it, the one that goes without), and why."""


def around(scope: str) -> set[str]:
    """Every scope that can lie around one."""
    found = set(INSIDE.get(scope, ()))
    for outer in INSIDE.get(scope, ()):
        found |= around(outer)
    return found


def conflicts(keys: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Each key that two actions have where both can be pressed: key, the action that has it, the one that goes without.
    ``keys``: what a user changes, by id."""
    pressed = [(key, part) for key in KEYS for part in _parts(keys.get(key.id, key.keys))]
    for one, key in pressed:
        for other, same in pressed:
            if key == same and (_reached_from(one, other) or (other.scope == one.scope and _before(one, other))):
                has, lacks = (other, one) if other.priority else (one, other)
                if (has.id, lacks.id) not in MEANT:
                    yield key, has.id, lacks.id


def _reached_from(inner: Key, outer: Key) -> bool:
    """Whether the outer action could be pressed where the inner one can."""
    return outer.scope in around(inner.scope) and not (inner.scope in DIALOGS and outer.id in NOT_IN_DIALOGS)


def _before(one: Key, other: Key) -> bool:
    return KEYS.index(one) < KEYS.index(other)


def _parts(keys: str) -> list[str]:
    return [_long(part.strip()) for part in keys.split(",")]


def _long(key: str) -> str:
    """ "?" is question_mark in a table: the names of both are one key."""
    head, plus, last = key.rpartition("+")
    if len(last) == 1 and not last.isalnum():
        last = unicodedata.name(last).lower().replace("-", "_").replace(" ", "_")
    return f"{head}{plus}{_NAMES.get(last, last)}"


_NAMES = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""Names of characters that differ from those of keys."""


def read_keymap(path: Path) -> dict[str, str]:
    """A user's keys by id. Raises ConfigError that names the file and what is wrong in it, with what is near it."""
    content = read_yaml(path, str(path))
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(keys, str) and keys.strip() for keys in content.values()):
        raise ConfigError(f"{path}: must map ids to keys, such as workbench.fork: ctrl+f")
    keys = {str(name): ",".join(_parts(keys)) for name, keys in content.items()}
    known = {key.id for key in KEYS}
    for name, wanted in keys.items():
        if name not in known:
            raise ConfigError(f"{path}: {name}: no such action; {_near(name, known)}")
        for part in wanted.split(","):
            if not _is_key(part):
                raise ConfigError(f"{path}: {name}: {part}: no such key; write it as f5, ctrl+f, shift+left, ? or F")
    for key, has, lacks in conflicts(keys):
        raise ConfigError(f"{path}: {key}: {has} takes it from {lacks}; give one of them another key")
    return keys


def _near(name: str, known: set[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {near[0]}?" if near else "ids look like workbench.fork"


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+")
    if any(modifier not in ("ctrl", "shift", "alt", "super", "meta", "hyper") for modifier in modifiers):
        return False
    return last in _NAMED or len(format_key(last)) == 1


_NAMED = frozenset(key.value for key in Keys if "<" not in key.value)
