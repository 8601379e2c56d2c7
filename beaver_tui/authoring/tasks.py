"""``beaver-tui tasks``: list, filter and check the tasks of a corpus, count what they cover, print the schema."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from beaver_tui.authoring.options import PATH

if TYPE_CHECKING:
    from engine.task import Task


@click.command()
@click.option("--corpus", metavar="PATH", help="Folder of tasks (default: the built-in corpus).")
@click.option("--broken", metavar="DIR", type=PATH, help="Broken candidates, where the corpus is KernelBench.")
@click.option("--tasks", multiple=True, metavar="GLOB", help="Task ids; may be repeated, like all filters.")
@click.option("--bucket", "buckets", multiple=True, metavar="NAME", help="Start buckets.")
@click.option("--category", "categories", multiple=True, metavar="NAME", help="Categories of the broken start.")
@click.option("--operation", "operations", multiple=True, metavar="NAME")
@click.option("--backend", "backends", multiple=True, metavar="NAME")
@click.option("--check", is_flag=True, help="Read every task and name each fault; exit 2 when there is one.")
@click.option("--stats", is_flag=True, help="Count tasks by operation, backend and size against start buckets.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of input.json, and nothing else.")
@click.option("--json", "as_json", is_flag=True, help="A JSON array, one object a task; with --stats one object.")
def tasks(
    corpus: str | None,
    broken: Path | None,
    tasks: tuple[str, ...],
    buckets: tuple[str, ...],
    categories: tuple[str, ...],
    operations: tuple[str, ...],
    backends: tuple[str, ...],
    check: bool,
    stats: bool,
    schema: bool,
    as_json: bool,
) -> int:
    """List the tasks of a corpus."""
    from engine.corpora import builtin_folder, load_corpus, with_broken

    if schema:
        from engine.task import TaskSpec

        click.echo(msgspec.json.format(msgspec.json.encode(msgspec.json.schema(TaskSpec)), indent=2))
        return 0
    if corpus is not None and not corpus.strip():
        raise click.UsageError("--corpus: must not be empty; without --corpus the built-in tasks are listed")
    corpus = with_broken(corpus, broken)
    found = load_corpus(builtin_folder() if corpus is None else Path(corpus), strict=False)
    filters = {"start_bucket": buckets, "category": categories, "operation": operations, "backend": backends}
    selected = found.select(tasks) if tasks else [task for _, task in sorted(found.tasks.items())]
    chosen = [task for task in selected if _fits(task, filters)]
    if stats:
        _print_stats(chosen, as_json=as_json)
    elif as_json:
        rows = [_row(task) for task in chosen]
        click.echo(msgspec.json.format(msgspec.json.encode(rows), indent=2))  # bytes: JSON is UTF-8 everywhere
    else:
        width = max((len(task.id) for task in chosen), default=4)
        for task in chosen:
            spec = task.spec
            needs = f"  needs {', '.join(spec.requires)}" if spec.requires else ""
            click.echo(
                f"{task.id:{width}}  {spec.backend:5} {spec.start_bucket or '-'!s:14} {spec.operation or '-'}{needs}"
            )
    for problem in found.problems:
        for fault in problem.faults if check else (str(problem),):
            click.echo(f"beaver-tui: {fault}", err=True)
    if check:
        sound = "1 task is sound" if len(found.tasks) == 1 else f"{len(found.tasks)} tasks are sound"
        unsound = "1 is not" if len(found.problems) == 1 else f"{len(found.problems)} are not"
        click.echo(f"{sound}, {unsound}", err=as_json)
    return 2 if found.problems else 0


def _fits(task: Task, filters: dict[str, tuple[str, ...]]) -> bool:
    return all(not wanted or getattr(task.spec, name) in wanted for name, wanted in filters.items())


def _row(task: Task) -> dict[str, object]:
    spec = task.spec
    return {
        "task": task.id,
        "family": spec.source,
        "backend": spec.backend,
        "start_bucket": spec.start_bucket,
        "category": spec.category,
        "difficulty": spec.difficulty,
        "operation": spec.operation,
        "arch": spec.arch_exact or (f"sm_{spec.min_sm}" if spec.min_sm else "any"),
        "needs": spec.requires,
    }


def _print_stats(tasks: Sequence[Task], *, as_json: bool) -> None:
    from beaver_tui.authoring.table import print_table
    from engine.corpora.coverage import BUCKETS, UNKNOWN, coverage

    tables = coverage(tasks)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode({"tasks": len(tasks), **tables}), indent=2))
        return
    unknown = (UNKNOWN,) if any(UNKNOWN in counts for table in tables.values() for counts in table.values()) else ()
    columns = (*BUCKETS, *unknown)
    for name, table in tables.items():
        rows = [
            [row, *(str(counts.get(column, "")) for column in columns), str(sum(counts.values()))]
            for row, counts in table.items()
        ]
        print_table([name, *columns, "total"], rows)
        click.echo("")
    click.echo(f"{len(tasks)} tasks")
