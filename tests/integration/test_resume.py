"""Kill, resume, stop, two phases: the rows are always those of an undisturbed run."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from engine.journal import Journal
from engine.rundir import RunDirectory
from tests.support.openai_server import OpenAIServer
from tests.support.program import beaver, comparable, manifest, start_beaver
from tests.support.tasks import BROKEN, SOLUTION, WRONG, write_task

SEED = "5eed"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four tasks whose answers fail to build in different ways: every iteration is judged for real without a GPU."""
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(4):
        other = BROKEN.replace("std::size_t i", "std::size_t_ i")
        third = BROKEN.replace("sum += x[i]", "sum += y[i]").replace("0.0f\n", "0.0f;\n")
        answers = {"s": [BROKEN.replace("adds", f"sums {number}"), other, third, SOLUTION]}
        write_task(folder, f"task{number}", answers=answers)
    return folder


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    run = tmp_path_factory.mktemp("whole") / "run"
    done = beaver("--batch", "--corpus", corpus, "--fixer", "scripted:s", "--out", run, "--seed", SEED, "--jobs", 2)
    assert done.code == 0, done.err
    rows = manifest(run)
    assert len(rows) == 16
    return comparable(rows)


@pytest.mark.parametrize("events", [2, 11, 23, 40])
def test_killed_and_resumed_equals_undisturbed(corpus: Path, undisturbed: list[dict], tmp_path: Path, events: int):
    run = tmp_path / "run"
    arguments = (
        "--corpus",
        corpus,
        "--fixer",
        "scripted:s",
        "--out",
        run,
        "--seed",
        SEED,
        "--jobs",
        2,
        "--format",
        "jsonl",
    )
    process = start_beaver("--batch", *arguments)
    assert process.stdout is not None
    for _ in range(events):
        process.stdout.readline()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = beaver("--batch", "--resume", run)
    assert done.code == 0, done.err
    assert comparable(manifest(run)) == undisturbed


def test_a_torn_last_line_is_cut_reported_and_never_fatal(corpus: Path, undisturbed: list[dict], tmp_path: Path):
    run = tmp_path / "run"
    beaver("--batch", "--corpus", corpus, "--fixer", "scripted:s", "--out", run, "--seed", SEED, "-k", 4)
    directory = RunDirectory(run)
    journal = directory.journal(directory.plan[0])
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:9]) + lines[9][:20])
    done = beaver("--batch", "--resume", run, "--format", "plain")
    assert done.code == 0, done.err
    assert "cut 20 bytes of a torn line" in done.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_one_interrupt_flushes_and_says_how_to_go_on(
    corpus: Path, undisturbed: list[dict], tmp_path: Path, number: int
):
    run = tmp_path / "run"
    arguments = (
        "--corpus",
        corpus,
        "--fixer",
        "scripted:s",
        "--out",
        run,
        "--seed",
        SEED,
        "--jobs",
        1,
        "--format",
        "jsonl",
    )
    process = start_beaver("--batch", *arguments)
    assert process.stdout is not None
    for _ in range(14):
        process.stdout.readline()
    process.send_signal(number)
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"--resume {run}" in err
    assert (run / "lock").read_text() == ""
    assert len(manifest(run)) < 16
    assert beaver("--batch", "--resume", run).code == 0
    assert comparable(manifest(run)) == undisturbed


def test_two_phases_give_the_same_rows_with_no_more_calls(corpus: Path, tmp_path: Path):
    """N + (K-1)|F| calls at most: two of four tasks pass at once, so F = 2."""

    def answer(messages: list[dict[str, str]]) -> str:
        attempt = messages[1]["content"].count("## Attempt")
        first = messages[1]["content"].count("easy")
        source = SOLUTION if first else [BROKEN, WRONG.replace("std::", "stdd::"), BROKEN + "//"][attempt]
        return f"Here:\n```cpp\n{source}```"

    tasks = tmp_path / "corpus"
    for name, log in (("a", "easy"), ("b", "hard"), ("c", "easy"), ("d", "hard")):
        write_task(tasks, name, error_log=log)
    results = []
    for flag in ([], ["--two-phase"]):
        with OpenAIServer(answer) as server:
            config = tmp_path / "config.yaml"
            config.write_text(f"fixers:\n  - {{name: model, model: m, base_url: '{server.url}'}}\nprotocol: {{k: 3}}\n")
            run = tmp_path / f"run{len(flag)}"
            done = beaver("--batch", "--corpus", tasks, "--config", config, "--out", run, "--seed", SEED, *flag)
            assert done.code == 0, done.err
            results.append((comparable(manifest(run)), len(server.bodies)))
    assert results[0][0] == results[1][0]
    assert len(results[0][0]) == 8
    assert results[1][1] == results[0][1] == 4 + 2 * 2


