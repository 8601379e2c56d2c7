"""Repairs of other tasks as examples in a prompt: which ones a task is shown, and how they read.

Which ones depends on the pool, the task and the seed alone, never on the order in which anything was read: a smaller K shows the
first of what a larger one shows, and a pool that grows changes a choice only where a new example comes first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import get_args

import msgspec

from engine.errors import ConfigError
from engine.protocol import Choosing, FewShot
from engine.task import Bucket, CategoryName, Task
from engine.text import plain_text
from engine.verdict.condense import condense
from engine.verdict.feedback import fenced

LOG_CHARACTERS = 1000
"""Of an example's log in a prompt. Its code is never cut: what is too long is no example."""

EVERY = "*"
"""In a file of curated examples: the tasks that it does not name."""

_ENDS = "|".join((*get_args(Bucket), *get_args(CategoryName)))
_INSTANCE = re.compile(rf"(?:__|\.)(?:{_ENDS})(?:__|\.)[0-9a-f]{{6,}}$")


class Example(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A failing program, the log of its failure and the fix that a run accepted. ``bucket`` is that of the failure, ``source``
    says where it was taken from."""

    task: str
    file: str
    bucket: str | None = None
    broken: str
    log: str
    fixed: str
    source: str = ""

    @cached_property
    def id(self) -> str:
        """Of what it shows: the same repair in two runs is one example."""
        text = "\0".join((base_task(self.task), self.broken, self.fixed))
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def base_task(task: str) -> str:
    """What instances of one task have in common: cuda_17__compile_error__02f4993c, cuda_17__memory_crash__ea1a11f7 and CUDA/17, as
    older results call them, are all cuda_17. A harvested start is its task's."""
    name = task.casefold().replace("/", "_")
    while (shorter := _INSTANCE.sub("", name)) != name:
        name = shorter
    return name


def choose(
    pool: Iterable[Example], task: Task, shots: FewShot, seed: int, listed: Sequence[str] | None = None
) -> list[Example]:
    """At most ``shots.k`` examples for ``task``, each of another base task and none of its own; nor one that holds its start or its
    reference under another name. ``matched`` fills up with others; ``listed`` are the tasks that a curated file names, and nothing
    is put in the place of one that has no example."""
    others = sorted((one for one in pool if _is_foreign(one, task)), key=lambda one: _draw(seed, task.id, one))
    if shots.choosing is Choosing.CURATED:
        places = {base_task(name): place for place, name in reversed(list(enumerate(listed or ())))}
        others = [one for one in others if base_task(one.task) in places]
        others.sort(key=lambda one: places[base_task(one.task)])
    elif shots.choosing is Choosing.MATCHED:
        others.sort(key=lambda one: one.bucket != task.spec.start_bucket)
    first: dict[str, Example] = {}
    for one in others:
        first.setdefault(base_task(one.task), one)
    return list(first.values())[: shots.k]


def _draw(seed: int, task: str, one: Example) -> bytes:
    return hashlib.sha256(f"{seed}\0{task}\0{one.id}".encode()).digest()


def _is_foreign(one: Example, task: Task) -> bool:
    if base_task(one.task) == base_task(task.id):
        return False
    own = {task.broken} if task.reference is None else {task.broken, task.reference.read_bytes()}
    return not own & {one.broken.encode("utf-8", "replace"), one.fixed.encode("utf-8", "replace")}


def pool_digest(pool: Iterable[Example]) -> str:
    """Names a pool, whatever its order."""
    return hashlib.sha256("\n".join(sorted(one.id for one in pool)).encode()).hexdigest()[:12]


def listed_for(curated: Mapping[str, Sequence[str]], task: str) -> list[str]:
    """The tasks that a curated file names as examples for ``task``: under its id, its base task, or ``*``. Its own base task among
    those of ``*`` is passed over; where it is named for this very task, ConfigError."""
    own = base_task(task)
    by_base = {base_task(name): names for name, names in curated.items() if name == base_task(name)}
    names = curated.get(task, by_base.get(own))
    if names is None:
        return [name for name in curated.get(EVERY, ()) if base_task(name) != own]
    if mine := next((name for name in names if base_task(name) == own), None):
        raise ConfigError(f"examples for {task}: {mine} is the same task; none may be its own example")
    return list(names)


def example_section(examples: Sequence[Example]) -> list[str]:
    """The examples as one section of a prompt, empty where there are none."""
    if not examples:
        return []
    parts = ["# Examples: other tasks that were repaired"]
    for number, one in enumerate(examples, 1):
        language = "python" if Path(one.file).suffix == ".py" else "cuda"
        log = condense(plain_text(one.log), LOG_CHARACTERS) or "(empty)"
        parts += [
            f"## Example {number}\n\nBroken:\n\n{_code(one.broken, language)}",
            f"Its log:\n\n{fenced(log)}",
            f"Repaired:\n\n{_code(one.fixed, language)}",
        ]
    return ["\n\n".join(parts)]


def _code(text: str, language: str) -> str:
    return fenced(plain_text(text).strip("\n"), language)
