"""A profile of a candidate: its test once more, under Nsight Compute, in the sandbox that every step runs in.

The figures are for who mends the program: no verdict, gate or score reads them. They come from the profiler's own file, never from
what the program prints; that file is new, has a name that cannot be guessed, and is read as a stranger's. A program that hunts for
it can forge it all the same, because the profiler works inside the process that it watches: it would deceive its own fixer.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from engine import events as ev
from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.harness.aside import in_thread
from engine.harness.process import Ended
from engine.harness.sandbox import Sandbox
from engine.harness.step import StepRunner
from engine.harness.workspace import Workspace, remove_tree
from engine.task import Task
from engine.verdict.profile_metrics import tool_metrics
from engine.verdict.profile_report import read_report, refused_metrics
from engine.verdict.structure_python import cuda_in_python
from engine.verdict.structure_sites import find_sites

LAUNCHES: Final = 32
"""Launches of one run that are profiled; each is replayed a few times."""

FOLDER: Final = ".beaver-profile"
"""In the workspace while the profiler runs."""

_INSTALLED: Final = Path("/opt/nvidia/nsight-compute")
"""Where NVIDIA's packages put the program itself; the ncu beside nvcc may be a script that starts it."""

PARAMETERS = Path("/proc/driver/nvidia/params")
"""Where the driver says what it was loaded with."""

_MOST_REPORT: Final = 16 << 20
_MOST_SOURCE: Final = 256 << 10
_MOST_NAMES: Final = 64
_SOURCES: Final = frozenset({".cu", ".cuh", ".h", ".hpp", ".cpp", ".py"})
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")


def find_ncu(toolkit: Toolkit) -> Path | None:
    """Nsight Compute's command line: the toolkit's or the PATH's, else the newest of NVIDIA's packages."""
    found = toolkit.program("ncu")
    if found is not None:
        return found
    installed = [path for path in _INSTALLED.glob("*/ncu") if os.access(path, os.X_OK)]
    return max(installed, key=lambda path: _version_of(path.parent.name), default=None)


def _version_of(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name)))


def counters_restricted(parameters: Path | None = None) -> bool:
    """Whether the driver says that only an administrator may read performance counters. False where it says nothing."""
    try:
        text = (parameters or PARAMETERS).read_text("utf-8", "replace")
    except OSError:
        return False
    return re.search(r"^RmProfilingAdminOnly:\s*1\b", text, re.MULTILINE) is not None


def why_not(device: Device, toolkit: Toolkit, sandbox: Sandbox) -> str:
    """Why nothing can be profiled here, as far as that is known without trying; empty when nothing is known against it."""
    if device.missing:
        return device.missing
    if device.kind != "cuda":
        return f"{device.name} has no performance counters"
    if find_ncu(toolkit) is None:
        return "Nsight Compute (ncu) was not found"
    privileged = os.geteuid() == 0 and not sandbox.drops_uid
    if counters_restricted() and not privileged:
        return (
            "the driver lets only an administrator read performance counters (RmProfilingAdminOnly: 1), and no candidate "
            "is run as one; docs/profiler.md says how to allow it"
        )
    return ""


def own_kernels(task: Task, code: bytes) -> str:
    """A regular expression for the kernels to profile, by their names alone: those that the candidate's file defines. Where it
    defines none a library does its work, and everything counts that the harness does not define. Empty: everything."""
    mine = _kernels(task.spec.solution_file, code)
    if mine:
        return f"(^|::)({'|'.join(mine)})$"
    others: list[str] = []
    for name, path in task.harness_files.items():
        library = any(name.startswith(f"{folder}/") for folder in task.libraries)
        if not library and Path(name).suffix in _SOURCES and path.stat().st_size <= _MOST_SOURCE:
            others += _kernels(name, path.read_bytes())
    return f"^(?!({'|'.join(dict.fromkeys(others))})$)" if others else ""


def _kernels(name: str, code: bytes) -> list[str]:
    """Names of the kernels that a source defines."""
    functions = find_sites(cuda_in_python(code) if name.endswith(".py") else code).functions
    names = dict.fromkeys(function.name for function in functions if function.place == "kernel")
    return [found for found in names if _IDENTIFIER.fullmatch(found)][:_MOST_NAMES]


def profile_command(
    program: Path, report: str, kernels: str, test: str, metrics: tuple[str, ...] = tool_metrics()
) -> str:
    """The test under Nsight Compute, whose output goes to ``report`` alone.

    The clocks are left alone: a profiler that is killed would leave them locked, and every timing after it would be another.
    """
    options = [
        str(program),
        *("--csv", "--print-units", "base", "--log-file", report),
        *("--metrics", ",".join(metrics)),
        *("--launch-count", str(LAUNCHES), "--clock-control", "none", "--target-processes", "all"),
    ]
    if kernels:
        options += ["--kernel-name-base", "function", "--kernel-name", f"regex:{kernels}"]
    simple = re.fullmatch(r"[\w./ =:,+-]+", test) is not None
    return f"{shlex.join(options)} {test if simple else f'/bin/sh -c {shlex.quote(test)}'}"


def shown_folders(program: Path) -> tuple[Path, ...]:
    """Folders beside /usr that a sandbox must show for the profiler to start."""
    folders: Iterable[Path] = (program.resolve().parent, _INSTALLED)
    return tuple(
        dict.fromkeys(folder for folder in folders if folder.is_dir() and not folder.is_relative_to(Path("/usr")))
    )


async def profile(steps: StepRunner, workspace: Workspace, code: bytes, test: str, wall: float) -> ev.Profiled:
    """Profile the program that was built of ``code`` and fed in ``workspace``; ``test`` is its command, ``wall`` the most seconds.
    The caller holds the device. Figures, or a note that says why there are none: neither is a fault of the candidate."""
    stand = steps.stand
    reason = why_not(stand.device, stand.toolkit, stand.sandbox)
    program = find_ncu(stand.toolkit)
    if reason or program is None:
        return ev.Profiled(iteration=steps.iteration, note=reason)
    kernels = await in_thread(own_kernels, workspace.task, code)

    async def run(metrics: tuple[str, ...]) -> tuple[Ended, str]:
        name = f"{FOLDER}/{secrets.token_hex(8)}.csv"
        folder = await in_thread(workspace.folder, FOLDER)
        try:
            command = profile_command(program, name, kernels, test, metrics)
            ended = await steps.run(
                workspace, "profile", command, wall, shown=shown_folders(program), writable=(FOLDER,)
            )
            return ended, await in_thread(read_log, workspace.path / name)
        finally:
            await in_thread(remove_tree, folder)

    ended, text = await run(tool_metrics())
    if refused := refused_metrics(text):
        ended, text = await run(tuple(name for name in tool_metrics() if name not in refused))
    steps.save_log("profile-report", text)
    report = await in_thread(read_report, text)
    problem = f"the test did not end within {wall:g} s under the profiler" if ended.timed_out else report.problem
    return ev.Profiled(
        iteration=steps.iteration,
        figures=report.figures,
        note="" if report.figures else problem,
        seconds=round(ended.seconds, 4),
    )


def read_log(path: Path) -> str:
    """The profiler's log: a regular file that is not too large, else nothing. Links are not followed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return ""
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(_MOST_REPORT).decode("utf-8", "replace")