def test_a_resumed_run_never_asks_again_for_a_reply_that_it_has(corpus: Path, tmp_path: Path):
    tasks = tmp_path / "corpus"
    write_task(tasks, "only")
    with OpenAIServer(f"```cpp\n{BROKEN}```") as server:
        config = tmp_path / "config.yaml"
        config.write_text(f"fixers:\n  - {{name: model, model: m, base_url: '{server.url}'}}\nprotocol: {{k: 1}}\n")
        run = tmp_path / "run"
        process = start_beaver("--batch", "--corpus", tasks, "--config", config, "--out", run, "--format", "jsonl")
        assert process.stdout is not None
        while "reply_received" not in process.stdout.readline():
            pass
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert beaver("--batch", "--resume", run).code == 0
        assert len(server.bodies) == 1
    assert manifest(run)[0]["category"] == "buildability"


def test_two_writers_of_one_run_are_refused_with_the_owners_name(corpus: Path, tmp_path: Path):
    run = tmp_path / "run"
    process = start_beaver("--batch", "--corpus", corpus, "--fixer", "scripted:s", "--out", run, "--format", "jsonl")
    assert process.stdout is not None
    for _ in range(4):
        process.stdout.readline()
    second = beaver("--batch", "--resume", run)
    process.kill()
    process.wait()
    assert second.code == 2
    assert f"{run}: process {process.pid} on " in second.err
    assert "has been writing this run since" in second.err
    assert "stop it first" in second.err


def test_a_changed_corpus_is_refused(tmp_path: Path):
    tasks = tmp_path / "corpus"
    task = write_task(tasks, "only", answers={"s": [BROKEN]})
    run = tmp_path / "run"
    assert beaver("--batch", "--corpus", tasks, "--fixer", "scripted:s", "--out", run).code == 0
    (task.folder / "prompt.txt").write_text("something else")
    done = beaver("--batch", "--resume", run)
    assert done.code == 2
    assert "has changed since the run began" in done.err


def test_resuming_a_finished_run_changes_nothing(corpus: Path, tmp_path: Path):
    run = tmp_path / "run"
    beaver("--batch", "--corpus", corpus, "--tasks", "task0", "--fixer", "scripted:s", "--out", run, "--seed", SEED)
    before = {path: path.read_bytes() for path in run.rglob("journal.jsonl")}
    assert beaver("--batch", "--resume", run).code == 0
    assert {path: path.read_bytes() for path in run.rglob("journal.jsonl")} == before


def test_a_run_is_not_resumed_on_another_device(corpus: Path, tmp_path: Path):
    run = tmp_path / "run"
    beaver("--batch", "--corpus", corpus, "--tasks", "task0", "--fixer", "scripted:s", "--out", run)
    record = json.loads((run / "run.json").read_text())
    record["device"] |= {"kind": "cuda", "name": "NVIDIA H200"}
    (run / "run.json").write_text(json.dumps(record))
    done = beaver("--batch", "--resume", run)
    assert done.code == 2
    assert "begun on NVIDIA H200, and this is beaver-tui CPU device" in done.err


@pytest.fixture
def finished(corpus: Path, tmp_path: Path) -> Path:
    run = tmp_path / "run"
    done = beaver("--batch", "--corpus", corpus, "--tasks", "task[01]", "--fixer", "scripted:s", "--out", run)
    assert done.code == 0, done.err
    return run


def _record(run: Path, **changes: object) -> None:
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | changes))


def test_a_run_is_not_resumed_in_another_sandbox(finished: Path):
    begun = json.loads((finished / "run.json").read_text())["sandbox"]
    done = beaver("--batch", "--resume", finished, "--sandbox", "none")
    assert done.code == 2
    assert f"begun in the sandbox {begun}, and this is none" in done.err
    assert beaver("--batch", "--resume", finished, "--sandbox", begun).code == 0


