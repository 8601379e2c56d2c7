"""The header that the drivers of the built-in tasks share."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from engine.corpora import builtin_folder
from engine.devices.toolkit import find_toolkit

STRICT = "-Wall,-Wextra,-Wformat=2,-Wformat-security"


def test_a_build_says_nothing_of_the_driver(tmp_path: Path):
    """A compiler with -Wformat-security by default (Ubuntu's) warned of the header in every log that a fixer saw."""
    for file in (
        *(builtin_folder() / "gemm_rect" / "testbench").iterdir(),
        builtin_folder() / "shared" / "beaver_driver.cuh",
    ):
        shutil.copy(file, tmp_path)
    command = [str(find_toolkit().nvcc), "-arch=sm_90", "-Xcompiler", STRICT, "-c", "-o", "driver.o", "driver.cu"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "beaver_driver.cuh" not in built.stderr, built.stderr
