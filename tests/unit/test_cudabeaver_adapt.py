"""Commands that carry their author's machine are made to fit this one, and say so."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engine.corpora import load_corpus
from engine.devices.base import Device
from engine.harness.adapt import adapt
from engine.harness.backends import build_command, sanitizer_command, time_command
from engine.harness.backends import test_command as command_of_test
from engine.harness.preflight import machine_lacks, preflight
from engine.task import Task
from tests.support.checkouts import FAMILIES, write_checkout

H200 = Device("H200", sm=90)


def only(root: Path, family: str) -> Task:
    return next(iter(load_corpus(write_checkout(root, family)).tasks.values()))


@pytest.mark.parametrize(
    ("sm", "text", "becomes"),
    [
        (90, "nvcc -arch=native a.cu", "nvcc -arch=sm_90 a.cu"),
        (120, "nvcc --gpu-architecture native a.cu", "nvcc --gpu-architecture sm_120 a.cu"),
        (90, "set_gpu_arch(['Blackwell'])", "set_gpu_arch(['Hopper'])"),
        (89, "set_gpu_arch(['Blackwell'])", "set_gpu_arch(['Ada'])"),
        (90, "export TORCH_CUDA_ARCH_LIST=native A=b; true", "export TORCH_CUDA_ARCH_LIST=9.0 A=b; true"),
        (120, "TORCH_CUDA_ARCH_LIST=native ninja", "TORCH_CUDA_ARCH_LIST=12.0 ninja"),
        (80, "make GPU=RTX5070 clean && make GPU=RTX5070", "make GPU=A100 clean && make GPU=A100"),
        (90, "python a.py && python b.py", "python3 a.py && python3 b.py"),
    ],
)
def test_what_names_a_machine_names_this_one(sm: int, text: str, becomes: str):
    changed, notes = adapt(text, Device("a GPU", sm=sm), f"sm_{sm}")
    assert changed == becomes
    assert len(notes) == 1


@pytest.mark.parametrize(
    "text",
    [
        "nvcc -gencode arch=compute_80,code=[sm_80,compute_80] a.cu",
        "./python_test a.py",
        "python3 a.py",
        "cat GPU=RTX5070",
        "make GPU=H100",
        'grep "python " a.txt',
    ],
)
def test_what_fits_already_stays(text: str):
    assert adapt(text, H200, "sm_90") == (text, [])


def test_a_gpu_that_the_makefiles_do_not_know_keeps_the_authors_name():
    assert adapt("make GPU=RTX5070", Device("a GPU", sm=86), "sm_86") == ("make GPU=RTX5070", [])


def test_the_test_is_adapted_too(tmp_path: Path):
    command = command_of_test(only(tmp_path, "kernelbench"), H200)
    assert command.text.endswith("; python3 -I beaver_kernelbench/judge.py test 5")
    assert command.rewrites == ("extensions are built for 9.0, for H200", "python is python3")


def test_the_static_check_wants_nothing_of_the_package_around_it(tmp_path: Path):
    """That package imports a client for models, dotenv and tqdm: where those were missing, every start failed in its build."""
    task, place = only(tmp_path / "checkout", "kernelbench"), tmp_path / "workspace"
    for name, path in task.harness_files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place / name)
    check, _, ours = build_command(task, H200).text.partition(" && ")
    assert "kernel_static_checker" in check and "build.py" in ours
    ended = subprocess.run(["/bin/sh", "-c", check], cwd=place, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_architecture_specific_extension_is_built_for_it():
    text, _ = adapt("export TORCH_CUDA_ARCH_LIST=native; x", H200, "sm_90a")
    assert text == "export TORCH_CUDA_ARCH_LIST=9.0a; x"


def test_extensions_are_built_once_in_the_build_step_and_shared_with_nobody(tmp_path: Path):
    task = only(tmp_path, "kernelbench")
    assert build_command(task, H200).text.endswith(" && python3 beaver_kernelbench/build.py solution.py problem.py")
    assert 'TORCH_EXTENSIONS_DIR="${TMPDIR:-/tmp}/' in command_of_test(task, H200).text


def test_the_driver_of_a_checked_task_is_adapted_too(make_task):
    check = {"generate": "python3 check.py generate", "run": "python a.py", "compare": "python3 check.py compare"}
    task = make_task(spec={"check": {**check, "time": "python a.py time"}})
    assert command_of_test(task, H200).text == "python3 a.py"
    assert time_command(task, H200) == "python3 a.py time"


def test_a_makefile_that_names_its_architectures_keeps_them(tmp_path: Path):
    command = build_command(only(tmp_path, "cutlass"), H200)
    assert command.text == FAMILIES["cutlass"]["build"]


def test_a_makefile_that_goes_by_the_gpus_name_is_given_no_other_flags(tmp_path: Path):
    command = build_command(only(tmp_path, "thunderkittens"), H200)
    assert command.text == "cd kernels/scale && make GPU=H100 clean && make GPU=H100"


def test_the_sanitizer_watches_the_program_and_not_the_tests_own_sanitizer():
    command = sanitizer_command(Path("/opt/compute-sanitizer"), "memcheck", "python3 test/run_sanitizer.py ./test.out")
    assert command.endswith("--print-limit 10 ./test.out")


def test_a_python_module_that_is_not_here_is_what_the_machine_lacks(tmp_path: Path):
    task = only(tmp_path, "cuda")
    task.spec.requires.append("module:no_such_module")
    lack = machine_lacks(preflight(task, task.broken, H200, None))
    assert lack is not None
    assert lack.startswith("requires: module:no_such_module in ")


def test_a_python_module_that_is_here_is_no_lack(tmp_path: Path):
    task = only(tmp_path, "cuda")
    task.spec.requires.append("module:json")
    assert preflight(task, task.broken, H200, None) == []
