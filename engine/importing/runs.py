"""Foreign results as run directories that can be replayed, classified again, compared and reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from engine.config import BatchConfig, read_batch_config, read_protocol
from engine.corpora import Corpus, load_corpus
from engine.corpora.cudabeaver import is_checkout
from engine.errors import ConfigError, RunError, TaskError
from engine.importing.layout import API_ERROR, Results, Row, find_folders, read_results
from engine.importing.story import UNKNOWN, Teller
from engine.journal import Journal
from engine.manifest import write_manifest
from engine.protocol import Protocol, Sampling
from engine.rundir import Cell, DeviceRecord, ImportRecord, RunDirectory, RunRecord, trajectory_folder
from engine.store import DiskStore

FORMAT = "CUDABeaver release"

NEVER_TOLD = (
    "device",
    "driver",
    "toolkit",
    "sandbox",
    "seed of the inputs",
    "prompts",
    "feedback messages",
    "exit codes other than 0",
    "tokens and cost",
    "seconds",
    "times of single launches",
    "why a reply ended",
)
"""What no row of these results says."""

find_results = find_folders


@dataclass(frozen=True)
class Imported:
    """A run that was made, or found to be there already. ``iterations`` and ``faults`` count rows."""

    run: RunDirectory
    tasks: int
    iterations: int
    faults: int
    there: bool = False


def import_results(
    folder: Path,
    out: Path,
    tool_version: str,
    *,
    corpus: Path | None = None,
    fixer: str | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Imported:
    """The results in ``folder`` as a run below ``out``; ``say`` is told what a user should know. ``corpus`` is the one that the tasks are
    of; without it, a checkout that ``folder`` lies in. ``fixer`` names who answered; without it the model does.

    Raises RunError when there are no results, or another run lies where this one would.
    """
    results = read_results(folder)
    config = _config(results)
    protocol, unsure = _protocol(results.rows, config, results.notes)
    found = _corpus(folder, corpus, say)
    tasks = found.tasks if found is not None else {}
    model = _model(config)
    name = (config.name if config is not None else None) or folder.name
    who = fixer or model or name
    stories = _stories(results, protocol, who)
    known = {cell.task for cell in stories} & tasks.keys()
    if found is not None and len(known) < len({cell.task for cell in stories}):
        results.notes.append(f"{len({cell.task for cell in stories} - known)} tasks are not in the corpus {found.path}")
    target = out / _folder_name(folder.name, name)
    if (there := _there(target, results)) is not None:
        return there
    plan = _plan(stories, config, protocol, who)
    teller = Teller(results, name, protocol, model)
    counts = [0, 0]

    def fill(made: Path) -> None:
        for cell, rows in stories.items():
            place = trajectory_folder(made, cell)
            store = DiskStore(made, place / "logs")
            with Journal(place / "journal.jsonl") as journal:
                for event in teller.story(cell, rows, tasks.get(cell.task), store):
                    journal.append(event)
            counts[0] += sum(row.error_type != API_ERROR for row in rows)
            counts[1] += sum(row.error_type == API_ERROR for row in rows)

    record = RunRecord(
        name=name,
        tool_version=tool_version,
        protocol=protocol,
        corpus=str(found.path.resolve()) if found is not None else UNKNOWN,
        corpus_hash=found.digest if found is not None else UNKNOWN,  # as it is now
        tasks=len({cell.task for cell in plan}),
        fixers=[{"name": who, "kind": "imported", "model": model or UNKNOWN}],
        device=DeviceRecord(kind=UNKNOWN, name=UNKNOWN),
        sandbox=UNKNOWN,
        toolkit=UNKNOWN,
        seed=UNKNOWN,
        python=UNKNOWN,
        system=UNKNOWN,
        imported=ImportRecord(
            source=str(folder.resolve()),
            format=FORMAT,
            sha256=results.sha256,
            recorded=_recorded(folder.name),
            unknown=[*NEVER_TOLD, *unsure, "corpus" if found is None else "version of the corpus"],
            notes=results.notes,  # grows while the texts are read
        ),
    )
    run = RunDirectory.create(record, plan, target, fill)
    write_manifest(run)
    return Imported(run, len({cell.task for cell in stories}), counts[0], counts[1])


def _config(results: Results) -> BatchConfig | None:
    """The config that the release copies beside its results."""
    path = results.folder / "config.yaml"
    if not path.is_file():
        return None
    try:
        return read_batch_config(path)
    except ConfigError as error:
        results.notes.append(f"config.yaml: cannot be read: {error}")
        return None


def _protocol(rows: Sequence[Row], config: BatchConfig | None, notes: list[str]) -> tuple[Protocol, list[str]]:
    """What was played, from the config, else from what the rows say of it; and the fields that neither tells."""
    if config is not None:
        protocol = read_protocol(config.preset, config.protocol)
        if protocol.sampling is Sampling.REPEATED and config.attempts:
            protocol = msgspec.structs.replace(protocol, k=config.attempts)
        return protocol, []
    first = rows[0]
    layer: dict[str, Any] = {"sampling": first.method, "history": first.max_history_rounds}
    if first.feedback_level is not None:
        level = f"L{first.feedback_level}" if isinstance(first.feedback_level, int) else first.feedback_level
        layer["feedback"] = "L3raw" if first.feedback_mode == "raw" else level
    if first.few_shot_k:
        strategy = (first.few_shot_strategy or "random").partition("-")[0]
        layer["few_shot"] = f"{strategy}:{first.few_shot_k}"
    used_up = [row.iteration for row in rows if row.stop_reason == "max_iterations"]
    layer["k"] = first.n_attempts or max(used_up, default=None) or max(row.iteration for row in rows)
    unsure = [name for name in ("sampling", "history", "feedback") if layer.get(name) is None]
    if not used_up and not first.n_attempts:
        unsure.append("k")
    notes.append(
        f"no config.yaml: {', '.join([*unsure, 'temperature'])} of the protocol are the paper's, not the results'"
    )
    return read_protocol(None, layer), [f"protocol: {name}" for name in (*unsure, "temperature")]


def _model(config: BatchConfig | None) -> str:
    return (config.fixers[0].model or "") if config is not None and config.fixers else ""


def _corpus(folder: Path, corpus: Path | None, say: Callable[[str], None]) -> Corpus | None:
    """The tasks that rows may name by their full id."""
    path = corpus or next((place for place in folder.resolve().parents if is_checkout(place)), None)
    if path is None:
        say("no --corpus: broken starts, buckets and prompts of the tasks are unknown")
        return None
    return _load(path)


@cache
def _load(path: Path) -> Corpus:
    """Once for many results: a checkout takes seconds."""
    try:
        return load_corpus(path, strict=False)
    except TaskError as error:
        raise RunError(f"--corpus {path}: {error}") from error


def _stories(results: Results, protocol: Protocol, who: str) -> dict[Cell, list[Row]]:
    """Rows by trajectory. A repeated attempt is a trajectory of its own. Where a task was begun again (a second phase, a retry), the
    last time counts, and what is before it is noted."""
    by_task: dict[str, list[Row]] = {}
    for row in results.rows:
        by_task.setdefault(row.task_id, []).append(row)
    stories: dict[Cell, list[Row]] = {}
    again = lost = 0
    for task, rows in by_task.items():
        if protocol.sampling is Sampling.REPEATED:
            latest = {row.iteration: row for row in rows}
            again += len(rows) - len(latest)
            stories |= {Cell(task, who, number): [row] for number, row in sorted(latest.items())}
            continue
        tries: list[list[Row]] = []
        for row in rows:
            if not tries or row.iteration <= tries[-1][-1].iteration:
                tries.append([])
            tries[-1].append(row)
        again += sum(map(len, tries[:-1]))
        whole = [row for place, row in enumerate(tries[-1], 1) if row.iteration == place]
        if len(whole) < len(tries[-1]):  # how it ended was said later
            lost += len(tries[-1]) - len(whole)
        if whole:
            stories[Cell(task, who)] = whole
    if again:
        results.notes.append(f"{again} rows of earlier tries are left out: the last try of a task counts")
    if lost:
        results.notes.append(f"{lost} rows are left out: an iteration before them is missing")
    return stories


def _plan(stories: Iterable[Cell], config: BatchConfig | None, protocol: Protocol, who: str) -> list[Cell]:
    """What the results promised: the config's tasks, and what there are rows of."""
    attempts = protocol.k if protocol.sampling is Sampling.REPEATED else 1
    promised = [
        Cell(task, who, number) for task in (config.tasks if config else []) for number in range(1, attempts + 1)
    ]
    return sorted({*promised, *stories})


def _recorded(folder: str) -> str:
    """The release names a folder after the local time at which it began."""
    found = re.fullmatch(r"(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)", folder)
    return "{}-{}-{} {}:{}:{}, time zone unknown".format(*found.groups()) if found else UNKNOWN


def _folder_name(stamp: str, name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{stamp}-{name}" if name != stamp else stamp).strip("-.")
    return plain[:200] or "imported"


def _there(target: Path, results: Results) -> Imported | None:
    """The run of the same results, made earlier."""
    if not target.exists():
        return None
    run = RunDirectory(target)
    if run.record.imported is None or run.record.imported.sha256 != results.sha256:
        raise RunError(f"{target}: another run is there; choose another --out")
    faults = sum(row.error_type == API_ERROR for row in results.rows)
    return Imported(run, len({row.task_id for row in results.rows}), len(results.rows) - faults, faults, there=True)
