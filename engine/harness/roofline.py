"""The least time that a call can take: the task's traffic and work over what the GPU was measured to reach.

A time below it is no fast kernel but no kernel, or no time. The bound is lenient in every place where an honest candidate
could be right: what fits into L2 counts as lying there, other number formats than FP32 count at several times the tensor cores' rate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.devices.ceilings import Ceilings
from engine.task import TaskSpec

TOLERANCE = 0.8
"""A time is refused below this part of the bound: a ceiling is measured, too."""

LAUNCH_TOLERANCE = 0.5
"""The same for an empty launch, which depends on the host."""

NARROW_FACTOR = 4.0
"""FP8 by wgmma against FP16 by mma.sync, rounded up: what the fastest format may reach beyond the measured tensor rate."""

_NARROW = re.compile(
    rb"mma|tcgen05|wmma|cublas|cutlass|cudnn|cute::|half|bfloat|__hfma|hfma2|fp16|fp8|dp4a|dp2a", re.IGNORECASE
)
"""What shows that a source may compute in something narrower than FP32."""


@dataclass(frozen=True)
class Bound:
    """Milliseconds of a call, and what they come from in words."""

    ms: float
    words: str


def bounded(spec: TaskSpec) -> bool:
    """Whether the task says what its kernel cannot do without."""
    return bool(spec.min_bytes or spec.min_flops)


def bound(spec: TaskSpec, ceilings: Ceilings, code: bytes) -> Bound:
    """The least time of a call of the task's kernel for this source."""
    bounds = [Bound(1000 * LAUNCH_TOLERANCE * ceilings.launch, "an empty kernel's launch")]
    if spec.min_bytes:
        cached = min(spec.min_bytes, ceilings.l2_bytes)
        seconds = cached / ceilings.l2 + (spec.min_bytes - cached) / ceilings.dram
        bounds.append(Bound(1000 * TOLERANCE * seconds, f"{spec.min_bytes:.4g} bytes"))
    if spec.min_flops:
        narrow = _NARROW.search(code) is not None
        rate = max(ceilings.fp32, NARROW_FACTOR * ceilings.tensor) if narrow else ceilings.fp32
        bounds.append(Bound(1000 * TOLERANCE * spec.min_flops / rate, f"{spec.min_flops:.4g} operations"))
    return max(bounds, key=lambda one: one.ms)


def off(spec: TaskSpec, missing: str) -> str:
    """A flag for what is not checked, empty when all is. ``missing`` says why there are no ceilings."""
    if not bounded(spec):
        return "roofline: check off (the task states no min_bytes or min_flops)"
    return f"roofline: check off ({missing})" if missing else ""


def refusal(times: list[float], least: Bound) -> str:
    """Why these times (ms) are not possible, empty when they are."""
    if not times or min(times) >= least.ms:
        return ""
    return f"implausible: {min(times):.4g} ms, and this GPU needs at least {least.ms:.4g} ms for {least.words} (the roofline)"
