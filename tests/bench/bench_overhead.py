"""What the harness itself costs an iteration: everything but its child processes, with journal, store and fsyncs on disk.

    python tests/bench/bench_overhead.py

Real builds and runs of a small C++ task, distinct candidates, one at a time.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine import events as ev
from engine.devices.base import Gpu
from engine.devices.toolkit import find_toolkit
from engine.fixers.scripted import ScriptedFixer
from engine.harness import checker as checkers
from engine.harness.examine import Harness
from engine.harness.process import Ended
from engine.harness.sandbox import choose_sandbox
from engine.journal import read_journal
from engine.protocol import EarlyStop, Protocol
from engine.rundir import DeviceRecord, RunDirectory, RunRecord
from engine.sweep import Sweep, plan_cells
from tests.support.tasks import WRONG, write_task

ITERATIONS = 40


def instant(event: ev.Event) -> float:
    return datetime.fromisoformat(event.at).timestamp()


async def main() -> None:
    children: list[float] = []
    _count_children(children)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answers = {"s": [f"{WRONG}// {number}\n" for number in range(ITERATIONS)]}
        task = write_task(folder / "corpus", answers=answers)
        protocol = Protocol(k=ITERATIONS, early_stop=EarlyStop.OBSERVE)
        fixer = ScriptedFixer("s")
        record = RunRecord(
            name="bench",
            tool_version="",
            protocol=protocol,
            corpus="",
            corpus_hash="",
            tasks=1,
            fixers=[],
            device=DeviceRecord(kind="cuda", name="host programs"),
            sandbox="",
            toolkit="",
        )
        run = RunDirectory.create(record, plan_cells([task], [fixer], protocol), folder / "run")
        device = Gpu(name="host programs", uuid="bench", sm=90)
        harness = Harness(device=device, sandbox=choose_sandbox(), toolkit=find_toolkit(), sanitize=False)
        cpu = time.process_time()
        await Sweep(run, {task.id: task}, {fixer.name: fixer}, harness).play()
        cpu = time.process_time() - cpu
        events = read_journal(run.journal(run.plan[0]))
    asked = [instant(event) for event in events if isinstance(event, ev.RequestBuilt)]
    closed = [instant(event) for event in events if isinstance(event, ev.IterationClosed)]
    per_iteration = len(children) // ITERATIONS
    own = []
    for number in range(1, ITERATIONS):  # from the end of one iteration to the end of the next: prompts are counted too
        spent = closed[number] - closed[number - 1]
        own.append(1000 * (spent - sum(children[number * per_iteration : (number + 1) * per_iteration])))
    assert len(asked) == len(closed) == ITERATIONS
    child_ms = 1000 * sum(children) / ITERATIONS
    print(f"{ITERATIONS} iterations, {per_iteration} child processes each ({child_ms:.0f} ms an iteration)")
    print(f"processor time of the harness: {1000 * cpu / ITERATIONS:.1f} ms an iteration")
    print(f"harness: median {statistics.median(own):.1f} ms an iteration (min {min(own):.1f}, max {max(own):.1f})")


def _count_children(children: list[float]) -> None:
    """Note how long each child process lived, the checker's included."""
    from engine.harness import step

    real = step.run_step

    async def counted(*arguments: object, **options: object) -> Ended:
        ended = await real(*arguments, **options)  # type: ignore[arg-type]
        children.append(ended.seconds)
        return ended

    step.run_step = checkers.run_step = counted


if __name__ == "__main__":
    asyncio.run(main())
