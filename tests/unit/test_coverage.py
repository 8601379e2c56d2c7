"""What a corpus covers, and how tasks are chosen by what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.corpora import load_corpus
from engine.corpora.coverage import SIZES, coverage, size_of
from tests.support.program import beaver


@pytest.mark.parametrize(
    ("lines", "band"),
    [(1, "below 20"), (19, "below 20"), (20, "20-50"), (50, "20-50"), (51, "51-100"), (200, "101-200"), (450, "201-450"), (451, "above 450")],
)  # fmt: skip
def test_every_size_has_its_band(make_task, lines: int, band: str):
    assert size_of(make_task(broken="x\n" * lines)) == band
    assert band in SIZES


def test_counts_are_by_bucket_and_unknown_ones_are_not_lost(make_task):
    tasks = [
        make_task("a", spec={"operation": "scan", "start_bucket": "timeout"}),
        make_task("b", spec={"operation": "scan", "start_bucket": "timeout", "backend": "nvcc"}),
        make_task("c", spec={"start_bucket": None}),
    ]
    tables = coverage(tasks)
    assert tables["operation"] == {"-": {"-": 1}, "scan": {"timeout": 2}}
    assert tables["backend"] == {"make": {"timeout": 1, "-": 1}, "nvcc": {"timeout": 1}}
    assert tables["size"] == {"below 20": {"timeout": 2, "-": 1}}


def test_the_command_counts_filters_and_prints_the_schema(make_task, tmp_path: Path):
    make_task("a", spec={"operation": "scan", "start_bucket": "timeout", "category": "timeout"})
    make_task("b", spec={"operation": "gemm", "backend": "nvcc"})
    corpus = ("--corpus", tmp_path / "corpus")
    stats = json.loads(beaver("tasks", *corpus, "--stats", "--json").out)
    assert stats["tasks"] == 2 and stats["operation"]["scan"] == {"timeout": 1}
    table = beaver("tasks", *corpus, "--stats").lines
    assert table[0].split() == [
        "operation",
        "compile_error",
        "logic_error",
        "memory_crash",
        "timeout",
        "perf_broken",
        "total",
    ]
    for filters, names in (
        (["--bucket", "timeout"], ["a"]),
        (["--category", "timeout", "--backend", "nvcc"], []),
        (["--backend", "make", "--backend", "nvcc"], ["a", "b"]),
        (["--operation", "gemm"], ["b"]),
        (["--tasks", "b"], ["b"]),
    ):
        assert [row["task"] for row in json.loads(beaver("tasks", *corpus, *filters, "--json").out)] == names
    schema = json.loads(beaver("tasks", "--schema").out)
    fields = schema["$defs"]["TaskSpec"]
    assert set(fields["required"]) == {"task_id", "backend", "solution_file", "build_cmd"}
    assert fields["additionalProperties"] is False


def test_built_in_tasks_can_be_counted():
    assert load_corpus(Path(__file__).parents[2] / "corpus").tasks
    assert beaver("tasks", "--stats").lines[-1].endswith("tasks")
