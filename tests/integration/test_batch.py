"""The command line as a user meets it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from beaver_tui.batch.printers import FORMATS
from tests.support.openai_server import OpenAIServer, status
from tests.support.program import PROGRAM, beaver, manifest, start_beaver
from tests.support.tasks import BROKEN, SOLUTION, write_task
from tests.support.until import until, waiting_at


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_task(
        tmp_path / "corpus", "one", answers={"s": [BROKEN + "//", BROKEN + "// again", BROKEN + "// more", SOLUTION]}
    )
    write_task(tmp_path / "corpus", "two/x:7b")
    return tmp_path / "corpus"


def batch(corpus: Path, *arguments: object, **environment: str):
    return beaver("--batch", "--corpus", corpus, "--out", corpus.parent / "run", *arguments, **environment)


def test_plain_prints_a_line_an_iteration_and_a_summary(corpus: Path):
    done = batch(corpus, "--fixer", "scripted:s", "--format", "plain")
    assert done.code == 0, done.err
    told = [line for line in done.lines if line.startswith("one · scripted:s  1/5")]
    assert len(told) == 1
    assert "buildability" in told[0]
    assert "scripted:s  ended by: 1 no_progress" in done.out
    assert "\x1b" not in done.out


def test_jsonl_prints_an_event_a_line_and_a_summary(corpus: Path):
    done = batch(corpus, "--fixer", "scripted:s", "--format", "jsonl")
    kinds = [item["event"]["type"] for item in done.objects if "event" in item]
    assert kinds[:3] == ["run_opened", "trajectory_opened", "request_built"]
    assert kinds[-1] == "trajectory_closed"
    assert done.objects[-1]["summary"][0]["fixer"] == "scripted:s"


def test_rich_shows_progress_and_a_table(corpus: Path):
    done = batch(corpus, "--fixer", "scripted:s", "--format", "rich")
    assert done.code == 0, done.err
    assert "trajectories" in done.out
    assert "first iterations: " in done.out


def test_a_recorded_fixer_promises_nothing_for_tasks_without_answers(corpus: Path):
    batch(corpus, "--fixer", "scripted:s")
    plan = [json.loads(line) for line in (corpus.parent / "run" / "plan.jsonl").read_text().splitlines()]
    assert [cell["task"] for cell in plan] == ["one"]


def test_names_with_slashes_and_colons_make_safe_folders_and_raw_rows(corpus: Path, tmp_path: Path):
    script = tmp_path / "script.yaml"
    script.write_text(f"'two/x:7b': [{json.dumps('```cpp' + chr(10) + BROKEN + '```')}]\n")
    done = batch(corpus, "--fixer", f"scripted:{script}", "--tasks", "two/*")
    assert done.code == 0, done.err
    run = corpus.parent / "run"
    assert manifest(run)[0]["task"] == "two/x:7b"
    assert (run / "trajectories" / "two%2Fx%3A7b").is_dir()


def test_repeated_sampling_plays_independent_attempts_from_the_first_prompt(corpus: Path):
    with OpenAIServer(f"```cpp\n{BROKEN}// mine\n```") as server:
        config = corpus.parent / "config.yaml"
        config.write_text(f"fixers:\n  - {{name: model, model: m, base_url: '{server.url}', seed: 7}}\n")
        done = batch(corpus, "--config", config, "--preset", "paper-repeated", "--attempts", 6, "--tasks", "one")
        assert done.code == 0, done.err
        rows = manifest(corpus.parent / "run")
        assert [(row["attempt"], row["iteration"]) for row in rows] == [(n, 1) for n in range(1, 7)]
        assert len({row["prompt"] for row in rows}) == 1
        assert {body["temperature"] for body in server.bodies} == {1.0}
        assert len({body["seed"] for body in server.bodies}) == 6
        # signals go across attempts, and stop nothing
        assert rows[0]["signals"] == []
        assert "duplicate_code" in rows[1]["signals"]
        assert "no_progress" in rows[2]["signals"]


def test_a_service_that_is_down_is_an_infrastructure_fault(corpus: Path):
    with OpenAIServer() as server:
        server.queue(*[status(401)] * 20)
        config = corpus.parent / "config.yaml"
        config.write_text(f"fixers:\n  - {{name: model, model: m, base_url: '{server.url}'}}\n")
        done = batch(corpus, "--config", config, "--format", "plain")
    assert done.code == 1
    assert "infra_error (auth" in done.out
    row = next(line for line in done.lines if line.startswith("model  "))
    assert row.split() == ["model", "0", "of", "2", "0", "2", "2", "0", "-"]
    assert manifest(corpus.parent / "run") == []


def test_replay_gives_the_same_rows(corpus: Path):
    batch(corpus, "--fixer", "scripted:s")
    first = corpus.parent / "run"
    again = corpus.parent / "again"
    done = beaver("--batch", "--corpus", corpus, "--fixer", f"replay:{first}", "--out", again)
    assert done.code == 0, done.err
    assert [row["solution"] for row in manifest(again)] == [row["solution"] for row in manifest(first)]
    assert [row["category"] for row in manifest(again)] == [row["category"] for row in manifest(first)]


def test_no_key_is_written_anywhere_in_a_run(corpus: Path):
    with OpenAIServer(f"```cpp\n{BROKEN}```") as server:
        config = corpus.parent / "config.yaml"
        config.write_text(f"fixers:\n  - {{name: model, model: m, base_url: '{server.url}', api_key_env: MY_KEY}}\n")
        done = batch(corpus, "--config", config, "--tasks", "one", "-k", 1, MY_KEY="sk-very-secret-0001")
        assert done.code == 0, done.err
        assert server.requests[0].headers["authorization"] == "Bearer sk-very-secret-0001"
    for path in (corpus.parent / "run").rglob("*"):
        assert not path.is_file() or b"very-secret" not in path.read_bytes()


BAD = [
    (["--fixer", "scripted"], "--fixer scripted: unknown; use scripted:SCRIPT"),
    (["--fixer", "nobody"], "--fixer nobody: unknown"),
    ([], "no fixer: give --fixer NAME"),
    (["--fixer", "scripted:nothing"], "has no answer for any of the 2 chosen tasks; their scripts are s"),
    (["--fixer", "scripted:/no/such.yaml"], "No such file"),
    (["--fixer", "scripted:s", "--tasks", "zzz*"], "--tasks zzz*: matches none of the 2 tasks"),
    (["--fixer", "scripted:s", "-k", "0"], "k=0 must be between 1 and 1000"),
    (["--fixer", "scripted:s", "-k", "five"], "'five' is not a valid integer"),
    (["--fixer", "scripted:s", "--gate", "-1"], "gate=-1.0 must be 0 or more"),
    (["--fixer", "scripted:s", "--feedback", "L9"], "'L9' is not one of"),
    (["--fixer", "scripted:s", "--preset", "papper"], "--preset papper: choose paper or paper-repeated"),
    (["--fixer", "scripted:s", "--device", "tpu"], "--device tpu: choose auto"),
    (["--fixer", "scripted:s", "--device", "tpu"], "choose auto, cuda, cuda:N, cpu or none"),
    (["--fixer", "scripted:s", "--sandbox", "paper"], "--sandbox paper: choose auto"),
    (["--fixer", "scripted:s", "--jobs", "-2"], "--jobs -2: must be at least 1"),
    (["--fixer", "scripted:s", "--attempts", "-2"], "--attempts -2: must be at least 1"),
    (["--fixer", "scripted:s", "--jobs", "0"], "--jobs 0: must be at least 1"),
    (["--fixer", "scripted:s", "--attempts", "0"], "--attempts 0: must be at least 1"),
    (["--fixer", "scripted:s", "--device", ""], "--device : choose auto"),
    (["--fixer", "scripted:s", "--seed", ""], "--seed: must not be empty"),
    (["--fixer", "scripted:s", "--gate", "nan"], "gate=nan must be a finite number"),
    (["--fixer", "scripted:s", "--gate", "inf"], "gate=inf must be a finite number"),
    (["--fixer", "scripted:s", "--temperature", "nan"], "temperature=nan must be a finite number"),
    (["--fixer", "scripted:s", "--corpus", "/no/such"], "/no/such: no such folder"),
    (["--fixer", "scripted:s", "--out", "/proc/run"], "/proc/run: cannot be written"),
    (["--fixer", "scripted:s", "--fixer", "scripted:s"], "scripted:s is given twice"),
    (["--fixer", "replay:/no/such"], "/no/such: no run here"),
    (["--fixer", "chat:gpt-x@https://models.example/v1"], "needs a key"),
    (["--config", "/no/such.yaml"], "--config /no/such.yaml: No such file"),
    (["--bogus"], "No such option"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(map(str, case[0]))[:40] for case in BAD])
def test_bad_input_is_one_clear_line_and_leaves_nothing(corpus: Path, arguments: list[str], message: str):
    done = batch(corpus, *arguments)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert done.out == ""
    assert not (corpus.parent / "run").exists()


BAD_CONFIGS = [
    ("fixers: [", "not YAML"),
    ("fixxers: []", "unknown key fixxers; did you mean fixers?"),
    ("protocol: {histroy: 3}", "unknown key protocol.histroy; did you mean history?"),
    ("protocol: {k: many}", "protocol"),
    ("fixers: [{name: a, modle: b}]", "unknown key fixers[0].modle; did you mean model?"),
    ("fixers: [{name: a, model: b, api_key: sk-1}]", "api_key"),
    ("- a\n- b", "must be a mapping"),
    ("jobs: lots", "jobs"),
    ("jobs: 0", "jobs 0: must be at least 1"),
    ("attempts: 0", "attempts 0: must be at least 1"),
    ("limits: {memory_mib: 0}", "limits.memory_mib 0: must be at least 1"),
    ("limits: {file_size_mib: -1}", "limits.file_size_mib -1: must be at least 1"),
    ("limits: {processes: 99999999999}", "limits.processes 99999999999: must be at most"),
    ("protocol: {gate: .nan}", "config.yaml: protocol: gate=nan must be a finite number"),
    ("protocol: {temperature: .inf}", "config.yaml: protocol: temperature=inf must be a finite number"),
    ("protocol: 5", "protocol: must be a mapping"),
    ("tasks: one", "tasks"),
    ("x: 2026-13-45", "not YAML"),
    ("api: {model: m}\nexperiment: {tasks: one}", 'tasks: must be a list, for example ["scan_*"]'),
    ("api: {model: m, max_tokens: 8k}", "fixers[0].max_tokens: must be a whole number, not text"),
    ("api: {model: m, timeout: soon}", "fixers[0].timeouts.read: must be a number, not text"),
    ("api: {model: m, extra_body: 5, top_p: 0.9}", "fixers[0].extra_body: must be a mapping"),
    ("api: {model: m, temperature: hot}", "temperature: "),
    ("api: {model: m}\nexperiment: {n_attempts: '3'}", "attempts: must be a whole number, not text"),
    ("api: {model: m}\nperformance_gate: {threshold: .nan}", "gate=nan must be a finite number"),
    ("api: 5", "api: must be a mapping"),
    ("limits: {memory: 3}", "unknown key limits.memory; did you mean memory_mib?"),
]


@pytest.mark.parametrize(("text", "message"), BAD_CONFIGS, ids=[case[0] for case in BAD_CONFIGS])
def test_a_bad_config_is_one_clear_line(corpus: Path, text: str, message: str):
    config = corpus.parent / "config.yaml"
    config.write_text(text)
    done = batch(corpus, "--fixer", "scripted:s", "--config", config)
    assert done.code == 2
    assert message in done.err
    assert "sk-1" not in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not (corpus.parent / "run").exists()


def test_two_tasks_and_one_desk_wait_for_each_other(corpus: Path, tmp_path: Path):
    desk = tmp_path / "desk"
    process = start_beaver(
        "--batch", "--corpus", corpus, "--out", tmp_path / "run", "--fixer", f"human:{desk}", "-k", 1, "--jobs", 2
    )
    for submitted in range(2):
        until(lambda: waiting_at(desk), "a person is waited for")
        task = json.loads((desk / "waiting.json").read_text())["task"]
        assert beaver("submit", desk, "--same").code == 0
        until(
            lambda task=task, last=submitted: (
                process.poll() is not None if last else waiting_at(desk) and waiting_at(desk)["task"] != task
            ),
            "the other task takes the desk",
        )
    _out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert {row["task"] for row in manifest(tmp_path / "run")} == {"one", "two/x:7b"}


def test_an_error_of_one_cell_is_that_cells_fault_and_the_others_go_on(corpus: Path, tmp_path: Path):
    """Another process sits at the desk: the person's cells fail, the scripted ones are played."""
    desk = tmp_path / "desk"
    first = start_beaver("--batch", "--corpus", corpus, "--out", tmp_path / "other", "--fixer", f"human:{desk}")
    until(lambda: waiting_at(desk), "a person is waited for")
    done = batch(corpus, "--fixer", f"human:{desk}", "--fixer", "scripted:s", "--format", "plain", "--jobs", 2)
    first.kill()
    first.communicate(timeout=60)
    assert done.code == 1, done.err
    faults = [line for line in done.lines if "infra_error (cell, given up)" in line]
    assert [line.split("  ")[0] for line in faults] == ["one · human", "two/x:7b · human"]
    assert all("another fixer waits here already" in line for line in faults)
    assert [row["fixer"] for row in manifest(corpus.parent / "run")] == ["scripted:s"] * 3


