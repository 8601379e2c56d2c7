"""How a sweep ends: a listener's error, a run that cannot be written, a cell of its own mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.errors import ConfigError, TaskError
from engine.fixers.base import FixRequest, Reply
from engine.fixers.scripted import ScriptedFixer
from engine.harness.examine import Harness
from engine.manifest import run_rows
from engine.protocol import Protocol
from engine.rundir import Cell, DeviceRecord, RunDirectory, RunRecord
from engine.store import RunUnwritable
from engine.sweep import Sweep, plan_cells
from tests.support.tasks import BROKEN, write_task


class Faulty(ScriptedFixer):
    """Fails with ``error`` for the task "a" and answers for all others."""

    error: Exception = ConfigError("a mistake of this fixer")

    async def propose(self, request: FixRequest) -> Reply:
        if request.task.id == "a":
            raise self.error
        return await super().propose(request)


@pytest.fixture
def sweep(tmp_path: Path, harness: Harness) -> Sweep:
    tasks = {name: write_task(tmp_path / "corpus", name, answers={"s": [BROKEN]}) for name in ("a", "b")}
    fixer = Faulty("s")
    record = RunRecord(
        name="n",
        tool_version="0",
        protocol=Protocol(k=1),
        corpus="c",
        corpus_hash="h",
        tasks=2,
        fixers=[],
        device=DeviceRecord(kind="cuda", name="host programs"),
        sandbox="s",
        toolkit="t",
    )
    run = RunDirectory.create(record, plan_cells(tasks.values(), [fixer], record.protocol), tmp_path / "run")
    return Sweep(run, tasks, {fixer.name: fixer}, harness, jobs=2)


@pytest.mark.parametrize(
    "error", [ConfigError("oh"), TaskError("oh"), PermissionError(13, "oh")], ids=lambda error: type(error).__name__
)
async def test_a_cells_own_error_is_its_fault_and_the_others_go_on(sweep: Sweep, error: Exception):
    Faulty.error = error
    heard: list[tuple[Cell | None, ev.Event]] = []
    sweep.listener = lambda cell, event: heard.append((cell, event))
    await sweep.play()
    assert [(cell.task, fault.kind, fault.final) for cell, fault in sweep.faults] == [("a", "cell", True)]
    assert "oh" in sweep.faults[0][1].message
    assert isinstance(heard[0][1], ev.RunOpened)
    assert heard[0][0] is None
    assert [row["task"] for row in run_rows(sweep.run)] == ["b"]


async def test_a_listeners_error_is_not_taken_for_a_full_disk(sweep: Sweep):
    def listener(cell: Cell | None, event: ev.Event) -> None:
        if isinstance(event, ev.Built):
            raise BrokenPipeError(32, "Broken pipe")

    sweep.listener = listener
    with pytest.raises(BrokenPipeError):
        await sweep.play()
    assert (sweep.run.path / "manifest.jsonl").exists()


async def test_a_run_that_cannot_be_written_ends_the_sweep(sweep: Sweep):
    (sweep.run.path / "responses").write_text("a file where a folder belongs")
    with pytest.raises(RunUnwritable, match="cannot be written"):
        await sweep.play()


@pytest.mark.parametrize("phases", [1, 2])
async def test_a_faulty_cell_is_counted_once_in_any_number_of_phases(sweep: Sweep, phases: int):
    import msgspec

    Faulty.error = ConfigError("oh")
    sweep.run.record = msgspec.structs.replace(sweep.run.record, two_phase=phases == 2)
    await sweep.play()
    assert len(sweep.faults) == 1
