"""The Frame: what is read from journals, what is left out and named, and how it is cut."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine import events as ev
from engine.analysis.build import IterationRecord, TrajectoryRecord, frame_from, generation_of
from engine.analysis.frame import CATEGORIES, GATES, SIGNALS, Frame, setting_of
from engine.analysis.report import coverage_section
from engine.analysis.scan import frame_of
from engine.corpora import builtin_folder, load_corpus
from engine.journal import encode
from engine.manifest import run_rows
from engine.protocol import Protocol, Sampling
from engine.rundir import RunDirectory
from engine.stopping import RESUBMITTED

STORED = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """A copy of the stored run that a test may change."""
    return RunDirectory(Path(shutil.copytree(STORED, tmp_path / "run")))


def reopened(run: RunDirectory, **changed: object) -> None:
    """Change the opening event of the run's first journal."""
    path = run.journal(run.plan[0])
    opening, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(msgspec.json.encode(msgspec.json.decode(opening) | changed) + b"\n" + rest)


def told(frame: Frame) -> list[tuple[object, ...]]:
    """The rows of a Frame in the words of a manifest."""
    table, rows = frame.trajectories, frame.iterations
    return [
        (
            frame.names["task"][table.task[owner]],
            frame.names["fixer"][table.fixer[owner]],
            int(rows.number[row]),
            CATEGORIES[rows.category[row]],
            bool(rows.passed[row]),
            None if math.isnan(rows.speedup[row]) else float(rows.speedup[row]),
            GATES[rows.gate[row]],
            [name for bit, name in enumerate(SIGNALS) if rows.signals[row] >> bit & 1],
            round(float(rows.seconds[row]), 3),
            bool(rows.truncated[row]),
            frame.labels("bucket")[table.bucket[owner]],
        )
        for row, owner in enumerate(rows.trajectory)
    ]


def test_a_frame_holds_what_the_manifest_of_the_run_says() -> None:
    run = RunDirectory(STORED)
    frame, manifest = frame_of([run]), list(run_rows(run))
    assert told(frame) == [
        (
            row["task"],
            row["fixer"],
            row["iteration"],
            row["category"],
            row["passed"],
            row["speedup"],
            row["gate"],
            [name for name in SIGNALS if name in row["signals"]],
            round(sum(row["seconds"].values()), 3),
            row["truncated"],
            row["start_bucket"],
        )
        for row in manifest
    ]
    shas = [row["solution"] for row in manifest]
    for one, two in zip(*np.triu_indices(len(shas), 1), strict=True):
        same = frame.iterations.solution[one] == frame.iterations.solution[two] >= 0
        assert same == (shas[one] == shas[two] is not None)
    assert frame.coverage.planned == frame.coverage.counted == len(frame.trajectories) == 44


def test_families_and_operations_come_from_the_corpus() -> None:
    tasks = {name: task.spec for name, task in load_corpus(builtin_folder()).tasks.items()}
    frame = frame_of([RunDirectory(STORED)], tasks)
    assert frame.names["family"] == ("beaver",) and "attention" in frame.names["operation"]
    softmax = frame.where(frame.of("task", "softmax_rows"))
    assert {frame.labels("operation")[code] for code in softmax.trajectories.operation} == {"attention"}


def test_what_is_not_counted_is_named_with_its_reason(run: RunDirectory) -> None:
    missing, unfinished, lost, damaged = run.plan[:4]
    shutil.rmtree(run.folder(missing))
    for cell, events in (
        (unfinished, []),
        (lost, [ev.InfraFailed(iteration=1, kind="gpu", message="gone", final=True)]),
    ):
        opening = run.journal(cell).read_bytes().split(b"\n")[0] + b"\n"
        lines = [msgspec.json.encode(event) + b"\n" for event in events]
        run.journal(cell).write_bytes(b"".join([opening, *lines]))
    lines = run.journal(damaged).read_bytes().split(b"\n")
    run.journal(damaged).write_bytes(b"\n".join(line for line in lines if b'"type":"verdict"' not in line))
    frame = frame_of([run])
    assert {gap.cell: gap.why for gap in frame.coverage.gaps} == {
        missing: "missing",
        unfinished: "unfinished",
        lost: "infra",
        damaged: "damaged",
    }
    details = {gap.why: gap.detail for gap in frame.coverage.gaps}
    assert "gpu: gone" in details["infra"] and "no verdict" in details["damaged"]
    assert (frame.coverage.planned, frame.coverage.counted, len(frame.trajectories)) == (44, 40, 40)


def test_a_trajectory_changed_by_hand_counts_only_when_asked_for(run: RunDirectory) -> None:
    reopened(run, interactive=True)
    assert frame_of([run]).coverage.reasons == {"interactive": 1}
    asked = frame_of([run], interactive=True)
    assert len(asked.trajectories) == 44 and asked.trajectories.interactive.sum() == 1


def test_a_journal_of_a_newer_program_is_a_gap_and_not_a_guess(run: RunDirectory) -> None:
    reopened(run, schema_version=99)
    (gap,) = frame_of([run]).coverage.gaps
    assert gap.why == "damaged" and "schema version 99" in gap.detail


