"""Every built-in task on the CPU device, its broken start and its reference examined whole, one after the other.

    python -P tests/bench/bench_examinations.py [--cold] [TASK ...]

Prints Markdown: wall seconds of a whole examination, its processor seconds (all child processes included), and the processor
seconds of its steps. --cold translates kernels anew for every examination; else those that were translated before are taken from the cache.
Exit code 1 when an examination takes longer than the bound.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.corpora import builtin_folder, load_corpus
from engine.devices.cpu import kernels
from engine.devices.toolkit import find_toolkit
from engine.harness.examine import Harness, Job
from engine.harness.sandbox import choose_sandbox
from engine.task import Task
from engine.verdict import classify
from tests.support.metering import METER, Metered, MeteredDevice, processor

BOUND = 5.0
"""Wall seconds of one examination on two idle cores."""

STEPS = ("build", "translation", "test", "checker", "memcheck", "again", "racecheck")


def examined(harness: Harness, task: Task, code: bytes) -> tuple[str, float, float]:
    """Category, wall seconds, processor seconds."""
    METER.start()
    began, used = time.monotonic(), processor()
    evidence = asyncio.run(harness.examination(Job(task, code, 1, 7), Metered(harness.stand, 1)).run())
    return classify(evidence).category, time.monotonic() - began, processor() - used


def main(arguments: list[str]) -> int:
    device, toolkit = MeteredDevice.of_this_machine(), find_toolkit()
    device.make_ready(toolkit, print)
    tasks = load_corpus(builtin_folder()).tasks
    names = [argument for argument in arguments if argument != "--cold"]
    slow = 0
    print(f"| task | program | category | whole | processors | {' | '.join(STEPS)} |")
    print("|" + "---|" * (5 + len(STEPS)))
    with closing(Harness(device=device, sandbox=choose_sandbox(), toolkit=toolkit)) as harness:
        for name in names or sorted(tasks):
            task = tasks[name]
            assert task.reference is not None
            for program, code in (("start", task.broken), ("reference", task.reference.read_bytes())):
                with tempfile.TemporaryDirectory() as empty:
                    if "--cold" in arguments:
                        kernels.kernel_cache = lambda folder=Path(empty): folder  # type: ignore[misc]
                    category, whole, processors = examined(harness, task, code)
                slow += whole > BOUND
                steps = " | ".join(f"{METER.seconds[step]:.2f}" if step in METER.seconds else "-" for step in STEPS)
                print(f"| {name} | {program} | {category} | {whole:.2f} | {processors:.2f} | {steps} |", flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
