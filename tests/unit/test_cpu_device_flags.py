"""What the CPU device adds to a build: PTX that it can read, where the task's own flags embed none."""

from __future__ import annotations

import pytest

from engine.devices.cpu.device import CpuDevice

DEVICE = CpuDevice(name="cpu", sm=90)


@pytest.mark.parametrize(
    ("commands", "added"),
    [
        ("nvcc -o run main.cu", ["arch=compute_90,code=[compute_90,sm_90]"]),
        ("nvcc -gencode arch=compute_90,code=sm_90 main.cu", ["arch=compute_90,code=[compute_90,sm_90]"]),
        ("nvcc -gencode=arch=compute_90,code=sm_90 main.cu", ["arch=compute_90,code=[compute_90,sm_90]"]),
        ("nvcc --generate-code=arch=compute_80,code=sm_80 main.cu", ["arch=compute_90,code=[compute_90,sm_90]"]),
        ("nvcc -gencode arch=compute_90a,code=sm_90a main.cu", ["arch=compute_90a,code=[compute_90a,sm_90a]"]),
        ("nvcc -gencode arch=compute_80,code=compute_80 main.cu", []),
        ("nvcc -gencode=arch=compute_90,code=[sm_90,compute_90] main.cu", []),
        ("nvcc -arch=sm_90 main.cu", []),
        ("nvcc --gpu-architecture=sm_90a main.cu", []),
    ],
)
def test_ptx_is_added_where_there_would_be_none(commands: str, added: list[str]):
    flags = DEVICE.build_flags(commands)
    assert [flag for flag in flags if flag.startswith("arch=")] == added
    assert flags[:4] == ("-cudart", "shared", "-lineinfo", "--no-compress")