@pytest.mark.parametrize("form", FORMATS)
def test_output_that_nobody_reads_stops_the_batch_and_leaves_a_run_that_goes_on(corpus: Path, form: str):
    run = corpus.parent / "run"
    words = f"--batch --corpus {corpus} --out {run} --fixer scripted:s --format {form} --jobs 1"
    command = f"{' '.join(PROGRAM)} {words} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert f"go on with: beaver-tui --batch --resume {run}" in done.stderr
    resumed = beaver("--batch", "--resume", run)
    assert resumed.code == 0, resumed.err
    assert len(manifest(run)) == 3


def test_what_the_service_is_sent_is_what_was_configured_not_what_was_recorded(corpus: Path):
    with OpenAIServer(f"```cpp\n{BROKEN}```") as server:
        config = corpus.parent / "config.yaml"
        address = server.url.replace("http://", "http://me:pass@")
        body = "{eos_token: '</s>', auth_token: sk-body-1}"
        config.write_text(f"fixers:\n  - {{name: model, model: m, base_url: '{address}', extra_body: {body}}}\n")
        done = batch(corpus, "--config", config, "--tasks", "one", "-k", 1)
        assert done.code == 0, done.err
        assert (server.bodies[0]["eos_token"], server.bodies[0]["auth_token"]) == ("</s>", "sk-body-1")
    record = (corpus.parent / "run" / "run.json").read_text()
    assert "sk-body-1" not in record
    assert "me:pass" not in record
    assert "</s>" in record


