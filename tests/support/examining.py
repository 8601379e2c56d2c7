"""Examining a program of a task on any device, as the tests of the built-in corpus do."""

from __future__ import annotations

from engine import events as ev
from engine.evidence import Evidence
from engine.harness.examine import Harness, Job
from engine.task import Task


async def examine(harness: Harness, task: Task, code: bytes, seed: int = 7) -> tuple[Evidence, list[ev.Event]]:
    """The evidence about one candidate, timed once, and the events on the way to it."""
    events: list[ev.Event] = []
    job = Job(task=task, code=code, iteration=1, seed=seed, launches=1)
    examined = await harness.examine(job, events.append, lambda step, text: None)
    return examined.evidence, events
