"""``beaver-tui plan``: a one-at-a-time sweep as config files, with its calls and its cost, before anything is spent."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beaver_tui.state.lines import one_line
from engine.config import BOUNDS

if TYPE_CHECKING:
    from engine.analysis.document import Shown
    from engine.analysis.plan import Load, PlannedRun
    from engine.config import BatchConfig
    from engine.corpora import Corpus
    from engine.fixers.config import FixerConfig
    from engine.rundir import Cell
    from engine.task import Task

_PATH = click.Path(path_type=Path)


@click.command()
@click.option("--axis", "axes", multiple=True, metavar="A1,A2,A3,A4", help="Axes to sweep, one at a time.")
@click.option("--values", multiple=True, metavar="A3=L0,L4", help="Other settings of an axis than the paper's.")
@click.option("--config", metavar="FILE", type=_PATH, help="YAML file with fixers, protocol, tasks, limits.")
@click.option("--corpus", metavar="PATH", help="Folder of tasks (default: the built-in corpus).")
@click.option("--tasks", multiple=True, metavar="GLOB", help="Task ids to play; may be repeated.")
@click.option("--fixer", "fixers", multiple=True, metavar="NAME", help="Fixer to play; may be repeated.")
@click.option("--preset", metavar="NAME", help="paper or paper-repeated.")
@click.option("-k", "k", type=int, metavar="K", help="Iterations of a trajectory (paper: 5).")
@click.option(
    "--attempts",
    type=click.IntRange(*BOUNDS["attempts"]),
    metavar="N",
    help="Independent attempts of each task and fixer.",
)
@click.option("--out", metavar="DIR", type=_PATH, help="New folder for the config files; without it none are written.")
def plan(
    axes: tuple[str, ...],
    values: tuple[str, ...],
    config: Path | None,
    corpus: str | None,
    tasks: tuple[str, ...],
    fixers: tuple[str, ...],
    preset: str | None,
    k: int | None,
    attempts: int | None,
    out: Path | None,
) -> int:
    """Plan a sweep that changes one axis at a time and holds the others (paper 3.4).

    Prints a table of runs with the settings that each answers, its calls and its cost. Nothing is asked and nothing is spent.
    """
    from engine.analysis.plan import design, load_of, read_values
    from engine.config import BatchConfig, read_batch_config, read_protocol
    from engine.corpora import builtin_folder, load_corpus
    from engine.rundir import BUILTIN
    from engine.sweep.registry import chosen_configs

    settings = read_batch_config(config) if config is not None else BatchConfig()
    for warning in settings.warnings:
        _note(warning)
    corpus = corpus if corpus is not None else settings.corpus
    found = load_corpus(builtin_folder() if corpus in (None, BUILTIN) else Path(str(corpus)))
    chosen = found.select(tasks or tuple(settings.tasks))
    panel = chosen_configs(fixers, settings.fixers)
    base = read_protocol(preset if preset is not None else settings.preset, settings.protocol, {"k": k})
    attempts = attempts if attempts is not None else settings.attempts
    runs = design(base, read_values(axes, values))
    loads = [[load_of(run, each, _cells(each, chosen, run, attempts), found.tasks) for each in panel] for run in runs]
    _print(runs, loads)
    if out is None:
        _note("nothing was written: give --out DIR for the config files")
        return 0
    _write(out, runs, settings, panel, found, corpus in (None, BUILTIN), [task.id for task in chosen], attempts)
    for run in runs:
        words = ["beaver-tui", "--batch", "--config", str(out / f"{run.name}.yaml"), "--out", str(out / run.name)]
        click.echo(shlex.join(words))
    return 0


def _cells(config: FixerConfig, tasks: Sequence[Task], run: PlannedRun, attempts: int | None) -> list[Cell]:
    """What the fixer would play. A recorded one is asked what it has answers for; no other is built, nor its key looked for."""
    from engine.analysis.plan import attempts_of
    from engine.fixers.base import Recorded
    from engine.rundir import Cell
    from engine.sweep.registry import build_fixer

    recorded = build_fixer(config, os.environ) if config.kind in ("scripted", "replay") else None
    covered = [task for task in tasks if not isinstance(recorded, Recorded) or recorded.covers(task)]
    count = attempts_of(run.protocol, attempts)
    return [Cell(task.id, config.name, number) for task in covered for number in range(1, count + 1)]


def _print(runs: Sequence[PlannedRun], loads: Sequence[Sequence[Load]]) -> None:
    from beaver_tui.analysis.show import print_tables
    from engine.analysis.document import count, missing, number, table, words

    def cost(value: float | None, why: str) -> Shown:
        return missing(why) if value is None else number(value, 2, " $")

    rows = []
    for run, each in zip(runs, loads, strict=True):
        for place, load in enumerate(each):
            first = (run.name, _answers(run)) if place == 0 else ("", "")
            costs = (cost(load.about, load.why), cost(load.most, load.why))
            rows.append((*map(words, first), words(load.fixer), count(load.trajectories), count(load.calls), *costs))
    names = ("run", "answers", "fixer", "trajectories", "calls at most", "cost about", "cost at most")
    print_tables([table("plan", "One axis at a time", names, rows)])
    every = [load for each in loads for load in each]
    click.echo(f"{len(runs)} runs, {sum(load.calls for load in every)} calls at most")
    for kind, costs_of in (("about", [load.about for load in every]), ("at most", [load.most for load in every])):
        known = sum(value for value in costs_of if value is not None)
        unknown = sum(value is None for value in costs_of)
        click.echo(f"cost {kind}: {known:.2f} $" + (f" and {unknown} loads of unknown cost" if unknown else ""))
    if any(load.about for load in every):
        _note("'about' takes answers as long as the broken start, and no thinking; 'at most' takes max_tokens for each")


def _answers(run: PlannedRun) -> str:
    """The settings by axis: A1=0.0,0.1 A3=L3."""
    by_axis: dict[str, list[str]] = {}
    for answer in run.answers:
        by_axis.setdefault(answer.axis, []).append(str(answer.value))
    return " ".join(f"{axis}={','.join(values)}" for axis, values in by_axis.items())


def _write(
    out: Path,
    runs: Sequence[PlannedRun],
    settings: BatchConfig,
    panel: Sequence[FixerConfig],
    corpus: Corpus,
    builtin: bool,
    tasks: list[str],
    attempts: int | None,
) -> None:
    """A config file for each run. They hold what the fixers' entries hold, so nobody else may read them."""
    import msgspec

    from engine.analysis.grids import AXES
    from engine.analysis.plan import config_protocol
    from engine.errors import ConfigError
    from engine.rundir import BUILTIN

    common: dict[str, Any] = {
        "corpus": BUILTIN if builtin else str(corpus.path.resolve()),
        "tasks": tasks,
        "fixers": [_entry(config) for config in panel],
    }
    kept = ("limits", "device", "sandbox", "jobs", "two_phase")
    common |= {name: msgspec.to_builtins(getattr(settings, name)) for name in settings.given if name in kept}
    if attempts is not None:
        common["attempts"] = attempts
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise ConfigError(f"--out {out}: not empty; choose a new folder")
        table = []
        for run in runs:
            _write_yaml(
                out / f"{run.name}.yaml", {"name": run.name, "protocol": config_protocol(run.protocol), **common}
            )
            answers = [{"axis": answer.axis, "value": answer.value, "how": answer.how} for answer in run.answers]
            protocol = config_protocol(run.protocol)
            table.append({"run": run.name, "config": f"{run.name}.yaml", "protocol": protocol, "answers": answers})
        design = {"schema_version": 1, "axes": AXES, "runs": table}
        (out / "plan.json").write_bytes(msgspec.json.format(msgspec.json.encode(design), indent=2) + b"\n")
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror}") from error


def _entry(config: FixerConfig) -> dict[str, Any]:
    """An entry of a config's fixer list: what differs from the defaults."""
    import msgspec

    from engine.fixers.config import FixerConfig

    plain = msgspec.to_builtins(FixerConfig(name="-", kind="human"))
    given = msgspec.to_builtins(config)
    return {name: value for name, value in given.items() if name in ("name", "kind") or value != plain[name]}


def _write_yaml(path: Path, content: dict[str, Any]) -> None:
    import yaml

    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        yaml.safe_dump(content, file, sort_keys=False, allow_unicode=True)


def _note(text: str) -> None:
    click.echo(f"beaver-tui: {one_line(text)}", err=True)