def test_every_run_line_is_free_of_control_sequences_and_line_ends(corpus: Path):
    """A service's words come into an infra_error; they must not move a cursor or fake another line."""
    with OpenAIServer() as server:
        server.queue(*[status(401, "no\x1b[2J\nmodel  solved: passed\u2028x")] * 20)
        config = corpus.parent / "config.yaml"
        config.write_text(f"fixers:\n  - {{name: model, model: m, base_url: '{server.url}'}}\n")
        for form in ("plain", "rich"):
            shutil.rmtree(corpus.parent / "run", ignore_errors=True)
            done = batch(corpus, "--config", config, "--format", form, "--tasks", "one", COLUMNS="300")
            assert "\x1b" not in done.out
            assert not any(line.startswith("model  solved") for line in done.lines)


def test_the_releases_dialect_is_read_and_each_strange_key_is_named(corpus: Path):
    config = corpus.parent / "config.yaml"
    config.write_text(
        "api: {backend: vllm, model: some/model, base_url: 'http://localhost:1/v1', temperature: 0.7, timeout: 300}\n"
        "experiment: {name: x, feedback_level: 3, feedback_mode: raw, max_iterations: 2, max_history_rounds: 1, "
        "dataset_dir: data, tasks: [one]}\nbuild: {workdir: /tmp/w}\n"
    )
    done = batch(corpus, "--fixer", "scripted:s", "--config", config)
    assert done.code == 0, done.err
    assert "experiment.dataset_dir, build.workdir" in done.err
    protocol = json.loads((corpus.parent / "run" / "run.json").read_text())["protocol"]
    assert (protocol["k"], protocol["history"], protocol["feedback"], protocol["temperature"]) == (2, 1, "L3raw", 0.7)


