"""What this machine offers, in one call: the harness and the tasks that a notebook or a command starts from."""

from __future__ import annotations

from pathlib import Path

from engine.corpora import builtin_folder, load_corpus
from engine.devices.cuda import choose_device
from engine.devices.toolkit import find_toolkit
from engine.errors import TaskError
from engine.harness.examine import Harness
from engine.harness.limits import Limits
from engine.harness.sandbox import choose_sandbox
from engine.task import Task


def local_harness(
    device: str = "auto", sandbox: str = "auto", limits: Limits | None = None, hide: tuple[Path, ...] = ()
) -> Harness:
    """A harness for the device, the sandbox and the toolkit that are found here: ``with local_harness() as harness``.

    ``hide`` names folders that candidates must not see even in a weak sandbox, such as a corpus of one's own; the built-in
    corpus, which holds the answers, and the home folder always are. Raises ConfigError that says what is missing and how to
    get it.
    """
    toolkit = find_toolkit()
    chosen = choose_device(device)
    hidden = (*hide, *_builtin_corpus(), Path.home())
    return Harness(
        device=chosen,
        sandbox=choose_sandbox(sandbox, tuple(dict.fromkeys(hidden))),
        toolkit=toolkit,
        limits=Limits() if limits is None else limits,
    )


def builtin_tasks() -> dict[str, Task]:
    """The built-in tasks by id."""
    return load_corpus(builtin_folder()).tasks


def _builtin_corpus() -> tuple[Path, ...]:
    try:
        return (builtin_folder().resolve(),)
    except TaskError:  # an installation without it has nothing to hide
        return ()
