"""The file in which a run keeps the times of references that it did not measure itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from engine.baselines import Baseline, read_baselines, remarks, usable
from engine.devices.base import Device
from engine.errors import RunError
from engine.plain_file import read_plain
from engine.rundir import BaselineRecord, RunDirectory
from engine.store import sha256

FILE = "baselines.json"
"""In a run: by task."""


def chosen_baselines(
    path: Path, device: Device, cuda: str, tasks: Iterable[str], any_device: bool, warn: Callable[[str], None]
) -> tuple[BaselineRecord, bytes]:
    """What the run will keep of the baselines at ``path``, and its record. ``warn`` is told what is not used, and why. Raises
    ConfigError for a path that holds none."""
    found = read_baselines(path)
    chosen = usable(found, device, tasks, any_device=any_device)
    for text in remarks(found, chosen, device, cuda):
        warn(f"--baseline {path}: {text}")
    if not chosen:
        warn(f"--baseline {path}: none is of a chosen task and of this device; references are measured here")
    content = msgspec.json.format(msgspec.json.encode(chosen, order="sorted"), indent=1)
    record = BaselineRecord(
        sha256=sha256(content),
        source=str(path.resolve()),
        tasks=len(chosen),
        devices=sorted({one.device for one in chosen.values()}),
        any_device=any_device,
    )
    return record, content


def baselines_of(run: RunDirectory) -> Mapping[str, Baseline]:
    """The baselines of a run by task. Raises RunError when its file is gone or is not what the run began with."""
    record, path = run.record.baseline, run.path / FILE
    if record is None:
        return {}
    try:
        content = read_plain(path)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}; the run is not complete") from error
    if sha256(content) != record.sha256:
        raise RunError(f"{path}: not the baselines that the run began with; put the file back as it was")
    return msgspec.json.decode(content, type=dict[str, Baseline])
