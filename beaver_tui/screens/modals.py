"""Small questions over a screen: yes or no, a line of text, one of a list."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, OptionList
from textual.widgets.option_list import Option

from beaver_tui.state.visible import visible_output


class Confirm(ModalScreen[bool]):
    """Yes or no; no is what escape means, and has the focus."""

    BINDINGS = [Binding("y", "answer(True)", "yes"), Binding("n,escape,q", "answer(False)", "no")]

    def __init__(self, question: str, yes: str = "Yes", no: str = "No") -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(Text(visible_output(self._question)))
            with Horizontal(classes="buttons"):
                yield Button(f"{self._yes} (y)", id="yes", variant="warning")
                yield Button(f"{self._no} (n)", id="no", variant="primary")

    def on_mount(self) -> None:
        self.set_focus(self.query_one("#no"))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


class Ask(ModalScreen[str | None]):
    """One line of text; None when it was left. ``text`` is there already."""

    BINDINGS = [Binding("escape", "leave", "leave")]

    def __init__(self, question: str, text: str = "", placeholder: str = "") -> None:
        super().__init__()
        self._question, self._text, self._placeholder = question, text, placeholder

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(Text(visible_output(self._question)))
            yield Input(self._text, placeholder=self._placeholder)

    def on_mount(self) -> None:
        field = self.query_one(Input)
        field.cursor_blink = False
        self.set_focus(field)  # at once: focus() comes later, and the next key is for the field

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def action_leave(self) -> None:
        self.dismiss(None)


class Choose(ModalScreen[int | None]):
    """One of several lines; the index of it, None when it was left."""

    BINDINGS = [Binding("escape,q", "leave", "leave"), Binding("j", "down", show=False), Binding("k", "up", show=False)]

    def __init__(self, question: str, choices: Sequence[str | Text], selected: int = 0) -> None:
        super().__init__()
        self._question, self._choices, self._selected = question, choices, selected

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide"):
            yield Label(Text(visible_output(self._question)))
            texts = [choice if isinstance(choice, Text) else Text(visible_output(choice)) for choice in self._choices]
            yield OptionList(*(Option(text) for text in texts))

    def on_mount(self) -> None:
        options = self.query_one(OptionList)
        options.highlighted = self._selected if self._choices else None
        self.set_focus(options)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_down(self) -> None:
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        self.query_one(OptionList).action_cursor_up()
