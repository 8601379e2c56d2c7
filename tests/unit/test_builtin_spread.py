"""What the built-in corpus covers at least, and that its table says what is there."""

from __future__ import annotations

import difflib
import re
from collections import Counter

import pytest

from engine.corpora import builtin_folder, load_corpus
from engine.verdict import Category

TASKS = load_corpus(builtin_folder()).tasks
OPERATIONS = {
    "gemm",
    "convolution",
    "reduction",
    "scan",
    "attention",
    "normalisation",
    "stencil",
    "sparse",
    "sort",
    "image",
}
BUCKETS = {"compile_error", "logic_error", "memory_crash", "timeout", "perf_broken"}


def count(field: str) -> Counter[str]:
    return Counter(getattr(task.spec, field) for task in TASKS.values())


def test_every_category_bucket_and_operation_is_there_twice():
    assert len(TASKS) >= 32
    for field, wanted in (
        ("category", {str(category) for category in Category}),
        ("start_bucket", BUCKETS),
        ("operation", OPERATIONS),
    ):
        counts = count(field)
        assert set(counts) == wanted
        assert min(counts.values()) >= 2, counts
    assert count("start_bucket")["perf_broken"] >= 6


def test_every_bucket_is_there_on_every_backend():
    pairs = {(task.spec.start_bucket, task.spec.backend) for task in TASKS.values()}
    assert pairs == {(bucket, backend) for bucket in BUCKETS for backend in ("nvcc", "make", "kernelbench")}


@pytest.mark.parametrize("name", sorted(TASKS))
def test_the_way_from_start_to_reference_is_no_typing_error(name: str):
    task = TASKS[name]
    assert task.reference is not None
    before, after = task.broken.decode().splitlines(), task.reference.read_text().splitlines()
    assert 20 <= len(before) <= 450
    changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-" and line[2:].strip()]
    assert len(changed) >= 3


def test_the_table_of_the_corpus_names_every_task_with_its_facts():
    rows = re.findall(
        r"^\| (\w+) \| ([\w, ]+) \| (\w+) \| (\w+) \| (nvcc|make|kernelbench) \| (\d+) \|", readme(), re.MULTILINE
    )
    assert {row[0] for row in rows} == set(TASKS)
    for name, shows, bucket, operation, backend, lines in rows:
        spec = TASKS[name].spec
        assert shows.split(",")[0] == spec.category
        assert (bucket, operation, backend) == (spec.start_bucket, spec.operation, spec.backend)
        assert int(lines) == len(TASKS[name].broken.decode().splitlines())


def readme() -> str:
    return (builtin_folder() / "README.md").read_text()
