"""The build of a program that is timed: without what nvcc adds for debuggers, whatever the task's own commands ask for.

-G turns optimisation off, and line tables have no business in a measured program. A task that asks for either is tested as it is
and timed in a build of its own. Two means, because flags stand in two places: those of the build command are taken out of its
text, and those of makefiles and scripts, which must not change, are dropped by an nvcc of ours that comes first on the PATH.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.harness import backends
from engine.harness.backends import Command
from engine.harness.step import StepRunner
from engine.harness.workspace import Workspace
from engine.task import Task

DEBUG_FLAGS = ("-G", "--device-debug", "-g", "--debug", "-lineinfo", "--generate-line-info")
"""All that nvcc knows under both of their names; it takes no abbreviations."""

_ANY = "|".join(re.escape(flag) for flag in DEBUG_FLAGS)
_FOR_OTHERS = "".join(
    rf"(?<!-{name}[= ])" for name in ("Xcompiler", "Xlinker", "Xptxas", "Xnvlink", "Xarchive", "options")
)
"""What follows these is not nvcc's own flag."""
_FLAG = re.compile(rf"(?<![\w.,/-]){_FOR_OTHERS}(?:{_ANY})(?![\w.,=/-])")
_WORD = re.compile(rf"[ \t]+{_FOR_OTHERS}(?:{_ANY})(?=[\s;&|)'\"]|$)")
_PART = re.compile(r"[^;&|\n]+")
_SCRIPTS = ("GNUmakefile", "makefile", "Makefile", "CMakeLists.txt")
_SCRIPT_ENDINGS = (".mk", ".sh", ".cmake")
_BY_PATH = re.compile(r"[\w)}]/nvcc\b")

_WRAPPER = """\
#!/bin/sh
# nvcc for a program that is timed: flags for debuggers are dropped.
set -f
last=
drops() {{
    case $last in -X*|--*-options) last=; return 1 ;; esac
    last=$1
    case $1 in {cases}) return 0 ;; *) return 1 ;; esac
}}
plain() {{
    last=
    for word in $1; do
        drops "$word" || printf '%s ' "$word"
    done
}}
for word do
    shift
    drops "$word" || set -- "$@" "$word"
done
[ -z "$NVCC_PREPEND_FLAGS" ] || export NVCC_PREPEND_FLAGS="$(plain "$NVCC_PREPEND_FLAGS")"
[ -z "$NVCC_APPEND_FLAGS" ] || export NVCC_APPEND_FLAGS="$(plain "$NVCC_APPEND_FLAGS")"
exec '{nvcc}' "$@"
"""


@dataclass(frozen=True)
class TimedBuild:
    """``rewrites`` say in words how it differs from the tested build; empty when that can be timed as it is."""

    command: Command
    rewrites: tuple[str, ...] = ()

    async def make(self, steps: StepRunner, workspace: Workspace, wall: float) -> bool:
        """Build in a fresh workspace, within ``wall`` seconds; whether it ended well."""
        self.equip(workspace, steps.stand.toolkit)
        return (await steps.build(workspace, "timed-build", self.command, wall)).exit_code == 0

    def equip(self, workspace: Workspace, toolkit: Toolkit) -> None:
        """Put our nvcc before the real one, for a workspace in which nothing has been built."""
        if self.rewrites:
            program = workspace.device / "bin" / "nvcc"
            program.parent.mkdir(exist_ok=True)
            program.write_text(_WRAPPER.format(cases="|".join(DEBUG_FLAGS), nvcc=toolkit.nvcc))
            for path in (program, program.parent):
                path.chmod(0o755)


def timed_build(task: Task, device: Device) -> TimedBuild:
    """How the task's programs are built to be timed on ``device``."""
    command = backends.build_command(task, device)
    scripts = _scripts(task)
    found = dict.fromkeys((*_FLAG.findall(command.text), *_FLAG.findall(scripts)))
    if not found:
        return TimedBuild(command)
    rewrites = [f"the timed program is built without {' '.join(found)}"]
    if _BY_PATH.search(scripts):
        rewrites.append("but for what calls nvcc by its path")
    return TimedBuild(replace(command, text=_PART.sub(_without, command.text)), tuple(rewrites))


def _without(part: re.Match[str]) -> str:
    return _WORD.sub("", part[0]) if "nvcc" in part[0].lower() else part[0]


def _scripts(task: Task) -> str:
    """What a build command may start, as far as it is the task's: libraries beside it are built by nobody."""
    texts = []
    for name, path in task.harness_files.items():
        script = Path(name).name in _SCRIPTS or name.endswith(_SCRIPT_ENDINGS)
        if script and not name.startswith(tuple(f"{folder}/" for folder in task.libraries)):
            texts.append(path.read_text("utf-8", "replace"))
    return "\n".join(texts)
