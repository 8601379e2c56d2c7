"""A stored trajectory's candidates as a fixer: the same answers again, under another harness, device or protocol."""

from __future__ import annotations

from engine.errors import NoMoreAnswers
from engine.fixers.base import FixRequest, Reply
from engine.task import Task


class ReplayFixer:
    """Gives the stored replies of (task, attempt) in their order. ``replies`` is read from a run by ``engine.sweep``."""

    def __init__(self, name: str, replies: dict[tuple[str, int], list[Reply]]) -> None:
        self.name = name
        self._replies = replies

    def covers(self, task: Task) -> bool:
        """Whether the run holds any reply for the task."""
        return any(name == task.id for name, _ in self._replies)

    async def propose(self, request: FixRequest) -> Reply:
        stored = self._replies.get((request.task.id, request.attempt), [])
        if request.iteration > len(stored):
            raise NoMoreAnswers(f"{self.name}: the stored trajectory of {request.task.id} has {len(stored)} replies")
        reply = stored[request.iteration - 1]
        request.on_delta(reply.text, False)
        return reply

    async def close(self) -> None:
        """Nothing is held open."""
