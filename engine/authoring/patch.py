"""An accepted fix as a patch against the broken start: what a person takes home from a run."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.cells import read_cell
from engine.corpora import builtin_folder, load_corpus
from engine.errors import RunError, TaskError
from engine.plain_file import read_plain
from engine.rundir import BUILTIN, Cell, RunDirectory
from engine.task import Task
from engine.trajectory import Iteration, Trajectory


@dataclass(frozen=True)
class Choice:
    """Which candidate is meant; None where it is not said. Only an ``iteration`` that is named may be one that failed."""

    task: str | None = None
    fixer: str | None = None
    attempt: int | None = None
    iteration: int | None = None


@dataclass(frozen=True)
class Fix:
    """A candidate of a run. ``file`` is the editable file's path in its program."""

    cell: Cell
    iteration: int
    file: str
    before: bytes
    after: bytes

    @property
    def patch(self) -> bytes:
        """A unified diff that ``git apply`` and ``patch -p1`` take."""
        return unified_diff(self.file, self.before, self.after)


def find_fix(run: RunDirectory, choice: Choice) -> Fix:
    """The one candidate that ``choice`` means: an accepted one, or that of its iteration. Of several fixes of one trajectory the
    last. Raises RunError when there is none, or when several trajectories have one; the message says which."""
    found = list(_candidates(run, choice))
    if not found:
        what = (
            "has no accepted fix" if choice.iteration is None else f"has no candidate in iteration {choice.iteration}"
        )
        hint = "; --iteration N takes a candidate that was not accepted" if choice.iteration is None else ""
        raise RunError(f"{run.path}: {_meant(choice)} {what}{hint}")
    if len({cell for cell, _, _ in found}) > 1:
        cells = "; ".join(dict.fromkeys(str(cell) for cell, _, _ in found))
        raise RunError(
            f"{run.path}: more than one trajectory has such a candidate; choose with --task, --fixer, --attempt: {cells}"
        )
    cell, trajectory, iteration = found[-1]
    assert iteration.candidate is not None and iteration.candidate.solution is not None
    task = task_of(run, corpus_of(run), trajectory)
    after = run.store(cell).get("solutions", iteration.candidate.solution)
    return Fix(cell, iteration.number, task.spec.solution_file, task.broken, after)


def corpus_of(run: RunDirectory) -> dict[str, Task]:
    """The tasks of the corpus that a run was made with, as its folder is now. Raises RunError when it cannot be read."""
    record = run.record
    if record.imported is not None and "corpus" in record.imported.unknown:
        raise RunError(
            f"{run.path}: was imported without a corpus; import the results again with --corpus PATH, into another --out"
        )
    try:
        path = builtin_folder() if record.corpus == BUILTIN else Path(record.corpus)
        return load_corpus(path, strict=False).tasks
    except TaskError as error:
        raise RunError(f"{run.path}: its corpus cannot be read: {error}") from error


def task_of(run: RunDirectory, tasks: Mapping[str, Task], trajectory: Trajectory) -> Task:
    """The task of a trajectory. Raises RunError when the corpus no longer holds it with the start that the trajectory began with."""
    opened = trajectory.opened
    assert opened is not None
    task = tasks.get(opened.task)
    if task is None or task.broken_sha != opened.broken:
        raise RunError(
            f"{run.path}: {opened.task} of the corpus {run.record.corpus} is not the task that the run began with"
        )
    return task


def trajectories(run: RunDirectory) -> Iterator[tuple[Cell, Trajectory]]:
    """Every trajectory that was begun, in the plan's order."""
    for cell in run.plan:
        trajectory = read_cell(run, cell)
        if trajectory is not None and trajectory.opened is not None:
            yield cell, trajectory


def _candidates(run: RunDirectory, choice: Choice) -> Iterator[tuple[Cell, Trajectory, Iteration]]:
    for cell, trajectory in trajectories(run):
        if choice.task not in (None, cell.task) or choice.fixer not in (None, cell.fixer):
            continue
        if choice.attempt not in (None, cell.attempt):
            continue
        for iteration in trajectory.finished:
            meant = iteration.passed if choice.iteration is None else iteration.number == choice.iteration
            if meant and iteration.candidate is not None and iteration.candidate.solution is not None:
                yield cell, trajectory, iteration


def _meant(choice: Choice) -> str:
    words = [choice.task or "", choice.fixer or ""]
    if choice.attempt is not None:
        words.append(f"attempt {choice.attempt}")
    return " · ".join(word for word in words if word) or "the run"


def unified_diff(name: str, before: bytes, after: bytes) -> bytes:
    """Exact to the byte: other line ends and a missing one at the end of the file stay what they are."""
    old, new = _lines(before), _lines(after)
    end = "\t" if " " in name else ""  # where a name with blanks ends
    was, now = (f"{side}/{name}{end}".encode() for side in "ab")
    lines = difflib.diff_bytes(difflib.unified_diff, old, new, was, now)
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


def bring_home(fix: Fix, folder: Path) -> Path:
    """Put the fix in its file's place below ``folder``. Raises RunError, and changes nothing, when that file is no longer the broken
    start: then a person has to look (``git apply --3way``)."""
    path = folder / fix.file
    try:
        content = read_plain(path)
        if content == fix.after:
            return path
        if content != fix.before:
            raise RunError(
                f"{path}: is not the broken start any more; apply the patch by hand (beaver-tui apply without --to)"
            )
        path.write_bytes(fix.after)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}") from error
    return path


def _lines(content: bytes) -> list[bytes]:
    """Split at line feeds alone, as patches are."""
    lines = content.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
