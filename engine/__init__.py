"""The engine: repairs broken CUDA programs, headless. What a notebook needs is here; docs/architecture.md has the rest.

from engine import Setting, builtin_tasks, local_harness, repair
from engine.fixers.scripted import ScriptedFixer

task = builtin_tasks()["softmax_rows"]
async for event in repair(Setting(task=task, fixer=ScriptedFixer("good")), local_harness()):
    print(event)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.corpora import load_corpus
    from engine.local import builtin_tasks, local_harness
    from engine.loop import Setting, repair
    from engine.protocol import Protocol
    from engine.rundir import RunDirectory
    from engine.trajectory import Trajectory, fold
    from engine.verdict import classify

__all__ = [
    "Protocol",
    "RunDirectory",
    "Setting",
    "Trajectory",
    "builtin_tasks",
    "classify",
    "fold",
    "load_corpus",
    "local_harness",
    "repair",
]

_HOMES = {
    "Protocol": "engine.protocol",
    "RunDirectory": "engine.rundir",
    "Setting": "engine.loop",
    "Trajectory": "engine.trajectory",
    "builtin_tasks": "engine.local",
    "classify": "engine.verdict",
    "fold": "engine.trajectory",
    "load_corpus": "engine.corpora",
    "local_harness": "engine.local",
    "repair": "engine.loop",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import engine`` alone must stay cheap for the command line."""
    if name not in _HOMES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