def test_without_nvcc_the_message_says_what_to_install(corpus: Path, tmp_path: Path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bwrap", "prlimit", "sh", "unshare"):
        (tools / name).symlink_to(shutil.which(name) or "/bin/sh")
    done = batch(corpus, "--fixer", "scripted:s", PATH=str(tools), CUDA_HOME="", CUDA_PATH="")
    assert done.code == 2
    assert "nvcc: not found" in done.err
    assert "beaver-tui[toolkit]" in done.err
    assert not (corpus.parent / "run").exists()


def test_a_folder_that_holds_anything_is_no_place_for_a_run(corpus: Path):
    run = corpus.parent / "run"
    run.mkdir()
    (run / "thesis.txt").write_text("precious")
    done = batch(corpus, "--fixer", "scripted:s")
    assert done.code == 2
    assert "not empty" in done.err
    assert [path.name for path in run.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda task: (task / "input.json").write_text("{"), "input.json: not JSON"),
        (lambda task: (task / "input.json").write_text("{}"), "missing required field `task_id`"),
        (lambda task: _edit(task, backend="rust"), "input.json: backend: "),
        (lambda task: _edit(task, colour="red"), "unknown field `colour`"),
        (
            lambda task: _edit(task, solution_file="../x.cu"),
            "input.json: solution_file: '../x.cu' must be a relative path",
        ),
        (lambda task: _edit(task, timing_parser="("), "input.json: timing_parser: is not a regular expression"),
        (lambda task: shutil.rmtree(task / "testbench"), "testbench: missing"),
        (lambda task: shutil.rmtree(task / "checker"), "checker: missing"),
        (lambda task: (task / "broken.cpp").unlink(), "broken.*: missing"),
        (lambda task: (task / "prompt.txt").write_bytes(b"\xff"), "prompt.txt: not UTF-8"),
        (lambda task: (task / "input.json").unlink(), "input.json: missing"),
    ],
    ids=[
        "input.json is no JSON",
        "input.json is empty",
        "unknown backend",
        "unknown field",
        "solution outside the task",
        "timing_parser is no pattern",
        "no testbench",
        "no checker",
        "no broken start",
        "prompt is not UTF-8",
        "no input.json",
    ],
)
def test_a_faulty_task_names_file_field_and_reason(corpus: Path, damage, message: str):
    damage(corpus / "one")
    done = batch(corpus, "--fixer", "scripted:s")
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1
    checked = beaver("tasks", "--corpus", corpus, "--check")
    assert checked.code == 2
    assert message in checked.err
    assert "1 task is sound, 1 is not" in checked.out


