"""The sub-commands: each a few lines over the engine."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from beaver_tui.authoring.verify import verify


@click.command()
@click.option("--corpus", metavar="PATH", help="Folder of tasks (default: the built-in corpus).")
@click.option("--check", is_flag=True, help="Read every task and name each fault; exit 2 when there is one.")
@click.option("--json", "as_json", is_flag=True, help="A JSON array, one object a task.")
def tasks(corpus: str | None, check: bool, as_json: bool) -> int:
    """List the tasks of a corpus."""
    from engine.corpora import builtin_folder, load_corpus

    if corpus is not None and not corpus.strip():
        raise click.UsageError("--corpus: must not be empty; without --corpus the built-in tasks are listed")
    found = load_corpus(builtin_folder() if corpus is None else Path(corpus), strict=False)
    rows = [
        {
            "task": task.id,
            "family": task.spec.source,
            "backend": task.spec.backend,
            "start_bucket": task.spec.start_bucket,
            "category": task.spec.category,
            "difficulty": task.spec.difficulty,
            "operation": task.spec.operation,
            "devices": ["cuda", "cpu"],
            "arch": task.spec.arch_exact or (f"sm_{task.spec.min_sm}" if task.spec.min_sm else "any"),
            "needs": task.spec.requires,
        }
        for _, task in sorted(found.tasks.items())
    ]
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2))  # bytes: JSON is UTF-8 everywhere
    else:
        width = max((len(str(row["task"])) for row in rows), default=4)
        for row in rows:
            click.echo(
                f"{row['task']!s:{width}}  {row['backend']!s:5} {row['start_bucket'] or '-'!s:14} {row['operation'] or '-'}"
            )
    for problem in found.problems:
        for fault in problem.faults if check else (str(problem),):
            click.echo(f"beaver-tui: {fault}", err=True)
    if check:
        sound = "1 task is sound" if len(found.tasks) == 1 else f"{len(found.tasks)} tasks are sound"
        unsound = "1 is not" if len(found.problems) == 1 else f"{len(found.problems)} are not"
        click.echo(f"{sound}, {unsound}", err=as_json)
    return 2 if found.problems else 0


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
    "tasks": tasks,
    "classify": classify,
    "doctor": doctor,
    "submit": submit,
    "manifest": manifest,
    "verify": verify,
}
