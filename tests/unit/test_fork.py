"""Forks of stored trajectories: what is copied, what is changed, and what is refused before anything is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine import events as ev
from engine.cells import read_cell
from engine.errors import ConfigError, RunError
from engine.fixers.config import FixerConfig
from engine.journal import Journal, read_journal
from engine.protocol import EarlyStop, Feedback, Protocol
from engine.rundir import Cell, DeviceRecord, RunDirectory, RunRecord
from engine.sweep.fork import fork_run
from engine.trajectory import fold

STORED = RunDirectory(Path(__file__).parents[1] / "fixtures" / "h200" / "run")


def stopped_by(reason: str) -> Cell:
    """A cell of the stored run that ended so, after two steps or more."""
    for cell in STORED.plan:
        past = read_cell(STORED, cell)
        if (
            past is not None
            and past.closed is not None
            and past.closed.stop_reason == reason
            and len(past.finished) > 1
        ):
            return cell
    raise AssertionError(f"the fixture has no trajectory that ended with {reason}")


def steps(run: RunDirectory, cell: Cell, last: int) -> list[ev.Event]:
    """The events of the steps up to ``last``."""
    return [
        event
        for event in read_journal(run.journal(cell))
        if isinstance(event, ev.IterationEvent) and event.iteration <= last
    ]


@pytest.mark.parametrize("step", [0, 1])
def test_a_fork_has_the_steps_behind_it_and_nothing_of_later_ones(tmp_path: Path, step: int):
    cell = stopped_by("passed")
    fork = fork_run(STORED, cell, step, out=tmp_path / "fork", reason="why not")
    assert fork.plan == [cell]
    events = read_journal(fork.journal(cell))
    assert [event for event in events if isinstance(event, ev.IterationEvent)] == steps(STORED, cell, step)
    past = read_cell(fork, cell)
    assert len(past.finished) == step
    assert past.closed is None
    assert past.opened.interactive
    assert past.opened.run == fork.record.name == f"{STORED.record.name}-fork"
    assert [control.detail for control in past.controls] == [f"{STORED.record.name} · {cell} · step {step}: why not"]
    assert sorted(file.name for file in (fork.path / "responses").glob("*")) == sorted(
        f"{event.response}.txt" for event in steps(STORED, cell, step) if isinstance(event, ev.ReplyReceived)
    )


def test_a_fork_keeps_the_secret_and_the_conditions(tmp_path: Path):
    fork = fork_run(STORED, stopped_by("passed"), 1, out=tmp_path / "fork").record
    same = ("seed", "corpus", "corpus_hash", "device", "sandbox", "toolkit", "limits")
    assert [getattr(fork, name) for name in same] == [getattr(STORED.record, name) for name in same]
    assert (fork.interactive, fork.tasks, len(fork.fixers)) == (True, 1, 1)


def test_what_is_changed_holds_from_the_fork_on(tmp_path: Path):
    cell = stopped_by("passed")
    person = FixerConfig(name="me", kind="human", directory=str(tmp_path / "desk"))
    changes = {"feedback": "L1", "k": 9}
    fork = fork_run(STORED, cell, 1, out=tmp_path / "fork", protocol_changes=changes, fixer=person)
    assert fork.plan == [Cell(cell.task, "me", cell.attempt)]
    opened = read_cell(fork, fork.plan[0]).opened
    assert (opened.fixer, opened.protocol.feedback, opened.protocol.k) == ("me", Feedback.L1, 9)
    assert opened.protocol == fork.record.protocol
    assert fork.record.fixers == [person.describe()]


def test_a_fork_of_a_fork_tells_both(tmp_path: Path):
    cell = stopped_by("passed")
    first = fork_run(STORED, cell, 1, out=tmp_path / "first")
    second = fork_run(first, cell, 1, out=tmp_path / "second")
    assert second.record.name == first.record.name
    assert [control.action for control in read_cell(second, cell).controls] == ["fork"]
    assert read_cell(second, cell).controls[0].detail.startswith(f"{first.record.name} · ")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 1}, "its k=1 iterations are used up there; raise k"),
        ({"feedback": "L9"}, "feedback"),
        ({"k": 0}, "must be between 1 and 1000"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(tmp_path: Path, changes: dict[str, object], message: str):
    with pytest.raises(ConfigError, match=message):
        fork_run(STORED, stopped_by("passed"), 1, out=tmp_path / "fork", protocol_changes=changes)
    assert not (tmp_path / "fork").exists()


def test_what_passed_cannot_be_forked_there(tmp_path: Path):
    cell = stopped_by("passed")
    last = len(read_cell(STORED, cell).finished)
    with pytest.raises(ConfigError, match="it passed there; fork an earlier step"):
        fork_run(STORED, cell, last, out=tmp_path / "fork")


@pytest.mark.parametrize("step", [-1, 40])
def test_a_step_that_is_not_there_is_named(tmp_path: Path, step: int):
    with pytest.raises(ConfigError, match=f"there is no closed step {step}; it has 2, and 0 is the broken start"):
        fork_run(made(tmp_path, EarlyStop.STOP), SIGNALLED, step, out=tmp_path / "fork")


SIGNALLED = Cell("sum", "scripted:s")


def made(folder: Path, early_stop: EarlyStop) -> RunDirectory:
    """A run whose trajectory was stopped by duplicate_code at its second step."""
    protocol = Protocol(early_stop=early_stop)
    record = RunRecord(
        name="r",
        tool_version="0",
        protocol=protocol,
        corpus="c",
        corpus_hash="h",
        tasks=1,
        fixers=[{"name": "scripted:s", "kind": "scripted", "script": "s"}],
        device=DeviceRecord(kind="cpu", name="CPU device"),
        sandbox="s",
        toolkit="t",
    )
    run = RunDirectory.create(record, [SIGNALLED], folder / "made")
    response = run.store(SIGNALLED).put("responses", b"the file")
    with Journal(run.journal(SIGNALLED)) as journal:
        journal.append(
            ev.TrajectoryOpened(
                run="r",
                task="sum",
                fixer="scripted:s",
                attempt=1,
                protocol=protocol,
                device="d",
                sandbox="s",
                broken="b",
            )
        )
        for number in (1, 2):
            prompt = run.store(SIGNALLED).put("prompts", b"[]", "json")
            for event in (
                ev.RequestBuilt(iteration=number, prompt=prompt, feedback="L3"),
                ev.ReplyReceived(iteration=number, response=response, whole_file=True),
                ev.CandidateMade(iteration=number, solution="0" * 64),
                ev.VerdictReached(
                    iteration=number,
                    category="buildability",
                    outcome_bucket="compile_error",
                    rule="r",
                    signature="s",
                    stage="build",
                ),
                *([ev.SignalRaised(iteration=2, name="duplicate_code", iterations=[1, 2])] if number == 2 else []),
                ev.IterationClosed(iteration=number, passed=False),
            ):
                journal.append(event)
            run.store(SIGNALLED).save_log(number, "build", "an error")
        journal.append(ev.TrajectoryClosed(stop_reason="duplicate_code", passed=False, iterations=2))
    return run


def test_after_a_signal_it_goes_on_only_in_observe_mode(tmp_path: Path):
    run = made(tmp_path, EarlyStop.STOP)
    with pytest.raises(
        ConfigError, match=r"ended there with duplicate_code; change early_stop to observe \(--observe\)"
    ):
        fork_run(run, SIGNALLED, 2, out=tmp_path / "fork")
    fork = fork_run(run, SIGNALLED, 2, out=tmp_path / "fork", protocol_changes={"early_stop": "observe"})
    assert len(fold(read_journal(fork.journal(SIGNALLED))).finished) == 2


def test_logs_and_prompts_of_the_steps_come_along(tmp_path: Path):
    fork = fork_run(made(tmp_path, EarlyStop.STOP), SIGNALLED, 1, out=tmp_path / "fork")
    assert [file.name for file in (fork.folder(SIGNALLED) / "logs").iterdir()] == ["1-build.txt"]
    assert len(list((fork.path / "prompts").iterdir())) == 1


def test_without_a_reply_nothing_is_forked(tmp_path: Path):
    run = made(tmp_path, EarlyStop.STOP)
    shutil.rmtree(run.path / "responses")
    with pytest.raises(RunError, match="is missing; the run is not complete"):
        fork_run(run, SIGNALLED, 1, out=tmp_path / "fork")
    assert not (tmp_path / "fork").exists()
    fork_run(run, SIGNALLED, 0, out=tmp_path / "fork")


def test_what_has_not_begun_is_not_forked(tmp_path: Path):
    run = made(tmp_path, EarlyStop.STOP)
    run.journal(SIGNALLED).unlink()
    with pytest.raises(ConfigError, match="has not begun; there is nothing to fork"):
        fork_run(run, SIGNALLED, 0, out=tmp_path / "fork")
