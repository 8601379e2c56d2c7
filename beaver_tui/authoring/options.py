"""Options that several commands around tasks have, and how they say things on standard error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from beaver_tui.state.lines import one_line

Command = TypeVar("Command", bound=Callable[..., object])

PATH = click.Path(path_type=Path)
MOST_REPEATS = 100


def where(command: Command) -> Command:
    """--device and --sandbox: on what programs run, and in what."""
    sandbox = click.option(
        "--sandbox", default="auto", metavar="auto|bubblewrap|namespaces|none", help="Containment (default: auto)."
    )
    device = click.option(
        "--device", default="auto", metavar="auto|cuda|cuda:N|cpu|none", help="Where kernels run (default: auto)."
    )
    return device(sandbox(command))


def repeat(least: int, text: str) -> Callable[[Command], Command]:
    """--repeat: how often a program is run."""
    return click.option(
        "--repeat", type=click.IntRange(least, MOST_REPEATS), default=3, show_default=True, metavar="N", help=text
    )


def note(text: str) -> None:
    """A line for whoever waits; outside text in it is made harmless."""
    click.echo(f"beaver-tui: {one_line(text)}", err=True)
