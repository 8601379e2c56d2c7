"""A task without an error log gets the one of this machine, before any fixer sees it, and the same for the whole run."""

from __future__ import annotations

from pathlib import Path

from engine.fixers.base import FixRequest, Reply
from engine.fixers.scripted import ScriptedFixer
from engine.harness.examine import Harness
from engine.protocol import Protocol
from engine.rundir import DeviceRecord, RunDirectory, RunRecord
from engine.sweep import Sweep, plan_cells
from engine.sweep.start_logs import StartLogs, captured_log
from tests.support.tasks import BROKEN, write_task


class Listening(ScriptedFixer):
    """Keeps what it was asked."""

    asked: tuple[str, ...] = ()

    async def propose(self, request: FixRequest) -> Reply:
        self.asked += (request.messages[1]["content"],)
        return await super().propose(request)


async def test_the_log_is_what_this_machine_shows(tmp_path: Path, harness: Harness):
    task = write_task(tmp_path / "corpus", error_log="")
    complete = await StartLogs(tmp_path / "run", harness, "seed").complete(task)
    assert "error: expected" in complete.error_log
    assert "the build ended with exit code 1" in complete.error_log
    assert captured_log(tmp_path / "run", task.id) == complete.error_log


async def test_a_log_that_the_run_has_is_not_captured_again(tmp_path: Path, harness: Harness):
    task = write_task(tmp_path / "corpus", error_log="")
    kept = tmp_path / "run" / "error_logs" / task.id / "error.log"
    kept.parent.mkdir(parents=True)
    kept.write_text("what was seen when the run began\n")
    complete = await StartLogs(tmp_path / "run", harness, "seed").complete(task)
    assert complete.error_log == "what was seen when the run began\n"


async def test_a_corpus_with_a_log_keeps_it(tmp_path: Path, harness: Harness):
    task = write_task(tmp_path / "corpus", error_log="recorded\n")
    assert await StartLogs(tmp_path / "run", harness, "seed").complete(task) is task
    assert captured_log(tmp_path / "run", task.id) is None


async def test_a_fixer_is_asked_with_the_captured_log(tmp_path: Path, harness: Harness):
    task = write_task(tmp_path / "corpus", error_log="", answers={"s": [BROKEN]})
    fixer = Listening("s")
    record = RunRecord(
        name="n",
        tool_version="0",
        protocol=Protocol(k=1),
        corpus="c",
        corpus_hash="h",
        tasks=1,
        fixers=[],
        device=DeviceRecord(kind="cuda", name="host programs"),
        sandbox="s",
        toolkit="t",
    )
    run = RunDirectory.create(record, plan_cells([task], [fixer], record.protocol), tmp_path / "run")
    await Sweep(run, {task.id: task}, {fixer.name: fixer}, harness).play()
    assert "the build ended with exit code 1" in fixer.asked[0]
