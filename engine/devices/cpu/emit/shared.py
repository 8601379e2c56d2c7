"""Where a unit's shared variables lie.

A function may be called by several kernels, so every variable has one address. Two variables may share bytes when no kernel
reaches both: a kernel's static size is then what that kernel asks for, and not the sum over the unit.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.devices.cpu.emit.function import align
from engine.devices.cpu.ptx import nodes

BASE = 1024
"""BEAVER_SHARED_BASE of device_figures.h, as every unit's text asserts: what lies below belongs to the system."""


def lay_out(variables: Mapping[str, nodes.Variable], users: Mapping[str, set[str]]) -> dict[str, int]:
    """Shared addresses by C name. ``users`` are the kernels that reach a variable; in the order of ``variables``, each gets the
    lowest place that no variable of the same kernels holds."""
    placed: dict[str, int] = {}
    for name, variable in variables.items():
        size = variable.size or 0
        others = sorted(
            (start, start + (variables[other].size or 0))
            for other, start in placed.items()
            if not users[name].isdisjoint(users[other])
        )
        start = BASE
        for low, high in others:
            if align(start, variable.align) + size <= low:
                break
            start = max(start, high)
        placed[name] = align(start, variable.align)
    return placed
