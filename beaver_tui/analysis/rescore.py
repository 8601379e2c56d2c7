"""``beaver-tui rescore``: a stored run under other thresholds, without playing anything again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from beaver_tui.analysis.show import FORMATS

if TYPE_CHECKING:
    from engine.analysis.stagnation import Thresholds
    from engine.protocol import Protocol


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option("--gate", "gates", multiple=True, metavar="P,...", help="Least speedups that pass; may be repeated.")
@click.option("--no-progress", type=int, metavar="C", help="Equal iterations that make no_progress (as played: 3).")
@click.option("--oscillation", metavar="M,N", help="Transitions within iterations that make an oscillation (3,5).")
@click.option("--classify-again", is_flag=True, help="Judge the stored evidence by the rules of this version.")
@click.option("--symmetric", is_flag=True, help="A fixer keeps all iterations on starts of its own (no Eq. 5).")
@click.option("--interactive", is_flag=True, help="Count trajectories that a person may have changed.")
@click.option(
    "--format", "form", type=click.Choice([*FORMATS, "plain"]), help="Default: rich on a terminal, else plain."
)
def rescore(
    runs: tuple[Path, ...],
    gates: tuple[str, ...],
    no_progress: int | None,
    oscillation: str | None,
    classify_again: bool,
    symmetric: bool,
    interactive: bool,
    form: str | None,
) -> int:
    """Score stored runs again, from their journals.

    A run whose gate acted in the loop can be scored up to that gate only: above it trajectories were cut short. Where a stagnation
    signal has stopped a trajectory, looser thresholds cannot know what would have come: such trajectories are counted as censored.
    """
    from beaver_tui.analysis.runs import open_runs
    from beaver_tui.analysis.show import print_tables, show
    from engine.analysis.document import Document
    from engine.analysis.performance import THRESHOLDS, allowed_thresholds
    from engine.analysis.rescore import sections

    opened = open_runs(runs, interactive=interactive)
    thresholds = _thresholds(opened.protocols, no_progress, oscillation)
    wanted = _numbers(gates)
    if not wanted and thresholds is None and not classify_again:
        wanted = allowed_thresholds(opened.frame, THRESHOLDS)
    judged = opened.judged_again() if classify_again else None
    parts = sections(opened.frame, wanted, thresholds, judged, asymmetric=not symmetric)
    for note in opened.notes:
        click.echo(f"beaver-tui: {note}", err=True)
    if form in (None, "plain"):
        print_tables([table for section in parts for table in section.tables])
    else:
        show(Document("Scored again", tuple(parts), opened.facts), form)
    return 0


def _numbers(texts: tuple[str, ...]) -> list[float]:
    import math

    found = []
    for word in (word.strip() for text in texts for word in text.split(",")):
        try:
            number = float(word)
        except ValueError:
            raise click.UsageError(f"--gate {word}: must be a number, such as 0.7") from None
        if not math.isfinite(number) or number < 0:
            raise click.UsageError(f"--gate {word}: must be a finite number of 0 or more")
        found.append(number)
    return list(dict.fromkeys(found))


def _thresholds(protocols: Sequence[Protocol], no_progress: int | None, oscillation: str | None) -> Thresholds | None:
    """What was asked for; the part that was not named is as it was played."""
    from engine.analysis.stagnation import Thresholds

    if no_progress is None and oscillation is None:
        return None
    played = {(each.oscillation_m, each.oscillation_n, each.no_progress_c) for each in protocols}
    if len(played) > 1 and (no_progress is None or oscillation is None):
        raise click.UsageError(
            "these runs were played with different thresholds; give both --no-progress and --oscillation"
        )
    m, n, c = next(iter(played))
    if oscillation is not None:
        try:
            m, n = (int(word) for word in oscillation.split(","))
        except ValueError:
            raise click.UsageError(f"--oscillation {oscillation}: write it as M,N, such as 3,5") from None
    wanted = Thresholds(m, n, c if no_progress is None else no_progress)
    if not 1 <= wanted.oscillation_m < wanted.oscillation_n:
        raise click.UsageError(f"--oscillation {m},{n}: M must be at least 1 and below N")
    if wanted.no_progress_c < 2:
        raise click.UsageError(f"--no-progress {wanted.no_progress_c}: must be at least 2")
    return wanted
