"""The built-in corpus on a real GPU: every start shows the category that it is made for, every reference passes."""

from __future__ import annotations

import pytest

from engine import events as ev
from engine.corpora import builtin_folder, load_corpus
from engine.devices.choose import choose_device
from engine.devices.toolkit import Toolkit
from engine.harness.examine import Harness
from engine.harness.pythons import task_python
from engine.harness.sandbox import Sandbox
from engine.verdict import classify
from tests.support.examining import examine

pytestmark = pytest.mark.gpu

TASKS = {name: task for name, task in load_corpus(builtin_folder()).tasks.items() if not task_python(task).lacks}
"""Without those that want PyTorch, where no Python here has it."""


@pytest.fixture
def gpu(toolkit: Toolkit, sandbox: Sandbox) -> Harness:
    return Harness(device=choose_device("cuda"), sandbox=sandbox, toolkit=toolkit)


@pytest.mark.parametrize("name", sorted(TASKS))
async def test_the_broken_start_shows_its_category(gpu: Harness, name: str):
    task = TASKS[name]
    evidence, events = await examine(gpu, task, task.broken)
    verdict = classify(evidence)
    assert verdict.category == task.spec.category, verdict
    if task.spec.start_bucket == "perf_broken":
        timed = next(event for event in events if isinstance(event, ev.Timed))
        assert timed.speedup is not None
        assert timed.speedup < 0.7


@pytest.mark.parametrize("name", sorted(TASKS))
async def test_the_reference_passes_without_hazards(gpu: Harness, name: str):
    task = TASKS[name]
    assert task.reference is not None
    evidence, _ = await examine(gpu, task, task.reference.read_bytes())
    verdict = classify(evidence)
    assert verdict.category == "passed", verdict
    assert verdict.hazards == ()


async def test_an_illegal_address_is_confirmed_by_the_sanitizer_with_its_line(gpu: Harness):
    task = TASKS["stencil_star"]
    _, events = await examine(gpu, task, task.broken)
    report = next(event for event in events if isinstance(event, ev.Sanitized) and event.tool == "memcheck")
    assert report.exit_code == 99
    assert "Invalid __global__ read" in report.output.text
    assert "solution.cu:" in report.output.text


async def test_a_race_is_looked_for_where_two_runs_disagree(gpu: Harness):
    task = TASKS["softmax_rows"]
    evidence, events = await examine(gpu, task, task.broken)
    tools = [event.tool for event in events if isinstance(event, ev.Sanitized)]
    assert tools == ["memcheck", "racecheck"]
    verdict = classify(evidence)
    assert verdict.category == "functional_correctness"
    assert verdict.signature == "race"
    assert "solution.cu:" in verdict.line


async def test_the_gpu_is_free_after_a_hang_was_killed(gpu: Harness):
    task = TASKS["vector_normalize"]
    evidence, _ = await examine(gpu, task, task.broken)
    assert classify(evidence).category == "timeout"
    assert task.reference is not None
    evidence, _ = await examine(gpu, task, task.reference.read_bytes())
    assert classify(evidence).category == "passed"


async def test_a_candidate_sees_no_gpu_while_it_is_built(gpu: Harness, make_task):
    if gpu.sandbox.name != "bubblewrap":
        pytest.skip("only bubblewrap hides /dev")
    spec = {"check": None, "test_cmd": "true", "build_cmd": "ls /dev/nvidia0 && cp /bin/true driver"}
    evidence, _ = await examine(gpu, make_task(spec=spec), b"int x;")
    assert evidence.build is not None
    assert not evidence.build.ok
