"""Play a sweep in the foreground: print what happens, heed signals, and say how it ended."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import closing

from beaver_tui.batch.output import Output
from beaver_tui.batch.printers import Printer, make_printer
from engine.fixers.base import Waiting
from engine.store import RunUnwritable
from engine.sweep import CELL_FAULT, Sweep
from engine.sweep.opening import Opened

DONE, FAULTS, INTERRUPTED = 0, 1, 130


def play(opened: Opened, form: str | None) -> int:
    """Play to the end and return the exit code. Raises RunError when somebody else plays the run."""
    sweep, run = opened.sweep, opened.sweep.run
    output = Output(sys.stdout)
    go_on = f"go on with: beaver-tui --batch --resume {run.path}"

    def nobody_reads(reason: str) -> None:
        print(f"beaver-tui: standard output: {reason}; stopping after the running steps", file=sys.stderr)
        sweep.stop()

    output.on_gone = nobody_reads
    with closing(opened.harness), run.lock():
        try:
            whole = asyncio.run(_with_signals(opened, make_printer(form, run, output)))
        except RunUnwritable as error:  # a full disk, a folder that was removed: the machine's fault, not the command's
            print(f"beaver-tui: {error}; {go_on}", file=sys.stderr)
            return FAULTS
    if not whole:
        print(f"beaver-tui: interrupted; {go_on}", file=sys.stderr)
        return INTERRUPTED
    if not sweep.faults:
        return DONE
    if hint := _when_mended(sweep):
        print(f"beaver-tui: {hint}", file=sys.stderr)
    return FAULTS


def _when_mended(sweep: Sweep) -> str:
    """What to do about infrastructure faults; empty when going on would meet the same damage again."""
    count = sum(fault.kind != CELL_FAULT for _, fault in sweep.faults)
    if not count:
        return ""
    what = (
        "1 trajectory has an infrastructure fault" if count == 1 else f"{count} trajectories have infrastructure faults"
    )
    return f"{what}; when {'it is' if count == 1 else 'they are'} mended: beaver-tui --batch --resume {sweep.run.path}"


async def _with_signals(opened: Opened, printer: Printer) -> bool:
    """Play the sweep; the first SIGINT or SIGTERM stops it after the running steps, the second at once. False: stopped."""
    sweep = opened.sweep
    sweep.listener = printer.event
    whole = False
    for fixer in sweep.fixers.values():
        if isinstance(fixer, Waiting):
            fixer.subscribe_notices(printer.notice)
    try:
        if opened.harness.device.missing:
            printer.notice(f"note: {opened.harness.device.missing}")
        whole = await _stoppable(sweep, printer)
    finally:
        printer.end(whole=whole)
    return whole


async def _stoppable(sweep: Sweep, printer: Printer) -> bool:
    loop = asyncio.get_running_loop()
    playing = asyncio.ensure_future(sweep.play())

    def interrupt() -> None:
        if sweep.stopping:
            playing.cancel()
        else:
            printer.notice("stopping after the running steps; once more to kill them")
            sweep.stop()  # this also ends what waits for a person or a service

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    loop.add_signal_handler(signal.SIGHUP, playing.cancel)
    try:
        await playing
    except asyncio.CancelledError:
        return False
    return not sweep.stopping
