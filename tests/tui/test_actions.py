"""Nothing that does nothing: every action of every screen, dialog and pane has its key, its words and its test, and the other way
round."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
from textual.app import App
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

import beaver_tui.app
import beaver_tui.screens
import beaver_tui.widgets
from beaver_tui.keymap import KEYS, Key
from beaver_tui.widgets.dialog import Dialog, Field
from beaver_tui.widgets.reach import _bound_by
from tests.support.workbench import PRESSED
from tests.tui import test_keys_dialogs, test_keys_live, test_keys_runs, test_keys_text, test_keys_workbench

_ = (
    test_keys_dialogs,
    test_keys_live,
    test_keys_runs,
    test_keys_text,
    test_keys_workbench,
)  # each says what it presses


def classes() -> list[type[DOMNode]]:
    """The app, and every screen and widget of ours."""
    modules = [beaver_tui.app, importlib.import_module("beaver_tui.playing")]
    for package in (beaver_tui.screens, beaver_tui.widgets):
        modules += [
            importlib.import_module(f"{package.__name__}.{found.name}")
            for found in pkgutil.iter_modules(package.__path__)
        ]
    found = {
        each
        for module in modules
        for each in vars(module).values()
        if inspect.isclass(each) and issubclass(each, DOMNode) and each.__module__ == module.__name__
    }
    return sorted(found, key=lambda each: each.__qualname__)


CLASSES = classes()
ACTIONS = [
    (each, name) for each in CLASSES for name in vars(each) if name.startswith("action_") and callable(vars(each)[name])
]
BY_ID = {key.id: key for key in KEYS}


def method(key: Key) -> str:
    return f"action_{key.action.partition('(')[0].rpartition('.')[2]}"


def takers(key: Key) -> list[type[DOMNode]]:
    """The classes on which a key is done."""
    binders = [each for each in CLASSES if key.id in _bound_by(each)]
    return [each for each in binders if issubclass(each, App)] if key.action.startswith("app.") else binders


@pytest.mark.parametrize(("kind", "name"), ACTIONS, ids=lambda each: each if isinstance(each, str) else each.__name__)
def test_every_action_has_a_key(kind: type[DOMNode], name: str):
    bound = {method(BY_ID[each]) for heir in CLASSES if issubclass(heir, kind) for each in _bound_by(heir)}
    assert name in bound


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.id)
def test_every_key_does_something(key: Key):
    found = takers(key)
    assert found, "a pane, a dialog or a screen binds it"
    assert [each.__name__ for each in found if not hasattr(each, method(key))] == []


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_binding_is_in_the_table(kind: type[DOMNode]):
    typing = {binding.action for binding in Input.BINDINGS} if kind is Field else set()  # type: ignore[union-attr]
    bindings = vars(kind).get("BINDINGS", ())
    assert [each for each in bindings if each.id not in BY_ID and each.action not in typing] == []


@pytest.mark.parametrize("kind", [each for each in CLASSES if issubclass(each, Screen)], ids=lambda kind: kind.__name__)
def test_help_and_the_palette_can_be_had_everywhere(kind: type[Screen[object]]):
    """From a screen through the app; from a dialog, which hears nothing from below, by bindings of its own."""
    here = _bound_by(kind) if issubclass(kind, Dialog) else [*_bound_by(kind), *_bound_by(beaver_tui.app.BeaverApp)]
    assert {"app.help", "app.palette", "app.quit", "app.messages"} <= set(here)
    assert kind.__name__ in ("Examining", "Steering", "Dialog") or len(here) > len(_bound_by(Dialog))


def test_what_lies_over_a_screen_is_a_dialog_with_help_of_its_own():
    assert [each.__name__ for each in CLASSES if issubclass(each, ModalScreen) and not issubclass(each, Dialog)] == []


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.id)
def test_every_action_has_a_test_that_presses_it(key: Key):
    assert PRESSED[key.id].startswith("test_")
