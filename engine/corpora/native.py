"""Readers of task folders: the native layout, and the paper's flat layout. Every fault names file, field and reason."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import msgspec

from engine.corpora import kernelbench
from engine.corpora.files import bytes_of, file_tree, text_of
from engine.errors import TaskError
from engine.task import Task, TaskSpec


def read_native(folder: Path) -> Task:
    """The task in ``folder`` (docs/task-format.md). Raises TaskError for the first fault."""
    spec = _read_spec(folder / "input.json")
    return _task(
        spec,
        folder,
        prompt=folder / "prompt.txt",
        broken=_one(folder, "broken", required=False),
        error_log=folder / "error.log",
        testbench=folder / "testbench",
        reference=_one(folder, "reference", required=False),
        checker=folder / "checker",
        shared=folder.parent / "shared",
        answers=folder / "answers",
    )


def read_flat(root: Path, stem: str) -> Task:
    """A task of the paper's layout: input/<stem>.json, prompts/<stem>.txt, testbench/<stem>/ (appendix C.1).

    The paper does not say where the broken start lies: broken_start/<stem>.<ext> and error_logs/<stem>.log are read, and
    broken.<ext>, error.log and reference.<ext> inside testbench/<stem>/ when those are absent; the latter are not harness.
    """
    inside = root / "testbench" / stem
    broken = _one(root / "broken_start", stem, required=False) or _one(inside, "broken", required=False)
    log = root / "error_logs" / f"{stem}.log"
    return _task(
        _read_spec(root / "input" / f"{stem}.json"),
        root,
        prompt=root / "prompts" / f"{stem}.txt",
        broken=broken,
        error_log=log if log.is_file() else inside / "error.log",
        testbench=inside,
        reference=_one(root / "references", stem, required=False) or _one(inside, "reference", required=False),
        checker=root / "checker" / stem,
        shared=root / "shared",
        answers=root / "answers" / stem,
    )


def _task(
    spec: TaskSpec,
    folder: Path,
    *,
    prompt: Path,
    broken: Path | None,
    error_log: Path,
    testbench: Path,
    reference: Path | None,
    checker: Path,
    shared: Path,
    answers: Path,
) -> Task:
    """Put the parts together. Every fault is found before one is raised: a person mends them in one go."""
    faults: list[str] = []
    if not testbench.is_dir():
        faults.append(f"{testbench}: missing; a task needs its test harness there")
    if broken is None:
        faults.append(f"{folder / 'broken'}.*: missing")
    if spec.check is not None and not checker.is_dir():
        faults.append(f"{checker}: missing; input.json declares a check")
    texts = [_try_text(path, faults) for path in (prompt, error_log)]
    harness = file_tree(testbench)
    for own in (broken, reference, error_log):
        if own is not None and own.parent == testbench:
            harness.pop(own.name, None)
    for name in spec.shared_files:
        if not (shared / name).is_file():
            faults.append(f"{folder / 'input.json'}: shared_files: {name} is not in {shared}")
        elif Path(name).name in harness:
            faults.append(f"{folder / 'input.json'}: shared_files: {name} would replace a file of the testbench")
        else:
            harness[Path(name).name] = shared / name
    if spec.backend == "kernelbench":
        harness |= kernelbench.files()
    if spec.solution_file in harness:
        faults.append(f"{testbench / spec.solution_file}: the solution file must not be part of the harness")
    if faults or broken is None:
        raise TaskError(*faults)
    return Task(
        spec=spec,
        folder=folder,
        prompt=texts[0],
        broken=bytes_of(broken),
        error_log=texts[1],
        harness_files=harness,
        checker_files=file_tree(checker) if spec.check is not None else {},
        reference=reference,
        answers=answers if answers.is_dir() else None,
        libraries=(kernelbench.LIBRARY,) if spec.backend == "kernelbench" else (),
    )


def _try_text(path: Path, faults: list[str]) -> str:
    try:
        return text_of(path)
    except TaskError as error:
        faults += error.faults
        return ""


def _read_spec(path: Path) -> TaskSpec:
    content = bytes_of(path)
    try:
        spec = msgspec.json.decode(content, type=TaskSpec)
    except msgspec.ValidationError as error:
        # msgspec ends with "- at `$.field`": put the field where a reader looks for it
        reason, _, place = str(error).partition(" - at `$")
        field = place.rstrip("`").lstrip(".")
        if reason.startswith("Invalid enum value") and (choices := _choices(field)):
            reason = f"{reason.removeprefix('Invalid enum value ')} is unknown; use {', '.join(choices)}"
        raise TaskError(
            f"{path}: {field}: {reason}" if field else f"{path}: {reason.removeprefix('Object ')}"
        ) from error
    except msgspec.DecodeError as error:
        raise TaskError(f"{path}: not JSON: {error}") from error
    problems = spec.problems()
    if problems:
        raise TaskError(*(f"{path}: {field}: {reason}" for field, reason in problems))
    return spec


def _choices(field: str) -> list[str]:
    """The words that a field of input.json may hold, where it is one of a few."""
    words: list[str] = []
    for hint in (get_type_hints(TaskSpec).get(field), *get_args(get_type_hints(TaskSpec).get(field))):
        words += [word for word in get_args(hint) if isinstance(word, str)] or ([hint] if isinstance(hint, str) else [])
    return list(dict.fromkeys(words))


def _one(folder: Path, stem: str, *, required: bool = True) -> Path | None:
    """The one file ``stem.<ext>`` of a folder."""
    found = sorted(path for path in folder.glob(f"{stem}.*") if path.is_file()) if folder.is_dir() else []
    if len(found) == 1:
        return found[0]
    if found:
        raise TaskError(f"{folder}: {' and '.join(path.name for path in found)}: there must be one {stem} file")
    if required:
        raise TaskError(f"{folder / stem}.*: missing")
    return None
