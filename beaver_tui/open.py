"""``beaver-tui [TASK | RUN]`` and ``beaver-tui replay RUN``: what opens the workbench, read before Textual is imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.errors import ConfigError, RunError

if TYPE_CHECKING:
    from beaver_tui.app import Preferences, Start
    from engine.rundir import Cell

MODES = ("auto", "confirm", "human")


_LOOKS = ("--runs", "--theme", "--ascii", "--no-mouse", "--keymap")
"""Options that mean something without a task or a run; the others alone are a batch's."""


def _look(command: click.Command) -> click.Command:
    """The options that say how it looks, the same for every command that opens a screen."""
    for option in (
        click.option(
            "--theme", metavar="NAME", default="lodge", show_default=True, help="lodge, river, night or okabe."
        ),
        click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII signs alone."),
        click.option("--no-mouse", is_flag=True, help="Leave the mouse to the terminal."),
        click.option(
            "--keymap",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Keys by id (default: in the config folder).",
        ),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("what", required=False)
@click.option("--runs", "runs", default=Path("runs"), type=click.Path(path_type=Path), show_default=True, metavar="DIR")
@click.option(
    "--fixer", metavar="NAME", default="scripted:good", show_default=True, help="Who repairs (see --batch --help)."
)
@click.option(
    "--mode", type=click.Choice(MODES), default="auto", show_default=True, help="Who decides about candidates."
)
@click.option("--corpus", metavar="PATH", help="Folder of tasks (default: the built-in corpus).")
@click.option("--device", metavar="auto|cuda|cpu", help="Where kernels run (default: auto).")
@click.option("-k", "k", type=int, metavar="K", help="Iterations of the trajectory (paper: 5).")
@click.option("--feedback", metavar="LEVEL", help="Feedback level (paper: L3).")
@click.option("--config", metavar="FILE", help="YAML file with fixers.")
@_look  # type: ignore[arg-type]
def workbench(
    what: str | None,
    runs: Path,
    fixer: str,
    mode: str,
    corpus: str | None,
    device: str | None,
    k: int | None,
    feedback: str | None,
    config: str | None,
    **look: Any,
) -> int:
    """Open the workbench: at home, on a run's folder, or live on a task."""
    from beaver_tui.app import Start
    from beaver_tui.wish import Wish

    if what is None:
        return show(Start(runs=runs), **look)
    path = Path(what)
    if (path / "run.json").is_file():
        return show(_of_run(path), **look)
    if path.is_dir() and path.name not in task_ids(corpus):
        return show(Start(runs=path), **look)
    if what not in task_ids(corpus):
        raise ConfigError(f"{what}: neither a command, nor the folder of a run, nor a task{_near(what, corpus)}")
    wish = Wish(what, fixer, mode, corpus, device, k, feedback, config)  # type: ignore[arg-type]
    return show(Start(runs=runs, wish=wish), **look)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--task", metavar="ID", help="Begin with this task's trajectory.")
@click.option("--fixer", metavar="NAME")
@click.option("--attempt", type=int, default=1, show_default=True)
@_look  # type: ignore[arg-type]
def replay(run: Path, task: str | None, fixer: str | None, attempt: int, **look: Any) -> int:
    """Step through a stored run: its only trajectory at once, several from their matrix."""
    if task is None:
        return show(_of_run(run), **look)
    from beaver_tui.app import Start
    from engine.rundir import RunDirectory

    cells = [
        cell
        for cell in RunDirectory(run).plan
        if cell.task == task and fixer in (None, cell.fixer) and cell.attempt == attempt
    ]
    if len(cells) != 1:
        found = "no" if not cells else "more than one"
        raise RunError(f"{run}: {found} trajectory of {task}" + (f": {'; '.join(map(str, cells))}" if cells else ""))
    return show(Start(runs=run.parent, run=run, cell=cells[0]), **look)


def opens(words: list[str]) -> bool:
    """Whether words without a command's name are for the workbench: how it looks, a folder, or the name of a task."""
    first = words[0]
    if first.startswith("-"):
        known = {name for option in workbench.params for name in option.opts}
        named = any(word in task_ids(None) or Path(word).is_dir() for word in words[1:])
        return first.partition("=")[0] in known and (named or first.partition("=")[0] in _LOOKS)
    corpus = any(word.partition("=")[0] == "--corpus" for word in words)
    return Path(first).is_dir() or first in task_ids(None) or corpus


def show(start: Start, *, theme: str, ascii_only: bool, no_mouse: bool, keymap: Path | None) -> int:
    """Run the app in this terminal. Raises ConfigError where there is none, or for an unknown theme."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("the workbench needs a terminal; beaver-tui --batch runs without one")
    if (kind := os.environ.get("TERM", "")) in ("", "dumb", "unknown"):
        told = f"TERM={kind}" if kind else "TERM is not set"
        raise ConfigError(f"{told}: nothing can be drawn on such a terminal; beaver-tui --batch prints lines")
    from beaver_tui.app import BeaverApp, user_keymap
    from beaver_tui.glyphs import locale_is_ascii
    from beaver_tui.screens.settling import settle
    from beaver_tui.themes import builtin_themes
    from beaver_tui.userkeys import read_keymap

    names = [known.name for known in builtin_themes()]
    if theme not in names:
        raise ConfigError(f"--theme {theme}: no such theme; there are {', '.join(names)}")
    keys = keymap or user_keymap()
    if keys is not None:
        read_keymap(keys)  # a mistake is told before the screen is taken
    app = BeaverApp(start, _preferences(theme, ascii_only or locale_is_ascii(), keys))
    settle(keep=True)  # what was imported stays: no screen waits for a search among it
    app.run(mouse=not no_mouse)
    return app.return_code or 0


def _preferences(theme: str, ascii_only: bool, keymap: Path | None) -> Preferences:
    from beaver_tui.app import Preferences

    return Preferences(theme, ascii_only, keymap)


def _of_run(path: Path) -> Start:
    from beaver_tui.app import Start
    from engine.rundir import RunDirectory

    plan: list[Cell] = RunDirectory(path).plan
    return Start(runs=path.parent, run=path, cell=plan[0] if len(plan) == 1 else None)


def task_ids(corpus: str | None) -> list[str]:
    from engine.corpora import builtin_folder, load_corpus

    return list(load_corpus(Path(corpus) if corpus else builtin_folder(), strict=False).tasks)


def _near(what: str, corpus: str | None) -> str:
    from difflib import get_close_matches

    near = get_close_matches(what, task_ids(corpus), n=1)
    return f"; did you mean {near[0]}?" if near else "; see beaver-tui --help and beaver-tui tasks"
