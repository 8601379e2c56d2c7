"""Examples of a run in another run's prompts, from the command line to the journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beaver_tui.cli import main
from engine import events as ev
from engine.cells import read_cell
from engine.corpora import load_corpus
from engine.rundir import RunDirectory
from engine.sweep.example_pool import FILE, read_pool
from engine.sweep.fork import fork_run
from engine.text import slug
from engine.trajectory import Trajectory
from tests.support.tasks import BROKEN, SOLUTION, WRONG, write_task

TASKS = {
    "sum": "compile_error",
    "sum__logic_error__0123abcd": "logic_error",
    "add": "compile_error",
    "total": "logic_error",
}


CHEAT = "forbidden_call"
"""An answer that holds this word is refused before anything is built: what matters here is what was asked."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four tasks, two of which are instances of one; each start and each fix is another text."""
    folder = tmp_path_factory.mktemp("few-shot") / "corpus"
    for number, (name, bucket) in enumerate(TASKS.items()):
        start = BROKEN if bucket == "compile_error" else WRONG
        log = "solution.cpp:4: error: expected ;\n" if bucket == "compile_error" else "mismatch: y differs\n"
        own = f"// {number}\n"
        write_task(
            folder,
            name,
            broken=start + own,
            error_log=log,
            answers={"good": [SOLUTION + own], "cheat": [f"{SOLUTION}int {CHEAT}();\n"]},
            spec={"start_bucket": bucket, "anti_cheat": [CHEAT]},
        )
        (folder / slug(name) / "reference.cpp").write_text(SOLUTION + f"// reference {number}\n")
    return folder


@pytest.fixture(scope="module")
def first(corpus: Path) -> RunDirectory:
    """A run that repairs all four."""
    words = ["--batch", "--corpus", str(corpus), "--fixer", "scripted:good", "--device", "cpu"]
    assert main([*words, "--out", str(corpus.parent / "first")]) == 0
    return RunDirectory(corpus.parent / "first")


def play(out: Path, corpus: Path, *more: str) -> RunDirectory:
    """A run whose answers are refused at once."""
    words = ["--batch", "--corpus", str(corpus), "--fixer", "scripted:cheat", "--device", "cpu", "--out", str(out)]
    assert main([*words, *more]) == 0
    return RunDirectory(out)


def trajectories(run: RunDirectory) -> dict[str, Trajectory]:
    found = {cell.task: read_cell(run, cell) for cell in run.plan}
    return {task: trajectory for task, trajectory in found.items() if trajectory is not None}


def examples(run: RunDirectory) -> dict[str, list[str]]:
    """By task, the ids that the first prompt's event names."""
    told = trajectories(run).items()
    return {task: one.iterations[0].request.examples for task, one in told if one.iterations[0].request is not None}


def test_prompts_show_what_another_run_repaired(tmp_path: Path, corpus: Path, first: RunDirectory, capsys):
    pool = {one.id: one for one in read_pool([first.path]).examples}
    assert sorted(one.task for one in pool.values()) == sorted(TASKS)
    run = play(tmp_path / "second", corpus, "--few-shot", "matched:2", "--few-shot-from", str(first.path))
    shown = {task: [pool[name].task for name in names] for task, names in examples(run).items()}
    assert shown["add"][0] in ("sum", "sum__logic_error__0123abcd")
    assert "add" not in shown["add"]
    for task in ("sum", "sum__logic_error__0123abcd"):  # the other instance of the task is no example
        assert sorted(shown[task]) == ["add", "total"]
        assert shown[task][0] == ("add" if task == "sum" else "total")  # its own bucket first
    protocol = run.record.protocol
    assert (protocol.few_shot, protocol.few_shot_seed) == ("matched:2", 42)
    assert run.record.few_shot is not None
    assert (run.record.few_shot.runs, run.record.few_shot.pool) == ([str(first.path)], 4)
    assert "filled up with others" in capsys.readouterr().err

    told = trajectories(run)["sum"]
    assert told.opened is not None and told.opened.protocol == protocol
    assert told.iterations[0].request is not None
    prompt = run.store(run.plan[0]).get("prompts", told.iterations[0].request.prompt).decode()
    user = json.loads(prompt)[1]["content"]
    assert user.index("# Examples") < user.index("// 2") < user.index("# Task")  # add is the third of the tasks
    tasks = load_corpus(corpus).tasks
    for task in tasks.values():
        assert task.reference is not None
        assert task.reference.read_text().strip().splitlines()[-1] not in user


def test_the_same_examples_in_every_sweep_and_after_a_resume(tmp_path: Path, corpus: Path, first: RunDirectory):
    words = ["--few-shot", "random:2", "--few-shot-from", str(first.path)]
    one, two = play(tmp_path / "one", corpus, *words), play(tmp_path / "two", corpus, *words)
    assert examples(one) == examples(two)
    assert one.record.protocol == two.record.protocol
    other = play(tmp_path / "other", corpus, *words, "--few-shot-seed", "7")
    assert other.record.protocol != one.record.protocol
    for journal in one.path.glob("trajectories/*/*/*/journal.jsonl"):
        journal.unlink()
    gone = first.path.rename(tmp_path / "gone")  # the run holds its examples itself
    try:
        assert main(["--batch", "--resume", str(one.path)]) == 0
    finally:
        gone.rename(first.path)
    assert examples(one) == examples(two)


