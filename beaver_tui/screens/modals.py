"""Small questions over a screen: yes or no, a line of text, one of a list."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label
from textual.widgets.option_list import Option

from beaver_tui.keymap import bindings
from beaver_tui.state.visible import visible_output
from beaver_tui.widgets.dialog import Act, Choices, Dialog, Field
from beaver_tui.widgets.keyline import KeyLine


class Confirm(Dialog[bool]):
    """Yes or no; no is what escape means, and has the focus."""

    BINDINGS = bindings("confirm")

    def __init__(self, question: str, yes: str = "Yes", no: str = "No") -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(Text(visible_output(self._question)))
            with Horizontal(classes="buttons"):
                yield Act(self._yes, "confirm.yes", variant="warning")
                yield Act(self._no, "confirm.no", variant="primary")

    def on_mount(self) -> None:
        self.set_focus(self.query_one("#no"))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


class Ask(Dialog[str | None]):
    """One line of text; None when it was left. ``text`` is there already."""

    BINDINGS = bindings("ask")

    def __init__(self, question: str, text: str = "", placeholder: str = "") -> None:
        super().__init__()
        self._question, self._text, self._placeholder = question, text, placeholder

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(Text(visible_output(self._question)))
            yield Field(self._text, placeholder=self._placeholder)
            yield KeyLine()

    def on_mount(self) -> None:
        self.set_focus(self.query_one(Field))  # at once: focus() comes later, and the next key is for the field

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def action_leave(self) -> None:
        self.dismiss(None)


class Choose(Dialog[int | None]):
    """One of several lines; the index of it, None when it was left."""

    BINDINGS = bindings("choose")

    def __init__(self, question: str, choices: Sequence[str | Text], selected: int = 0) -> None:
        super().__init__()
        self._question, self._choices, self._selected = question, choices, selected

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield Label(Text(visible_output(self._question)))
            texts = [choice if isinstance(choice, Text) else Text(visible_output(choice)) for choice in self._choices]
            yield Choices(*(Option(text) for text in texts))
            yield KeyLine()

    def on_mount(self) -> None:
        options = self.query_one(Choices)
        options.highlighted = self._selected if self._choices else None
        self.set_focus(options)

    def on_option_list_option_selected(self, event: Choices.OptionSelected) -> None:
        self.dismiss(event.option_index)

    def action_take(self) -> None:
        self.query_one(Choices).action_select()

    def action_leave(self) -> None:
        self.dismiss(None)
