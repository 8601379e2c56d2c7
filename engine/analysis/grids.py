"""The axes of the protocol that the paper sweeps, and the settings that it has measured (3.4, tables 8 to 11)."""

from __future__ import annotations

from typing import Final

Value = float | int | str

AXES: Final[dict[str, str]] = {"A1": "gate", "A2": "sampling", "A3": "feedback", "A4": "history"}
"""The field of Protocol behind each axis."""

GATES: Final = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.5)

GRIDS: Final[dict[str, tuple[Value, ...]]] = {
    "A1": GATES,
    "A2": ("iterative", "repeated"),
    "A3": ("L0", "L1", "L2", "L3", "L3raw"),
    "A4": (1, 2, 3, 4),
}
"""L4 needs a profiler: the paper has not measured it, and it is swept only when it is named."""


def measured(field: str, value: object) -> bool:
    """Whether the paper has measured ``value`` of a field of Protocol."""
    return any(value in GRIDS[axis] for axis, swept in AXES.items() if swept == field)
