"""Stored runs, opened for their numbers: what every command of this package begins with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from beaver_tui.state.lines import one_line

if TYPE_CHECKING:
    from engine.analysis.classify_again import Judged
    from engine.analysis.frame import Frame
    from engine.corpora import Corpus
    from engine.protocol import Protocol
    from engine.rundir import RunDirectory
    from engine.task import Task


@dataclass(frozen=True)
class OpenedRuns:
    """Runs of one corpus. ``notes`` are lines for standard error; ``tasks`` are the corpus's, empty where it is not the one that the
    runs were made with any more."""

    runs: Sequence[RunDirectory]
    frame: Frame
    tasks: dict[str, Task]
    notes: list[str] = field(default_factory=list)

    @property
    def protocols(self) -> list[Protocol]:
        """Different ones, in the order of the runs."""
        return list(dict.fromkeys(run.record.protocol for run in self.runs))

    @cached_property
    def facts(self) -> dict[str, str]:
        """What heads a report."""
        records = [run.record for run in self.runs]
        coverage = self.frame.coverage
        imported = _listed(f"{record.name} ({record.imported.format})" for record in records if record.imported)
        left_out = ", ".join(f"{number} {why}" for why, number in sorted(coverage.reasons.items()))
        return {
            "runs": _listed(record.name for record in records),
            "corpus": _listed(f"{record.corpus_hash[:12]} ({_kind(record.corpus)})" for record in records),
            "device": _listed(record.device.name for record in records),
            "sandbox": _listed(record.sandbox for record in records),
            "toolkit": _listed(record.toolkit for record in records),
            "counted": f"{coverage.counted} of {coverage.planned} planned trajectories"
            + (f"; {left_out}" if left_out else ""),
            **({"imported": imported} if imported else {}),
        }

    def judged_again(self) -> Judged:
        """Every stored iteration, judged by this version's classifier. Damaged journals are left out, and noted."""
        from engine.analysis.classify_again import classify_again
        from engine.cells import read_cell
        from engine.errors import RunError
        from engine.rundir import Cell
        from engine.trajectory import Trajectory

        def stories() -> Iterable[tuple[Cell, Trajectory]]:
            for run in self.runs:
                for cell in run.plan:
                    try:
                        trajectory = read_cell(run, cell)
                    except RunError as error:
                        self.notes.append(one_line(f"left out: {error}"))
                        continue
                    if trajectory is not None and trajectory.opened is not None:
                        yield cell, trajectory

        return classify_again(stories(), self.tasks)


def open_runs(paths: Sequence[Path], *, interactive: bool = False, sources: dict[str, str] | None = None) -> OpenedRuns:
    """The runs in these folders. ``sources`` names the model that made a task's start, by task. Raises RunError for a run that
    cannot be read, one that is named twice, and runs of different corpora."""
    from engine.analysis.scan import frame_of
    from engine.analysis.sources import with_sources
    from engine.errors import RunError
    from engine.rundir import RunDirectory

    runs = [RunDirectory(path) for path in paths]
    seen: set[Path] = set()
    for run in runs:
        if run.path.resolve() in seen:
            raise RunError(f"{run.path}: is given twice; its rows would count twice")
        seen.add(run.path.resolve())
    first = runs[0]
    for run in runs:
        if run.record.corpus_hash != first.record.corpus_hash:
            raise RunError(f"{first.path} and {run.path}: runs of different corpora; their tasks are not the same")
    notes: list[str] = []
    corpus = _corpus(first, notes)
    tasks = dict(corpus.tasks) if corpus is not None else {}
    frame = frame_of(runs, {name: task.spec for name, task in tasks.items()}, interactive=interactive)
    if sources:
        frame = with_sources(frame, sources)
    for gap in frame.coverage.gaps:
        if gap.why == "damaged":
            notes.append(one_line(f"left out: {gap.detail}"))
    return OpenedRuns(runs, frame, tasks, notes)


def _corpus(run: RunDirectory, notes: list[str]) -> Corpus | None:
    """The run's corpus, None with a note when it is gone or has changed: families and operations are unknown then."""
    from engine.corpora import builtin_folder, load_corpus
    from engine.errors import TaskError
    from engine.rundir import BUILTIN

    record = run.record
    unknown = "families, operations and harness files of its tasks are unknown"
    try:
        corpus = load_corpus(builtin_folder() if record.corpus == BUILTIN else Path(record.corpus), strict=False)
    except TaskError as error:
        notes.append(one_line(f"{error}; {unknown}"))
        return None
    if corpus.digest != record.corpus_hash:
        notes.append(one_line(f"the corpus {record.corpus} has changed since {run.path.name} was made; {unknown}"))
        return None
    return corpus


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(one_line(text) for text in texts))


def _kind(corpus: str) -> str:
    from engine.rundir import BUILTIN

    return BUILTIN if corpus == BUILTIN else "a folder"