def test_another_toolkit_is_only_a_warning(finished: Path):
    _record(finished, toolkit="9.0 (V9.0.1)")
    done = beaver("--batch", "--resume", finished)
    assert done.code == 0
    assert "warning" in done.err
    assert "begun with CUDA 9.0 (V9.0.1), and this is" in done.err


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        (["--attempts", 3], "--attempts"),
        (["-k", 3], "-k"),
        (["--fixer", "scripted:s"], "--fixer"),
        (["--gate-mode", "inloop"], "--gate-mode"),
        (["--two-phase"], "--two-phase"),
        (["--seed", "5eed"], "--seed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_was_decided_at_the_beginning_is_refused_on_resume(finished: Path, options: list, flag: str):
    done = beaver("--batch", "--resume", finished, *options)
    assert done.code == 2
    assert f"a run keeps its settings; leave out {flag}" in done.err


def test_a_damaged_journal_is_the_fault_of_its_cell_alone(finished: Path):
    directory = RunDirectory(finished)
    damaged, other = (directory.journal(cell) for cell in directory.plan)
    damaged.write_bytes(b"{garbage}\n")
    lines = other.read_bytes().splitlines(keepends=True)
    other.write_bytes(b"".join(lines[:12]))
    for form in ("plain", "rich", "jsonl"):
        done = beaver("--batch", "--resume", finished, "--format", form)
        assert done.code == 1, done.err
        assert "Traceback" not in done.err
        assert "journal.jsonl:1" in done.out.replace("\n", "")
        assert [row["task"] for row in manifest(finished)] == ["task1"] * 4
    assert damaged.read_bytes() == b"{garbage}\n"


def test_a_missing_reply_is_the_fault_of_its_cell_alone(finished: Path):
    directory = RunDirectory(finished)
    first, second = (directory.journal(cell) for cell in directory.plan)
    for journal in (first, second):
        lines = journal.read_bytes().splitlines(keepends=True)
        asked = next(number for number, line in enumerate(lines) if b'"reply_received"' in line)
        journal.write_bytes(b"".join(lines[: asked + 1]))
    cut = first.read_bytes().splitlines()
    gone = json.loads([line for line in cut if b'"reply_received"' in line][-1])["response"]
    for path in (finished / "responses").glob(f"{gone}.*"):
        path.unlink()
    done = beaver("--batch", "--resume", finished, "--format", "plain")
    assert done.code == 1, done.err
    assert [line.split("  ")[0] for line in done.lines if "infra_error (cell" in line] == ["task0 · scripted:s"]
    assert gone[:12] in done.out
    assert [row["task"] for row in manifest(finished)].count("task1") == 4


def test_another_writer_of_one_journal_is_the_fault_of_its_cell_alone(finished: Path):
    directory = RunDirectory(finished)
    with Journal(directory.journal(directory.plan[0])):
        done = beaver("--batch", "--resume", finished, "--format", "plain")
    assert done.code == 1, done.err
    assert "another process is writing this trajectory" in done.out
    assert len(manifest(finished)) == 8


def test_a_fixer_recorded_without_its_secrets_is_taken_from_the_config_or_not_at_all(tmp_path: Path):
    tasks = tmp_path / "corpus"
    write_task(tasks, "only")
    run = tmp_path / "run"
    config = tmp_path / "config.yaml"
    with OpenAIServer(f"```cpp\n{BROKEN}```") as server:
        entry = (
            f"{{name: model, model: m, base_url: '{server.url.replace('//', '//me:pass@')}', "
            "extra_body: {auth_token: sk-1, eos_token: '</s>'}}"
        )
        config.write_text(f"fixers:\n  - {entry}\nprotocol: {{k: 1}}\njobs: 1\n")
        assert beaver("--batch", "--corpus", tasks, "--config", config, "--out", run).code == 0
        (run / "trajectories" / "only" / "model" / "1" / "journal.jsonl").unlink()

        bare = beaver("--batch", "--resume", run)
        assert bare.code == 2
        assert "the secrets in base_url, extra_body of fixer 'model' were not written down; add --config" in bare.err

        other = tmp_path / "other.yaml"
        other.write_text(config.read_text().replace("model: m,", "model: m, seed: 3,"))
        different = beaver("--batch", "--resume", run, "--config", other)
        assert different.code == 2
        assert "differs from the recorded one in seed" in different.err

        whole = beaver("--batch", "--resume", run, "--config", config)
        assert whole.code == 0, whole.err
        assert "ignored: protocol, jobs" in whole.err
        assert [body["auth_token"] for body in server.bodies] == ["sk-1", "sk-1"]
        assert all("***" not in json.dumps(body) for body in server.bodies)


def test_a_plan_that_names_a_stranger_is_refused(finished: Path):
    _record(finished, plan=None)
    with (finished / "plan.jsonl").open("a") as stream:
        stream.write('{"task":"task0","fixer":"nobody","attempt":1}\n')
    done = beaver("--batch", "--resume", finished)
    assert done.code == 2
    assert "task0 · nobody: no such task or fixer in this run" in done.err


def test_a_solution_lost_in_a_power_cut_is_extracted_from_its_reply_again(
    corpus: Path, undisturbed: list[dict], tmp_path: Path
):
    """Solutions are not fsynced: the journal can name one whose file was left empty."""
    run = tmp_path / "run"
    beaver("--batch", "--corpus", corpus, "--fixer", "scripted:s", "--out", run, "--seed", SEED)
    directory = RunDirectory(run)
    journal = directory.journal(directory.plan[0])
    lines = journal.read_bytes().splitlines(keepends=True)
    second = next(number for number, line in enumerate(lines) if b'"iteration":2' in line)
    journal.write_bytes(b"".join(lines[:second]))
    for path in (run / "solutions").iterdir():
        path.write_bytes(b"")
    done = beaver("--batch", "--resume", run)
    assert done.code == 0, done.err
    assert comparable(manifest(run)) == undisturbed
    solution = json.loads(lines[3])["solution"]
    assert (run / "solutions" / f"{solution}.cpp").stat().st_size > 0
