"""A trajectory that goes on from one of its steps under other conditions: a new run, with the steps before as its past.

Whatever a person changes while a trajectory is played makes a fork (protocol 25): the one it came from stays as it is, and
the fork is marked interactive. docs/decisions/forks-are-runs.md says why it is a run of its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from engine import events as ev
from engine.cells import told
from engine.config import read_protocol
from engine.errors import ConfigError
from engine.fixers.config import FixerConfig
from engine.journal import Journal, read_journal
from engine.protocol import Protocol
from engine.rundir import Cell, RunDirectory, RunRecord, trajectory_folder
from engine.stopping import RESUBMITTED, why_over
from engine.store import DiskStore
from engine.sweep.cached_baselines import FILE as BASELINES
from engine.sweep.example_pool import FILE as EXAMPLES
from engine.trajectory import Trajectory, fold
from engine.verdict import Signal

FORK = "fork"
"""The action of the event that says where a fork came from, and how the name of its run ends."""

_STAGNATION = "it ended there with {reason}; change early_stop to observe (--observe), or fork an earlier step"

_REMEDIES: dict[str, str] = {
    "passed": "it passed there; fork an earlier step",
    "needs_device": "this machine lacked a device there; fork an earlier step where there is one",
    "max_iterations": "its k={k} iterations are used up there; raise k, or fork an earlier step",
    RESUBMITTED: "the broken start was resubmitted there; change stop_on_resubmitted_start, or fork an earlier step",
    **{str(signal): _STAGNATION.format(reason=signal) for signal in Signal},
}
"""Why a fork would be over before it began, and what to do, by stop reason."""


@dataclass(frozen=True)
class _Blob:
    kind: str
    content: bytes
    extension: str


def fork_run(
    run: RunDirectory,
    cell: Cell,
    step: int,
    *,
    out: Path | None = None,
    protocol_changes: dict[str, Any] | None = None,
    fixer: FixerConfig | None = None,
    reason: str = "",
) -> RunDirectory:
    """A new run in ``out``, or in a fresh folder under runs/, whose one trajectory has steps 1 to ``step`` of ``cell`` behind
    it; with step 0 it starts anew. ``protocol_changes`` are fields of the protocol that differ from then on, ``fixer`` is
    who goes on.

    Raises ConfigError that says what to do when there is no such step or the fork would be over at once, and RunError when
    the journal is damaged or a reply is missing. Nothing is written then.
    """
    path = run.journal(cell)
    events: list[ev.Event] = list(read_journal(path)) if path.exists() else []
    opened = _opening(run, cell, told(path, cell, events))
    protocol = read_protocol(None, msgspec.to_builtins(opened.protocol), protocol_changes or {})
    if (protocol.few_shot, protocol.few_shot_seed) != (opened.protocol.few_shot, opened.protocol.few_shot_seed):
        raise ConfigError(
            f"{cell}: a fork shows the examples of its run; begin a new run for few_shot={protocol.few_shot}"
        )
    forked = Cell(cell.task, fixer.name if fixer is not None else cell.fixer, cell.attempt)
    name = f"{run.record.name.removesuffix(f'-{FORK}')}-{FORK}"
    came_from = f"{run.record.name} · {cell} · step {step}" + (f": {reason}" if reason else "")
    story = [
        msgspec.structs.replace(
            opened, run=name, fixer=forked.fixer, protocol=protocol, interactive=True, at=ev.utc_now()
        ),
        *_steps(cell, events, step),
        ev.Controlled(action=FORK, detail=came_from),
    ]
    _check_goes_on(cell, step, fold(story), protocol)
    record = _record(run.record, name, protocol, cell, fixer)
    blobs, logs = _blobs(run, cell, story), _logs(run, cell, step)

    def fill(folder: Path) -> None:
        for name, record in ((EXAMPLES, run.record.few_shot), (BASELINES, run.record.baseline)):
            if record is not None:
                shutil.copyfile(run.path / name, folder / name)
        _write(folder, forked, story, blobs, logs)

    return RunDirectory.create(record, [forked], out, fill)


def _opening(run: RunDirectory, cell: Cell, past: Trajectory) -> ev.TrajectoryOpened:
    if past.opened is None:
        raise ConfigError(f"{run.path}: {cell} has not begun; there is nothing to fork")
    return past.opened


def _steps(cell: Cell, events: list[ev.Event], step: int) -> list[ev.Event]:
    """What happened between the opening and the end of ``step``."""
    if step == 0:
        return []
    for number, event in enumerate(events):
        if isinstance(event, ev.IterationClosed) and event.iteration == step:
            return events[1 : number + 1]
    closed = sum(isinstance(event, ev.IterationClosed) for event in events)
    raise ConfigError(f"{cell}: there is no closed step {step}; it has {closed}, and 0 is the broken start")


def _check_goes_on(cell: Cell, step: int, past: Trajectory, protocol: Protocol) -> None:
    reason = why_over(past, protocol)
    if reason is not None:
        remedy = _REMEDIES[reason].format(k=protocol.iterations)
        raise ConfigError(f"{cell}: a fork of step {step} would be over at once: {remedy}")


def _record(record: RunRecord, name: str, protocol: Protocol, cell: Cell, fixer: FixerConfig | None) -> RunRecord:
    described = [fixer.describe()] if fixer is not None else [f for f in record.fixers if f.get("name") == cell.fixer]
    return msgspec.structs.replace(
        record,
        name=name,
        created=ev.utc_now(),
        protocol=protocol,
        tasks=1,
        fixers=described,
        two_phase=False,
        interactive=True,
        plan=None,
    )


def _write(folder: Path, forked: Cell, story: list[ev.Event], blobs: list[_Blob], logs: list[Path]) -> None:
    """The blobs, the logs and, last, the journal of a fork whose run lies in ``folder``."""
    place = trajectory_folder(folder, forked)
    store = DiskStore(folder, place / "logs")
    for blob in blobs:
        store.put(blob.kind, blob.content, blob.extension)
    if logs:
        (place / "logs").mkdir(parents=True)
    for log in logs:
        shutil.copyfile(log, place / "logs" / log.name)
    with Journal(place / "journal.jsonl") as journal:
        for event in story:
            journal.append(event)
        journal.sync()


def _logs(run: RunDirectory, cell: Cell, step: int) -> list[Path]:
    """Whole logs of the steps up to ``step``; their names begin with the number of the step."""
    found = []
    for log in sorted((run.folder(cell) / "logs").glob("*-*.txt")):
        number = log.name.partition("-")[0]
        if number.isdecimal() and int(number) <= step and log.is_file() and not log.is_symlink():
            found.append(log)
    return found


def _blobs(run: RunDirectory, cell: Cell, story: list[ev.Event]) -> list[_Blob]:
    """What the events name and the run has. Raises RunError when a reply is missing or a content is not what its name says."""
    found = []
    for kind, digest, needed in _named(story):
        file = next((run.path / kind).glob(f"{digest}.*"), None)
        if file is not None or needed:
            content = run.store(cell).get(kind, digest)
            found.append(_Blob(kind, content, file.suffix.lstrip(".") if file is not None else "txt"))
    return found


def _named(story: list[ev.Event]) -> Iterator[tuple[str, str, bool]]:
    """Kind, SHA-256 and whether the fork cannot be played without it: prompts are for readers, and a lost candidate is
    extracted from its reply again."""
    for event in story:
        if isinstance(event, ev.RequestBuilt):
            yield "prompts", event.prompt, False
        elif isinstance(event, ev.ReplyReceived):
            yield "responses", event.response, True
            if event.reasoning is not None:
                yield "responses", event.reasoning, False
        elif isinstance(event, ev.CandidateMade) and event.solution is not None:
            yield "solutions", event.solution, False
        elif isinstance(event, ev.Controlled) and event.response is not None:
            yield "responses", event.response, False
