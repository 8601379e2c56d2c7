"""GPU discovery through NVML: what there is, without creating a CUDA context in this process."""

from __future__ import annotations

from engine.devices.base import Device
from engine.errors import ConfigError

NO_GPU = "needs a GPU, and this machine has none ({reason}): programs are built and not run"


def discover() -> list[Device]:
    """All NVIDIA GPUs that NVML sees, in its order. Empty when there is no driver or no GPU; see ``why_none``."""
    devices, _ = _query()
    return devices


def choose_device(wish: str = "auto") -> Device:
    """The device for ``--device``: auto, cuda, or cuda:N. Raises ConfigError for what this machine does not have."""
    if wish == "cpu":
        raise ConfigError(
            "--device cpu: this version has no CPU device yet; use --device auto, which builds for real "
            "and says of every test what is missing"
        )
    kind, _, number = wish.partition(":")
    if kind not in ("auto", "cuda") or (number and not number.isdigit()):
        raise ConfigError(f"--device {wish}: choose auto, cuda, cuda:N or cpu")
    devices, reason = _query()
    if devices:
        index = int(number or 0)
        if index >= len(devices):
            raise ConfigError(f"--device {wish}: this machine has {len(devices)} GPU(s), numbered from 0")
        return devices[index]
    if kind == "cuda":
        raise ConfigError(f"--device {wish}: no NVIDIA GPU can be used here ({reason}); try --device auto")
    return Device(kind="none", name="no GPU", missing=NO_GPU.format(reason=reason))


def _query() -> tuple[list[Device], str]:
    import pynvml  # imported where it is used: building needs no driver

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return [], str(error)
    try:
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        devices = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
            devices.append(
                Device(
                    kind="cuda",
                    name=_text(pynvml.nvmlDeviceGetName(handle)),
                    uuid=_text(pynvml.nvmlDeviceGetUUID(handle)),
                    index=index,
                    sm=major * 10 + minor,
                    memory=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
                    driver=driver,
                )
            )
        return devices, "" if devices else "the driver sees no GPU"
    except pynvml.NVMLError as error:
        return [], str(error)
    finally:
        pynvml.nvmlShutdown()


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
