"""What a corpus covers, in counts: operation, backend and size of the tasks against the buckets of their starts (paper, Figure 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from engine.task import Bucket, Task

BUCKETS: tuple[str, ...] = get_args(Bucket)
UNKNOWN = "-"
"""What a task does not say."""

_SIZES = ((20, "below 20"), (51, "20-50"), (101, "51-100"), (201, "101-200"), (451, "201-450"))
_LARGEST = "above 450"
SIZES = (*(name for _, name in _SIZES), _LARGEST)
"""Lines of the broken start; the paper's tasks have 20 to 450."""

Counts = dict[str, dict[str, int]]
"""By row, then by bucket."""


def size_of(task: Task) -> str:
    """The band of a task's broken start."""
    lines = len(task.broken.splitlines())
    return next((name for limit, name in _SIZES if lines < limit), _LARGEST)


def coverage(tasks: Iterable[Task]) -> Mapping[str, Counts]:
    """Counts of tasks by start bucket, for every operation, backend and size that occurs."""
    tables: dict[str, Counts] = {"operation": {}, "backend": {}, "size": {}}
    for task in tasks:
        bucket = task.spec.start_bucket or UNKNOWN
        for name, row in (("operation", task.spec.operation), ("backend", task.spec.backend), ("size", size_of(task))):
            counts = tables[name].setdefault(row or UNKNOWN, {})
            counts[bucket] = counts.get(bucket, 0) + 1
    return {name: dict(sorted(table.items(), key=lambda item: _order(item[0]))) for name, table in tables.items()}


def _order(row: str) -> tuple[int, str]:
    return (SIZES.index(row) if row in SIZES else 0), row
