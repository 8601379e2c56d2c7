"""The engine: repairs broken CUDA programs, headless. What a notebook needs is here; docs/architecture.md has the rest.

from contextlib import aclosing
from engine import ScriptedFixer, Setting, builtin_tasks, local_harness, repair

setting = Setting(task=builtin_tasks()["softmax_rows"], fixer=ScriptedFixer("good"))
with local_harness() as harness:
    async with aclosing(repair(setting, harness)) as events:
        async for event in events:
            print(event)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.corpora import load_corpus as load_corpus
    from engine.errors import BeaverError as BeaverError
    from engine.evidence import Evidence as Evidence
    from engine.fixers.chat import ChatFixer as ChatFixer
    from engine.fixers.config import FixerConfig as FixerConfig
    from engine.fixers.human import HumanFixer as HumanFixer
    from engine.fixers.replay import ReplayFixer as ReplayFixer
    from engine.fixers.scripted import ScriptedFixer as ScriptedFixer
    from engine.harness.examine import Harness as Harness
    from engine.journal import read_journal as read_journal
    from engine.local import builtin_tasks as builtin_tasks
    from engine.local import local_harness as local_harness
    from engine.loop import Setting as Setting
    from engine.loop import repair as repair
    from engine.protocol import Feedback as Feedback
    from engine.protocol import Protocol as Protocol
    from engine.rundir import RunDirectory as RunDirectory
    from engine.store import MemoryStore as MemoryStore
    from engine.sweep import Sweep as Sweep
    from engine.task import Task as Task
    from engine.trajectory import Trajectory as Trajectory
    from engine.trajectory import fold as fold
    from engine.verdict import Verdict as Verdict
    from engine.verdict import classify as classify

_HOMES = {
    "BeaverError": "engine.errors",
    "ChatFixer": "engine.fixers.chat",
    "Evidence": "engine.evidence",
    "Feedback": "engine.protocol",
    "FixerConfig": "engine.fixers.config",
    "Harness": "engine.harness.examine",
    "HumanFixer": "engine.fixers.human",
    "MemoryStore": "engine.store",
    "Protocol": "engine.protocol",
    "ReplayFixer": "engine.fixers.replay",
    "RunDirectory": "engine.rundir",
    "ScriptedFixer": "engine.fixers.scripted",
    "Setting": "engine.loop",
    "Sweep": "engine.sweep",
    "Task": "engine.task",
    "Trajectory": "engine.trajectory",
    "Verdict": "engine.verdict",
    "builtin_tasks": "engine.local",
    "classify": "engine.verdict",
    "fold": "engine.trajectory",
    "load_corpus": "engine.corpora",
    "local_harness": "engine.local",
    "read_journal": "engine.journal",
    "repair": "engine.loop",
}
"""The public names, and where each is defined. What type checkers read above is tested to be the same."""

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: ``import engine`` alone must stay cheap for the command line."""
    if name not in _HOMES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
