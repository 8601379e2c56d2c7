"""A program in a real terminal: a tmux server of its own, keys that go in, and the screen that comes out.

    with Terminal("replay", run) as terminal:
        terminal.wait_for("step 3 of 3")
        terminal.press("h")
        terminal.wait_for("step 2 of 3")

Every wait looks again and again until a deadline; nothing waits for a fixed time.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.support.program import PROGRAM
from tests.support.until import until

TMUX = shutil.which("tmux")

needs_tmux = pytest.mark.skipif(TMUX is None, reason="needs tmux")

PATIENCE = 60.0
"""Seconds that a screen may take: other work may go on on this machine."""

SETTINGS = """\
set -g remain-on-exit on
set -g remain-on-exit-format ""
set -g status off
set -g set-clipboard on
set -g allow-rename on
set -g escape-time 0
set -g history-limit 100000
set -g default-terminal screen-256color
"""
"""What has ended stays on the screen. The clipboard and the name of the window are what hostile text would get at."""

Seen = Callable[[str], object]


class Terminal:
    """``beaver-tui`` with ``arguments``, or another ``program``, in ``folder``. Ends with all its processes when it is left."""

    def __init__(
        self,
        *arguments: object,
        folder: Path | None = None,
        columns: int = 140,
        rows: int = 42,
        program: Iterable[str] = PROGRAM,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="terminal-"))  # a socket's name must be short
        (self._home / "tmux.conf").write_text(SETTINGS)
        self._command = [*program, *map(str, arguments)]
        self._size = ("-x", str(columns), "-y", str(rows))
        self._folder = folder
        self._environment = {"LANG": "C.UTF-8", "XDG_CONFIG_HOME": str(self._home / "config"), **(environment or {})}
        self.pid = 0
        """Of the program."""

    def __enter__(self) -> Terminal:
        words = [f"{name}={value}" for name, value in self._environment.items()]
        # what would be believed more than the terminal itself
        unset = [word for name in ("NO_COLOR", "COLUMNS", "LINES", "COLORTERM") for word in ("-u", name)]
        command = shlex.join(["exec", "env", *unset, *words, *self._command])
        place = ("-c", str(self._folder)) if self._folder else ()
        self.tmux("new-session", "-d", *self._size, *place, command)
        self.pid = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        return self

    def __exit__(self, *_: object) -> None:
        processes = self.processes
        with suppress(subprocess.CalledProcessError):
            self.tmux("kill-server")
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        shutil.rmtree(self._home, ignore_errors=True)

    def tmux(self, *words: str) -> str:
        """What a tmux command prints."""
        assert TMUX is not None
        command = [TMUX, "-S", str(self._home / "socket"), "-f", str(self._home / "tmux.conf"), *words]
        environment = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
        environment["LANG"] = "C.UTF-8"
        done = subprocess.run(command, capture_output=True, check=True, env=environment, timeout=PATIENCE)
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    # what goes in

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: n, Enter, Escape, C-q, F8, Tab."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def close(self) -> None:
        """Take the terminal away, as closing its window does: what runs in it gets SIGHUP."""
        self.tmux("kill-pane")

    def kill(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    # what comes out

    @property
    def screen(self) -> str:
        """The text on the screen."""
        return self.tmux("capture-pane", "-p")

    @property
    def styled(self) -> str:
        """The text with the escape sequences of its colours."""
        return self.tmux("capture-pane", "-p", "-e")

    @property
    def title(self) -> str:
        return self.tmux("display-message", "-p", "#{pane_title} #{window_name}")

    @property
    def clipboard(self) -> str:
        """What programs put into the clipboard, empty for nothing."""
        return self.tmux("show-buffer") if self.tmux("list-buffers") else ""

    @property
    def exit_code(self) -> int | None:
        """None while the program runs, negative where a signal ended it."""
        dead, code, number = self.tmux(
            "display-message", "-p", "#{pane_dead},#{pane_dead_status},#{pane_dead_signal}"
        ).split(",")
        if code or number:
            return int(code) if code else -int(number)
        return self._unreaped_code() if dead == "1" else None

    def _unreaped_code(self) -> int | None:
        """tmux at times misses that its child has ended; the kernel still knows how."""
        with suppress(OSError, psutil.NoSuchProcess):
            status = os.waitstatus_to_exitcode(int(Path(f"/proc/{self.pid}/stat").read_text().split()[-1]))
            return status if psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE else None
        return None

    @property
    def processes(self) -> list[psutil.Process]:
        """The program and all that it started and that still runs."""
        try:
            program = psutil.Process(self.pid)
            return [program, *program.children(recursive=True)]
        except (psutil.NoSuchProcess, ValueError):
            return []

    # waiting

    def wait_for(self, *texts: str | Seen, without: tuple[str, ...] = (), seconds: float = PATIENCE) -> str:
        """The first screen that shows all of ``texts`` and none of ``without``; a function is asked about the screen."""
        last, over, found = "", False, False

        def settled() -> bool:
            nonlocal last, over, found
            over = self.exit_code is not None
            last = self.screen
            found = all(text in last if isinstance(text, str) else text(last) for text in texts)
            found = found and not any(text in last for text in without)
            return found or over

        with suppress(AssertionError):
            until(settled, "", seconds)
        if found:
            return last  # this one: the next may be another already
        wanted = [text if isinstance(text, str) else "..." for text in texts]
        ended = f"ended with {self.exit_code}: " if over else ""
        raise AssertionError(f"{ended}never on the screen: {wanted}, without {list(without)}\n{last}")

    def wait_for_exit(self, seconds: float = PATIENCE) -> int:
        """The exit code."""
        until(lambda: self.exit_code is not None, f"the program ends\n{self.screen}", seconds)
        code = self.exit_code
        assert code is not None
        return code
