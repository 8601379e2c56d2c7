"""A clone of KernelBench and a folder of candidates are a corpus. The clones here are made in its layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.corpora import load_corpus, with_broken
from engine.devices.base import Device
from engine.errors import TaskError
from engine.harness.backends import build_command
from engine.harness.backends import test_command as command_of_test

PROBLEM = "class Model: ...\ndef get_inputs(): return []\ndef get_init_inputs(): return []\n"
CANDIDATE = "class ModelNew: ...\n"


def clone(root: Path, *, checker: bool = True) -> Path:
    for level, name in ((1, "1_Square_matrix_multiplication_"), (1, "19_ReLU"), (2, "1_Conv2D_ReLU_BiasAdd")):
        path = root / "KernelBench" / f"level{level}" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n{PROBLEM}")
    if checker:
        path = root / "src/kernelbench/kernel_static_checker.py"
        path.parent.mkdir(parents=True)
        path.write_text("def validate_kernel_static(code, backend, precision): return True, [], []\n")
    return root


def candidates(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(CANDIDATE + f"# {name}\n")
    return root


def corpus_of(clone: Path, broken: Path) -> Path:
    return Path(with_broken(str(clone), broken) or "")


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("level_1_problem_19_sample_0_kernel.py", "kernelbench_level1_19__"),
        ("generated_kernel_level_2_problem_1.py", "kernelbench_level2_1__"),
        ("level1/19_ReLU.py", "kernelbench_level1_19__"),
        ("run/level2_1.cu", "kernelbench_level2_1__"),
    ],
)
def test_a_candidates_name_says_whose_it_is(tmp_path: Path, name: str, task: str):
    (found,) = load_corpus(corpus_of(clone(tmp_path / "kb"), candidates(tmp_path / "c", name))).tasks.values()
    assert found.id.startswith(task)
    assert found.broken.decode().startswith(CANDIDATE)
    assert found.harness_files["problem.py"].parent.name == f"level{task[17]}"


def test_samples_of_one_problem_are_tasks_of_their_own_and_copies_are_not(tmp_path: Path):
    names = [f"level_1_problem_19_sample_{n}_kernel.py" for n in range(3)]
    broken = candidates(tmp_path / "c", *names)
    (broken / names[2]).write_bytes((broken / names[1]).read_bytes())
    assert len(load_corpus(corpus_of(clone(tmp_path / "kb"), broken)).tasks) == 2


def test_the_folder_of_the_levels_does_too_without_the_static_check(tmp_path: Path):
    broken = candidates(tmp_path / "c", "level1_19.py")
    whole = load_corpus(corpus_of(clone(tmp_path / "kb"), broken))
    inner = load_corpus(corpus_of(tmp_path / "kb" / "KernelBench", broken))
    assert "kernel_static_checker" in next(iter(whole.tasks.values())).spec.build_cmd
    assert "kernel_static_checker" not in next(iter(inner.tasks.values())).spec.build_cmd


def test_problems_without_candidates_are_no_tasks(tmp_path: Path):
    with pytest.raises(TaskError, match="--broken DIR names a folder of them"):
        load_corpus(clone(tmp_path / "kb"))


def test_candidates_without_a_clone_are_refused(tmp_path: Path):
    with pytest.raises(TaskError, match="goes with --corpus"):
        with_broken(None, tmp_path)
    (tmp_path / "other").mkdir()
    with pytest.raises(TaskError, match="a clone of KernelBench, which this is not"):
        load_corpus(corpus_of(tmp_path / "other", tmp_path))


@pytest.mark.parametrize("name", ["notes.txt", "kernel.py", "level_1.py"])
def test_a_folder_without_candidates_says_how_they_are_called(tmp_path: Path, name: str):
    with pytest.raises(TaskError, match="level_1_problem_19_sample_0_kernel.py"):
        load_corpus(corpus_of(clone(tmp_path / "kb"), candidates(tmp_path / "c", name)))


def test_a_problem_that_the_clone_does_not_have_is_named(tmp_path: Path):
    broken = candidates(tmp_path / "c", "level1_77.py", "level1_19.py")
    found = load_corpus(corpus_of(clone(tmp_path / "kb"), broken), strict=False)
    assert len(found.tasks) == 1
    assert "there is no problem 77 of level 1" in str(found.problems[0])


def test_commands_are_for_the_machine_that_runs(tmp_path: Path):
    corpus = corpus_of(clone(tmp_path / "kb"), candidates(tmp_path / "c", "level1_19.py"))
    (task,) = load_corpus(corpus).tasks.values()
    built = build_command(task, Device("H200", sm=90))
    assert "TORCH_CUDA_ARCH_LIST=9.0 " in built.text
    assert " python -" not in built.text
    assert "extensions are built for 9.0, for H200" in built.rewrites
    assert "python3 -I beaver_kernelbench/judge.py test 5" in command_of_test(task, Device("H200", sm=90)).text
