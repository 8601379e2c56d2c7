"""A task's commands, made to fit the device that is here. Every rewrite is recorded in words."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.harness.adapt import adapt
from engine.harness.pythons import task_python
from engine.task import Task

SANITIZER_EXIT = 99
"""What compute-sanitizer is asked to exit with when it found something."""

_OWN_SANITIZER = re.compile(r"(?:\S*/)?python3? \S*run_sanitizer\.py ")
"""A test that runs the sanitizer itself: ours must watch the program, not that."""

_OWN_ARCH = re.compile(r"^ARCH\s*[:?]?=.*(?:compute|sm)_\d", re.MULTILINE)
"""A makefile that says which architectures it builds for runs wherever its PTX does."""

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")

_PASSED_THROUGH = ("LD_LIBRARY_PATH", "NVIDIA_DRIVER_CAPABILITIES")
"""What a build or a CUDA program may need from the user's environment. Nothing else of it is ever visible to a candidate."""


@dataclass(frozen=True)
class Command:
    """Shell text as it will run, what nvcc is given beyond it (NVCC_APPEND_FLAGS), and what was changed in words."""

    text: str
    rewrites: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """For the build alone: line tables and the like must reach no program that is timed."""
        return {"NVCC_APPEND_FLAGS": " ".join(self.flags)} if self.flags else {}

    def with_lines(self) -> Command:
        """The same with line tables, which the sanitizer's reports name lines by."""
        rewrite = "nvcc is given -lineinfo, for the sanitizer"
        return replace(self, rewrites=(*self.rewrites, rewrite), flags=(*self.flags, "-lineinfo"))


def build_command(task: Task, device: Device) -> Command:
    """The build for ``device``; its architecture is always written out."""
    arch = task.spec.arch_exact or device.arch
    text, rewrites = adapt(task.spec.build_cmd, device, arch, task_python(task).word)
    makefiles = _makefiles(task)
    given = re.search(r"\b(?:ARCH|GPU)=", text) or _OWN_ARCH.search(makefiles)
    if task.spec.backend == "make" and not given:
        text = re.sub(r"(?<![\w./-])make(?![\w.-])", f"make ARCH=-arch={arch}", text, count=1)
        rewrites.append(f"make is given ARCH=-arch={arch}")
    flags = device.build_flags(text + makefiles)
    if flags:
        rewrites.append(f"nvcc is given {' '.join(flags)}, for {device.name}")
    return Command(text, tuple(rewrites), flags)


def _makefiles(task: Task) -> str:
    """Where a make task keeps nvcc's flags; libraries beside it are built by nobody."""
    names = [name for name in task.harness_files if Path(name).name in _MAKEFILES or name.endswith(".mk")]
    names = [name for name in names if not name.startswith(tuple(f"{folder}/" for folder in task.libraries))]
    return "".join(f"\n{task.harness_files[name].read_text('utf-8', 'replace')}" for name in names)


def test_command(task: Task, device: Device) -> Command:
    """What runs in the candidate's sandbox as the test: the driver of a checked task, the whole test of another."""
    given = task.spec.check.run if task.spec.check is not None else task.spec.test_cmd
    assert given is not None
    text, rewrites = adapt(given, device, task.spec.arch_exact or device.arch, task_python(task).word)
    return Command(text, tuple(rewrites))


def time_command(task: Task, device: Device) -> str | None:
    """What is launched to time a program, None where a task has nothing of the kind. Tests that print a time are their own."""
    spec = task.spec
    given = spec.check.time if spec.check is not None else spec.time_cmd
    if given is None:
        return test_command(task, device).text if spec.check is None else None
    return adapt(given, device, spec.arch_exact or device.arch, task_python(task).word)[0]


def sanitizer_command(program: Path, tool: str, test: str) -> str:
    """The test under compute-sanitizer. A test that is more than one program goes through a shell, whose children are
    watched too."""
    test = _OWN_SANITIZER.sub("", test)
    simple = re.fullmatch(r"[\w./ =:,+-]+", test) is not None
    target = test if simple else f"--target-processes all /bin/sh -c {shlex.quote(test)}"
    options = f"--tool {tool} --error-exitcode {SANITIZER_EXIT} --print-limit 10"
    return f"{shlex.quote(str(program))} {options} {target}"


def environment(toolkit: Toolkit | None, first: tuple[Path, ...] = ()) -> dict[str, str]:
    """The allow-list: a path with ``first`` and the toolkit at its front, and a plain locale.

    CUDA_HOME is the folder of the nvcc that builds here, whatever the user's says: makefiles and PyTorch's extensions take headers
    and libraries from there, and an nvcc on the path may be a script or a link beside which there are none.
    """
    folders = [str(folder) for folder in first]
    folders += [str(toolkit.nvcc.parent)] if toolkit else []
    folders += ["/usr/local/bin", "/usr/bin", "/bin"]
    variables = {
        "PATH": ":".join(dict.fromkeys(folders)),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    }
    if toolkit is not None:
        variables |= dict.fromkeys(("CUDA_HOME", "CUDA_PATH"), str(toolkit.root))
        if toolkit.link_folder is not None:
            variables["LIBRARY_PATH"] = str(toolkit.link_folder)
    for name in _PASSED_THROUGH:
        if name in os.environ:
            variables[name] = os.environ[name]
    return variables


def visible_folders(toolkit: Toolkit | None) -> tuple[Path, ...]:
    """Folders beside /usr that a build must see: a toolkit in /opt or in a virtual environment."""
    if toolkit is None:
        return ()
    folders = {toolkit.root, toolkit.nvcc.parent}
    return tuple(sorted(folder for folder in folders if not folder.is_relative_to("/usr")))
