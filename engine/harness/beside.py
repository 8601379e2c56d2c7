"""The program with line tables, in a workspace of its own, for the sanitizer alone: built side by side with the first build.

Where the first build has line tables already (the CPU device, whose times count for nothing), what it left is taken over. Else the
second build begins with the first where a processor is free for it, so that memcheck follows the test at once; it is killed for a
candidate that does not build, or about which memcheck has nothing to say.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import TracebackType

from engine import events as ev
from engine.harness.aside import aside, in_thread
from engine.harness.backends import Command
from engine.harness.builds import Builds
from engine.harness.process import Ended
from engine.harness.step import StepRunner
from engine.harness.workspace import Workspace

STEP = "sanitizer-build"

_LINES = "-lineinfo"


def with_lines(command: Command) -> Command:
    """The build with line tables: the command itself where the device wants them in every build."""
    return command if _LINES in command.flags else command.with_lines()


class SecondBuild:
    """``make`` gives a fresh workspace, ``wall`` bounds the build in seconds. To be used as a context: at its end whatever still
    runs is dead and the workspace is gone.

    Events and logs of the second build appear when it is asked for: of one that nobody needed there are none.
    """

    def __init__(
        self, steps: StepRunner, builds: Builds, make: Callable[[], Workspace], command: Command, wall: float
    ) -> None:
        self._steps, self._builds, self._make, self._wall = steps, builds, make, wall
        self._command = with_lines(command)
        self._is_the_first = self._command == command
        self._own = StepRunner(steps.stand, steps.iteration, self._emit, self._save_log)
        self._building: asyncio.Task[Ended] | None = None
        self._workspace: Workspace | None = None
        self._wanted = False
        self._events: list[ev.Event] = []
        self._logs: list[tuple[str, str]] = []

    async def __aenter__(self) -> SecondBuild:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.shield(asyncio.ensure_future(self._end()))  # a second cancellation must leave nothing

    async def _end(self) -> None:
        try:
            if self._building is not None:
                self._building.cancel()
                await asyncio.wait({self._building})
                if not self._building.cancelled():
                    self._building.exception()  # asked for, so that asyncio does not complain: nobody needed the build
        finally:
            if self._workspace is not None:
                await asyncio.get_running_loop().run_in_executor(None, self._workspace.close)

    def begin(self) -> None:
        """Build beside the first, where the first does not serve and a processor is free."""
        if not self._is_the_first and self._builds.take_place_beside():
            self._start().add_done_callback(lambda _: self._builds.leave_place_beside())

    async def take_over(self, first: Workspace) -> None:
        """Have what the first build left, where it serves: before a test changes it."""
        if self._is_the_first:
            self._workspace = self._make()
            await in_thread(self._workspace.become, first)

    async def result(self) -> Workspace | None:
        """The workspace with the program, None when that does not build. Raises what the build raises."""
        if self._is_the_first:
            return self._workspace
        building = self._building or self._start()
        began = time.monotonic()
        self._wanted = True
        self._tell()
        ended = await asyncio.shield(building)
        self._steps.spent += time.monotonic() - began
        for step, text in self._logs:
            await aside(len(text), self._steps.save_log, step, text)
        self._steps.tampered += self._own.tampered
        return self._workspace if ended.exit_code == 0 else None

    def _start(self) -> asyncio.Task[Ended]:
        self._building = asyncio.ensure_future(self._build())
        return self._building

    async def _build(self) -> Ended:
        self._workspace = self._make()
        return await self._builds.make(self._own, self._workspace, STEP, self._command, self._wall)

    def _emit(self, event: ev.Event) -> None:
        self._events.append(event)
        if self._wanted:
            self._tell()

    def _tell(self) -> None:
        for event in self._events:
            self._steps.emit(event)
        self._events.clear()

    def _save_log(self, step: str, text: str) -> None:
        self._logs.append((step, text))
