"""The results of the CUDABeaver release's harness, as its files are: a row an iteration, and the texts that rows point to.

A folder of results has index/manifest.jsonl, and beside it config.yaml, error_code/<hash>.cu, build_log_raw/<sample>.txt and
api_responses/<sample>.txt, of which any may be missing.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from engine.errors import RunError
from engine.plain_file import read_plain
from engine.task import is_inner_path

MANIFEST = Path("index") / "manifest.jsonl"

API_ERROR = "api_error"
"""A row of this error_type is no iteration: the service did not answer. The release counts it as a compile error."""


class Paths(msgspec.Struct, frozen=True):
    """Of a row's texts, below the folder."""

    error_code: str | None = None
    build_log_raw: str | None = None


class Performance(msgspec.Struct, frozen=True):
    """Times in milliseconds; ``skipped`` says why there are none."""

    speedup: float | None = None
    candidate_runtime_ms: float | None = None
    reference_runtime_ms: float | None = None
    candidate_cv: float | None = None
    timing_method: str | None = None
    skipped: str | None = None


class Row(msgspec.Struct, frozen=True):
    """An iteration, or an attempt of repeated sampling. What a row does not say is None or empty."""

    task_id: str
    iteration: int
    sample_id: str = ""
    status: str = ""
    five_category: str = ""
    category: str = ""
    error_type: str | None = None
    build_ok: bool | None = None
    paths: Paths = Paths()
    logic_error_detail: str | None = None
    performance: Performance | None = None
    stop_reason: str | None = None
    method: str | None = None
    max_history_rounds: int | None = None
    feedback_level: int | str | None = None
    feedback_mode: str | None = None
    n_attempts: int | None = None
    few_shot_strategy: str | None = None
    few_shot_k: int | None = None


@dataclass
class Results:
    """One folder. ``notes`` say what could not be read."""

    folder: Path
    rows: list[Row]
    sha256: str
    """Of the manifest."""
    notes: list[str] = field(default_factory=list)

    def code(self, row: Row) -> bytes | None:
        """A row's candidate, None where it was not kept. The file's name is the head of the SHA-256 of what it holds; another
        content is none of this row's, and is noted."""
        name = row.paths.error_code
        content = self._read(name)
        if content is None or name is None:
            return None
        stem = Path(name).stem
        if re.fullmatch(r"[0-9a-f]{16}", stem) and not hashlib.sha256(content).hexdigest().startswith(stem):
            self.notes.append(f"{name}: is not what its name says; it was changed, and is left out")
            return None
        return content

    def log(self, row: Row) -> str | None:
        """What build and test printed, in one text."""
        content = self._read(row.paths.build_log_raw)
        return content.decode("utf-8", "replace") if content is not None else None

    def reply(self, row: Row) -> bytes | None:
        """The model's whole reply."""
        return self._read(f"api_responses/{row.sample_id}.txt") if row.sample_id else None

    def _read(self, name: str | None) -> bytes | None:
        if not name or not is_inner_path(name):
            return None
        try:
            return read_plain(self.folder / name)
        except OSError:
            return None


def find_folders(paths: Iterable[Path]) -> list[Path]:
    """The folders of results at or below ``paths``; the copies by category inside each are none. Raises RunError."""
    found: list[Path] = []
    for path in paths:
        here = path.parents[1] if path.name == MANIFEST.name and path.parent.name == MANIFEST.parent.name else path
        if (here / MANIFEST).is_file():
            inner = [here]
        else:
            inner = [file.parents[1] for file in here.rglob(str(MANIFEST))]
            inner = [folder for folder in inner if not folder.name.startswith("category_")]
        if not inner:
            raise RunError(f"{path}: no results here; expected {MANIFEST} in it or below")
        found += sorted(inner)
    return list(dict.fromkeys(found))


def read_results(folder: Path) -> Results:
    """Read a folder's rows. A line that is no row is noted. Raises RunError when there is no row at all."""
    path = folder / MANIFEST
    try:
        content = read_plain(path)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}") from error
    results = Results(folder, [], hashlib.sha256(content).hexdigest())
    results.rows = list(_rows(path, content, results.notes))
    if not results.rows:
        raise RunError(f"{path}: no row; " + ("; ".join(results.notes[:1]) or "the file is empty"))
    return results


def _rows(path: Path, content: bytes, notes: list[str]) -> Iterator[Row]:
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            # not msgspec's reader: Python writes NaN, which is no JSON
            row = msgspec.convert(_finite(json.loads(line)), type=Row)
            if row.iteration < 1 or not row.task_id.strip():
                raise ValueError("task_id and an iteration from 1 are needed")
            yield row
        except (ValueError, RecursionError) as error:
            notes.append(f"{path.name}:{number}: not a row, left out: {error}")


def _finite(value: Any) -> Any:
    """NaN and infinity as what they stand for: nothing was measured."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return value
