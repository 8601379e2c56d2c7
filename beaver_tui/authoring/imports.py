"""``beaver-tui import``: results of the CUDABeaver release's harness become runs."""

from __future__ import annotations

from pathlib import Path

import click

from beaver_tui import __version__
from beaver_tui.authoring.options import PATH, note
from beaver_tui.state.lines import one_line


@click.command("import")
@click.argument("results", nargs=-1, required=True, type=PATH)
@click.option("--out", default=Path("runs"), show_default=True, type=PATH, metavar="DIR", help="Where the runs go.")
@click.option(
    "--corpus", type=PATH, metavar="PATH", help="Corpus of the tasks (default: the checkout that the results lie in)."
)
@click.option("--fixer", metavar="NAME", help="Who answered (default: the model that the results' config names).")
def import_results(results: tuple[Path, ...], out: Path, corpus: Path | None, fixer: str | None) -> int:
    """Make runs of the results of the CUDABeaver release: folders with index/manifest.jsonl, at or below RESULTS.

    Categories are those of the results; beaver-tui rescore RUN --classify-again says what this classifier makes of their logs. What the
    results do not tell stays unknown, and run.json lists it. Results that were imported before are left as they are.
    """
    from engine.importing import find_results
    from engine.importing import import_results as read

    for folder in find_results(results):
        made = read(folder, out, __version__, corpus=corpus, fixer=fixer, say=note)
        said = "was there already" if made.there else "imported"
        faults = f", {made.faults} rows of a service that did not answer" if made.faults else ""
        click.echo(one_line(f"{made.run.path}: {said}: {made.tasks} tasks, {made.iterations} iterations{faults}"))
        imported = made.run.record.imported
        for text in imported.notes if imported is not None and not made.there else ():
            note(f"{made.run.path.name}: {text}")
    return 0
