"""``beaver-tui verify``: the options, what is said while it runs, and the table at its end."""

from __future__ import annotations

import asyncio
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beaver_tui.authoring.options import PATH, note, repeat, where
from beaver_tui.state.lines import one_line

if TYPE_CHECKING:
    from engine.verify import Row


@click.command()
@click.option("--corpus", metavar="PATH", help="Folder of tasks (default: the built-in corpus).")
@click.option("--broken", metavar="DIR", type=PATH, help="Broken candidates, where the corpus is KernelBench.")
@click.option("--tasks", multiple=True, metavar="GLOB", help="Task ids to verify; may be repeated.")
@repeat(1, "Examinations of the broken start and the reference.")
@where
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="Programs at a time (default: by the cores).")
@click.option("--answers", is_flag=True, help="Judge the recorded answers too: good, degenerate, cheat.")
@click.option(
    "--launches", type=click.IntRange(1, 100), default=10, show_default=True, help="Of a slow start's timing."
)
@click.option("--write-error-logs", "logs", metavar="DIR", type=PATH, help="Store <task>/error.log there.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a task and line, as they end.")
@click.option("--out", metavar="FILE", type=PATH, help="State file (default: one in the user's cache).")
@click.option("--fresh", is_flag=True, help="Forget what the state file holds.")
@click.option("--markdown", metavar="FILE", type=PATH, help="Write this device's section of that file.")
@click.option(
    "--compare",
    nargs=2,
    type=PATH,
    metavar="FILE FILE",
    help="Two state files: where two machines see another category. Nothing is run.",
)
def verify(
    corpus: str | None,
    broken: Path | None,
    tasks: tuple[str, ...],
    repeat: int,
    device: str,
    sandbox: str,
    jobs: int | None,
    answers: bool,
    launches: int,
    logs: Path | None,
    as_json: bool,
    out: Path | None,
    fresh: bool,
    markdown: Path | None,
    compare: tuple[Path, Path] | None,
) -> int:
    """Show on this machine that each task holds what it promises.

    The broken start fails, in the same way each time and as its label says; the reference passes; the patch between them is not
    trivial; known-wrong solutions are rejected. A second call goes on where the first one ended.

    Exit codes: 0 every task is ok or needs what this machine lacks (--compare: no difference), 1 some are not, 2 usage,
    130 interrupted.
    """
    if compare is not None:
        return _compare(*compare)
    from dataclasses import replace

    from engine.corpora import builtin_folder, load_corpus, with_broken
    from engine.local import local_harness
    from engine.verify import Effort, Verification, default_state, open_state, unreadable

    if corpus is not None and not corpus.strip():
        raise click.UsageError("--corpus: must not be empty; without --corpus the built-in tasks are verified")
    corpus = with_broken(corpus, broken)
    found = load_corpus(builtin_folder() if corpus is None else Path(corpus), strict=False)
    chosen = found.select(tasks) if found.tasks or tasks else []
    bad = [row for problem in found.problems for row in unreadable(problem)] if not tasks else []
    printer = _Printer(len(bad) + len(chosen), as_json=as_json)
    for row in bad:
        printer.row(row)
    harness = local_harness(device, sandbox, hide=(found.path.resolve(),), say=note)
    at_a_time = jobs if jobs is not None else _default_jobs(harness.device.kind)
    harness = replace(harness, keep_builds=True)
    with harness, open_state(out or default_state(found.path), fresh=fresh) as state:
        verification = Verification(
            harness, state, Effort(repeat, launches, answers), at_a_time, logs, listener=printer.row
        )
        try:
            rows = bad + asyncio.run(verification.run(chosen))
        except KeyboardInterrupt:
            note("interrupted; the same command goes on")
            raise
        heading = harness.device.label if harness.device.kind != "none" else "no device"
    printer.end(rows)
    if markdown is not None:
        from engine.verify.markdown import section, write_section

        words = ["--device", device, "--repeat", str(repeat), "--launches", str(launches), *(["--answers"] * answers)]
        words += [word for glob in tasks for word in ("--tasks", glob)]
        write_section(markdown, section(rows, heading, shlex.join(["beaver-tui", "verify", *words])))
    return 0 if all(row.sound for row in rows) else 1


def _compare(left: Path, right: Path) -> int:
    """Each difference in a line, and a count."""
    from engine.verify.differences import compared, first_outcomes

    found = compared(first_outcomes(left), first_outcomes(right))
    for one in found.different:
        sides = [
            one_line(f"{category or 'needs'} ({said})" if said else category or "needs")
            for category, said in ((one.left, one.left_said), (one.right, one.right_said))
        ]
        click.echo(f"{one_line(one.task)}  {one.program}  {sides[0]}  |  {sides[1]}")
    for path, tasks in ((left, found.only_left), (right, found.only_right)):
        if tasks:
            note(f"only in {path}: {len(tasks)} tasks ({', '.join(tasks[:6])}{', ...' if len(tasks) > 6 else ''})")
    click.echo(f"{found.same} programs show the same category, {len(found.different)} another")
    return 1 if found.different else 0


def _default_jobs(kind: str) -> int:
    """All cores build; on the CPU device they also run, and a test that waits for them looks like one that hangs."""
    cores = os.cpu_count() or 1
    return max(1, cores // 2) if kind == "cpu" else cores


class _Printer:
    """Rows as they end: JSON lines, or a line each on standard error and the table at the end on standard output."""

    def __init__(self, total: int, *, as_json: bool) -> None:
        self._total, self._done, self._as_json = total, 0, as_json

    def row(self, row: Row) -> None:
        self._done += 1
        if self._as_json:
            import msgspec

            click.echo(msgspec.json.encode(row))
        else:
            note(f"{self._done}/{self._total} {row.task}  {row.verdict}  {row.reason}")

    def end(self, rows: list[Row]) -> None:
        if self._as_json:
            return
        from beaver_tui.authoring.table import print_table

        print_table(
            ("task", "verdict", "category", "why", "patch", "rejects", "seconds"), [_cells(row) for row in rows]
        )
        for row in rows:
            for text in row.lint:
                click.echo(f"{one_line(row.task)}: {one_line(text)}")
        sound = sum(row.sound for row in rows)
        click.echo(f"{sound} of {len(rows)} ok, or in need of what this machine lacks")


def _cells(row: Row) -> tuple[str, ...]:
    rejected = sum(row.rejects.values())
    return (
        row.task,
        row.verdict,
        row.category or "-",
        row.reason or row.signature,
        "-" if row.patch_lines is None else str(row.patch_lines),
        f"{rejected} of {len(row.rejects)}" if row.rejects else "-",
        f"{row.seconds:.1f}",
    )