def test_examples_that_were_changed_end_the_run(tmp_path: Path, corpus: Path, first: RunDirectory, capsys):
    run = play(tmp_path / "run", corpus, "--few-shot", "random:1", "--few-shot-from", str(first.path))
    (run.path / FILE).write_bytes((run.path / FILE).read_bytes() + b"\n")
    assert main(["--batch", "--resume", str(run.path)]) == 2
    assert "not the examples that the run began with" in capsys.readouterr().err


def test_a_fork_shows_the_examples_of_its_run(tmp_path: Path, corpus: Path, first: RunDirectory):
    run = play(tmp_path / "run", corpus, "--few-shot", "random:1", "--few-shot-from", str(first.path))
    fork = fork_run(run, run.plan[0], 0, out=tmp_path / "fork")
    assert (fork.path / FILE).read_bytes() == (run.path / FILE).read_bytes()
    assert main(["--batch", "--resume", str(fork.path)]) == 0
    assert examples(fork) == {run.plan[0].task: examples(run)[run.plan[0].task]}


def test_a_file_lists_the_examples(tmp_path: Path, corpus: Path, first: RunDirectory, capsys):
    listed = tmp_path / "curated.json"
    listed.write_text(json.dumps({"mappings": {"add": ["total", "nowhere"], "*": ["add"]}}))
    words = ["--few-shot", "curated:3", "--few-shot-from", str(first.path), "--few-shot-file", str(listed)]
    run = play(tmp_path / "run", corpus, *words)
    pool = {one.id: one.task for one in read_pool([first.path]).examples}
    shown = {task: [pool[name] for name in names] for task, names in examples(run).items()}
    assert shown == {"add": ["total"], "sum": ["add"], "sum__logic_error__0123abcd": ["add"], "total": ["add"]}
    assert "fewer than 3 examples for 4 tasks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--few-shot", "random:3"], "name the runs that hold repairs with --few-shot-from RUN"),
        (["--few-shot", "best:3"], "must be random:K, matched:K, curated:K"),
        (["--few-shot", "random:3", "--few-shot-from", "nowhere"], "--few-shot-from nowhere: no run here"),
        (["--few-shot", "curated:3", "--few-shot-from", "FIRST"], "name the file that lists them with --few-shot-file"),
        (
            ["--few-shot", "curated:3", "--few-shot-from", "FIRST", "--few-shot-file", "nowhere"],
            "--few-shot-file nowhere",
        ),
    ],
)
def test_what_is_missing_is_told_before_anything_is_written(
    tmp_path: Path, corpus: Path, first: RunDirectory, capsys, words: list[str], complaint: str
):
    given = [str(first.path) if word == "FIRST" else word for word in words]
    out = tmp_path / "run"
    base = ["--batch", "--corpus", str(corpus), "--fixer", "scripted:good", "--device", "cpu", "--out", str(out)]
    assert main([*base, *given]) == 2
    assert complaint in capsys.readouterr().err
    assert not out.exists()


def test_a_config_of_the_release_that_shows_examples(tmp_path: Path, corpus: Path, first: RunDirectory, capsys):
    """Its own runs are not in the checkout: ours take their place."""
    config = tmp_path / "release.yaml"
    config.write_text(
        "experiment: {name: x, fewshot_strategy: matched-error-category, fewshot_k: 1, few_shot_pair_pool_seed: 3,\n"
        "  few_shot_pool_committee_dirs: [evaluation/outputs/a/20260424_123214]}\n"
    )
    base = ["--batch", "--corpus", str(corpus), "--fixer", "scripted:good", "--device", "cpu", "--config", str(config)]
    assert main([*base, "--out", str(tmp_path / "none")]) == 2
    assert "--few-shot-from evaluation/outputs/a/20260424_123214: no run here" in capsys.readouterr().err
    run = play(tmp_path / "run", corpus, "--config", str(config), "--few-shot-from", str(first.path))
    assert (run.record.protocol.few_shot, run.record.protocol.few_shot_seed) == ("matched:1", 3)
    assert "the release's own harness reads experiment.few_shot_k alone" in capsys.readouterr().err


def test_a_slow_or_unmeasured_fix_is_no_example_where_the_start_was_only_slow(first: RunDirectory):
    """A repair that is known to be slow teaches to give speed up; of a slow start only a fast one is a repair."""
    from engine.sweep.example_pool import _accepted

    iteration = next(iter(trajectories(first).values())).iterations[0]
    assert iteration.passed
    for gate, any_start, slow_start in (("pass", True, True), ("unmeasured", True, False), ("fail", False, False)):
        iteration.timed = ev.Timed(iteration=1, gate=gate)
        assert _accepted(iteration, "compile_error") is any_start
        assert _accepted(iteration, "perf_broken") is slow_start
