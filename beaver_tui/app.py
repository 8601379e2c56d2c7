"""The app: screens, themes, keys. What the screens show is folded elsewhere; nothing is decided here.

Screens, and what plays live runs, are imported where they are first shown: the first frame must not wait for them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widgets import Input

from beaver_tui import glyphs
from beaver_tui.editor import EditorLauncher
from beaver_tui.keymap import bindings, shown_keys, use_keymap
from beaver_tui.linefilters import AsciiLines, HarmlessLines
from beaver_tui.opened import Opened, open_stored
from beaver_tui.palette import Actions, Palette
from beaver_tui.playing import Playing
from beaver_tui.screens.help import Help
from beaver_tui.screens.modals import Confirm
from beaver_tui.screens.runs import Runs
from beaver_tui.state.told import KEPT, Told
from beaver_tui.state.visible import visible_output
from beaver_tui.themes import STYLE_SHEET, builtin_themes, themes_folder
from beaver_tui.userkeys import read_keymap
from beaver_tui.widgets.plainbars import use_plain_bars
from beaver_tui.widgets.reach import keys_here
from beaver_tui.wish import Wish
from engine.errors import BeaverError
from engine.rundir import Cell, RunDirectory


@runtime_checkable
class Stoppable(Protocol):
    """A screen that may have asked for something beside the run."""

    def stop_asking(self) -> str:
        """Stop it; says what it was, empty when nothing was."""


@dataclass(frozen=True)
class Start:
    """What the app opens with: nothing (the home screen), a run (``cell`` None: its matrix), or a live run."""

    runs: Path = field(default_factory=lambda: Path("runs"))
    run: Path | None = None
    cell: Cell | None = None
    wish: Wish | None = None


@dataclass(frozen=True)
class Preferences:
    """How it looks and what keys it heeds."""

    theme: str = "lodge"
    ascii: bool = False
    keymap: Path | None = None


class BeaverApp(Playing):
    """``told`` holds what was told so far, the newest messages last."""

    TITLE = "beaver-tui"
    CSS_PATH = str(themes_folder() / STYLE_SHEET)
    BINDINGS = bindings("app")
    COMMANDS = {Actions}
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self, start: Start, preferences: Preferences | None = None, editor: EditorLauncher | None = None
    ) -> None:
        super().__init__(start.runs)
        self._start, self._preferences = start, preferences or Preferences()
        self.editor = editor or EditorLauncher()
        self.told: deque[Told] = deque(maxlen=KEPT)
        self._asked: Confirm | None = None
        """The question whether to leave, once it was asked."""
        glyphs.use_ascii(self._preferences.ascii)
        use_plain_bars(self._preferences.ascii)
        self.set_class(self._preferences.ascii, "-ascii")
        self._line_filters = [HarmlessLines(), *([AsciiLines()] if self._preferences.ascii else [])]
        self.animation_level = "none"

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._line_filters]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """What the style sheet names must be known before the first theme is, and in themes that are not ours."""
        return dict(builtin_themes()[0].variables)

    def on_mount(self) -> None:
        for theme in builtin_themes():
            self.register_theme(theme)
        self.theme = self._preferences.theme
        if self._preferences.keymap is not None:
            keys = read_keymap(self._preferences.keymap)
            use_keymap(keys)
            self.set_keymap(keys)
        start = self._start
        self.push_screen(Runs(start.runs))
        if start.run is not None and start.cell is not None:
            self._guarded(lambda: self.show_opened(open_stored(RunDirectory(start.run), start.cell)))  # type: ignore[arg-type]
        elif start.run is not None:
            self.show_sweep(start.run)
        elif start.wish is not None:
            self.start(start.wish)

    def _guarded(self, act: Callable[[], object]) -> None:
        """Do it; an error that a user can act on is told and nothing falls over."""
        try:
            act()
        except BeaverError as error:
            self.notify(str(error), severity="error", markup=False, timeout=12)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """A message may name what came from outside: it is harmless text, and never markup, whatever is asked for."""
        message = visible_output(message)
        self.told.append(Told(message, severity))
        if severity == "error":
            title = title or f"error: {shown_keys('app.messages')} shows it again"
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=False)

    # screens

    def show_opened(self, opened: Opened, *, replace: bool = False) -> None:
        """A trajectory in the workbench; with ``replace`` in the place of the one that is shown."""
        from beaver_tui.screens.workbench import Workbench

        screen = Workbench(opened)
        if replace:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def show_sweep(self, run: Path) -> None:
        from beaver_tui.screens.sweep import Sweep
        from beaver_tui.state.matrix import SweepView

        self._guarded(lambda: self.push_screen(Sweep(SweepView(RunDirectory(run)))))

    def show_comparison(self, left: Opened, right: Opened) -> None:
        from beaver_tui.screens.compare import Compare

        self.push_screen(Compare(left, right))

    def show_in_pager(self, content: bytes) -> None:
        if complaint := self.editor.page(content, self.suspend):
            self.notify(complaint, severity="warning", markup=False)

    def _fatal_error(self) -> None:
        """As Textual's, but without the variables of every frame: they may hold a key or a prompt, and end in a bug report."""
        from rich.segment import Segments
        from rich.traceback import Traceback

        self.bell()
        traceback = Traceback(show_locals=False, width=None)
        self._exit_renderables.append(Segments(self.console.render(traceback, self.console.options)))
        self._close_messages_no_wait()

    # keys

    def action_help_keys(self) -> None:
        """Help, or back from it."""
        screen = self.screen
        if isinstance(screen, Help):
            screen.action_leave()
        else:
            self.push_screen(Help(keys_here(self, screen, screen.focused)))

    def action_messages(self) -> None:
        """What was told so far, or back from it."""
        from beaver_tui.screens.messages import Messages

        screen = self.screen
        if isinstance(screen, Messages):
            screen.action_leave()
        else:
            self.push_screen(Messages(self.told))

    def action_go_back(self) -> None:
        screen = self.screen
        if isinstance(screen, Runs):
            if not screen.leave_field():
                self.action_leave()
        elif len(self.screen_stack) > 2:
            self.pop_screen()

    def action_leave(self) -> None:
        """Leave; while a run is live only after a yes. Its journal can always be gone on with."""
        going_on = self.going_on
        if not going_on:
            self.exit()
            return
        names = ", ".join(str(opened.cell) for opened in going_on)
        question = (
            f"Live: {names}.\nLeave and kill what runs? Each can be gone on with: beaver-tui --batch --resume RUN"
        )
        if self._asked is None or self.screen is not self._asked:
            self._asked = Confirm(question, "Leave", "Stay")
            self.push_screen(self._asked, self._leave_if)

    def _leave_if(self, yes: bool | None) -> None:
        if yes:
            self.cancel_all()
            self.run_worker(self._leave_when_over())

    async def _leave_when_over(self) -> None:
        await self.all_over()
        self.exit()

    def action_interrupt(self) -> None:
        """Copy a selection where there is one; else stop what was asked of a candidate, else the live run on show: after its
        step, then at once."""
        screen, focused = self.screen, self.focused
        if isinstance(focused, Input) and focused.selected_text:
            focused.action_copy()
            return
        if screen.get_selected_text():
            screen.action_copy_text()
            return
        shown = next(screen for screen in reversed(self.screen_stack) if not screen.is_modal)  # below any dialog
        if isinstance(shown, Stoppable) and (what := shown.stop_asking()):
            self.notify(f"stopped {what}")
            return
        opened: Opened | None = getattr(shown, "opened", None)
        live = opened.live if opened is not None else None
        if live is None or live.over:
            self.notify(f"nothing is live here; {shown_keys('app.quit')} leaves")
        elif live.stopping:
            live.cancel()
            self.notify("killed what was running")
        else:
            live.stop()
            self.notify(f"stopping after the running step; {shown_keys('app.interrupt')} once more kills it")

    def action_next_theme(self) -> None:
        names = [theme.name for theme in builtin_themes()]
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def get_system_commands(self, screen: Screen[object]) -> Iterator[object]:  # type: ignore[override]
        """None: the palette holds the table of keys, and nothing that is not in help."""
        yield from ()

    def on_unmount(self) -> None:
        self.cancel_all()


def user_keymap() -> Path | None:
    """keymap.yaml in the user's config folder, None when there is none."""
    base = os.environ.get("XDG_CONFIG_HOME")
    folder = Path(base) if base else Path.home() / ".config"
    path = folder / "beaver-tui" / "keymap.yaml"
    with suppress(OSError):
        if path.is_file():
            return path
    return None
