"""Profiling a candidate, as far as a machine without a GPU goes: what is asked for, what is read, and the fallback to L3.

tests/gpu/profile.py profiles real kernels; tests/fixtures/h200 holds what it and Nsight Compute wrote there.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from beaver_tui import doctor
from engine import events as ev
from engine.devices.base import Device, Gpu
from engine.devices.cpu.device import CpuDevice
from engine.devices.toolkit import Toolkit
from engine.fixers.scripted import ScriptedFixer
from engine.harness import on_demand, profiler
from engine.harness.examine import Harness
from engine.harness.sandbox import NoSandbox, Sandbox
from engine.harness.step import Stand, StepRunner
from engine.local import builtin_tasks
from engine.loop import Setting, repair
from engine.protocol import Feedback, Protocol, Sampling
from engine.store import MemoryStore
from tests.support.tasks import BROKEN, CRASH, SOLUTION, WRONG

KERNELS = b"""
template <int N> __global__ void __launch_bounds__(256) tile_kernel(float* x) {}
namespace { __global__ void row_kernel(float* x) {} }
__device__ float helper(float x) { return x; }
// __global__ void commented_kernel() {}
"""


async def played(harness: Harness, task, **protocol: object) -> tuple[list[ev.Event], MemoryStore]:
    store = MemoryStore()
    setting = Setting(
        task=task, fixer=ScriptedFixer("wrong"), protocol=Protocol(feedback=Feedback.L4, **protocol), seed="s"
    )
    return [event async for event in repair(setting, harness, store)], store


def toolkit_with_ncu(folder: Path) -> Toolkit:
    """A toolkit's folder in which an ncu lies, for questions that start nothing."""
    for name in ("bin/nvcc", "bin/ncu", "include/cuda_runtime_api.h"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch(mode=0o755)
    return Toolkit(folder / "bin" / "nvcc", "PATH")


def only(events: list[ev.Event], kind: type[ev.Event]) -> list[ev.Event]:
    return [event for event in events if isinstance(event, kind)]


async def test_without_a_profiler_l4_is_l3_and_says_so(harness: Harness, make_task):
    """The device is real enough to be asked for a profile, and this machine cannot make one of a host program."""
    task = make_task(answers={"wrong": [WRONG, SOLUTION]})
    events, _ = await played(harness, task)
    profiled, feedback = only(events, ev.Profiled), only(events, ev.FeedbackGiven)
    assert [event.iteration for event in profiled] == [1, 2] and not any(event.figures for event in profiled)
    assert profiled[0].note
    assert [(event.level, event.note) for event in feedback] == [("L3", f"L4 fell back to L3: {profiled[0].note}")]
    first, second = only(events, ev.RequestBuilt)
    assert (first.feedback, first.notes) == ("L4", [])
    assert (second.feedback, second.notes) == ("L4", [f"1: {feedback[0].note}"])


async def test_the_prompt_of_a_fallback_is_that_of_l3(harness: Harness, make_task):
    task = make_task(answers={"wrong": [WRONG, SOLUTION]})
    prompts = []
    for level in (Feedback.L4, Feedback.L3):
        store = MemoryStore()
        setting = Setting(task=task, fixer=ScriptedFixer("wrong"), protocol=Protocol(feedback=level), seed="s")
        events = [event async for event in repair(setting, harness, store)]
        prompts.append(store.get("prompts", only(events, ev.RequestBuilt)[1].prompt))
    assert prompts[0] == prompts[1]


async def test_only_what_ran_to_its_end_is_profiled(harness: Harness, make_task):
    task = make_task(answers={"wrong": [BROKEN, CRASH, SOLUTION]})
    events, _ = await played(harness, task)
    assert [event.iteration for event in only(events, ev.Profiled)] == [3]
    assert [(event.level, event.note) for event in only(events, ev.FeedbackGiven)] == [("L4", ""), ("L4", "")]


async def test_no_other_level_profiles_and_no_attempt_without_feedback(harness: Harness, make_task):
    task = make_task(answers={"wrong": [WRONG]})
    repeated, _ = await played(harness, task, sampling=Sampling.REPEATED, k=1)
    setting = Setting(task=task, fixer=ScriptedFixer("wrong"), protocol=Protocol(feedback=Feedback.L3), seed="s")
    third = [event async for event in repair(setting, harness, MemoryStore())]
    assert only(repeated, ev.Profiled) == [] and only(third, ev.Profiled) == []


async def test_on_demand_a_profile_says_why_there_is_none(harness: Harness, make_task):
    task = make_task()
    profiled = await on_demand.profile(harness, task, SOLUTION.encode(), seed=1)
    assert profiled.figures == {} and on_demand.profiled_line(profiled) == f"no profile: {profiled.note}"
    broken = await on_demand.profile(harness, task, BROKEN.encode(), seed=1)
    assert broken.note == "the candidate does not build"


def test_what_stands_against_a_profile_is_known_before(
    toolkit: Toolkit, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cpu = CpuDevice(name="the CPU device", sm=90)
    assert profiler.why_not(cpu, toolkit, sandbox) == "the CPU device has no performance counters"
    missing = Device(name="none", missing="--device none: programs are built and not run")
    assert profiler.why_not(missing, toolkit, sandbox) == missing.missing
    with_ncu, gpu = toolkit_with_ncu(tmp_path), Gpu(name="H200", sm=90)
    for setting, restricted in ((1, True), (0, False)):
        parameters = tmp_path / "params"
        parameters.write_text(f"ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: {setting}\nTCEBypassMode: 0\n")
        monkeypatch.setattr(profiler, "PARAMETERS", parameters)
        assert profiler.counters_restricted() == restricted
        assert ("RmProfilingAdminOnly: 1" in profiler.why_not(gpu, with_ncu, sandbox)) == restricted
    monkeypatch.setattr(profiler, "PARAMETERS", tmp_path / "absent")
    assert profiler.why_not(gpu, with_ncu, sandbox) == ""


def test_an_administrator_without_a_sandbox_may_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "params").write_text("RmProfilingAdminOnly: 1\n")
    monkeypatch.setattr(profiler, "PARAMETERS", tmp_path / "params")
    reason = profiler.why_not(Gpu(name="H200", sm=90), toolkit_with_ncu(tmp_path), NoSandbox())
    assert (reason == "") == (os.geteuid() == 0)


def test_the_kernels_of_the_candidates_file_are_looked_for(make_task):
    assert profiler.own_kernels(make_task(), KERNELS) == "(^|::)(tile_kernel|row_kernel)$"
    quoted = b'source = """\n' + KERNELS + b'"""\nmodule = load_inline(cuda_sources=source)\n'
    python = make_task("python", spec={"solution_file": "solution.py"})
    assert profiler.own_kernels(python, quoted) == "(^|::)(tile_kernel|row_kernel)$"


def test_where_a_library_does_the_work_the_harness_is_left_out(make_task):
    library = b"void total() { cub::DeviceReduce::Sum(); }"
    assert profiler.own_kernels(make_task(), library) == ""
    driver = "__global__ void flush_kernel(float* x) {}\nint main() {}\n"
    assert profiler.own_kernels(make_task("flushing", driver=driver), library) == "^(?!(flush_kernel)$)"


def test_every_built_in_task_has_kernels_to_look_for():
    for task in builtin_tasks().values():
        assert task.reference is not None
        assert profiler.own_kernels(task, task.reference.read_bytes()).startswith("(^|::)("), task.id


@pytest.mark.parametrize("test", ["./driver", "./driver --check && echo 'a b' | cat"])
def test_the_shell_hands_over_what_was_meant(test: str):
    command = profiler.profile_command(Path("/bin/echo"), "dir/a report.csv", "(^|::)(a|b)$", test)
    said = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True).stdout
    assert "--log-file dir/a report.csv " in said and "--kernel-name regex:(^|::)(a|b)$ " in said
    assert said.endswith(f" {test}\n" if test == "./driver" else f" /bin/sh -c {test}\n")


