"""The sub-commands: each a few lines over the engine."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from beaver_tui.analysis.card import card
from beaver_tui.analysis.lens import lens
from beaver_tui.analysis.plan import plan
from beaver_tui.analysis.report import report
from beaver_tui.analysis.rescore import rescore
from beaver_tui.authoring.harvest import harvest
from beaver_tui.authoring.home import apply, init
from beaver_tui.authoring.imports import import_results
from beaver_tui.authoring.tasks import tasks
from beaver_tui.authoring.verify import verify
from beaver_tui.diffs import diff
from beaver_tui.open import replay, workbench


@click.command()
@click.argument("file", type=click.File("rb"))
def classify(file: BinaryIO) -> int:
    """Classify evidence records, one JSON object a line (- for standard input); the verdicts come out the same way.

    A line that is no record is named on standard error, the rest still runs, and the exit code is 1.
    """
    from engine.verdict.classify_file import BadLine, classify_lines

    bad = 0
    for row in classify_lines(file):
        if isinstance(row, BadLine):
            bad += 1
            click.echo(f"beaver-tui: {getattr(file, 'name', '-')}:{row.number}: {row.reason}", err=True)
        else:
            click.echo(msgspec.json.encode(row))
    return 1 if bad else 0


@click.command()
def doctor() -> int:
    """Say what this machine offers, and what is missing."""
    from beaver_tui.doctor import findings

    missing = False
    for finding in findings():
        click.echo(finding)
        missing = missing or finding.missing
    return 1 if missing else 0


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--same", is_flag=True, help="Hand the file in although nothing is changed in it.")
def submit(directory: Path, same: bool) -> int:
    """Hand in the file in a human fixer's folder: the waiting iteration goes on with it."""
    from engine.fixers.desk import submit_directory

    waiting = submit_directory(directory, same=same)
    click.echo(f"submitted {waiting.file} of {waiting.task}, iteration {waiting.iteration}")
    return 0


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
def manifest(run: Path) -> int:
    """Rebuild a run's manifest.jsonl from its journals.

    A cell whose journal is damaged has no rows and is named on standard error; the exit code is 1 then.
    """
    from engine.errors import RunError
    from engine.manifest import write_manifest
    from engine.rundir import RunDirectory

    damaged: list[RunError] = []
    click.echo(write_manifest(RunDirectory(run), damaged))
    for error in damaged:
        click.echo(f"beaver-tui: {error}", err=True)
    return 1 if damaged else 0


COMMANDS = {
    "open": workbench,
    "replay": replay,
    "tasks": tasks,
    "verify": verify,
    "init": init,
    "apply": apply,
    "diff": diff,
    "lens": lens,
    "harvest": harvest,
    "import": import_results,
    "classify": classify,
    "doctor": doctor,
    "submit": submit,
    "manifest": manifest,
    "plan": plan,
    "rescore": rescore,
    "card": card,
    "report": report,
}
