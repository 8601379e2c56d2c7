"""Small things that tests of fixers need: a task, a request, a clock that never waits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.fixers.base import FixRequest
from engine.fixers.retry import Clock
from engine.task import Task, TaskSpec

BROKEN = b"__global__ void k(float* y) {\n  y[threadIdx.x] = 1.0f\n}\n"
"""A kernel that lacks a semicolon in its second line."""


def a_task(solution_file: str = "kernel.cu", broken: bytes = BROKEN) -> Task:
    spec = TaskSpec(
        task_id="tests/one", backend="nvcc", solution_file=solution_file, build_cmd="nvcc kernel.cu", test_cmd="./a.out"
    )
    return Task(spec, Path("/nowhere"), "Write ones into y.", broken, "kernel.cu(2): error: expected a ';'")


def a_request(**changes: Any) -> FixRequest:
    given: dict[str, Any] = {
        "task": a_task(),
        "attempt": 1,
        "iteration": 1,
        "messages": [
            {"role": "system", "content": "You repair CUDA programs."},
            {"role": "user", "content": "y[threadIdx.x] = 1.0f"},
        ],
        "source": BROKEN,
    }
    return FixRequest(**{**given, **changes})


@dataclass
class FakeClock:
    """Time that passes only while somebody sleeps, and then at once. ``waits`` are the sleeps, in seconds."""

    time: float = 0.0
    waits: list[float] = field(default_factory=list)

    def clock(self) -> Clock:
        return Clock(monotonic=lambda: self.time, now=lambda: 1e9 + self.time, sleep=self._sleep, random=lambda: 0.5)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)
