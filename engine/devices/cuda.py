"""GPU discovery through NVML: what there is, without creating a CUDA context in this process."""

from __future__ import annotations

from engine.devices.base import Gpu


def discover() -> list[Gpu]:
    """All NVIDIA GPUs that NVML sees, in its order. Empty when there is no driver or no GPU; ``query`` says why."""
    devices, _ = query()
    return devices


def query() -> tuple[list[Gpu], str]:
    """The GPUs, and when there is none, the reason."""
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
                Gpu(
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
