"""Programs with a statically linked CUDA runtime, as nvcc links them by default: its names are no candidate's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from engine.corpora import builtin_folder
from engine.devices.toolkit import find_toolkit
from engine.harness.interposed import names_of, suspicions

FORGED = 'extern "C" int cudaEventRecord(void*, void*) { return 0; }'


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    toolkit = find_toolkit()
    libraries = {"LIBRARY_PATH": str(toolkit.link_folder)} if toolkit.link_folder else {}
    return subprocess.run(command, cwd=folder, env=os.environ | libraries, capture_output=True, text=True, check=False)


def test_calls_that_the_reference_does_not_make_are_no_definitions(tmp_path: Path):
    """The linker keeps a hidden name of the runtime global in one program, and makes it local in the next (seen on an H200)."""
    task = builtin_folder() / "gemm_streams"
    nvcc, found = find_toolkit().nvcc, {}
    for name in ("broken", "reference"):
        folder = tmp_path / name
        shutil.copytree(task / "testbench", folder)
        shutil.copy(builtin_folder() / "shared" / "beaver_driver.cuh", folder)
        shutil.copy(task / f"{name}.cu", folder / "solution.cu")
        built = run(["make", f"NVCC={nvcc}", "ARCH=-arch=sm_90"], folder)
        assert built.returncode == 0, built.stderr
        found[name] = names_of(folder, ["driver"])
    assert "cudaStreamCreateWithFlags" in found["broken"].defined - found["reference"].defined
    assert suspicions(found["broken"], found["reference"]) == []


def test_a_second_definition_of_the_runtimes_is_not_linked(tmp_path: Path):
    (tmp_path / "driver.cu").write_text("int main() { cudaEvent_t event; return cudaEventRecord(event); }")
    (tmp_path / "forged.cpp").write_text(FORGED)
    nvcc = str(find_toolkit().nvcc)
    built = run([nvcc, "-cudart", "static", "-arch=sm_90", "-o", "driver", "driver.cu", "forged.cpp"], tmp_path)
    assert built.returncode != 0 and "multiple definition" in built.stderr, built.stderr
