"""``beaver-tui harvest``: failing candidates of stored runs become tasks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from beaver_tui.authoring.options import PATH, note, repeat, where


@click.command()
@click.argument("runs", nargs=-1, required=True, type=PATH)
@click.option("--out", required=True, metavar="DIR", type=PATH, help="Corpus to add the tasks to.")
@repeat(2, "Runs that must end the same.")
@where
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, help="Programs at a time.")
def harvest(runs: tuple[Path, ...], out: Path, repeat: int, device: str, sandbox: str, jobs: int) -> int:
    """Make tasks of failing candidates: those that fail in the same way each time, can be solved, are not trivial, and differ
    from each other."""
    from dataclasses import replace

    from engine.authoring.harvest import FILTERS, harvest_runs
    from engine.local import local_harness
    from engine.rundir import RunDirectory
    from engine.verify import Effort, default_state, open_state

    opened = [RunDirectory(run) for run in runs]
    harness = replace(local_harness(device, sandbox, hide=(out.resolve(),), say=note), keep_builds=True)
    with harness, open_state(default_state(out)) as state:
        found = asyncio.run(harvest_runs(opened, harness, state, out, Effort(repeats=repeat), jobs, note))
    for folder in found.made:
        click.echo(folder)
    dropped = ", ".join(f"{found.dropped[name]} not {name}" for name in FILTERS if found.dropped[name])
    note(f"{found.failures} failing candidates, {len(found.made)} tasks" + (f"; {dropped}" if dropped else ""))
    return 0
