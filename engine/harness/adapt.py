"""Commands that were written for another machine, made to fit the one that runs them. Every rewrite is recorded in words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from engine.devices.base import Device

_NATIVE = re.compile(r"(?<![\w-])(-arch|--gpu-architecture)([= ])native\b")

_PYTHON = re.compile(r"(^|&&|\|\||[;|(])(\s*)python(?=\s)", re.MULTILINE)
"""``python`` where the shell looks for a program; systems have python3."""

_TORCH_LIST = re.compile(r"\bTORCH_CUDA_ARCH_LIST=native\b")
_TORCH_ARCH = re.compile(r"\bset_gpu_arch\(\[[^\]]*\]\)")
_TORCH_NAMES = {7: "Volta", 8: "Ampere", 9: "Hopper", 10: "Blackwell", 12: "Blackwell"}
"""How KernelBench calls GPUs, by the major compute capability."""
_ADA, _TURING = 89, 75

_MAKE_GPU = re.compile(r"(?<![\w./-])make(?![\w.-])[^;&|\n]*")
_MAKE_NAMES = {80: "A100", 90: "H100", 100: "B200", 103: "B300", 120: "RTX5070"}
"""How ThunderKittens' makefiles call GPUs, by compute capability. Another GPU keeps the author's, and the build says what it lacks."""
_GPU = re.compile(r"\bGPU=(?:A100|H100|H200|B200|B300|RTX5070|RTX4090)\b")


def adapt(text: str, device: Device, arch: str, python: str = "python3") -> tuple[str, list[str]]:
    """The command for ``device``, and what was changed. ``arch`` is what nvcc builds for (sm_90), ``python`` the program that a
    task's Python is."""
    changes: list[Callable[[str], tuple[str, str]]] = [
        lambda text: _native(text, device, arch),
        lambda text: _torch(text, device),
        lambda text: _torch_arch(text, device, arch),
        lambda text: _make(text, device),
        lambda text: _python_of(text, python),
    ]
    notes = []
    for change in changes:
        text, note = change(text)
        if note:
            notes.append(note)
    return text, notes


def _native(text: str, device: Device, arch: str) -> tuple[str, str]:
    """nvcc only warns about -arch=native where it sees no GPU, and a build's sandbox shows it none."""
    text, count = _NATIVE.subn(lambda match: f"{match[1]}{match[2]}{arch}", text)
    return text, f"-arch=native is {arch}, for {device.name}" if count else ""


def _torch(text: str, device: Device) -> tuple[str, str]:
    name = {_ADA: "Ada", _TURING: "Turing"}.get(device.sm) or _TORCH_NAMES.get(device.sm // 10)
    if name is None:
        return text, ""
    wanted = f"set_gpu_arch(['{name}'])"
    changed = _TORCH_ARCH.sub(wanted, text)
    return changed, f"extensions are built for {name}: {wanted}" if changed != text else ""


def _torch_arch(text: str, device: Device, arch: str) -> tuple[str, str]:
    """PyTorch asks the GPU itself only where it sees one: the build of an extension does not."""
    number = arch.removeprefix("sm_")
    digits = number.rstrip("af")
    wanted = f"{digits[:-1]}.{digits[-1:]}{number[len(digits) :]}"
    changed, count = _TORCH_LIST.subn(f"TORCH_CUDA_ARCH_LIST={wanted}", text)
    return changed, f"extensions are built for {wanted}, for {device.name}" if count else ""


def _make(text: str, device: Device) -> tuple[str, str]:
    name = _MAKE_NAMES.get(device.sm)
    if name is None:
        return text, ""
    changed = _MAKE_GPU.sub(lambda match: _GPU.sub(f"GPU={name}", match[0]), text)
    return changed, f"make is given GPU={name}" if changed != text else ""


def _python_of(text: str, python: str) -> tuple[str, str]:
    word = shlex.quote(python)
    text, count = _PYTHON.subn(lambda match: f"{match[1]}{match[2]}{word}", text)
    return text, f"python is {python}" if count else ""
