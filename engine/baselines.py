"""Reference times that were measured earlier, elsewhere: the caches of a CUDABeaver checkout, read and checked.

A time says something only on the GPU that it was taken on, and of the reference that it was taken of: what was measured on another
device, or of another reference, is named and not used.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from engine.devices.base import Device
from engine.errors import ConfigError
from engine.plain_file import read_plain

CACHE, SPECS = Path("benchmark") / "references_cache", "references"
"""In a checkout; the specs lie beside the cache."""

COMPARABLE = re.compile(r"region/\w+|total_elapsed")
"""Methods that take the time which this harness takes of a candidate. A sum over kernels needs a profiler; KernelBench's evaluation times
its own reference in every launch."""


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The mean time of a task's reference in milliseconds, and what it was measured with. ``device`` is the checkout's name of the
    GPU: its name, compute capability and toolkit as one word."""

    task: str
    mean_ms: float
    method: str
    device: str
    cuda: str = ""
    measured: str = ""

    @property
    def flag(self) -> str:
        """How a timing that used it is marked."""
        return f"baseline: cached ({self.device}, {self.measured or 'date unknown'})"


@dataclass
class Baselines:
    """``entries`` are sound; ``left_out`` counts the others, by reason."""

    entries: list[Baseline] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


class _Timing(msgspec.Struct, frozen=True):
    method: str = ""
    mean_ms: float | None = None


class _Entry(msgspec.Struct, frozen=True):
    """A file of the cache."""

    task_id: str
    gpu_signature: str
    reference_hash: str = ""
    cuda_version: str = ""
    timing: _Timing = _Timing()
    measured_at: str = ""
    skipped: str | None = None


def read_baselines(path: Path) -> Baselines:
    """The baselines at ``path``: a checkout, its references_cache, the folder of one GPU in it, or one file. Raises ConfigError for a
    path that is none of these and for a file that cannot be read."""
    found = Baselines()
    for file in _files(path):
        entry = _read(file)
        reason = _fault(file, entry)
        mean = entry.timing.mean_ms
        if reason or mean is None:
            found.left_out[reason] += 1
            continue
        found.entries.append(
            Baseline(
                task=entry.task_id,
                mean_ms=mean,
                method=entry.timing.method,
                device=entry.gpu_signature,
                cuda=entry.cuda_version,
                measured=entry.measured_at,
            )
        )
    return found


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    folder = path / CACHE if (path / CACHE).is_dir() else path
    files = sorted([*folder.glob("*.json"), *folder.glob("*/*.json")])
    if not files:
        raise ConfigError(
            f"--baseline {path}: no baselines; expected a checkout, a folder of {CACHE.name}, or one of its files"
        )
    return files


def _read(file: Path) -> _Entry:
    try:
        return msgspec.convert(json.loads(read_plain(file)), _Entry)  # not msgspec's reader: Python writes NaN
    except OSError as error:
        raise ConfigError(f"--baseline {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"--baseline {file}: not a baseline: {error}") from None


def _fault(file: Path, entry: _Entry) -> str:
    """Why an entry is no baseline; empty when it is one."""
    if entry.skipped:
        return f"skipped: {entry.skipped}"
    mean = entry.timing.mean_ms
    if mean is None or not math.isfinite(mean) or mean <= 0:
        return "without a usable time"
    if not COMPARABLE.fullmatch(entry.timing.method):
        return f"measured as {entry.timing.method or 'unknown'}, which is not taken here"
    spec = file.parents[2] / SPECS / f"{entry.task_id.replace('/', '_')}.json"
    if spec.is_file() and entry.reference_hash != _solution_hash(spec):
        return "measured of another reference"
    return ""


def _solution_hash(spec: Path) -> str:
    """What the release calls its reference: the SHA-256 of its files as sorted JSON, or of the problem's path."""
    try:
        solution: dict[str, Any] = json.loads(read_plain(spec))["reference_solution"]
        if solution.get("type") == "file":
            payload = {"type": "file", "files": sorted(solution["files"], key=lambda file: str(file["path"]))}
        else:
            payload = {"type": "kernelbench_problem", "problem_path": solution["problem_path"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{spec}: not a timing spec: {error!r}") from None
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()


def device_word(device: Device) -> str:
    """How the checkout calls a GPU, without the toolkit: nvidia_h200_sm_90."""
    plain = re.sub(r"[^a-z0-9]+", "_", device.name.lower()).strip("_")
    return f"{plain}_sm_{device.sm}"


def usable(
    baselines: Baselines, device: Device, tasks: Iterable[str], *, any_device: bool = False
) -> dict[str, Baseline]:
    """By task, what may be compared with on ``device``. With ``any_device`` those of other GPUs may be, too, where there is none of
    this one; of several the first by name."""
    mine = device_word(device)
    wanted = set(tasks)
    chosen: dict[str, Baseline] = {}
    for entry in sorted(baselines.entries, key=lambda one: (not _is_of(one, mine), one.device, one.task)):
        if entry.task in wanted and (any_device or _is_of(entry, mine)):
            chosen.setdefault(entry.task, entry)
    return chosen


def _is_of(entry: Baseline, word: str) -> bool:
    return entry.device == word or entry.device.startswith(f"{word}_cuda_")


def remarks(baselines: Baselines, chosen: dict[str, Baseline], device: Device, cuda: str) -> Iterator[str]:
    """What a user should know: what is not used and why, and what differs from here."""
    mine = device_word(device)
    others = Counter(one.device for one in baselines.entries if not _is_of(one, mine))
    foreign = Counter(one.device for one in chosen.values() if not _is_of(one, mine))
    for name, number in sorted(others.items()):
        if name not in foreign:
            yield f"{number} baselines of {name} are not used: this is {mine}"
    for name, number in sorted(foreign.items()):
        yield f"{number} baselines of {name} are used on {mine}: their speedups compare two GPUs"
    for reason, number in sorted(baselines.left_out.items()):
        yield f"{number} baselines are left out: {reason}"
    toolkits = sorted({one.cuda for one in chosen.values() if one.cuda and not cuda.startswith(one.cuda)})
    if toolkits:
        yield f"baselines were measured with CUDA {', '.join(toolkits)}, and this is {cuda}"
