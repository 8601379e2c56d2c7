"""``beaver-tui init`` and ``beaver-tui apply``: a program of one's own becomes a task, and its fix comes home as a patch."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

import click

from beaver_tui.authoring.options import PATH, note, repeat, where
from beaver_tui.state.lines import one_line


@click.command()
@click.argument("directory", type=PATH)
@click.option("--file", "file", required=True, metavar="FILE", help="The one file to repair, relative to DIRECTORY.")
@click.option("--build", required=True, metavar="COMMAND", help="Shell text that builds, run in the folder.")
@click.option("--test", required=True, metavar="COMMAND", help="Shell text that tests; exit code 0 is a pass.")
@click.option("--pass-regex", metavar="RE", help="What standard output must match besides.")
@click.option("--timing-regex", metavar="RE", help="Its first group is the kernel time in milliseconds.")
@click.option("--reference", metavar="FILE", type=PATH, help="A correct version of the file (optional).")
@click.option("--name", default="", metavar="ID", help="The task's id (default: from folder and file).")
@click.option("--out", default=Path("tasks"), type=PATH, show_default=True, metavar="DIR", help="Corpus to add it to.")
@repeat(2, "Runs that must end the same.")
@click.option("--build-timeout", "build_seconds", type=click.FloatRange(0.1), metavar="SECONDS")
@click.option("--test-timeout", "test_seconds", type=click.FloatRange(0.1), metavar="SECONDS")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files that are left out; may be repeated.")
@where
def init(directory: Path, out: Path, repeat: int, device: str, sandbox: str, **wishes: object) -> int:
    """Make a task of a failing program: build and test it a few times, and write down how it fails.

    A program that passes, fails differently each time, or whose commands fail by themselves is refused with the reason.
    """
    from dataclasses import replace

    import msgspec

    from engine.authoring.adopt import adopt
    from engine.authoring.draft import Wish
    from engine.local import local_harness

    wish = msgspec.convert({"folder": directory, **wishes}, Wish)
    with replace(local_harness(device, sandbox, say=note), keep_builds=True) as harness:
        made = asyncio.run(adopt(wish, harness, out, repeat, note))
    click.echo(f"{made.folder}: {made.category}, {one_line(made.evidence_line) or 'too slow'}")
    corpus, task = shlex.quote(str(out)), shlex.quote(made.task.id)
    click.echo(f"repair it: beaver-tui --batch --corpus {corpus} --tasks {task} --fixer ...")
    return 0


@click.command()
@click.argument("run", type=PATH)
@click.option("--task", metavar="ID", help="Where a run has several accepted fixes.")
@click.option("--fixer", metavar="NAME")
@click.option("--attempt", type=int, metavar="N")
@click.option("--iteration", type=int, metavar="N", help="This candidate, accepted or not.")
@click.option("--to", "to", type=PATH, metavar="DIR", help="Put the file there instead of printing a patch.")
def apply(
    run: Path, task: str | None, fixer: str | None, attempt: int | None, iteration: int | None, to: Path | None
) -> int:
    """Print the accepted fix of a run as a unified diff against the broken start, for git apply."""
    from engine.authoring.patch import Choice, bring_home, find_fix
    from engine.rundir import RunDirectory

    fix = find_fix(RunDirectory(run), Choice(task, fixer, attempt, iteration))
    if to is None:
        click.echo(fix.patch, nl=False)
    else:
        click.echo(f"{bring_home(fix, to)}: iteration {fix.iteration} of {one_line(str(fix.cell))}")
    return 0
