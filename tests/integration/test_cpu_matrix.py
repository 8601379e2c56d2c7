"""Matrix instructions of the CPU device against sums in plain loops, with fragments laid out as the PTX manual's tables say."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.devices.toolkit import Toolkit
from tests.support.cpu_runtime import build_driver

Run = Callable[[str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, toolkit: Toolkit) -> Run:
    source = Path(__file__).parent / "cpu/matrix_driver.cpp"
    driver = build_driver(source, tmp_path_factory.mktemp("matrix"), toolkit)
    return lambda case: subprocess.run([str(driver), case], capture_output=True, text=True, timeout=60, check=False)


def values(said: subprocess.CompletedProcess[str]) -> list[str]:
    assert said.returncode == 0, said.stderr
    return [line.split("=", 1)[1] for line in said.stdout.splitlines()]


@pytest.mark.parametrize(
    ("case", "shapes"), [("floats", 14), ("halves", 3), ("doubles", 4), ("integers", 25), ("bits", 6), ("wmma", 23)]
)
def test_every_shape_multiplies(run: Run, case: str, shapes: int) -> None:
    said = run(case)
    assert values(said) == ["1"] * shapes, said.stdout


def test_what_is_no_number_has_one_form_and_subnormal_numbers_count(run: Run) -> None:
    assert values(run("special")) == ["7fffffff 7fff", "ff800000 fc00", "7fffffff 7c00", "34800000 0004"]


def test_matrices_of_16_bit_elements_move_between_shared_memory_and_lanes(run: Run) -> None:
    assert values(run("moves")) == ["0", "1", "1"] * 6


def test_the_shape_of_volta_is_refused_by_its_name(run: Run) -> None:
    said = run("volta")
    assert said.returncode == 125
    assert "mma.sync.m8n8k4 of f16 at store(int *, int)+0x7 in solution.cu:5 needs a GPU" in said.stderr
