"""``beaver-tui card``: the evaluation card of stored runs, as JSON that keeps to its schema, or for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from beaver_tui.analysis.numbers import GATE
from beaver_tui.analysis.show import FORMATS

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN...", type=_PATH)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: tables on a terminal, else json.")
@click.option("--out", metavar="FILE", type=_PATH, help="Write there; .json, .md, .html, .csv and .tex say the format.")
@click.option("--gate", type=GATE, metavar="P", help="Least speedup that passes (default: the runs' own).")
@click.option("--verify", metavar="FILE", type=_PATH, help="Output of beaver-tui verify --json for these tasks.")
@click.option(
    "--plan", metavar="FILE", type=_PATH, help="plan.json of a sweep: the card says which of its runs are missing."
)
@click.option("--filters", metavar="TEXT", help="How the tasks were chosen, in words; a run does not know.")
@click.option("--sources", metavar="FILE", type=_PATH, help="YAML mapping of tasks to the models that broke them.")
@click.option("--symmetric", is_flag=True, help="A fixer keeps all iterations on starts of its own (no Eq. 5).")
@click.option("--interactive", is_flag=True, help="Count trajectories that a person may have changed.")
@click.option("--schema", is_flag=True, help="Print the card's JSON Schema, and nothing else.")
def card(
    runs: tuple[Path, ...],
    form: str | None,
    out: Path | None,
    gate: float | None,
    verify: Path | None,
    plan: Path | None,
    filters: str | None,
    sources: Path | None,
    symmetric: bool,
    interactive: bool,
    schema: bool,
) -> int:
    """Make the evaluation card of stored runs of one corpus.

    Every field is there, with its value or with the reason why there is none; a card that would lack one is not written.
    """
    import sys

    import msgspec

    if schema:
        from engine.analysis.card_schema import CARD

        click.echo(msgspec.json.format(msgspec.json.encode(CARD), indent=2))
        return 0
    if not runs:
        raise click.UsageError("name at least one run, or --schema")
    made = _card(runs, gate, verify, plan, filters, sources, symmetric, interactive)
    wanted = form
    if form is None and (out.suffix.lower() in (".json", "") if out is not None else not sys.stdout.isatty()):
        wanted = "json"
    from beaver_tui.analysis.show import deliver, show
    from engine.analysis.card_text import card_document

    if wanted == "json":
        deliver((msgspec.json.format(msgspec.json.encode(made), indent=2) + b"\n").decode(), out)
    else:
        show(card_document(made), wanted, out)
    return 0


def _card(
    runs: tuple[Path, ...],
    gate: float | None,
    verify: Path | None,
    plan: Path | None,
    filters: str | None,
    sources: Path | None,
    symmetric: bool,
    interactive: bool,
) -> dict[str, Any]:
    from beaver_tui import __version__
    from beaver_tui.analysis.runs import open_runs
    from beaver_tui.analysis.sources import read_sources
    from engine.analysis.card import make_card
    from engine.analysis.plan import planned_protocols
    from engine.analysis.report import the_gate
    from engine.analysis.scoring import Scoring
    from engine.events import utc_now

    opened = open_runs(runs, interactive=interactive, sources=read_sources(sources))
    tasks = {cell.task for run in opened.runs for cell in run.plan}
    made = make_card(
        opened.runs,
        opened.frame,
        Scoring(gate=the_gate(opened.frame, gate), asymmetric=not symmetric),
        made=utc_now(),
        tool_version=__version__,
        verdicts=_verdicts(verify, tasks) if verify is not None else None,
        filters=filters,
        plan=planned_protocols(plan) if plan is not None else None,
    )
    for note in opened.notes:
        click.echo(f"beaver-tui: {note}", err=True)
    return made


def _verdicts(path: Path, tasks: set[str]) -> dict[str, int]:
    """How many of ``tasks`` have each verdict, "not verified" among them. Raises ConfigError for a file that is something else."""
    from collections import Counter

    import msgspec

    from engine.errors import ConfigError
    from engine.plain_file import read_plain
    from engine.verify.rows import Row

    where = f"--verify {path}"
    found: dict[str, str] = {}
    try:
        for line in read_plain(path).splitlines():
            row = msgspec.json.decode(line, type=Row)
            if row.task in tasks:
                found[row.task] = row.verdict
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise ConfigError(f"{where}: not the output of beaver-tui verify --json: {error}") from None
    counts = Counter(found.values())
    if left := len(tasks) - len(found):
        counts["not verified"] = left
    return dict(counts)
