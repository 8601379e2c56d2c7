"""``beaver-tui report``: what stored runs say, in the terminal or as a file."""

from __future__ import annotations

from pathlib import Path

import click

from beaver_tui.analysis.numbers import GATE
from beaver_tui.analysis.show import FORMATS

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=_PATH)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: pictures on a terminal, else md.")
@click.option("--out", metavar="FILE", type=_PATH, help="Write there; .html, .json, .csv and .tex say the format.")
@click.option("--compare", is_flag=True, help="Compare every pair of fixers on the tasks that both played.")
@click.option("--gate", type=GATE, metavar="P", help="Least speedup that passes (default: the runs' own).")
@click.option("--sources", metavar="FILE", type=_PATH, help="YAML mapping of tasks to the models that broke them.")
@click.option("--symmetric", is_flag=True, help="A fixer keeps all iterations on starts of its own (no Eq. 5).")
@click.option("--interactive", is_flag=True, help="Count trajectories that a person may have changed.")
def report(
    runs: tuple[Path, ...],
    form: str | None,
    out: Path | None,
    compare: bool,
    gate: float | None,
    sources: Path | None,
    symmetric: bool,
    interactive: bool,
) -> int:
    """Report stored runs of one corpus: scores with intervals, how repairs fail, and how much of it is the protocol's.

    The HTML file is whole in itself: it fetches nothing and runs nothing.
    """
    from beaver_tui.analysis.runs import open_runs
    from beaver_tui.analysis.show import show
    from beaver_tui.analysis.sources import read_sources
    from engine.analysis.report import Wishes
    from engine.analysis.report import report as report_of

    opened = open_runs(runs, interactive=interactive, sources=read_sources(sources))
    document = report_of(opened.frame, opened.facts, Wishes(gate, not symmetric, compare))
    for note in opened.notes:
        click.echo(f"beaver-tui: {note}", err=True)
    show(document, form, out)
    return 0
