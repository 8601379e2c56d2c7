"""Which repairs of other tasks a prompt shows, and how they read."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConfigError
from engine.fewshot import Example, base_task, choose, listed_for, pool_digest
from engine.prompts import build_messages
from engine.protocol import Choosing, FewShot, Protocol
from engine.task import Task, TaskSpec
from tests.support.tasks import BROKEN, SOLUTION

GOLDEN = Path(__file__).parents[1] / "fixtures" / "prompts" / "few-shot.txt"


def example(task: str, bucket: str = "compile_error", broken: str = "", fixed: str = "", log: str = "") -> Example:
    return Example(
        task=task,
        file="solution.cu",
        bucket=bucket,
        broken=broken or f"// broken {task}\n",
        log=log or 'solution.cu(4): error: expected a ";"\n',
        fixed=fixed or f"// fixed {task}\n",
    )


BUCKETS = ("compile_error", "logic_error", "memory_crash")
SPEC = TaskSpec(
    task_id="sum", backend="make", solution_file="s.cpp", build_cmd="g++", test_cmd="./a", start_bucket="logic_error"
)
POOL = [example(f"cuda_{number}__{BUCKETS[number % 3]}__{number:08x}", BUCKETS[number % 3]) for number in range(30)]


def named(task: Task, name: str) -> Task:
    return replace(task, spec=msgspec.structs.replace(task.spec, task_id=name))


@pytest.mark.parametrize(
    ("task", "base"),
    [
        ("cuda_17__compile_error__02f4993c", "cuda_17"),
        ("cuda_17__memory_crash__ea1a11f7", "cuda_17"),
        ("CUDA/17", "cuda_17"),
        ("kernelbench/level1/26", "kernelbench_level1_26"),
        ("kernelbench_level1_26__timeout__313236a1", "kernelbench_level1_26"),
        ("softmax_rows", "softmax_rows"),
        ("softmax_rows.functional_correctness.0a1b2c3d", "softmax_rows"),
        ("cuda_17__compile_error__02f4993c.buildability.0a1b2c3d", "cuda_17"),
        ("a__b__c0ffee00", "a__b__c0ffee00"),
    ],
)
def test_instances_of_one_task_have_one_base(task: str, base: str):
    assert base_task(task) == base


@pytest.mark.parametrize("choosing", list(Choosing))
@pytest.mark.parametrize("number", range(6))
def test_no_task_is_its_own_example_under_any_name(make_task, choosing: Choosing, number: int):
    task = named(make_task(), f"cuda_{number}__timeout__0123abcd")
    for seed in range(20):
        shown = choose(POOL, task, FewShot(choosing, 10), seed, listed=[one.task for one in POOL])
        assert len(shown) == 10
        assert f"cuda_{number}" not in {base_task(one.task) for one in shown}


def test_a_task_under_another_name_is_told_by_what_it_holds(make_task):
    task = make_task()
    pool = [example("other_name", broken=BROKEN), example("another", fixed=SOLUTION), example("foreign")]
    assert [one.task for one in choose(pool, task, FewShot(Choosing.RANDOM, 3), 42)] == ["foreign"]


def test_two_repairs_of_one_task_are_never_shown_together(make_task):
    pool = [example(f"cuda_1__{bucket}__0123456{n}", bucket) for n, bucket in enumerate(BUCKETS)] + POOL[2:4]
    shown = choose(pool, make_task(), FewShot(Choosing.RANDOM, 5), 42)
    assert sorted(base_task(one.task) for one in shown) == ["cuda_1", "cuda_2", "cuda_3"]


@given(st.permutations(POOL), st.sampled_from(list(Choosing)), st.integers(0, 5), st.integers(1, 5))
def test_the_order_of_the_pool_changes_nothing_and_a_smaller_k_is_a_beginning(pool, choosing, seed, k):
    listed = [one.task for one in POOL[:8]]
    task = Task(spec=SPEC, folder=Path(), prompt="", broken=b"", error_log="")
    first = choose(POOL, task, FewShot(choosing, k), seed, listed)
    assert choose(pool, task, FewShot(choosing, k), seed, listed) == first
    assert choose(pool, task, FewShot(choosing, k + 1), seed, listed)[:k] == first
    assert pool_digest(pool) == pool_digest(POOL)


def test_seeds_and_tasks_have_different_examples(make_task):
    task = make_task()
    draws = {tuple(one.id for one in choose(POOL, task, FewShot(Choosing.RANDOM, 3), seed)) for seed in range(10)}
    others = {
        tuple(one.id for one in choose(POOL, named(task, name), FewShot(Choosing.RANDOM, 3), 42)) for name in "abcdefgh"
    }
    assert len(draws) > 5
    assert len(others) > 5


def test_matched_shows_the_tasks_own_bucket_first_and_fills_up(make_task):
    task = make_task()  # a compile_error
    shown = choose(POOL, task, FewShot(Choosing.MATCHED, 5), 42)
    assert {one.bucket for one in shown} == {"compile_error"}
    few = [one for one in POOL if one.bucket != "compile_error"] + [POOL[0], POOL[3]]
    mixed = [one.bucket for one in choose(few, task, FewShot(Choosing.MATCHED, 5), 42)]
    assert mixed[:2] == ["compile_error"] * 2
    assert "compile_error" not in mixed[2:]
    assert len(mixed) == 5


def test_curated_keeps_the_files_order_and_puts_nothing_in_the_place_of_what_is_missing(make_task):
    listed = ["cuda_7", "not_there", "CUDA/2", POOL[9].task]
    task = make_task()
    shown = choose(POOL, task, FewShot(Choosing.CURATED, 5), 42, listed)
    assert [base_task(one.task) for one in shown] == ["cuda_7", "cuda_2", "cuda_9"]
    assert choose(POOL, task, FewShot(Choosing.CURATED, 1), 42, listed) == shown[:1]


def test_a_curated_file_is_read_by_id_by_base_and_for_all():
    curated = {"cuda_1": ["a"], "cuda_1__timeout__01234567": ["b"], "*": ["c", "cuda_9", "d"]}
    assert listed_for(curated, "cuda_1__timeout__01234567") == ["b"]
    assert listed_for(curated, "cuda_1__logic_error__01234567") == ["a"]
    assert listed_for(curated, "cuda_9__logic_error__01234567") == ["c", "d"]
    with pytest.raises(ConfigError, match=r"none may be its own example"):
        listed_for({"cuda_1": ["CUDA/1"]}, "cuda_1__timeout__01234567")


@pytest.mark.parametrize(
    "text", ["", "3", "random", "random:", "random:0", "random:11", "random:-1", "best:3", "random:³"]
)
def test_what_is_no_few_shot_is_refused(text: str):
    with pytest.raises(ConfigError, match="few_shot"):
        Protocol(few_shot=text)


def test_the_prompt(make_task):
    task = make_task()
    long_log = (
        "compiling, and saying so at some length for a line of a log\n" * 400
        + 'solution.cu(9): error: identifier "n" is undefined\n'
    )
    pool = [
        example(
            "scan", "logic_error", broken="int a = `0`;\n```\n", fixed="int a = 1;\n", log="\x1b[31mwrong\x1b[0m\n"
        ),
        example("reduce", "compile_error", broken="int b\n", fixed="int b;\n", log=long_log),
    ]
    shown = choose(pool, task, FewShot(Choosing.MATCHED, 2), 42)
    messages = build_messages(task, Protocol(), [], shown)
    text = "\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)
    if os.environ.get("BEAVER_WRITE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()
    plain = build_messages(task, Protocol(), [])
    assert text.endswith(plain[1]["content"])
    assert messages[0] == plain[0]