def test_what_a_fault_of_the_machine_made_void_is_in_no_column(run: RunDirectory) -> None:
    """A candidate is examined anew after a fault: build time, verdict and signals of the first try are gone, the fault is counted."""
    cell = next(cell for cell in run.plan if cell.fixer == "scripted:stagnating")
    lines = run.journal(cell).read_bytes().splitlines(keepends=True)
    begins = next(number for number, line in enumerate(lines) if b'"type":"candidate"' in line)
    noise = [
        ev.Built(iteration=1, step=ev.StepRecord(seconds=100.0)),
        ev.Sanitized(iteration=1, tool="racecheck", exit_code=0, seconds=100.0),
        ev.SignalRaised(iteration=1, name="no_progress", iterations=[1]),
        ev.InfraFailed(iteration=1, kind="gpu", message="lost"),
    ]
    first_try = [lines[begins], *(encode(event) for event in noise)]
    run.journal(cell).write_bytes(b"".join([*lines[:begins], *first_try, *lines[begins:]]))
    frame, manifest = frame_of([run]), list(run_rows(run))
    assert [row[8] for row in told(frame)] == [round(sum(row["seconds"].values()), 3) for row in manifest]
    assert told(frame) == told(frame_of([RunDirectory(STORED)]))
    assert frame.trajectories.infra.sum() == 1


def test_feedback_of_another_level_than_asked_for_is_counted(run: RunDirectory) -> None:
    """An ablation over feedback levels must not compare L3 with itself under two names and keep silent about it."""
    cell = next(cell for cell in run.plan if cell.fixer == "scripted:stagnating")
    lines = run.journal(cell).read_bytes().splitlines(keepends=True)
    given = next(number for number, line in enumerate(lines) if b'"type":"feedback"' in line)
    event = msgspec.json.decode(lines[given])
    assert isinstance(event, dict)
    lines[given] = (
        msgspec.json.encode(event | {"note": "L4 fell back to L3: Nsight Compute (ncu) was not found"}) + b"\n"
    )
    # a first try that a fault of the machine made void, and that fell back too, is no second iteration
    begins = next(number for number, line in enumerate(lines) if b'"type":"candidate"' in line)
    first_try = [*lines[begins : given + 1], encode(ev.InfraFailed(iteration=1, kind="gpu", message="lost"))]
    run.journal(cell).write_bytes(b"".join([*lines[:begins], *first_try, *lines[begins:]]))
    frame = frame_of([run])
    assert frame.trajectories.fell_back.sum() == 1
    assert frame_of([RunDirectory(STORED)]).trajectories.fell_back.sum() == 0
    section = coverage_section(frame)
    assert "iterations with feedback L3 in the place of L4" in repr(section)


def test_a_torn_last_line_is_left_out(run: RunDirectory) -> None:
    path = run.journal(run.plan[0])
    path.write_bytes(path.read_bytes()[:-20])
    assert frame_of([run]).coverage.reasons == {"unfinished": 1}


def row(task: str, *categories: str, fixer: str = "f", **more: object) -> TrajectoryRecord:
    return TrajectoryRecord(task, fixer, [IterationRecord(name) for name in categories], **more)  # type: ignore[arg-type]


def test_a_part_of_a_frame_keeps_names_and_finds_its_iterations() -> None:
    frame = frame_from([row("a", "timeout"), row("b", "timeout", "passed"), row("c", "passed", fixer="g")])
    part = frame.where(frame.of("fixer", "f") & ~frame.of("task", "a"))
    assert part.names == frame.names and len(part.trajectories) == 1
    assert part.trajectories.first.tolist() == [0] and part.iterations.trajectory.tolist() == [0, 0]
    assert [CATEGORIES[code] for code in part.iterations.category] == ["timeout", "passed"]
    nothing = frame.where(frame.of("fixer", "nobody"))
    assert len(nothing.trajectories) == len(nothing.iterations) == 0


def test_a_frame_of_nothing_is_a_frame() -> None:
    frame = frame_from([])
    assert len(frame.trajectories) == len(frame.iterations) == 0 and frame.settings == ()


def test_a_record_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="without iterations"):
        frame_from([row("a")])
    with pytest.raises(ValueError, match="'crashed': none of environment_dependency"):
        frame_from([row("a", "crashed")])


def test_signals_of_repeated_sampling_go_across_the_attempts_of_a_task() -> None:
    protocol = Protocol(sampling=Sampling.REPEATED)
    records = [
        TrajectoryRecord(
            task, "f", [IterationRecord("timeout", sha, "s", signals=[RESUBMITTED])], protocol, attempt=attempt
        )
        for attempt, (task, sha) in [(2, ("a", "x")), (1, ("a", "x")), (3, ("a", "y")), (1, ("b", "x"))]
    ]
    frame = frame_from(records)
    names = [[name for bit, name in enumerate(SIGNALS) if code >> bit & 1] for code in frame.iterations.signals]
    assert names == [["duplicate_code", "code_cycle"], [], ["no_progress"], []]


def test_a_posthoc_threshold_makes_no_other_setting_and_an_inloop_one_does() -> None:
    assert setting_of(Protocol(gate=0.3)) == setting_of(Protocol(gate=0.9))
    assert setting_of(Protocol(gate=0.3, gate_mode="inloop")) != setting_of(Protocol(gate=0.9, gate_mode="inloop"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("cuda NVIDIA H200 (sm_90)", "Hopper"),
        ("cuda NVIDIA A100 (sm_80)", "Ampere"),
        ("cpu AVX2 (sm_90)", "CPU"),
        ("none", ""),
    ],
)
def test_the_generation_is_read_from_the_devices_label(label: str, name: str) -> None:
    assert generation_of(label) == name
