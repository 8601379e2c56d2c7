"""A program that is timed is built without line tables and without -G, whatever the task's own commands ask for."""

from __future__ import annotations

import dataclasses
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from engine import events as ev
from engine.devices.base import Gpu
from engine.devices.cpu.elf import Elf
from engine.devices.toolkit import Toolkit
from engine.harness.examine import Harness, Job
from engine.harness.sandbox import NoSandbox
from engine.harness.timedbuild import timed_build
from engine.harness.workspace import Workspace
from tests.support.tasks import SOLUTION, write_task

GPU = Gpu(name="H200", sm=90)

KERNEL = "#ifdef __CUDACC__\n__global__ void scale(float* x) { x[threadIdx.x] *= 2.0f; }\n#endif\n"


@pytest.mark.parametrize(
    ("given", "timed"),
    [
        ("nvcc -O2 -lineinfo -o driver driver.cu", "nvcc -O2 -o driver driver.cu"),
        ("nvcc -g -G -O0 driver.cu -o driver", "nvcc -O0 driver.cu -o driver"),
        ("nvcc --generate-line-info --device-debug --debug a.cu", "nvcc a.cu"),
        ("NVCC_APPEND_FLAGS='-O3 -lineinfo' make", "NVCC_APPEND_FLAGS='-O3' make"),
        ("nvcc a.cu -lineinfo && ./check -G", "nvcc a.cu && ./check -G"),
        ("make -G; nvcc -G -c a.cu", "make -G; nvcc -c a.cu"),
        ("nvcc -Xcompiler -g -G a.cu", "nvcc -Xcompiler -g a.cu"),
        ("nvcc -gencode arch=compute_90,code=sm_90 -Xcompiler -g,-O2 -Gx a.cu", None),
        ("nvcc -O2 -o driver driver.cu", None),
        ("nvcc -o out-G/driver --debug-out=x a.cu", None),
    ],
)
def test_flags_for_debuggers_are_taken_out_of_the_build_command(tmp_path: Path, given: str, timed: str | None):
    task = write_task(tmp_path, spec={"backend": "nvcc", "build_cmd": given})
    build = timed_build(task, GPU)
    assert build.command.text == (timed or given)
    assert bool(build.rewrites) == (timed is not None)


def test_the_rewrite_names_what_is_left_out(tmp_path: Path):
    task = write_task(tmp_path, spec={"backend": "nvcc", "build_cmd": "nvcc -G -lineinfo a.cu"})
    assert timed_build(task, GPU).rewrites == ("the timed program is built without -G -lineinfo",)


def with_makefile(folder: Path, text: str, build: str = "make driver"):
    task = write_task(folder, spec={"build_cmd": build})
    makefile = folder / "Makefile"
    makefile.write_text(text)
    return dataclasses.replace(task, harness_files={**task.harness_files, "Makefile": makefile})


def test_a_makefile_that_calls_nvcc_by_its_path_cannot_be_rewritten_and_says_so(tmp_path: Path):
    task = with_makefile(tmp_path, "driver:\n\t$(CUDA_HOME)/bin/nvcc -lineinfo -o driver driver.cu\n")
    assert timed_build(task, GPU).rewrites[1] == "but for what calls nvcc by its path"


def device_sections(program: Path) -> list[str]:
    """The names of the sections of a program's cubins."""
    data, names, at = program.read_bytes(), [], 0
    while (at := data.find(b"\x7fELF", at + 1)) > 0:
        names += [section.name for section in Elf.of_bytes(data[at:]).sections]
    return names


def holds_lines(program: Path) -> bool:
    sections = device_sections(program)
    assert ".text._Z5scalePf" in sections, "the kernel's cubin was not found"
    return any("debug_line" in name for name in sections)


