"""Profile correct but slow programs of the built-in corpus on this machine as feedback L4 does, and write down what was seen.

    python -P tests/gpu/profile.py --out DIR [TASK ...]

DIR gets machine.json (what was there, and whether a profile works in each sandbox) and, for each task, TASK.json (the events
that belong to the profile), TASK-report.csv (the profiler's log) and TASK-prompt.txt (the whole prompt of the next iteration).
Exit code 1 when a task has no figures. tests/fixtures/h200/profile was made by it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec

from engine import events as ev
from engine.errors import BeaverError
from engine.fixers.scripted import ScriptedFixer
from engine.harness.examine import Harness
from engine.harness.profiler import find_ncu, why_not
from engine.harness.profiler_check import ncu_version, try_profiler
from engine.harness.sandbox import choose_sandbox
from engine.local import builtin_tasks, local_harness
from engine.loop import Setting, repair
from engine.protocol import Feedback, GateMode, Protocol
from engine.store import MemoryStore
from engine.task import Task
from engine.verdict.profile_metrics import tool_metrics

TASKS = ("gemm_rect", "conv1d_causal", "spmv_csr")
"""perf_broken starts; their script "degenerate" is a correct program that gave the optimisation up."""

PROTOCOL = Protocol(k=2, feedback=Feedback.L4, gate_mode=GateMode.INLOOP, launches=2)


async def main(out: Path, names: list[str]) -> int:
    out.mkdir(parents=True, exist_ok=True)
    with local_harness(device="cuda") as harness:
        tasks = builtin_tasks()
        recording = [record(out, tasks[name], harness) for name in names]  # builds side by side, the GPU one at a time
        machine, *failed = await asyncio.gather(look_around(harness), *recording)
        (out / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
        print(json.dumps(machine, indent=1), flush=True)
        return int(any(failed))


async def look_around(harness: Harness) -> dict[str, object]:
    """What the profiler is here, which metrics it lacks, and one kernel profiled in each sandbox."""
    device, toolkit = harness.device, harness.toolkit
    program = find_ncu(toolkit)
    seen: dict[str, object] = {
        "device": device.label,
        "driver": device.driver,
        "toolkit": toolkit.version,
        "why_not": why_not(device, toolkit, harness.sandbox),
        "sandbox": harness.sandbox.name,
    }
    if program is None:
        return seen
    asked = {name.partition(".")[0] for name in tool_metrics() if not name.startswith(("launch__", "sm__maximum_"))}
    listed = subprocess.run([str(program), "--query-metrics"], capture_output=True, text=True, check=False).stdout
    known = set(re.findall(r"^(\w+__\w+)", listed, re.MULTILINE))
    seen |= {"ncu": ncu_version(program), "metrics_listed": len(known), "metrics_unknown": sorted(asked - known)}
    for wish in ("bubblewrap", "namespaces", "none"):
        try:
            tried = await try_profiler(device, toolkit, choose_sandbox(wish))
            seen[f"trial in {wish}"] = tried.problem or f"{tried.seconds:.2f} s"
        except BeaverError as error:
            seen[f"trial in {wish}"] = str(error)
    return seen


async def record(out: Path, task: Task, harness: Harness) -> bool:
    """One task through the real loop, until the prompt that shows the figures; True when there are none."""
    store, kept = MemoryStore(), []
    setting = Setting(task=task, fixer=ScriptedFixer("degenerate"), protocol=PROTOCOL, seed="profile")
    prompt = ""
    async for event in repair(setting, harness, store):
        if isinstance(event, ev.Profiled | ev.Timed | ev.VerdictReached | ev.FeedbackGiven | ev.RequestBuilt):
            kept.append(event)
        if isinstance(event, ev.RequestBuilt) and event.iteration == 2:
            messages = json.loads(store.get("prompts", event.prompt))
            prompt = "\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)
    (out / f"{task.id}.json").write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    (out / f"{task.id}-report.csv").write_text(store.read_log(1, "profile-report") or "")
    (out / f"{task.id}-prompt.txt").write_text(prompt)
    figures = [event for event in kept if isinstance(event, ev.Profiled) and event.figures]
    told = [event for event in kept if isinstance(event, ev.FeedbackGiven)]
    print(f"--- {task.id}", *(event.text for event in told), *(event.note for event in told), sep="\n", flush=True)
    return not (figures and prompt)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    given = parser.parse_args()
    sys.exit(asyncio.run(main(given.out, given.tasks)))
