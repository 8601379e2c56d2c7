"""What this machine offers, in one call: the harness and the tasks that a notebook or a command starts from."""

from __future__ import annotations

from pathlib import Path

from engine.corpora import builtin_folder, load_corpus
from engine.devices.cuda import choose_device
from engine.devices.toolkit import find_toolkit
from engine.harness.examine import Harness
from engine.harness.limits import Limits
from engine.harness.sandbox import choose_sandbox
from engine.task import Task


def local_harness(
    device: str = "auto", sandbox: str = "auto", limits: Limits | None = None, hide: tuple[Path, ...] = ()
) -> Harness:
    """A harness for the device, the sandbox and the toolkit that are found here. ``hide`` names folders that candidates must
    not see even in a weak sandbox, such as the corpus. Raises ConfigError that says what is missing and how to get it."""
    toolkit = find_toolkit()
    chosen = choose_device(device)
    return Harness(
        device=chosen, sandbox=choose_sandbox(sandbox, (*hide, Path.home())), toolkit=toolkit, limits=limits or Limits()
    )


def builtin_tasks() -> dict[str, Task]:
    """The built-in tasks by id."""
    return load_corpus(builtin_folder()).tasks
