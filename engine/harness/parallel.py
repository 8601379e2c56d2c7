"""nvcc compiles several source files at the same time, where processors are free and nobody can tell.

With --threads nvcc prints what it says of several files in any order, goes on behind a file that has errors, and ends with another
exit code. So only a build that ends well and says nothing counts; any other is made again, one file after the other.
"""

from __future__ import annotations

import re
from dataclasses import replace

from engine.harness.aside import in_thread
from engine.harness.backends import Command
from engine.harness.process import Ended
from engine.harness.step import StepRunner
from engine.harness.workspace import Workspace

_FLAGS = ("--threads", "2")
_SIMPLE = re.compile(r"nvcc [\w./ =:,+-]+")
_SOURCE = re.compile(r"(?<=\s)[\w./+-]+\.(?:cu|cpp|cc|cxx|c)(?=\s|$)")
_OWN = re.compile(r"\s(?:-t|--threads|-objtemp|--time|-time)\b")


def compiles_in_parallel(command: Command) -> bool:
    """One call of nvcc for two source files or more, which says nothing of threads itself."""
    text = command.text
    return _SIMPLE.fullmatch(text) is not None and len(_SOURCE.findall(text)) > 1 and not _OWN.search(text)


async def build_in_parallel(
    steps: StepRunner, workspace: Workspace, step: str, command: Command, wall: float
) -> Ended | None:
    """The end of the build, None when it must be made again: the workspace is then as it was."""
    before = set(workspace.files())
    quiet = StepRunner(steps.stand, steps.iteration)
    ended = await quiet.build(workspace, step, replace(command, flags=(*command.flags, *_FLAGS)), wall)
    steps.tampered += quiet.tampered
    silent = ended.exit_code == 0 and not ended.printed
    if silent or ended.timed_out or ended.memory_killed or ended.disk_killed:  # a limit would be met again
        await steps.note(step, command.text, ended)
        return ended
    steps.spent += ended.seconds
    await in_thread(workspace.keep_only, before)
    return None
