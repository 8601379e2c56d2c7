"""The command that plays a stored trajectory's answers again, under the conditions that it was played under."""

from __future__ import annotations

import glob
import shlex

from engine.errors import RunError
from engine.protocol import EarlyStop, Protocol
from engine.rundir import BUILTIN, Cell, RunDirectory
from engine.sweep.opening import PROTOCOL_OPTIONS

_SHORT = {"k": "-k"}


def reproduction(run: RunDirectory, cell: Cell) -> str:
    """One line for a shell. The seed is the run's own, so that the checker makes the same inputs; an imported run has none that is
    known. Raises RunError for an imported run whose results do not name the corpus of their tasks: no command would find the task.
    """
    record = run.record
    if record.imported is not None and "corpus" in record.imported.unknown:
        raise RunError(
            f"no command plays this again: {record.imported.source} does not say which corpus {cell.task} is from; "
            "import it again with --corpus"
        )
    words = ["beaver-tui", "--batch", "--fixer", f"replay:{run.path}::{cell.fixer}", "--tasks", glob.escape(cell.task)]
    if record.corpus != BUILTIN:
        words += ["--corpus", record.corpus]
    default = Protocol()
    for name in PROTOCOL_OPTIONS:
        value = getattr(record.protocol, name)
        if value != getattr(default, name):
            words += [_SHORT.get(name, f"--{name.replace('_', '-')}"), str(value)]
    if record.protocol.early_stop is EarlyStop.OBSERVE:
        words.append("--observe")
    if cell.attempt > 1:
        words += ["--attempts", str(cell.attempt)]
    words += ["--device", record.device.wish]
    return shlex.join(words if record.imported is not None else [*words, "--seed", record.seed])
