"""Runs on disk to one Frame, with every planned cell that is not in it named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.analysis.build import TrajectoryRecord, frame_from
from engine.analysis.frame import Coverage, Frame, Gap, RunFacts, Why
from engine.analysis.journals import Odd, Outline, outline, outline_of
from engine.cells import told
from engine.errors import RunError
from engine.journal import read_journal
from engine.plain_file import read_plain
from engine.rundir import Cell, RunDirectory
from engine.task import TaskSpec
from engine.text import plain_text


def frame_of(
    runs: Sequence[RunDirectory], tasks: Mapping[str, TaskSpec] | None = None, *, interactive: bool = False
) -> Frame:
    """The counted trajectories of ``runs``. ``tasks`` tells families and operations, which journals do not. Trajectories that a
    person may have changed are left out unless ``interactive`` (protocol 25). A damaged journal is a gap with its message; only
    a plan that cannot be read raises RunError."""
    records: list[TrajectoryRecord] = []
    gaps: list[Gap] = []
    facts: list[RunFacts] = []
    planned = 0
    for number, run in enumerate(runs):
        record = run.record
        label = f"{record.device.kind} {record.device.name}"
        facts.append(RunFacts(record.name, record.corpus_hash, label, record.schema_version, record.protocol.gate))
        for cell in run.plan:
            planned += 1
            try:
                story = _read(run, cell)
            except RunError as error:
                gaps.append(Gap(record.name, cell, "damaged", plain_text(str(error))))
                continue
            why = _why_not(story, record.interactive and not interactive, interactive)
            if story is None or why is not None:
                gaps.append(Gap(record.name, cell, why or "missing", plain_text(story.fault or "") if story else ""))
                continue
            spec = (tasks or {}).get(cell.task)
            family, operation = (spec.source, spec.operation or "") if spec is not None else ("", "")
            records.append(story.record(number, family, operation))
    return frame_from(records, facts, Coverage(planned, tuple(gaps)))


def _why_not(story: Outline | None, run_by_hand: bool, interactive: bool) -> Why | None:
    """Why a cell has no counted trajectory; None when it has one."""
    if story is None:
        return "missing"
    if run_by_hand or (story.opened.interactive and not interactive):
        return "interactive"
    if story.stop_reason is None:
        return "unfinished" if story.fault is None else "infra"
    if story.stop_reason == "needs_device":
        return "needs_device"
    return None if story.iterations else "no_answer"


def _read(run: RunDirectory, cell: Cell) -> Outline | None:
    """What a cell's journal tells; RunError when it is damaged, another cell's or of a newer program."""
    path = run.journal(cell)
    try:
        content = read_plain(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return outline(content, cell)
    except Odd:
        events = read_journal(path)
        told(path, cell, events)  # says what is wrong, if anything is
        try:
            return outline_of(events, cell)
        except Odd:
            raise RunError(f"{path}: iterations do not follow each other; lines are missing") from None
