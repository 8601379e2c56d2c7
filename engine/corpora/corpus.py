"""A corpus: its tasks by id, its faults, and a hash that names exactly what was scored."""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from engine.corpora.cudabeaver import Checkout, is_checkout
from engine.corpora.kernelbench import Problems, is_kernelbench
from engine.corpora.native import read_flat, read_native
from engine.errors import TaskError
from engine.task import Task
from engine.text import MOST_SLUG, slug


@dataclass
class Corpus:
    """``problems`` holds what could not be read; such tasks are not in ``tasks``."""

    path: Path
    tasks: dict[str, Task] = field(default_factory=dict)
    problems: list[TaskError] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """SHA-256 over the ids and contents of all tasks."""
        total = hashlib.sha256()
        for name in sorted(self.tasks):
            total.update(name.encode() + b"\0" + self.tasks[name].digest.encode())
        return total.hexdigest()

    def select(self, patterns: tuple[str, ...] = ()) -> list[Task]:
        """Tasks whose id matches any of the glob patterns (all when there are none), by id. Raises TaskError when a pattern
        matches nothing."""
        chosen: dict[str, Task] = {}
        for pattern in patterns or ("*",):
            matched = [name for name in sorted(self.tasks) if fnmatch.fnmatchcase(name, pattern)]
            if not matched:
                close = ", ".join(sorted(self.tasks)[:6])
                raise TaskError(
                    f"--tasks {pattern}: matches none of the {len(self.tasks)} tasks of {self.path} ({close}, ...)"
                )
            chosen |= {name: self.tasks[name] for name in matched}
        return [chosen[name] for name in sorted(chosen)]


BROKEN = "#broken="
"""Joins a clone of KernelBench and the folder of broken candidates: one text, which a run records as its corpus."""


def with_broken(corpus: str | None, broken: Path | None) -> str | None:
    """What --corpus and --broken say together, as one text. Raises TaskError for candidates without a clone."""
    if broken is None:
        return corpus
    if corpus is None:
        raise TaskError("--broken: goes with --corpus, a clone of KernelBench")
    return f"{corpus}{BROKEN}{broken.resolve()}"


def load_corpus(path: Path, *, strict: bool = True, error_logs: Path | None = None) -> Corpus:
    """Read every task of a folder. With ``strict`` the first fault is raised, else all are collected in ``problems``.

    ``error_logs`` holds logs that this machine has captured, ``<task>/error.log`` (verify --write-error-logs), for a layout that
    has none of its own. For KernelBench ``path`` is the clone and the candidates' folder, joined by BROKEN.
    """
    whole = path
    clone, joined, candidates = str(path).rpartition(BROKEN)
    if joined:
        path = Path(clone)
    try:
        found = path.is_dir()
    except (OSError, ValueError):  # a name that is too long, or that no file can have
        found = False
    if not found:
        raise TaskError(f"{path}: no such folder; --corpus takes a folder of tasks")
    corpus = Corpus(whole)
    try:
        flat = (path / "input").is_dir() and (path / "prompts").is_dir()
        readers: list[Callable[[], Task]]
        if (path / "input.json").is_file():
            readers = [partial(read_native, path)]
        elif is_checkout(path):
            checkout = Checkout(path, error_logs)
            readers = [partial(checkout.read, folder) for folder in checkout.folders()]
        elif is_kernelbench(path):
            problems = Problems(path, Path(candidates) if joined else None, error_logs)
            readers = [partial(problems.read, candidate) for candidate in problems.candidates()]
        elif flat:
            stems = sorted(file.stem for file in (path / "input").glob("*.json"))
            readers = [partial(read_flat, path, stem) for stem in stems]
        else:
            # a folder with a broken start and no input.json is a faulty task, not a stranger
            folders = sorted({file.parent for name in ("input.json", "broken.*") for file in path.glob(f"*/{name}")})
            readers = [partial(read_native, folder) for folder in folders]
    except OSError as error:
        raise TaskError(f"{path}: {error.strerror}") from error
    if joined and not is_kernelbench(path):
        raise TaskError(f"{path}: --broken goes with a clone of KernelBench, which this is not")
    if not readers:
        raise TaskError(
            f"{path}: no tasks; expected <task>/input.json, input/ and prompts/ side by side, a CUDABeaver checkout, "
            "or KernelBench (with --broken DIR)"
        )
    for read in readers:
        try:
            task = read()
            if task.id in corpus.tasks:
                raise TaskError(
                    f"{task.folder / 'input.json'}: task_id: {task.id} is also the id of {corpus.tasks[task.id].folder}"
                )
            if len(slug(task.id)) > MOST_SLUG:
                raise TaskError(
                    f"{task.folder / 'input.json'}: task_id: {task.id[:40]}… is too long to name a folder; "
                    f"at most {MOST_SLUG} bytes, where / and the like count three"
                )
            corpus.tasks[task.id] = task
        except TaskError as error:
            if strict:
                raise
            corpus.problems.append(error)
    return corpus


def builtin_folder() -> Path:
    """The built-in corpus: the repository's folder in a checkout, the packaged copy in an installation."""
    here = Path(__file__).resolve().parents[1]
    for folder in (here.parent / "corpus", here / "_corpus"):
        if any(folder.glob("*/input.json")):
            return folder
    raise TaskError(f"{here.parent / 'corpus'}: the built-in corpus is missing from this installation")
