"""Tiny checkouts in the layout of the CUDABeaver repository, with an instance of every family; all of it written for these tests."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

HEADER = "void scale(float* x, float factor, int n);\n"

SOLUTION = """\
#include "scale.h"
__global__ void scaled(float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
void scale(float* x, float factor, int n) { scaled<<<(n + 127) / 128, 128>>>(x, factor, n); }
"""

BROKEN = SOLUTION.replace("blockIdx.x * blockDim.x", "blockIdx.x * blockdim.x")

TEST = """\
#include <cstdio>
#include <vector>
#include "scale.h"
int main() {
  std::vector<float> x(1000, 2.0f);
  float* d = nullptr;
  if (cudaMalloc(&d, 4000) != cudaSuccess) return 3;
  cudaMemcpy(d, x.data(), 4000, cudaMemcpyHostToDevice);
  scale(d, 3.0f, 1000);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  cudaMemcpy(x.data(), d, 4000, cudaMemcpyDeviceToHost);
  for (float value : x)
    if (value != 6.0f) {
      std::puts("wrong value");
      return 1;
    }
  return 0;
}
"""

MAKEFILE = """\
CUTLASS_DIR ?= ../cutlass
ARCH = -gencode arch=compute_80,code=compute_80
test: driver.cu solution.h
\tnvcc $(ARCH) -I$(CUTLASS_DIR)/include driver.cu -o test
"""

CUTLASS_TEST = '#include "cutlass/cutlass.h"\n' + TEST.replace('"scale.h"', '"solution.h"')

PYTHON = "class ModelNew:\n    pass\n"
PROBLEM = "class Model:\n    pass\n"
NVCC = "nvcc -I include -o test.out solution.cu test/*.cu -arch=native"
SOURCES = " CUTLASS_DIR=./reference_sources/cutlass TK_DIR=./reference_sources/ThunderKittens"
DEFPY = {"def.py": "TOLERANCES = {}\n", "reference.cu": "// the harness's own\nint own;\n"}
PLAIN_BENCH = {"include/scale.h": HEADER, "test/test_main.cu": TEST}

FAMILIES: dict[str, dict[str, Any]] = {
    "cuda": {},
    "cublas": {"build": f"{NVCC} -lcublas"},
    "cufft": {"build": f"{NVCC} -lcufft"},
    "cusolver": {"build": f"{NVCC} -lcusolver -lcublas"},
    "cusparse": {"build": f"{NVCC} -lcusparse"},
    "cudabench": {
        "build": "nvcc -o test.out solution.cu -arch=native",
        "test": "python test/run_sanitizer.py ./test.out && python test/compare_output.py",
        "reference": "// the answer is what compare_output.py says\n",
        "testbench": {"test/run_sanitizer.py": "", "test/compare_output.py": "print('T')\n"},
    },
    "kernelbench": {
        "solution_file": "solution.py",
        "broken": PYTHON,
        "reference": PROBLEM,
        "reference_name": "reference.py",
        "testbench": {"problem.py": PROBLEM},
        "build": 'python -c "from kernelbench.kernel_static_checker import check; raise SystemExit(not check())"',
        "test": "python -c \"from kernelbench.utils import set_gpu_arch; set_gpu_arch(['Blackwell'])\"",
    },
    "cutlass": {
        "solution_file": "solution.h",
        "broken": BROKEN,
        "broken_name": "broken_start.h",
        "reference": CUTLASS_TEST,
        "testbench": {"Makefile": MAKEFILE, "driver.cu": CUTLASS_TEST, "test": b"\x7fELF\x02 the author's own build"},
        "build": f"make test{SOURCES}",
        "test": "./test",
        "hardware": {"min_sm": 80, "tested_sms": [80]},
    },
    "thunderkittens": {
        "solution_file": "kernels/scale/scale.cu",
        "testbench": {"kernels/scale/scale.cu": SOLUTION, "kernels/common.mk": "# GPU\n"},
        "build": "cd kernels/scale && make GPU=RTX5070 clean && make GPU=RTX5070",
        "test": "cd kernels/scale && make GPU=RTX5070 run",
    },
    "flashattention": {"build": SOURCES, "test": "", "testbench": DEFPY, "reference": DEFPY["reference.cu"]},
    "layernorm": {"build": SOURCES, "test": "", "testbench": DEFPY, "reference": DEFPY["reference.cu"]},
    "cufft_samples": {"build": SOURCES, "test": "", "testbench": DEFPY, "reference": DEFPY["reference.cu"]},
}
"""By family: how its instance differs from a cuda one."""

SHARED = {
    "data/_external/cutlass/include/cutlass/cutlass.h": "#pragma once\n",
    "data/_external/ThunderKittens/include/kittens.cuh": "#pragma once\n",
    "harness/_vendor/kernelbench/__init__.py": "import a_client_for_models\n",
    "harness/_vendor/kernelbench/kernel_static_checker.py": "def check():\n    return True\n",
    "harness/applied_kernels_runner/eval.py": "",
}


def write_checkout(root: Path, *families: str) -> Path:
    """A checkout with one instance of each family (all when none is named), and what they share."""
    for name, text in SHARED.items():
        _write(root / name, text)
    for family in families or FAMILIES:
        write_instance(root, family)
    return root


def write_instance(
    root: Path, family: str, *, name: str | None = None, bucket: str = "compile_error", **more: Any
) -> Path:
    """The folder of one instance. ``more`` replaces what the family's row says, or goes into instance.json by its key."""
    row = {**FAMILIES[family], **more}
    broken = row.get("broken", BROKEN).encode()
    digest = hashlib.sha256(broken).hexdigest()
    full = name or f"{family}_1__{bucket}__{digest[:8]}"
    folder = root / "data" / full
    start, reference = row.get("broken_name", "broken_start.cu"), row.get("reference_name", "reference.cu")
    _write(folder / start, broken)
    _write(folder / reference, row.get("reference", SOLUTION))
    _write(folder / "prompt.txt", "Scale an array on the GPU.\n")
    for file, content in row.get("testbench", PLAIN_BENCH).items():
        _write(folder / "testbench" / file, content)
    instance = {
        "id": full,
        "task_family": family,
        "error_category": bucket,
        "difficulty": row.get("difficulty", "medium"),
        "upstream_library": None,
        "broken_start_provenance": row.get("provenance", "written for a test"),
        "files": {"broken_start": start, "reference": reference, "prompt": "prompt.txt", "testbench": "testbench/"},
        "broken_start_lines": broken.count(b"\n"),
        "broken_start_hash": row.get("digest", digest[:16]),
    }
    inputs = {
        "task_id": full,
        "schema_version": 2,
        "difficulty": "unknown",
        "level": "anything",
        "tags": ["scale"],
        "build_command": row.get("build", NVCC),
        "test_command": row.get("test", "./test.out"),
        "solution_file": row.get("solution_file", "solution.cu"),
        "task_id_base": f"{family}_1",
    }
    inputs |= {key: row[key] for key in ("hardware", "required_arch") if key in row}
    _write(folder / "instance.json", json.dumps(instance))
    _write(folder / "input.json", json.dumps(inputs))
    return folder


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
