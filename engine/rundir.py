"""A run on disk: everything a user needs to archive, resume and read again."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from engine.devices.base import Device
from engine.errors import ConfigError, RunError
from engine.events import SCHEMA_VERSION, utc_now
from engine.harness.limits import LimitsConfig
from engine.plain_file import open_plain, read_plain
from engine.protocol import Protocol
from engine.schema import check_schema
from engine.store import DiskStore, RunUnwritable, sha256, write_whole
from engine.text import slug

PLAN, MANIFEST = "plan.jsonl", "manifest.jsonl"

BUILTIN = "built-in"
"""What a record calls the built-in corpus, which lies elsewhere on every machine; other corpora are absolute paths."""


class Cell(msgspec.Struct, frozen=True, order=True):
    """One line of a plan: a trajectory that the run promises."""

    task: str
    fixer: str
    attempt: int = 1

    def __str__(self) -> str:
        return f"{self.task} · {self.fixer}" + (f" · attempt {self.attempt}" if self.attempt > 1 else "")


class DeviceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The device that a run was begun on. ``wish`` is what was asked for, the rest what was found (see Device)."""

    wish: str = "auto"
    kind: str
    name: str
    uuid: str = ""
    sm: int = 0
    memory: int = 0
    driver: str = ""

    @classmethod
    def of(cls, device: Device, wish: str) -> DeviceRecord:
        return msgspec.convert({"wish": wish, **device.describe()}, cls)


class PlanRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What plan.jsonl was written as: a run must never become a smaller one in silence. ``sha256`` is of its bytes."""

    cells: int
    sha256: str


class FewShotRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Where the examples in the prompts are from: the runs, how many repairs they hold, and the SHA-256 of few_shot.json."""

    sha256: str
    runs: list[str]
    pool: int


class BaselineRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Where times of references are from that were not measured in this run: how many tasks have one, the GPUs that they were taken on, and
    the SHA-256 of baselines.json."""

    sha256: str
    source: str
    tasks: int
    devices: list[str]
    any_device: bool = False


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was not played here but read from another harness's results: from where, what that was, and what its files do
    not say, which is "unknown" or absent in this run and never a guess."""

    source: str
    format: str
    sha256: str
    """Of the file that tells its iterations."""
    recorded: str = "unknown"
    """When it was played, as the results say it."""
    unknown: list[str] = []
    notes: list[str] = []


class RunRecord(msgspec.Struct, frozen=True, kw_only=True):
    """run.json: what was decided before the first step. ``seed`` is the secret that checkers' inputs come from; it is
    here, and nowhere that a candidate can see, so that a failure can be reproduced."""

    schema_version: int = SCHEMA_VERSION
    name: str
    created: str = msgspec.field(default_factory=utc_now)
    tool_version: str
    protocol: Protocol
    corpus: str
    corpus_hash: str
    tasks: int
    fixers: list[dict[str, Any]]
    device: DeviceRecord
    sandbox: str
    toolkit: str
    limits: LimitsConfig = LimitsConfig()
    seed: str = msgspec.field(default_factory=lambda: secrets.token_hex(16))
    two_phase: bool = False
    interactive: bool = False
    """A person may change things while it is played: left out of every score unless asked for (protocol 25)."""
    plan: PlanRecord | None = None
    """None in a run of an earlier version."""
    few_shot: FewShotRecord | None = None
    baseline: BaselineRecord | None = None
    imported: ImportRecord | None = None
    python: str = msgspec.field(default_factory=platform.python_version)
    system: str = msgspec.field(default_factory=lambda: f"{platform.system()} {platform.machine()}")


