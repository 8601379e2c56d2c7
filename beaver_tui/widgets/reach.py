"""Which actions can be pressed where the focus is: help, the palette and the keys themselves agree because all ask here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from textual.screen import Screen
from textual.widget import Widget

from beaver_tui.keymap import KEYS, Key

if TYPE_CHECKING:
    from textual.app import App


def keys_here(app: App[Any], screen: Screen[Any], focused: Widget | None) -> list[Key]:
    """The actions that reach from the pane in focus outwards, the nearest first, each once. A dialog ends the way: what lies
    below it hears nothing."""
    names = [name for node in _nodes(screen, focused) for name in _bound_by(type(node))]
    if not screen.is_modal:
        names += _bound_by(type(app))
    known = {key.id: key for key in KEYS}
    return [known[name] for name in dict.fromkeys(names) if name in known]


async def run_key(app: App[Any], key: Key, screen: Screen[Any], focused: Widget | None) -> None:
    """Do what a key does, as if it had been pressed with ``focused`` in focus."""
    taker = next((node for node in _nodes(screen, focused) if key.id in _bound_by(type(node))), app)
    await app.run_action(key.action, default_namespace=taker)


def _nodes(screen: Screen[Any], focused: Widget | None) -> Iterator[Widget]:
    node: object = focused
    while isinstance(node, Widget) and node is not screen:
        yield node
        node = node.parent
    yield screen


def _bound_by(kind: type) -> list[str]:
    """The ids of the actions that a widget, a screen or the app binds."""
    found = (getattr(binding, "id", None) for base in kind.__mro__ for binding in base.__dict__.get("BINDINGS", ()))
    return [name for name in found if name]
