"""The ways to a live run: a new one, one that goes on, and a fork of any stored trajectory.

Each of them loads a corpus and may prepare a device, which takes seconds: call it in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from beaver_tui import __version__
from beaver_tui.live.live import LiveRun, Seat, discarded_on_error
from beaver_tui.live.steered import Mode
from engine import events as ev
from engine.fixers.config import FixerConfig
from engine.rundir import Cell, RunDirectory
from engine.sweep.fork import fork_run
from engine.sweep.opening import Opened, Options, open_sweep

Warn = Callable[[str], None]
Listener = Callable[[ev.Event], None]


def no_listener(event: ev.Event) -> None:
    """For a run that nobody listens to yet: ``listener`` can be set later, until it is played."""


def start_live(
    options: Options,
    *,
    warn: Warn,
    mode: Mode = "auto",
    interactive: bool = False,
    listener: Listener = no_listener,
) -> LiveRun:
    """A new run of one task and one fixer, under the same options as a batch. One that begins in confirm or human mode, or
    with ``interactive``, may be changed by hand, and is left out of every score.

    Raises ConfigError and TaskError as a batch does, also when the options choose more than one trajectory.
    """
    opened = open_sweep(options, __version__, warn, live=True, interactive=interactive or mode != "auto")
    return _live(opened, mode, listener)


def resume_live(
    folder: Path,
    *,
    warn: Warn,
    mode: Mode = "auto",
    options: Options | None = None,
    listener: Listener = no_listener,
) -> LiveRun:
    """Go on with a run of one trajectory. ``options`` are those that --resume allows: config, device, sandbox. Raises
    RunError when ``mode`` would change by hand what was not begun for it: fork it then."""
    wishes = msgspec.structs.replace(options or Options(), resume=folder)
    return _live(open_sweep(wishes, __version__, warn, live=True), mode, listener)


def fork_live(
    run: RunDirectory,
    cell: Cell,
    step: int,
    *,
    warn: Warn,
    mode: Mode = "auto",
    protocol_changes: dict[str, Any] | None = None,
    fixer: FixerConfig | None = None,
    reason: str = "",
    out: Path | None = None,
    options: Options | None = None,
    listener: Listener = no_listener,
) -> LiveRun:
    """A live run that goes on from a step of a stored trajectory (see ``engine.sweep.fork``), wherever that is being played.
    A LiveRun of this process has its own ``fork``. Raises RunError, too, where the run was begun on another device."""
    made = fork_run(run, cell, step, out=out, protocol_changes=protocol_changes, fixer=fixer, reason=reason)
    with discarded_on_error(made):
        return resume_live(made.path, warn=warn, mode=mode, options=options, listener=listener)


def _live(opened: Opened, mode: Mode, listener: Listener) -> LiveRun:
    run = opened.sweep.run
    _ = opened.harness.toolkit.root  # found by asking nvcc, once: not in the screen's loop
    try:
        config = opened.configs[run.plan[0].fixer]
        return LiveRun(run, Seat(opened.harness, opened.sweep.tasks, config), mode, listener)
    except BaseException:
        opened.harness.close()
        raise
