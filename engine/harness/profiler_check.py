"""Whether the profiler works here: its version, and one real kernel profiled as a candidate's would be."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.devices.base import Device
from engine.devices.toolkit import Toolkit
from engine.harness import backends
from engine.harness.limits import Limits
from engine.harness.profiler import profile
from engine.harness.sandbox import Sandbox
from engine.harness.step import Stand, StepRunner
from engine.task import Task, TaskSpec

_PROBE: Final = b"""\
__global__ void probe(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f; }
int main() {
  float* x = nullptr;
  if (cudaMalloc(&x, 1 << 20) != cudaSuccess) return 2;
  probe<<<1024, 256>>>(x);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 2;
}
"""

_SPEC: Final = TaskSpec(
    task_id="profiler check",
    backend="nvcc",
    solution_file="probe.cu",
    build_cmd="nvcc -O2 -arch=native -o probe probe.cu",
    test_cmd="./probe",
)


@dataclass(frozen=True)
class Tried:
    """``problem`` says why nothing was profiled, and is empty when a kernel was, in ``seconds``."""

    problem: str
    seconds: float = 0.0


def ncu_version(program: Path) -> str:
    """For example 2025.3.1.0; "unknown" when the program does not say."""
    try:
        told = subprocess.run([str(program), "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    match = re.search(r"^Version (\S+)", told.stdout, re.MULTILINE)
    return match[1] if match else "unknown"


async def try_profiler(device: Device, toolkit: Toolkit, sandbox: Sandbox) -> Tried:
    """Build a small program and profile it in the sandbox. Raises InfraError when the machine cannot run a step."""
    with tempfile.TemporaryDirectory() as folder:
        task = Task(spec=_SPEC, folder=Path(folder), prompt="", broken=_PROBE, error_log="")
        stand = Stand(device, sandbox, toolkit, Limits())
        steps = StepRunner(stand)
        with stand.workspace(task, _PROBE, None) as workspace:
            built = await steps.build(workspace, "build", backends.build_command(task, device), 120)
            if built.exit_code != 0:
                said = (built.stderr.text() or built.stdout.text()).strip().split("\n")
                return Tried(f"the program for the check does not build: {said[-1][:160]}")
            async with device.exclusive():
                profiled = await profile(steps, workspace, _PROBE, "./probe", 60)
    return Tried(profiled.note, profiled.seconds)
