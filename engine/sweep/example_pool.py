"""Examples out of stored runs, and the file in which a run keeps those that its prompts show.

An example is the first thing that failed in a trajectory and the first fix that it accepted. Where the corpus of the run is
still there, that is the broken start with its log; else (imported results, a corpus that has gone) the first failing candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.cells import read_cell
from engine.corpora import builtin_folder, load_corpus
from engine.errors import ConfigError, RunError, TaskError
from engine.fewshot import EVERY, Example, choose, listed_for, pool_digest
from engine.plain_file import read_plain
from engine.protocol import Choosing, Protocol
from engine.rundir import BUILTIN, Cell, FewShotRecord, RunDirectory
from engine.store import sha256
from engine.sweep.start_logs import captured_log
from engine.task import Task
from engine.text import plain_text
from engine.trajectory import Iteration, Trajectory
from engine.yaml_file import read_yaml

FILE = "few_shot.json"
"""In a run."""

MOST_LINES = 300
"""Lines that are not blank, of either program; longer ones are no examples. The bound of the release."""

Warn = Callable[[str], None]


@dataclass
class Pool:
    """``examples`` in the order of their ids; ``dropped`` counts the trajectories that gave none, by reason."""

    examples: list[Example] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def describe(self) -> str:
        """For the user."""
        lost = ", ".join(f"{number} {reason}" for reason, number in sorted(self.dropped.items()))
        return f"{len(self.examples)} repairs" + (f"; without one: {lost}" if lost else "")


class Chosen(msgspec.Struct, frozen=True):
    """The file: every example that is shown, by id, and the ids for each task in the order in which they are shown."""

    examples: dict[str, Example]
    tasks: dict[str, list[str]]

    def of(self, task: str) -> tuple[Example, ...]:
        """What the prompts of ``task`` show."""
        return tuple(self.examples[name] for name in self.tasks.get(task, ()))


def read_pool(paths: Iterable[Path]) -> Pool:
    """The examples of some runs. Raises RunError for a path that is none."""
    pool = Pool()
    found: dict[str, Example] = {}
    for path in paths:
        run = RunDirectory(path)
        tasks = _tasks_of(run)
        for cell in run.plan:
            try:
                trajectory = read_cell(run, cell)
                one = _example(run, cell, trajectory, tasks.get(cell.task), pool.dropped) if trajectory else None
            except RunError:
                pool.dropped["damaged"] += 1
                continue
            if one is not None:
                found.setdefault(one.id, one)
    pool.examples = [found[name] for name in sorted(found)]
    return pool


def _tasks_of(run: RunDirectory) -> Mapping[str, Task]:
    """The tasks of a run's corpus, where it can still be read."""
    try:
        return load_corpus(
            builtin_folder() if run.record.corpus == BUILTIN else Path(run.record.corpus), strict=False
        ).tasks
    except TaskError:
        return {}


def _example(
    run: RunDirectory, cell: Cell, trajectory: Trajectory, task: Task | None, dropped: Counter[str]
) -> Example | None:
    opened = trajectory.opened
    if opened is None:
        return None
    fix = next((one for one in trajectory.finished if _accepted(one, opened.start_bucket)), None)
    if fix is None or fix.candidate is None or fix.candidate.solution is None:
        dropped["without an accepted fix"] += 1
        return None
    start = _start(run, cell, trajectory, task, fix)
    if start is None:
        dropped["without a failing step before the fix"] += 1
        return None
    broken, log, bucket, step = start
    store = run.store(cell)
    fixed = store.get("solutions", fix.candidate.solution)
    if max(_lines(broken), _lines(fixed)) > MOST_LINES:
        dropped[f"longer than {MOST_LINES} lines"] += 1
        return None
    name = task.spec.solution_file if task is not None else f"solution.{_suffix(run, fix.candidate.solution)}"
    return Example(
        task=cell.task,
        file=name,
        bucket=bucket,
        broken=_text(broken),
        log=log,
        fixed=_text(fixed),
        source=f"{run.record.name} · {cell} · step {step} to {fix.number}",
    )


def _accepted(iteration: Iteration, bucket: str | None) -> bool:
    """Correct, and not known to be too slow; for a start that was only slow, known to be fast enough."""
    gate = iteration.timed.gate if iteration.timed is not None else "unmeasured"
    fast = gate == "pass" if bucket == "perf_broken" else gate != "fail"
    return iteration.passed and fast and iteration.candidate is not None and iteration.candidate.solution is not None


def _start(
    run: RunDirectory, cell: Cell, trajectory: Trajectory, task: Task | None, fix: Iteration
) -> tuple[bytes, str, str | None, int] | None:
    """The failing program, its log, its bucket and its step."""
    opened = trajectory.opened
    assert opened is not None
    if task is not None and task.broken_sha == opened.broken:
        log = task.error_log.strip() or captured_log(run.path, cell.task) or ""
        return task.broken, log, opened.start_bucket, 0
    for iteration in trajectory.finished[: fix.number - 1]:
        if iteration.candidate is not None and iteration.candidate.solution is not None and not iteration.passed:
            assert iteration.verdict is not None
            code = run.store(cell).get("solutions", iteration.candidate.solution)
            return code, _log(iteration), iteration.verdict.outcome_bucket, iteration.number
    return None