BUILDS = {
    "command": ("nvcc {flag} --no-compress -arch=sm_90 -x cu -o driver driver.cpp solution.cpp", ""),
    "makefile": (
        "make driver",
        "driver:\n\tnvcc {flag} --no-compress -arch=sm_90 -x cu -o driver driver.cpp solution.cpp\n",
    ),
    "variable": (
        "make driver",
        "export NVCC_APPEND_FLAGS=--no-compress {flag}\ndriver:\n\tnvcc -arch=sm_90 -x cu -o driver driver.cpp solution.cpp\n",
    ),
}


def test_our_nvcc_leaves_other_programs_flags_alone(tmp_path: Path, toolkit: Toolkit, make_task):
    shown = tmp_path / "shows"
    shown.write_text('#!/bin/sh\nprintf "[%s]" "$@" "$NVCC_APPEND_FLAGS" "$NVCC_PREPEND_FLAGS"\n')
    shown.chmod(0o755)
    task = make_task(spec={"build_cmd": "nvcc -G a.cu"})
    with Workspace(task, b"", None) as workspace:
        timed_build(task, GPU).equip(workspace, dataclasses.replace(toolkit, nvcc=shown))
        given = ["-Xcompiler", "-g", "-G", "a b", "--compiler-options", "-g", "-lineinfo", "*", "-D", 'X="y z"']
        environment = {"PATH": "/usr/bin:/bin", "NVCC_APPEND_FLAGS": "-O3 -G -Xptxas -g -lineinfo"}
        ended = subprocess.run(
            [workspace.device / "bin" / "nvcc", *given], env=environment, capture_output=True, text=True, check=True
        )
    kept = ["-Xcompiler", "-g", "a b", "--compiler-options", "-g", "*", "-D", 'X="y z"', "-O3 -Xptxas -g ", ""]
    assert ended.stdout == "".join(f"[{word}]" for word in kept)


# the device's flags: -g is for the host's code alone. The long names are slow tests, they are the same words of one table
@pytest.mark.parametrize("where", BUILDS)
@pytest.mark.parametrize(
    "flag",
    [
        "-G",
        "-lineinfo",
        *(pytest.param(flag, marks=pytest.mark.slow) for flag in ("--device-debug", "--generate-line-info")),
    ],
)
async def test_no_flag_for_debuggers_reaches_a_timed_program(toolkit: Toolkit, tmp_path: Path, where: str, flag: str):
    command, makefile = (text.format(flag=flag) for text in BUILDS[where])
    copies = tmp_path / "copies"
    copies.mkdir()
    ran = 'cp driver "{}/$(od -An -tx8 -N8 /dev/urandom | tr -d " ")-{}"; ./driver'
    spec = {
        "timing_parser": r"^Kernel time: ([0-9.]+) ms$",
        "build_cmd": command,
        "check": {
            "generate": "python3 check.py generate",
            "run": ran.format(copies, "tested"),
            "compare": "python3 check.py compare",
            "time": ran.format(copies, "timed"),
        },
    }
    task = write_task(tmp_path, spec=spec)
    (tmp_path / "reference.cpp").write_text(SOLUTION + KERNEL)
    changes: dict[str, object] = {"reference": tmp_path / "reference.cpp"}
    if makefile:
        (tmp_path / "Makefile").write_text(makefile)
        changes["harness_files"] = {**task.harness_files, "Makefile": tmp_path / "Makefile"}
    task = dataclasses.replace(task, **changes)  # type: ignore[arg-type]
    events: list[ev.Event] = []
    device = Gpu(name="host programs", uuid="host-programs", sm=90)
    with closing(Harness(device=device, sandbox=NoSandbox(), toolkit=toolkit, sanitize=False)) as harness:
        job = Job(task=task, code=(SOLUTION + KERNEL).encode(), iteration=1, seed=1, launches=2)
        await harness.examine(job, events.append, lambda step, text: None)
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert timed.rewrites == [f"the timed program is built without {flag}"]
    tested = [path for path in copies.iterdir() if path.name.endswith("-tested")]
    runs = [path for path in copies.iterdir() if path.name.endswith("-timed")]
    assert (len(tested), len(runs)) == (1, 4)  # candidate and reference, twice each
    assert holds_lines(tested[0])
    assert not any(holds_lines(run) for run in runs)
