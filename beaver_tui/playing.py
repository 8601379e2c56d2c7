"""The live runs that this process plays: how they begin, go on when their screen is left, and end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from beaver_tui.opened import Opened, open_live
from beaver_tui.widgets.inorder import KeysInOrder
from beaver_tui.wish import Wish
from engine.errors import BeaverError
from engine.rundir import Cell, fresh_folder

if TYPE_CHECKING:
    from beaver_tui.live.live import LiveRun
    from engine.harness.examine import Harness


SLOW_SECONDS = 6.0
STILL = "still preparing the device; the CPU device's runtime is built once for every version, which takes a minute"
"""Said when a run takes longer to begin than SLOW_SECONDS: the first time on the CPU device it does."""


class Playing(KeysInOrder):
    """``live`` holds them all, over or not. What plays them is imported when the first one begins: the first frame must not wait
    for it."""

    def __init__(self, runs: Path) -> None:
        """``runs`` is the folder in which new runs begin."""
        super().__init__()
        self._runs = runs
        self.live: list[Opened] = []
        self._playing: set[asyncio.Task[None]] = set()

    def show_opened(self, opened: Opened, *, replace: bool = False) -> None:
        """A trajectory in the workbench; with ``replace`` in the place of the one that is shown."""
        raise NotImplementedError

    # beginning

    def start(self, wish: Wish) -> None:
        """Begin the live run that was asked for and show it. A wish that cannot be granted comes back as a form, which says what
        is wrong with it."""
        self.run_worker(self._begin(wish), exclusive=False)

    async def _begin(self, wish: Wish) -> None:
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
        self.notify(f"beginning {wish.task} with {wish.fixer} ...", markup=False)
        slow = self.set_timer(SLOW_SECONDS, lambda: self.notify(STILL, markup=False, timeout=30))
        try:
            live = await asyncio.to_thread(start_live, options, warn=self.warn, mode=wish.mode)
        except BeaverError as error:
            self.ask_for_run(wish, str(error))
            return
        finally:
            slow.stop()
        self.play(live)

    def ask_for_run(self, wish: Wish | None = None, problem: str = "") -> None:
        """The form of a new run; what is asked for there begins."""
        from beaver_tui.screens.newrun import NewRun

        def asked(wish: Wish | None) -> None:
            if wish is not None:
                self.start(wish)

        self.push_screen(NewRun(wish, problem), asked)

    def fresh_run(self, name: str) -> Path:
        """A new folder for a run that this app begins, beside those that it lists."""
        return fresh_folder(name[:60], self._runs)

    def warn(self, text: str) -> None:
        """Tell a person something that need not be acted on. May be called from any thread."""
        self.call_later(lambda: self.notify(text, severity="warning", markup=False, timeout=8))

    # playing

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

    @property
    def going_on(self) -> list[Opened]:
        """Those that are not over."""
        return [opened for opened in self.live if opened.going_on]

    def live_of(self, run: Path, cell: Cell) -> Opened | None:
        """The live run of this process that plays a cell."""
        for opened in self.going_on:
            if opened.run.path.resolve() == run.resolve() and opened.cell == cell:
                return opened
        return None

    @asynccontextmanager
    async def harness_of(self, opened: Opened) -> AsyncIterator[Harness]:
        """The harness of a live run, or one of its own for a stored trajectory, on the kind of device it was made on."""
        from engine.local import local_harness

        if opened.live is not None and not opened.live.over:
            yield opened.live.harness
        else:
            with await asyncio.to_thread(local_harness, opened.run.record.device.wish) as harness:
                yield harness

    # ending

    def cancel_all(self) -> None:
        """Kill what runs; every journal resumes."""
        for opened in self.going_on:
            if opened.live is not None:
                opened.live.cancel()

    async def all_over(self, seconds: float = 10) -> None:
        """Wait until what was cancelled has ended, at most so long."""
        if self._playing:
            await asyncio.wait(set(self._playing), timeout=seconds)
