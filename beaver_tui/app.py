"""The app: screens, themes, keys. What the screens show is folded elsewhere; nothing is decided here.

Screens, and what plays live runs, are imported where they are first shown: the first frame must not wait for them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widget import Widget

from beaver_tui import glyphs
from beaver_tui.editor import EditorLauncher
from beaver_tui.keymap import Key, bindings, shown_keys, use_keymap
from beaver_tui.linefilters import AsciiLines, HarmlessLines
from beaver_tui.opened import Opened, open_live, open_stored
from beaver_tui.palette import Actions
from beaver_tui.screens.help import Help
from beaver_tui.screens.modals import Confirm
from beaver_tui.screens.runs import Runs
from beaver_tui.state.visible import visible_output
from beaver_tui.themes import STYLE_SHEET, builtin_themes, themes_folder
from beaver_tui.userkeys import read_keymap
from beaver_tui.widgets.plainbars import use_plain_bars
from beaver_tui.wish import Wish
from engine.errors import BeaverError
from engine.rundir import Cell, RunDirectory, fresh_folder

if TYPE_CHECKING:
    from beaver_tui.live.live import LiveRun
    from engine.harness.examine import Harness


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


class BeaverApp(App[None]):
    """``live`` holds the runs that this process plays, over or not; they go on when their screen is left."""

    TITLE = "beaver-tui"
    CSS_PATH = str(themes_folder() / STYLE_SHEET)
    BINDINGS = bindings("app")
    COMMANDS = {Actions}
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self, start: Start, preferences: Preferences | None = None, editor: EditorLauncher | None = None
    ) -> None:
        super().__init__()
        self._start, self._preferences = start, preferences or Preferences()
        self.editor = editor or EditorLauncher()
        self.live: list[Opened] = []
        self._playing: set[asyncio.Task[None]] = set()
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
        super().notify(visible_output(message), title=title, severity=severity, timeout=timeout, markup=False)

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

    # live runs

    def start(self, wish: Wish) -> None:
        """Begin the live run that was asked for and show it; what is wrong with the wish is told."""
        self.run_worker(self._start_live(wish), exclusive=False)

    async def _start_live(self, wish: Wish) -> None:
        from beaver_tui.live.start import start_live
        from engine.sweep.opening import Options

        options = Options(
            corpus=wish.corpus,
            tasks=(wish.task,),
            fixers=(wish.fixer,),
            device=wish.device,
            k=wish.k,
            feedback=wish.feedback,
            config=Path(wish.config) if wish.config else None,
            out=self.fresh_run(wish.fixer),
        )
        try:
            live = await asyncio.to_thread(start_live, options, warn=self.warn, mode=wish.mode)
        except BeaverError as error:
            self.notify(str(error), severity="error", markup=False, timeout=12)
            return
        self.play(live)

    def fresh_run(self, name: str) -> Path:
        """A new folder for a run that this app begins, beside those that it lists."""
        return fresh_folder(name[:60], self._start.runs)

    def play(self, live: LiveRun, *, replace: bool = False) -> Opened:
        """Play a live run in this loop and show it."""
        opened = open_live(live)
        self.live.append(opened)
        task = asyncio.create_task(self._play(live))
        self._playing.add(task)
        task.add_done_callback(self._playing.discard)
        self.show_opened(opened, replace=replace)
        return opened

    async def _play(self, live: LiveRun) -> None:
        try:
            await live.play()
        except BeaverError as error:
            self.notify(str(error), severity="error", markup=False, timeout=12)
        except asyncio.CancelledError:
            pass
        finally:
            live.close()

    def warn(self, text: str) -> None:
        """Tell a person something that need not be acted on. May be called from any thread."""
        self.call_later(lambda: self.notify(text, severity="warning", markup=False, timeout=8))

    @asynccontextmanager
    async def harness_of(self, opened: Opened) -> AsyncIterator[Harness]:
        """The harness of a live run, or one of its own for a stored trajectory, on the kind of device it was made on."""
        from engine.local import local_harness

        if opened.live is not None and not opened.live.over:
            yield opened.live.harness
        else:
            with await asyncio.to_thread(local_harness, opened.run.record.device.wish) as harness:
                yield harness

    def live_of(self, run: Path, cell: Cell) -> Opened | None:
        """The live run of this process that plays a cell."""
        for opened in self.live:
            if opened.run.path.resolve() == run.resolve() and opened.cell == cell and opened.going_on:
                return opened
        return None

    @property
    def going_on(self) -> list[Opened]:
        return [opened for opened in self.live if opened.going_on]

    def _fatal_error(self) -> None:
        """As Textual's, but without the variables of every frame: they may hold a key or a prompt, and end in a bug report."""
        from rich.segment import Segments
        from rich.traceback import Traceback

        self.bell()
        traceback = Traceback(show_locals=False, width=None)
        self._exit_renderables.append(Segments(self.console.render(traceback, self.console.options)))
        self._close_messages_no_wait()

    # keys

    def scopes_of(self, screen: Screen[object], focused: Widget | None) -> list[str]:
        """Where keys apply, from the pane in focus outwards."""
        scopes: list[str] = []
        node: object = focused
        while isinstance(node, Widget):
            scopes += _scopes_of_class(type(node))
            node = node.parent
        return list(dict.fromkeys([*scopes, *_scopes_of_class(type(screen)), "app"]))

    async def run_key(self, key: Key, screen: Screen[object], focused: Widget | None) -> None:
        """Do what a key does, as if it had been pressed with ``focused`` in focus."""
        name = key.action.partition("(")[0].rpartition(".")[2]
        node: object = focused
        while isinstance(node, Widget) and not isinstance(node, Screen):
            if key.scope in _scopes_of_class(type(node)) and hasattr(node, f"action_{name}"):
                await self.run_action(key.action, default_namespace=node)
                return
            node = node.parent
        await self.run_action(key.action, default_namespace=self if key.scope == "app" else screen)

    def action_help_keys(self) -> None:
        if not isinstance(self.screen, Help):
            self.push_screen(Help(self.scopes_of(self.screen, self.screen.focused)))

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
        self.push_screen(Confirm(question, "Leave", "Stay"), self._leave_if)

    def _leave_if(self, yes: bool | None) -> None:
        if yes:
            for opened in self.going_on:
                if opened.live is not None:
                    opened.live.cancel()
            self.run_worker(self._leave_when_over())

    async def _leave_when_over(self) -> None:
        if self._playing:
            await asyncio.wait(set(self._playing), timeout=10)
        self.exit()

    def action_interrupt(self) -> None:
        """Copy a selection where there is one; else stop the live run on show: after its step, then at once."""
        if self.screen.get_selected_text():
            self.screen.action_copy_text()
            return
        screen = self.screen
        opened: Opened | None = getattr(screen, "opened", None)
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

    def get_system_commands(self, screen: Screen[object]) -> Iterator[object]:  # type: ignore[override]
        """None: the palette holds the table of keys, and nothing that is not in help."""
        yield from ()

    def on_unmount(self) -> None:
        for opened in self.going_on:
            if opened.live is not None:
                opened.live.cancel()


def _scopes_of_class(kind: type) -> list[str]:
    """The scopes whose keys a widget or screen binds itself."""
    found: list[str] = []
    for base in kind.__mro__:
        for binding in base.__dict__.get("BINDINGS", ()):
            name = getattr(binding, "id", None)
            if name and "." in name:
                found.append(name.partition(".")[0])
    return list(dict.fromkeys(found))


def user_keymap() -> Path | None:
    """keymap.yaml in the user's config folder, None when there is none."""
    base = os.environ.get("XDG_CONFIG_HOME")
    folder = Path(base) if base else Path.home() / ".config"
    path = folder / "beaver-tui" / "keymap.yaml"
    with suppress(OSError):
        if path.is_file():
            return path
    return None