def test_only_a_plain_log_is_read(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("not for prompts")
    (tmp_path / "link").symlink_to(secret)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert [profiler.read_log(tmp_path / name) for name in ("link", "pipe", "folder", "absent")] == [""] * 4
    assert profiler.read_log(secret) == "not for prompts"


async def test_a_profiler_can_write_its_log_and_nothing_else(harness: Harness, make_task):
    """In a workspace that is frozen for the driver, its own folder is not."""
    steps = StepRunner(Stand(harness.device, harness.sandbox, harness.toolkit, harness.limits))
    with steps.stand.workspace(make_task(), SOLUTION.encode(), None) as workspace:
        workspace.folder("out")
        workspace.folder(profiler.FOLDER)
        command = f"echo log > {profiler.FOLDER}/a.csv; echo more > beside.csv; echo more >> solution.cpp"
        await steps.run(workspace, "profile", command, 10, writable=(profiler.FOLDER,))
        assert profiler.read_log(workspace.path / profiler.FOLDER / "a.csv") == "log\n"
        if harness.sandbox.name == "bubblewrap":
            assert not (workspace.path / "beside.csv").exists() and steps.tampered == []


def test_doctor_says_what_l4_would_be_here(toolkit: Toolkit):
    (finding,) = [each for each in doctor.findings() if each.subject == "profiler"]
    assert not finding.missing, "a run needs no profiler"
    if profiler.find_ncu(toolkit) is None:
        assert finding.text == "feedback L4 falls back to L3: Nsight Compute (ncu) was not found"
    else:
        assert "ncu " in finding.text
