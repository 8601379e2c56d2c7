"""What dialogs are made of. Every key of theirs is in the table of keys, where Textual's own widgets bring keys of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Static

from beaver_tui.keymap import NOT_IN_DIALOGS, bindings, shown_keys
from beaver_tui.widgets.strips import pane_sign

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer], inherit_bindings=False):
    """Lies over a screen, which hears nothing meanwhile. Help, the palette and the way out are there as everywhere."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("app", without=NOT_IN_DIALOGS)


class Field(Input, inherit_bindings=False):
    """One line to type in: Textual's keys for editing, but enter is in the table of keys. Low, and with a cursor that stands."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(binding for binding in Input.BINDINGS if isinstance(binding, Binding) and binding.action != "submit"),
        *bindings("field"),
    ]

    def on_mount(self) -> None:
        self.cursor_blink = False


class Act(Button, inherit_bindings=False):
    """A button that names the key for what it does. ``action`` is an id of the table of keys, whose dialog acts on it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("button")]

    def __init__(self, words: str, action: str, **options: object) -> None:
        label = Content(f"{words} ({shown_keys(action)})")  # a key may be a bracket
        super().__init__(label, id=action.rpartition(".")[2], **options)  # type: ignore[arg-type]


class Choices(OptionList, inherit_bindings=False):
    """A list to choose from; which key takes a row is the dialog's."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    def action_move(self, by: int) -> None:
        if by > 0:
            self.action_cursor_down()
        else:
            self.action_cursor_up()

    def action_page(self, by: int) -> None:
        if by > 0:
            self.action_page_down()  # type: ignore[no-untyped-call]
        else:
            self.action_page_up()  # type: ignore[no-untyped-call]

    def action_top(self) -> None:
        self.action_first()

    def action_bottom(self) -> None:
        self.action_last()


class Reading(VerticalScroll, inherit_bindings=False):
    """Text that is longer than its dialog; the dialog has the keys that scroll it."""


class Setting(Static, can_focus=True):
    """One of a few values, on one line: ``‹ value ›``. ``values`` are pairs of a value and the words for it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("setting")]

    DEFAULT_CSS = """
    Setting { height: 1; background: $surface; padding: 0 1; }
    Setting:focus { background: $primary 40%; text-style: bold; }
    """

    def __init__(self, values: Sequence[tuple[str, str]], value: str, **options: object) -> None:
        """``value`` is one of them; else the first is meant."""
        super().__init__(**options)  # type: ignore[arg-type]
        self._values = list(values)
        names = [name for name, _ in self._values]
        self._at = names.index(value) if value in names else 0

    @property
    def value(self) -> str:
        return self._values[self._at][0]

    def on_mount(self) -> None:
        self._draw()

    def action_turn(self, by: int) -> None:
        self._at = (self._at + by) % len(self._values)
        self._draw()

    def on_click(self, event: events.Click) -> None:
        self.action_turn(1)

    def _draw(self) -> None:
        self.update(Text(f"{pane_sign('said')} {self._values[self._at][1]} {pane_sign('cut')}", no_wrap=True))
