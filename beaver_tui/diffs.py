"""``beaver-tui diff``: what changed between two steps of a trajectory, in colours on a terminal, else as a patch."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beaver_tui.state.visible import visible_line

if TYPE_CHECKING:
    from rich.text import Text

    from beaver_tui.state.difftext import Diff, DiffRow
    from engine.rundir import Cell, RunDirectory
    from engine.trajectory import Trajectory


@dataclass(frozen=True)
class Steps:
    """Two versions of the editable file of a trajectory. ``file`` is its path in the program."""

    cell: Cell
    file: str
    before: bytes
    after: bytes


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("task")
@click.argument("i", type=click.IntRange(0))
@click.argument("j", type=click.IntRange(0))
@click.option("--fixer", metavar="NAME", help="Where several fixers played the task.")
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="Where a fixer played it several times.")
@click.option(
    "--format", "form", type=click.Choice(["rich", "patch"]), help="Default: rich on a terminal, patch elsewhere."
)
def diff(run: Path, task: str, i: int, j: int, fixer: str | None, attempt: int | None, form: str | None) -> int:
    """Show what changed from step I to step J of a trajectory; step 0 is the broken start.

    A patch is exact to the byte: git apply and patch -p1 take it.
    """
    from engine.authoring.patch import unified_diff
    from engine.rundir import RunDirectory

    steps = find_steps(RunDirectory(run), task, (i, j), fixer, attempt)
    if form == "patch" or (form is None and not sys.stdout.isatty()):
        click.echo(unified_diff(steps.file, steps.before, steps.after), nl=False)
    else:
        _print(steps, i, j)
    return 0


def find_steps(run: RunDirectory, task: str, wanted: tuple[int, int], fixer: str | None, attempt: int | None) -> Steps:
    """The two versions. Raises RunError when the run has no such trajectory or step, or more than one."""
    from engine.authoring.patch import corpus_of, task_of
    from engine.cells import read_cell
    from engine.errors import RunError

    cells = [
        cell
        for cell in run.plan
        if cell.task == task and fixer in (None, cell.fixer) and attempt in (None, cell.attempt)
    ]
    if not cells:
        raise RunError(f"{run.path}: no such trajectory of {task}{_among(run, task)}")
    if len(cells) > 1:
        names = "; ".join(map(str, cells))
        raise RunError(f"{run.path}: more than one trajectory of {task}; choose with --fixer, --attempt: {names}")
    trajectory = read_cell(run, cells[0])
    if trajectory is None or trajectory.opened is None:
        raise RunError(f"{run.path}: {cells[0]} was not begun")
    start = task_of(run, corpus_of(run), trajectory)
    sides = [start.broken if step == 0 else _candidate(run, cells[0], trajectory, step) for step in wanted]
    return Steps(cells[0], start.spec.solution_file, sides[0], sides[1])


def _among(run: RunDirectory, task: str) -> str:
    """What the run has instead, as the end of a sentence."""
    from difflib import get_close_matches

    played = "; ".join(str(cell) for cell in run.plan if cell.task == task)
    if played:
        return f"; the run has {played}"
    near = get_close_matches(task, sorted({cell.task for cell in run.plan}), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _candidate(run: RunDirectory, cell: Cell, trajectory: Trajectory, step: int) -> bytes:
    from engine.errors import RunError

    if step > len(trajectory.iterations):
        raise RunError(f"{run.path}: {cell} has no step {step}; its last is {len(trajectory.iterations)}")
    candidate = trajectory.iterations[step - 1].candidate
    if candidate is None or candidate.solution is None:
        why = candidate.problem if candidate is not None and candidate.problem else "none was made"
        raise RunError(f"{run.path}: {cell} has no candidate in step {step}: {visible_line(why)}")
    return run.store(cell).get("solutions", candidate.solution)


def _print(steps: Steps, i: int, j: int) -> None:
    from rich.console import Console
    from rich.text import Text

    from beaver_tui.state.difftext import diff as compare
    from beaver_tui.state.difftext import unified

    found = compare(steps.before, steps.after)
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        Text(f"{visible_line(str(steps.cell))}  {visible_line(steps.file)}  step {i} to {j}", "bold"), _counts(found)
    )
    digits = max((len(str(number or 0)) for row in found.rows for number in (row.old, row.new)), default=1)
    for row in unified(found):
        console.print(_line(row, digits))


def _counts(found: Diff) -> Text:
    from rich.text import Text

    return Text.assemble((f"+{found.added}", "green"), " ", (f"-{found.removed}", "red"), f"  {found.note}".rstrip())


def _line(row: DiffRow, digits: int) -> Text:
    """A row of the unified view; what changed within a line is reversed, so that it shows without colours too."""
    from rich.text import Text

    if row.kind == "fold":
        return Text(f"{'...':>{2 * digits + 3}} {row.left}", "dim")
    added = row.new is not None and row.old is None
    text, words = (row.right, row.right_words) if row.new is not None else (row.left, row.left_words)
    sign, style = (" ", "") if row.kind == "equal" else ("+", "green") if added else ("-", "red")
    body = Text(text, style)
    for start, end in words:
        body.stylize("reverse", start, end)
    return Text.assemble((f"{row.old or '':>{digits}} {row.new or '':>{digits}} ", "dim"), (f"{sign} ", style), body)
