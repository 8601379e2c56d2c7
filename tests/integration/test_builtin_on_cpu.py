"""The built-in corpus on the CPU device: what a GPU shows, shown here, in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from engine import events as ev
from engine.corpora import builtin_folder, load_corpus
from engine.devices.choose import choose_device
from engine.devices.toolkit import Toolkit
from engine.harness.examine import Harness, Job
from engine.harness.sandbox import Sandbox
from engine.verdict import classify
from tests.support.examining import examine
from tests.support.metering import METER, Metered, MeteredDevice

TASKS = {name: task for name, task in load_corpus(builtin_folder()).tasks.items() if task.spec.backend != "kernelbench"}
"""Those that want PyTorch want a GPU too."""

QUICK = {
    "attention_window",  # out of memory
    "histogram_bytes",  # does not link; make
    "image_luma",  # misaligned
    "layernorm_rows",  # a header that is not there
    "softmax_rows",  # a race
    "stencil_star",  # an address that is not mapped
    "topk_rows",  # does not compile
    "vector_normalize",  # a barrier that is never left
    "wave_cooperative",  # a cooperative launch
}
"""What every run of the tests looks at; the others take minutes more."""

EVERY = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(TASKS)]

SECONDS = 5.0
"""What the test of a built-in task may take here, on two idle cores."""


@pytest.fixture
def cpu(toolkit: Toolkit, sandbox: Sandbox) -> Iterator[Harness]:
    with closing(Harness(device=choose_device("cpu"), sandbox=sandbox, toolkit=toolkit)) as harness:
        yield harness


@pytest.mark.parametrize("name", EVERY)
async def test_the_broken_start_shows_its_category(cpu: Harness, name: str):
    task = TASKS[name]
    evidence, events = await examine(cpu, task, task.broken)
    verdict = classify(evidence)
    assert verdict.category == task.spec.category, verdict
    for timed in (event for event in events if isinstance(event, ev.Timed)):
        assert timed.gate == "unmeasured"
        assert timed.speedup is None


@pytest.mark.parametrize("name", EVERY)
async def test_the_reference_passes_without_hazards(cpu: Harness, name: str):
    task = TASKS[name]
    assert task.reference is not None
    evidence, _ = await examine(cpu, task, task.reference.read_bytes())
    verdict = classify(evidence)
    assert verdict.category == "passed", verdict
    assert verdict.hazards == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TASKS))
async def test_a_test_takes_seconds(cpu: Harness, name: str):
    task = TASKS[name]
    assert task.reference is not None
    for code in (task.broken, task.reference.read_bytes()):
        evidence, _ = await examine(cpu, task, code)
        assert evidence.test is None or evidence.test.seconds < SECONDS


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) for name in sorted(TASKS) if name != "gemm_rect"] + ["gemm_rect"],
)
async def test_a_whole_examination_costs_little_beside_its_build(toolkit: Toolkit, sandbox: Sandbox, name: str):
    """A second build once doubled it, or a slow memcheck. Processor seconds, against those of the candidate's own build: whatever
    else runs on this machine."""
    task = TASKS[name]
    assert task.reference is not None
    with closing(Harness(device=MeteredDevice.of_this_machine(), sandbox=sandbox, toolkit=toolkit)) as harness:
        for code in (task.broken, task.reference.read_bytes()):
            METER.start()
            await harness.examination(Job(task, code, 1, 7), Metered(harness.stand, 1)).run()
            assert "sanitizer-build" not in METER.seconds
            assert METER.seconds.total() < 4 * METER.seconds["build"], METER.seconds


async def test_an_illegal_address_is_confirmed_by_the_sanitizer_with_its_line(cpu: Harness):
    task = TASKS["stencil_star"]
    _, events = await examine(cpu, task, task.broken)
    report = next(event for event in events if isinstance(event, ev.Sanitized) and event.tool == "memcheck")
    assert report.exit_code == 99
    assert "Invalid __global__ read" in report.output.text
    assert "solution.cu:" in report.output.text


async def test_a_hang_is_seen_before_its_time_is_used_up(cpu: Harness):
    task = TASKS["vector_normalize"]
    evidence, _ = await examine(cpu, task, task.broken)
    verdict = classify(evidence)
    assert verdict.category == "timeout"
    assert "normalize_kernel" in verdict.line
    assert evidence.test is not None
    assert not evidence.test.timed_out


async def test_a_candidate_finds_no_kernels_but_its_own(cpu: Harness, make_task):
    reference = TASKS["softmax_rows"]
    assert reference.reference is not None
    await examine(cpu, reference, reference.reference.read_bytes())
    spec = {
        "check": None,
        "test_cmd": 'test "$(ls "$BEAVER_CPU_KERNELS" | wc -l)" = 0 && ! touch "$BEAVER_CPU_KERNELS/x.so" 2>/dev/null',
        "build_cmd": "true",
    }
    evidence, _ = await examine(cpu, make_task(spec=spec), b"int x;")
    assert classify(evidence).category == "passed", evidence
