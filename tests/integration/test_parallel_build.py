"""nvcc compiling several files at once: nothing but the clock may tell."""

from __future__ import annotations

from contextlib import closing

import pytest

from engine import events as ev
from engine.devices.choose import choose_device
from engine.devices.toolkit import Toolkit
from engine.harness import on_demand
from engine.harness.backends import Command
from engine.harness.examine import Harness
from engine.harness.parallel import compiles_in_parallel
from engine.harness.sandbox import Sandbox

BUILD = "nvcc -arch=native -o driver driver.cpp solution.cu"
GOOD = "float total(const float* x, unsigned long n) { float sum = 0; for (; n; --n) sum += *x++; return sum; }\n"
WARNS = "__global__ void k() { int unused; }\n" + GOOD
FAILS = "__global__ void k() { y = 1; }\n" + GOOD


@pytest.mark.parametrize(
    ("text", "parallel"),
    [
        (BUILD, True),
        ("nvcc -O2 -o driver driver.cu solution.cu", True),
        ("nvcc -O2 -o driver driver.cu", False),
        ("nvcc -O2 -t 4 -o driver driver.cu solution.cu", False),
        ("nvcc --threads 0 -o driver driver.cu solution.cu", False),
        ("nvcc -c a.cu && nvcc -c b.cu", False),
        ("make driver", False),
        ("g++ -o driver driver.cpp solution.cpp", False),
    ],
)
def test_only_one_call_of_nvcc_for_several_files_is_made_parallel(text: str, parallel: bool):
    assert compiles_in_parallel(Command(text)) is parallel


@pytest.fixture
def cpu(toolkit: Toolkit, sandbox: Sandbox):
    with closing(Harness(device=choose_device("cpu"), sandbox=sandbox, toolkit=toolkit)) as harness:
        yield harness


@pytest.mark.parametrize("source", [GOOD, WARNS, FAILS], ids=["good", "warns", "fails"])
async def test_it_tells_what_a_build_file_by_file_tells(cpu: Harness, make_task, source: str):
    task = make_task(spec={"backend": "nvcc", "build_cmd": BUILD, "solution_file": "solution.cu"})
    told = []
    for free in (True, False):
        if not free:
            while cpu._builds.take_place_beside():
                pass
        events: list[ev.Event] = []
        logs: dict[str, str] = {}
        built = await on_demand.preview(cpu, task, source.encode(), emit=events.append, save_log=logs.__setitem__)
        step = built.step
        output = "".join(event.text for event in events if isinstance(event, ev.OutputArrived))
        told.append((step.command, step.exit_code, step.stdout.text, step.stderr.text, built.rewrites, output, logs))
    assert told[0] == told[1]
    assert bool(told[0][3]) == (source != GOOD)