def _log(iteration: Iteration) -> str:
    last = iteration.tested or iteration.built
    if last is None:
        return "\n".join(iteration.preflight.findings) if iteration.preflight is not None else ""
    return "\n".join(text.strip("\n") for text in (last.step.stderr.text, last.step.stdout.text) if text.strip())


def _lines(code: bytes) -> int:
    return sum(1 for line in code.splitlines() if line.strip())


def _text(code: bytes) -> str:
    return plain_text(code.decode("utf-8", "replace"))


def _suffix(run: RunDirectory, digest: str) -> str:
    file = next((run.path / "solutions").glob(f"{digest}.*"), None)
    return file.suffix.lstrip(".") if file is not None else "cu"


def read_curated(path: Path) -> dict[str, list[str]]:
    """A file that lists examples: a list of task ids for every task, or a mapping from a task (its id, its base task, ``*``) to such
    a list. The release's form, in which the mapping stands under ``mappings``, is read too. Raises ConfigError."""
    content = read_yaml(path, f"--few-shot-file {path}")
    if isinstance(content, dict) and isinstance(content.get("mappings"), dict):
        content = content["mappings"]
    if isinstance(content, list):
        content = {EVERY: content}
    try:
        return msgspec.convert(content, dict[str, list[str]])
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"--few-shot-file {path}: must be a list of task ids, or a mapping from task ids to such lists: {error}"
        ) from None


def choose_examples(
    tasks: Sequence[Task], pool: Pool, protocol: Protocol, curated: Path | None, warn: Warn
) -> tuple[Protocol, Chosen]:
    """The examples of every task, and the protocol that names their pool. ``warn`` is told of tasks that are shown fewer than
    asked for, or others than those of their bucket. Raises ConfigError when there is nothing to choose from."""
    shots = protocol.shots
    assert shots is not None
    if not pool.examples:
        raise ConfigError(
            f"--few-shot {protocol.few_shot}: no examples in the runs of --few-shot-from: {pool.describe()}"
        )
    if shots.choosing is Choosing.CURATED and curated is None:
        raise ConfigError(f"--few-shot {protocol.few_shot}: name the file that lists them with --few-shot-file")
    lists = read_curated(curated) if curated is not None else {}
    shown = {
        task.id: choose(pool.examples, task, shots, protocol.few_shot_seed, listed_for(lists, task.id))
        for task in tasks
    }
    if few := [name for name, examples in shown.items() if len(examples) < shots.k]:
        warn(
            f"--few-shot {protocol.few_shot}: fewer than {shots.k} examples for {_some(few)}; the pool has {pool.describe()}"
        )
    mixed = [task.id for task in tasks if any(one.bucket != task.spec.start_bucket for one in shown[task.id])]
    if shots.choosing is Choosing.MATCHED and mixed:
        warn(f"--few-shot {protocol.few_shot}: too few examples of the bucket of {_some(mixed)}; filled up with others")
    examples = {one.id: one for chosen in shown.values() for one in chosen}
    if not examples:
        raise ConfigError(
            f"--few-shot {protocol.few_shot}: no example for any chosen task; the pool has {pool.describe()}"
        )
    named = msgspec.structs.replace(protocol, few_shot_pool=pool_digest(pool.examples))
    return named, Chosen(examples, {name: [one.id for one in chosen] for name, chosen in shown.items()})


def _some(names: Sequence[str]) -> str:
    return f"{len(names)} tasks ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})"


def encode_chosen(chosen: Chosen) -> bytes:
    """The file's bytes."""
    return msgspec.json.format(msgspec.json.encode(chosen, order="sorted"), indent=1)


def record_of(content: bytes, sources: Sequence[Path], pool: Pool) -> FewShotRecord:
    """What run.json says of it."""
    return FewShotRecord(
        sha256=sha256(content), runs=[str(path.resolve()) for path in sources], pool=len(pool.examples)
    )


def chosen_of(run: RunDirectory) -> Chosen:
    """The examples that a run shows. Raises RunError when its file is gone or is not what the run began with."""
    record, path = run.record.few_shot, run.path / FILE
    if run.record.protocol.shots is None:
        return Chosen({}, {})
    try:
        content = read_plain(path)
        if record is None or sha256(content) != record.sha256:
            raise RunError(f"{path}: not the examples that the run began with; put the file back as it was")
        return msgspec.json.decode(content, type=Chosen)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}; the run is not complete") from error
    except msgspec.MsgspecError as error:
        raise RunError(f"{path}: {error}") from error
