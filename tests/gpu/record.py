"""Examine every broken start and every reference of the built-in corpus on this machine, and write down what was seen.

    python -P tests/gpu/record.py OUT_DIR [TASK_GLOB]

Writes OUT_DIR/record.jsonl (one row a program) and OUT_DIR/logs/<task>.log (the error log of each broken start).
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from engine import events as ev
from engine.corpora import builtin_folder, load_corpus
from engine.devices.choose import choose_device
from engine.devices.toolkit import find_toolkit
from engine.harness.error_log import error_log
from engine.harness.examine import Harness, Job
from engine.harness.sandbox import choose_sandbox
from engine.verdict.classify import classify


async def main(out: Path, pattern: str) -> None:
    device, toolkit, sandbox = choose_device("auto"), find_toolkit(), choose_sandbox()
    harness = Harness(device=device, sandbox=sandbox, toolkit=toolkit)
    print(device.label, device.driver, toolkit.version, sandbox.name, toolkit.program("compute-sanitizer"), flush=True)
    (out / "logs").mkdir(parents=True, exist_ok=True)
    slots = asyncio.Semaphore(6)
    rows: list[dict[str, object]] = []

    async def examine(task, who: str, code: bytes) -> None:
        timed: list[ev.Timed] = []
        sanitized: list[ev.Sanitized] = []
        blocking: list[ev.StepRecord] = []

        def listen(event: ev.Event) -> None:
            if isinstance(event, ev.Timed):
                timed.append(event)
            elif isinstance(event, ev.Sanitized):
                sanitized.append(event)
            elif isinstance(event, ev.Tested) and event.blocking:
                blocking.append(event.blocking)

        async with slots:
            examined = await harness.examine(
                Job(task=task, code=code, iteration=1, seed=20261129, launches=2), listen, lambda step, text: None
            )
        evidence = examined.evidence
        verdict = classify(evidence)
        row = {
            "task": task.id,
            "program": who,
            "made_for": task.spec.category if who == "broken" else "passed",
            "category": verdict.category,
            "rule": verdict.rule,
            "signature": verdict.signature,
            "line": verdict.line[:200],
            "rivals": list(verdict.rivals),
            "hazards": list(verdict.hazards),
            "message": evidence.check.message if evidence.check else None,
            "build_s": round(evidence.build.seconds, 2) if evidence.build else None,
            "test_s": round(evidence.test.seconds, 2) if evidence.test else None,
            "speedup": timed[0].speedup if timed else None,
            "cv": timed[0].cv if timed else None,
            "reference_ms": timed[0].reference_mean_ms if timed else None,
            "note": timed[0].note if timed else None,
            "sanitizer": (sanitized[0].output.head[:600] if sanitized else None),
            "blocking": (blocking[0].stderr.head[-300:] if blocking else None),
        }
        rows.append(row)
        (out / "record.jsonl").write_text("".join(json.dumps(item) + "\n" for item in rows))
        print(
            json.dumps({name: row[name] for name in ("task", "program", "made_for", "category", "speedup", "message")}),
            flush=True,
        )
        if who == "broken":
            (out / "logs" / f"{task.id}.log").write_text(error_log(task, evidence, timed[0] if timed else None))

    async with asyncio.TaskGroup() as group:
        for task in load_corpus(builtin_folder()).select((pattern,)):
            group.create_task(examine(task, "broken", task.broken))
            if task.reference is not None:
                group.create_task(examine(task, "reference", task.reference.read_bytes()))
    harness.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "*"))