def _edit(task: Path, **fields: object) -> None:
    path = task / "input.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_other_commands(corpus: Path, tmp_path: Path):
    assert beaver("--version").out.startswith("beaver-tui ")
    assert beaver("--help").code == 0
    assert beaver().code == 2
    unknown = beaver("tsks")
    assert unknown.code == 2
    assert "did you mean tasks?" in unknown.err
    listed = json.loads(beaver("tasks", "--corpus", corpus, "--json").out)
    assert [row["task"] for row in listed] == ["one", "two/x:7b"]
    assert "toolkit" in beaver("doctor").out
    nobody = beaver("submit", tmp_path)
    assert nobody.code == 2
    assert len(nobody.err.strip().splitlines()) == 1


def test_classify_reads_records_and_names_bad_lines():
    records = [
        {"id": "a", "build": {"exit_code": 0}, "test": {"exit_code": 0, "stdout": "0 out of memory errors"}},
        {"id": "b", "build": {"exit_code": 1, "stderr": 's.cu(3): error: expected a ";"'}, "test": None, "extra": 1},
    ]
    text = json.dumps(records[0]) + "\nnot json\n" + json.dumps(records[1]) + "\n"
    done = beaver("classify", "-", given=text)
    assert done.code == 1
    assert [(row["id"], row["category"]) for row in done.objects] == [("a", "passed"), ("b", "buildability")]
    assert ":2:" in done.err


def test_a_folder_named_engine_in_the_users_directory_never_wins(corpus: Path, tmp_path: Path):
    here = tmp_path / "project"
    (here / "engine").mkdir(parents=True)
    (here / "engine" / "__init__.py").write_text("raise SystemExit('hijacked')")
    assert beaver("tasks", "--corpus", corpus, folder=here).code == 0


def test_output_into_a_closed_pipe_is_no_error(corpus: Path):
    command = " ".join(PROGRAM) + f" tasks --corpus {corpus} --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=os.environ, check=False)
    assert "Traceback" not in done.stderr
