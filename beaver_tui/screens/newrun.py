"""What a new live run needs: a task, a fixer, a mode, and the few axes that people change."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Button, Label, Static

from beaver_tui.keymap import bindings
from beaver_tui.state.visible import visible_output
from beaver_tui.widgets.dialog import Act, Dialog, Field, Setting
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.wish import Mode, Wish
from engine.local import builtin_tasks
from engine.protocol import Feedback

_MODES = {
    "auto": "auto: the fixer goes on by itself",
    "confirm": "confirm: each candidate waits for a yes",
    "human": "human: you are the fixer",
}

_TASK = "an id, such as softmax_rows; the right arrow completes it"


class NewRun(Dialog[Wish | None]):
    """Fields with the defaults in them, or with a ``wish`` that could not be granted; the ``problem`` is said below, and nothing
    starts while there is one. Fits 80 by 24; what a smaller terminal has no room for scrolls into view with the focus."""

    BINDINGS = bindings("newrun")

    def __init__(self, wish: Wish | None = None, problem: str = "") -> None:
        super().__init__()
        self._wish, self._said = wish or Wish(task=""), problem

    def compose(self) -> ComposeResult:
        wish = self._wish
        tasks = SuggestFromList(sorted(builtin_tasks()), case_sensitive=False)
        with Vertical(classes="dialog wide form"):
            yield Label("A new live run", classes="title")
            yield from _row("task", Field(wish.task, _TASK, compact=True, id="task", suggester=tasks))
            yield from _row("corpus", Field(wish.corpus or "", "built-in: or a folder", compact=True, id="corpus"))
            yield from _row("fixer", Field(wish.fixer, compact=True, id="fixer"))
            yield from _hint("scripted:good, human:FOLDER, chat:MODEL@URL, replay:RUN")
            yield from _row("mode", Setting(list(_MODES.items()), wish.mode, id="mode"))
            yield from _row(
                "device", Field(wish.device or "", "auto: or cuda, cuda:1, cpu, none", compact=True, id="device")
            )
            k = "" if wish.k is None else str(wish.k)
            yield from _row("K", Field(k, "5: iterations", compact=True, id="k", type="integer"))
            levels = [(level.value, level.value) for level in Feedback]
            yield from _row("feedback", Setting(levels, wish.feedback or Feedback.L3.value, id="feedback"))
            yield Static(id="problem")
            with Horizontal(classes="buttons"):
                yield Act("Start", "newrun.start", variant="primary")
                yield Act("Leave", "newrun.leave")
            yield KeyLine()

    def on_mount(self) -> None:
        self._complain(self._said)
        self.set_focus(self.query_one("#task"))

    def _complain(self, problem: str) -> None:
        shown = self.query_one("#problem", Static)
        shown.update(Text(visible_output(problem)))
        if problem:
            self.call_after_refresh(shown.scroll_visible, animate=False)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "start":
            self.action_start()
        else:
            self.action_leave()

    def on_input_submitted(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        task, corpus, fixer, device, k = (
            self.query_one(f"#{name}", Field).value.strip() for name in ("task", "corpus", "fixer", "device", "k")
        )
        mode, feedback = (self.query_one(f"#{name}", Setting).value for name in ("mode", "feedback"))
        problem = ""
        if not task:
            problem = "which task? beaver-tui tasks lists them"
        elif not fixer:
            problem = "which fixer?"
        elif k and (not k.isdigit() or int(k) < 1):
            problem = "K must be a number from 1 on"
        if problem:
            self._complain(problem)
            return
        asked: Mode = mode if mode in get_args(Mode) else "auto"  # type: ignore[assignment]
        count = int(k) if k else None
        self.dismiss(
            Wish(
                task,
                fixer,
                asked,
                _folder(corpus),
                device or None,
                count,
                feedback,
                self._wish.config,
            )
        )

    def action_leave(self) -> None:
        self.dismiss(None)


def _folder(words: str) -> str | None:
    """The folder that was typed. A home that there is none of is left for whoever opens it to tell."""
    try:
        return str(Path(words).expanduser()) if words else None
    except RuntimeError:
        return words


def _row(name: str, widget: Widget) -> ComposeResult:
    with Horizontal(classes="row"):
        yield Label(name)
        yield widget


def _hint(words: str) -> ComposeResult:
    with Horizontal(classes="row"):
        yield Label("")
        yield Static(words, classes="hint", markup=False)
