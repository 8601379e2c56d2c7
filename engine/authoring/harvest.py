"""Failing candidates of stored runs become broken starts of new tasks, by the paper's four filters (3.2).

Reproducible: it fails in the same way each time, on this machine. Solvable: its task has a reference, or a fix of it was
accepted. Non-trivial: by the size of the patch. Diverse: no other start of the same task fails in the same way.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.authoring.draft import write_spec
from engine.authoring.patch import corpus_of, task_of, trajectories
from engine.candidate import line_changes
from engine.corpora.native import read_native
from engine.harness.examine import Harness
from engine.rundir import Cell, RunDirectory
from engine.store import sha256
from engine.task import Task
from engine.text import slug
from engine.trajectory import Iteration, Trajectory
from engine.verdict import Category, outcome_bucket
from engine.verify import Effort, Row, State, Verification
from engine.verify.judge import LEAST_PATCH

Say = Callable[[str], None]

FILTERS = ("solvable", "non-trivial", "diverse", "reproducible")
"""In the order in which they are applied: what needs no run first."""


@dataclass(frozen=True)
class Failure:
    """A candidate that failed in a run, and the task whose start it could be."""

    task: Task
    code: bytes
    cell: Cell
    model: str
    category: str
    signature: str
    fix: bytes | None
    """A correct solution: the task's reference, or what the run accepted."""

    @property
    def kind(self) -> tuple[str, str, str]:
        """Failures of one kind are one start."""
        return self.task.id, self.category, self.signature


@dataclass
class Harvest:
    """``made`` are the folders of new tasks; ``dropped`` counts failures by the first filter that they did not pass."""

    failures: int = 0
    made: list[Path] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def failures(runs: Iterable[RunDirectory]) -> Iterator[Failure]:
    """Every candidate that was run and failed. Raises RunError for a run that cannot be read."""
    for run in runs:
        tasks = corpus_of(run)
        told = list(trajectories(run))
        fixes = _accepted(run, told)
        for cell, trajectory in told:
            task = task_of(run, tasks, trajectory)
            fix = task.reference.read_bytes() if task.reference is not None else fixes.get(task.id)
            for iteration in trajectory.finished:
                if _failed(iteration):
                    assert iteration.candidate is not None and iteration.candidate.solution is not None
                    assert iteration.verdict is not None
                    yield Failure(
                        task=task,
                        code=run.store(cell).get("solutions", iteration.candidate.solution),
                        cell=cell,
                        model=iteration.reply.model if iteration.reply is not None else "",
                        category=iteration.verdict.category,
                        signature=iteration.verdict.signature,
                        fix=fix,
                    )


def _failed(iteration: Iteration) -> bool:
    """Judged, and not passed. What this or that machine could not run is no failure of the candidate."""
    verdict, candidate, tested = iteration.verdict, iteration.candidate, iteration.tested
    if verdict is None or candidate is None or candidate.solution is None or verdict.stage == "preflight":
        return False
    return verdict.category != Category.PASSED and (tested is None or tested.step.not_run is None)


def _accepted(run: RunDirectory, told: list[tuple[Cell, Trajectory]]) -> dict[str, bytes]:
    """An accepted fix for each task that has one."""
    return {
        cell.task: run.store(cell).get("solutions", iteration.candidate.solution)
        for cell, trajectory in told
        for iteration in trajectory.finished
        if iteration.passed and iteration.candidate is not None and iteration.candidate.solution is not None
    }


def promising(found: Iterable[Failure], harvest: Harvest) -> list[Failure]:
    """What passes the filters that need no run; the others are counted in ``harvest``."""
    kinds: dict[tuple[str, str, str], Failure] = {}
    for failure in found:
        harvest.failures += 1
        if failure.fix is None:
            harvest.dropped["solvable"] += 1
        elif sum(line_changes(failure.code, failure.fix)) < LEAST_PATCH:
            harvest.dropped["non-trivial"] += 1
        elif failure.kind in kinds or failure.code == failure.task.broken:
            harvest.dropped["diverse"] += 1
        else:
            kinds[failure.kind] = failure
    return list(kinds.values())


async def harvest_runs(
    runs: Iterable[RunDirectory],
    harness: Harness,
    state: State,
    out: Path,
    effort: Effort,
    jobs: int = 1,
    say: Say = lambda text: None,
) -> Harvest:
    """Write ``<out>/<task>.<category>.<hash>/`` for every failure that passes the four filters here. Tasks that are there
    already stay as they are."""
    harvest = Harvest()
    chosen = promising(failures(runs), harvest)
    with tempfile.TemporaryDirectory(prefix="beaver-harvest-") as scratch:
        drafts = {}
        for failure in chosen:
            draft = _draft(failure, Path(scratch) / "tasks")
            drafts[draft.id] = (failure, draft)
        logs = Path(scratch) / "logs"
        verification = Verification(
            harness, state, effort, jobs, logs, listener=lambda row: say(f"{row.task}: {row.verdict} {row.reason}")
        )
        rows = await verification.run([draft for _, draft in drafts.values()])
        _keep(rows, drafts, logs, out, harvest)
    return harvest


def _keep(rows: list[Row], drafts: dict[str, tuple[Failure, Task]], logs: Path, out: Path, harvest: Harvest) -> None:
    """Write what was shown to be reproducible, with the category and the log that this machine shows."""
    kinds = set()
    for row in rows:
        failure, draft = drafts[row.task]
        kind = (failure.task.id, row.category, row.signature)
        if row.verdict != "ok" or row.category is None:
            harvest.dropped["reproducible"] += 1
        elif kind in kinds:
            harvest.dropped["diverse"] += 1
        else:
            kinds.add(kind)
            log = (logs / slug(row.task) / "error.log").read_bytes()
            target = out / slug(row.task)
            if not target.exists():
                _label(draft, row.category, log)
                shutil.copytree(draft.folder, target)
                for name in draft.spec.shared_files:
                    shared = out / "shared" / name
                    shared.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(draft.harness_files[Path(name).name], shared)
            harvest.made.append(target)


def _draft(failure: Failure, into: Path) -> Task:
    """The new task's folder, still without label and log."""
    task = failure.task
    suffix = Path(task.spec.solution_file).suffix or ".txt"
    name = f"{task.id}.{failure.category}.{sha256(failure.code)[:8]}"
    folder = into / slug(name)
    shared = {Path(shared).name for shared in task.spec.shared_files}
    own = {f"testbench/{key}": path for key, path in task.harness_files.items() if key not in shared}
    own |= {f"checker/{key}": path for key, path in task.checker_files.items()}
    (folder / "testbench").mkdir(parents=True)
    for key, path in own.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / key)
    for key in task.spec.shared_files:
        (into / "shared" / key).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(task.harness_files[Path(key).name], into / "shared" / key)
    assert failure.fix is not None
    (folder / f"broken{suffix}").write_bytes(failure.code)
    (folder / f"reference{suffix}").write_bytes(failure.fix)
    (folder / "prompt.txt").write_text(task.prompt)
    (folder / "error.log").write_text("")
    spec = msgspec.structs.replace(
        task.spec, task_id=name, source="harvest", source_model=failure.model or None, category=None, start_bucket=None
    )
    write_spec(folder, msgspec.to_builtins(spec))
    return read_native(folder)


def _label(draft: Task, category: str, log: bytes) -> None:
    """Category, bucket and log as this machine shows them."""
    fields = msgspec.to_builtins(draft.spec)
    write_spec(draft.folder, {**fields, "category": category, "start_bucket": outcome_bucket(category)})
    (draft.folder / "error.log").write_bytes(log)
    read_native(draft.folder)
