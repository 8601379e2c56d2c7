"""What a new live run needs: a task, a fixer, a mode, and the few axes that people change."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label, Select, Static

from beaver_tui.wish import Mode, Wish
from engine.local import builtin_tasks
from engine.protocol import Feedback


class NewRun(ModalScreen[Wish | None]):
    """Fields with the defaults in them; what is wrong is said below, and nothing starts."""

    BINDINGS = [Binding("escape", "leave", "leave"), Binding("ctrl+s", "start", "start")]

    def __init__(self, wish: Wish | None = None) -> None:
        super().__init__()
        self._wish = wish or Wish(task="")

    def compose(self) -> ComposeResult:
        wish = self._wish
        tasks = sorted(builtin_tasks())
        with VerticalScroll(classes="dialog wide form"):
            yield Label("A new live run")
            yield Label("task (its id; tab completes)")
            yield Input(
                wish.task, placeholder="softmax_rows", id="task", suggester=SuggestFromList(tasks, case_sensitive=False)
            )
            yield Label("fixer: scripted:good, human:FOLDER, chat:MODEL@URL, replay:RUN")
            yield Input(wish.fixer, id="fixer")
            yield Label("mode")
            modes = [(words, name) for name, words in _MODES.items()]
            yield Select(modes, value=wish.mode, allow_blank=False, id="mode")
            yield Label("device (auto, cuda, cpu, none), iterations K, feedback level")
            with Horizontal(classes="row"):
                yield Input(wish.device or "", placeholder="auto", id="device")
                yield Input("" if wish.k is None else str(wish.k), placeholder="5", id="k", type="integer")
                levels = [(level.value, level.value) for level in Feedback]
                yield Select(levels, value=wish.feedback or Feedback.L3.value, allow_blank=False, id="feedback")
            yield Static(id="problem")
            with Horizontal(classes="buttons"):
                yield Button("Start (ctrl+s)", id="start", variant="primary")
                yield Button("Leave (esc)", id="leave")

    def on_mount(self) -> None:
        for field in self.query(Input):
            field.cursor_blink = False
        self.query_one("#task", Input).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "start":
            self.action_start()
        else:
            self.action_leave()

    def on_input_submitted(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        task, fixer, device, k = (
            self.query_one(f"#{name}", Input).value.strip() for name in ("task", "fixer", "device", "k")
        )
        problem = ""
        if not task:
            problem = "which task? beaver-tui tasks lists them"
        elif not fixer:
            problem = "which fixer?"
        elif k and (not k.isdigit() or int(k) < 1):
            problem = "K must be a number from 1 on"
        if problem:
            self.query_one("#problem", Static).update(problem)
            return
        mode: Mode = self.query_one("#mode", Select).value  # type: ignore[assignment]
        feedback = str(self.query_one("#feedback", Select).value)
        wish = Wish(
            task, fixer, mode, self._wish.corpus, device or None, int(k) if k else None, feedback, self._wish.config
        )
        self.dismiss(wish)

    def action_leave(self) -> None:
        self.dismiss(None)


_MODES = {
    "auto": "auto: the fixer goes on by itself",
    "confirm": "confirm: each candidate waits for a yes",
    "human": "human: you are the fixer",
}