class RunDirectory:
    """An existing run. ``create`` makes one, the constructor opens one; nothing is written before ``lock`` is held."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            content = read_plain(path / "run.json")
        except FileNotFoundError:
            raise RunError(f"{path}: no run here (run.json is missing)") from None
        except OSError as error:
            raise RunError(f"{path / 'run.json'}: {error.strerror}") from error
        try:
            check_schema(path / "run.json", msgspec.json.decode(content, type=dict[str, Any]))
            self.record = msgspec.json.decode(content, type=RunRecord)
        except (msgspec.MsgspecError, ConfigError, ValueError) as error:  # ValueError: text that is not UTF-8
            raise RunError(f"{path / 'run.json'}: not a run record: {error}") from error

    @classmethod
    def create(
        cls, record: RunRecord, plan: list[Cell], out: Path | None = None, fill: Callable[[Path], None] | None = None
    ) -> RunDirectory:
        """Make ``out``, or a new folder under runs/. A folder that holds anything is refused: runs are never mixed. ``fill``
        is called with the folder, to put there what the run begins with."""
        path = out if out is not None else fresh_folder(record.name)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise RunError(f"{path}: not empty; choose a new --out, or go on with --resume {path}")
            lines = b"".join(msgspec.json.encode(cell) + b"\n" for cell in plan)
            write_whole(path / PLAN, lines)
            record = msgspec.structs.replace(record, plan=PlanRecord(cells=len(plan), sha256=sha256(lines)))
            if fill is not None:
                fill(path)
            # run.json last: a folder with it is a run, a folder without it is not yet one
            write_whole(path / "run.json", msgspec.json.format(msgspec.json.encode(record), indent=2))
        except OSError as error:
            raise RunUnwritable(path, error) from error
        return cls(path)

    @cached_property
    def plan(self) -> list[Cell]:
        """The cells that the run promises, in their order. Raises RunError when they are not those it began with."""
        path = self.path / PLAN
        try:
            content = read_plain(path)
        except OSError as error:
            raise RunError(f"{path}: {error.strerror}; the run is not complete") from error
        began = self.record.plan
        if began is not None and began.sha256 != sha256(content):
            raise RunError(
                f"{path}: is not the plan of {began.cells} cells that the run began with (see run.json); "
                "put the file back as it was"
            )
        try:
            cells = [msgspec.json.decode(line, type=Cell) for line in content.splitlines()]
        except (msgspec.MsgspecError, ValueError) as error:
            raise RunError(f"{path}: {error}") from error
        if not cells:
            raise RunError(f"{path}: empty; the run is not complete")
        if len(set(cells)) < len(cells):
            twice = next(cell for index, cell in enumerate(cells) if cell in cells[:index])
            raise RunError(f"{path}: {twice}: is there twice; it was changed by hand")
        return cells

    def folder(self, cell: Cell) -> Path:
        """Where a cell's trajectory lies."""
        return trajectory_folder(self.path, cell)

    def journal(self, cell: Cell) -> Path:
        return self.folder(cell) / "journal.jsonl"

    def store(self, cell: Cell) -> DiskStore:
        return DiskStore(self.path, self.folder(cell) / "logs")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only process that writes this run. Raises RunError that names the owner, or what is in the way of a file that
        the run will need at its end."""
        manifest = self.path / MANIFEST
        if manifest.exists() and not manifest.is_file():
            raise RunError(f"{manifest}: not a regular file; remove it, it is made anew from the journals")
        path = self.path / "lock"
        try:
            descriptor = open_plain(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise RunUnwritable(path, error) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = _owner(os.pread(descriptor, 4096, 0))
                raise RunError(f"{self.path}: {owner}; stop it first") from None
            us = {"pid": os.getpid(), "host": socket.gethostname(), "since": utc_now()}
            try:
                os.ftruncate(descriptor, 0)
                os.write(descriptor, json.dumps(us).encode() + b"\n")
            except OSError as error:
                raise RunUnwritable(path, error) from error
            yield
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)


def trajectory_folder(run: Path, cell: Cell) -> Path:
    """Where a cell's trajectory lies in the folder of a run."""
    return run.joinpath("trajectories", slug(cell.task), slug(cell.fixer), str(cell.attempt))


def _owner(content: bytes) -> str:
    """Who holds the lock, in words."""
    try:
        owner = msgspec.json.decode(content, type=dict[str, Any])
        return f"process {owner['pid']} on {owner['host']} has been writing this run since {owner['since']}"
    except (msgspec.MsgspecError, ValueError, KeyError):
        return "another process is writing this run"


def fresh_folder(name: str, parent: Path = Path("runs")) -> Path:
    """A folder below ``parent`` that is not there yet, named after the time and ``name``."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"
    folder = parent / f"{stamp}-{plain}"
    number = 1
    while folder.exists():
        number += 1
        folder = parent / f"{stamp}-{plain}-{number}"
    return folder
