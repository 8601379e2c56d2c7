"""Numbers on the command line: what click's own types let through and no computation can use."""

from __future__ import annotations

import math
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A number of at least ``min`` that is neither infinite nor nan."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        number = super().convert(value, param, context)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number.", param, context)
        return number


GATE = FiniteRange(0)
"""A performance gate: the least speedup that passes."""
