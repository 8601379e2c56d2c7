"""How a GPU stands while something is timed on it: clocks, temperature, power, and why its clock is what it is (NVML)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

REASONS = {
    0x0000_0000_0000_0002: "applications_clocks",
    0x0000_0000_0000_0004: "sw_power_cap",
    0x0000_0000_0000_0008: "hw_slowdown",
    0x0000_0000_0000_0010: "sync_boost",
    0x0000_0000_0000_0020: "sw_thermal_slowdown",
    0x0000_0000_0000_0040: "hw_thermal_slowdown",
    0x0000_0000_0000_0080: "hw_power_brake_slowdown",
    0x0000_0000_0000_0100: "display_clocks",
}
"""Bits of NVML's clocks event reasons (nvml.h); bit 0, an idle GPU, says nothing about one that works."""


@dataclass(frozen=True)
class Conditions:
    """MHz, degrees Celsius and watts; None for what this GPU or driver does not tell. ``missing`` says why there is nothing."""

    sm_mhz: int | None = None
    memory_mhz: int | None = None
    celsius: int | None = None
    watts: float | None = None
    reasons: tuple[str, ...] = ()
    missing: str = ""


def reason_words(bits: int) -> tuple[str, ...]:
    """NVML's bits as words; unknown ones by their number."""
    known = tuple(word for bit, word in REASONS.items() if bits & bit)
    rest = bits & ~sum(REASONS) & ~1
    return (*known, f"reason_{rest:#x}") if rest else known


_lock = threading.Lock()
_handles: dict[str, Any] = {}


def sample(uuid: str) -> Conditions:
    """The state of the GPU with this uuid, now. Blocks for some milliseconds: for a thread. Never raises."""
    import pynvml  # imported where it is used: building needs no driver

    with _lock:
        try:
            if uuid not in _handles:
                pynvml.nvmlInit()  # for the life of the process: each call of it takes longer than all that follows
                _handles[uuid] = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        except pynvml.NVMLError as error:
            return Conditions(missing=str(error))
        handle = _handles[uuid]

        def ask(function: Any, *arguments: Any) -> int | None:
            try:
                return int(function(handle, *arguments))
            except pynvml.NVMLError:
                return None

        watts = ask(pynvml.nvmlDeviceGetPowerUsage)
        bits = ask(pynvml.nvmlDeviceGetCurrentClocksEventReasons)
        return Conditions(
            sm_mhz=ask(pynvml.nvmlDeviceGetClockInfo, pynvml.NVML_CLOCK_SM),
            memory_mhz=ask(pynvml.nvmlDeviceGetClockInfo, pynvml.NVML_CLOCK_MEM),
            celsius=ask(pynvml.nvmlDeviceGetTemperature, pynvml.NVML_TEMPERATURE_GPU),
            watts=None if watts is None else watts / 1000,
            reasons=reason_words(bits or 0),
        )
