"""The device for ``--device``."""

from __future__ import annotations

from engine.devices import cuda
from engine.devices.base import Device
from engine.errors import ConfigError


def choose_device(wish: str = "auto") -> Device:
    """auto (a GPU if one can be used, else the CPU device), cuda, cuda:N, cpu, or none (build only). Raises ConfigError for what
    this machine does not have."""
    kind, _, number = wish.partition(":")
    if kind not in ("auto", "cuda", "cpu", "none") or (number and not (kind == "cuda" and number.isdigit())):
        raise ConfigError(f"--device {wish}: choose auto, cuda, cuda:N, cpu or none")
    if kind == "none":
        return Device(name="no device", missing="--device none: programs are built and not run")
    if kind == "cpu":
        return _cpu_device()
    devices, reason = cuda.query()
    if devices:
        index = int(number or 0)
        if index >= len(devices):
            raise ConfigError(f"--device {wish}: this machine has {len(devices)} GPU(s), numbered from 0")
        return devices[index]
    if kind == "cuda":
        raise ConfigError(f"--device {wish}: no NVIDIA GPU can be used here ({reason}); try --device cpu")
    return _cpu_device()


def _cpu_device() -> Device:
    from engine.devices.cpu.device import CpuDevice  # a machine with a GPU never needs it

    return CpuDevice.of_this_machine()
