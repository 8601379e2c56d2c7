"""The worst stall of an event loop in which an iteration with a log of 8 MB is played: what a screen in that loop would feel.

    python tests/bench/bench_stall.py

A ticker that wants its turn every 10 ms says how late it was. Two cores: 707 ms when all was done in the loop,
11 ms now (more while others compute).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine import events as ev
from engine.devices.base import Gpu
from engine.devices.toolkit import find_toolkit
from engine.fixers.scripted import ScriptedFixer
from engine.harness.examine import Harness
from engine.harness.sandbox import choose_sandbox
from engine.loop import Setting, repair
from engine.store import DiskStore
from tests.support.tasks import WRONG, write_task

TICK = 0.01
NOISE = (
    'for (int k = 0; k < 120000; ++k) std::printf("line %d: something that a log would say, or an address 0x7f\\n", k);'
)
NOISY = WRONG.replace("float sum = 0.0f;", f"float sum = 0.0f; {NOISE}").replace(
    "#include", "#include <cstdio>\n#include", 1
)


async def main() -> None:
    late: list[float] = []

    async def tick() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(TICK)
            late.append(time.perf_counter() - began - TICK)

    sandbox, toolkit = choose_sandbox(), find_toolkit()
    _ = toolkit.root
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task = write_task(folder / "corpus", answers={"s": [NOISY]})
        host = Gpu(name="host programs", uuid="host-programs", sm=90)
        with closing(Harness(device=host, sandbox=sandbox, toolkit=toolkit, sanitize=False)) as harness:
            setting, store = Setting(task=task, fixer=ScriptedFixer("s")), DiskStore(folder, folder / "logs")
            ticker = asyncio.create_task(tick())
            async for event in repair(setting, harness, store):
                if isinstance(event, ev.Tested):
                    print(f"log      {event.step.stdout.bytes / 1e6:8.1f} MB")
            ticker.cancel()
    worst = sorted(late)[-5:]
    print(f"stalls   {', '.join(f'{1000 * value:.0f}' for value in worst)} ms (the five worst of {len(late)} ticks)")


if __name__ == "__main__":
    asyncio.run(main())
