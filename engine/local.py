"""What this machine offers, in one call: the harness and the tasks that a notebook or a command starts from."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from engine.corpora import builtin_folder, load_corpus
from engine.devices.choose import choose_device
from engine.devices.toolkit import find_toolkit
from engine.errors import ConfigError, TaskError
from engine.harness.examine import Harness
from engine.harness.limits import Limits
from engine.harness.sandbox import choose_sandbox
from engine.task import Task


def local_harness(
    device: str = "auto",
    sandbox: str = "auto",
    limits: Limits | None = None,
    hide: tuple[Path, ...] = (),
    say: Callable[[str], None] | None = None,
) -> Harness:
    """A harness for the device, the sandbox and the toolkit that are found here: ``with local_harness() as harness``.

    ``hide`` names folders that candidates must not see even in a weak sandbox, such as a corpus of one's own; the built-in
    corpus, which holds the answers, and the home folder always are. What the device
    needs is made at once when there is a ``say`` to be told that it takes long, and at its first use otherwise. Raises
    ConfigError that says what is missing and how to get it.
    """
    toolkit = find_toolkit()
    chosen = choose_device(device)
    hidden = (*hide, *_builtin_corpus(), Path.home())
    box = choose_sandbox(sandbox, tuple(dict.fromkeys(hidden)))
    if box.drops_uid and os.geteuid() == 0 and (closed := closed_folder(toolkit.nvcc)) is not None:
        raise ConfigError(
            f"nvcc: {toolkit.nvcc} lies in {closed}, which only root may enter, and candidates are not built as root; "
            "put the toolkit (or the virtual environment) elsewhere, or open that folder (chmod o+x)"
        )
    if say is not None:
        chosen.make_ready(toolkit, say)
    return Harness(
        device=chosen,
        sandbox=box,
        toolkit=toolkit,
        limits=Limits() if limits is None else limits,
    )


def closed_folder(path: Path) -> Path | None:
    """The first folder on the way to ``path`` that other users may not enter, None when all are open."""
    for folder in reversed(path.resolve().parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None


def builtin_tasks() -> dict[str, Task]:
    """The built-in tasks by id."""
    return load_corpus(builtin_folder()).tasks


def _builtin_corpus() -> tuple[Path, ...]:
    try:
        return (builtin_folder().resolve(),)
    except TaskError:  # an installation without it has nothing to hide
        return ()
