"""Closed streams, full disks, strange bytes and wrong words: one line, a documented exit code, never a traceback."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support.program import PROGRAM, Finished, beaver
from tests.support.tasks import BROKEN, write_task

ROOT = Path(__file__).parents[2]
CODES = {0, 1, 2, 130}


def shell(command: str, folder: Path | None = None, **environment: str) -> Finished:
    """A line for bash, in which $beaver is the program."""
    done = subprocess.run(
        ["bash", "-c", f"beaver={shlex.quote(shlex.join(PROGRAM))}; {command}"],
        capture_output=True,
        text=True,
        errors="backslashreplace",
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        timeout=120,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def is_one_line(done: Finished) -> None:
    assert done.code in CODES
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
    assert len(done.err.splitlines()) <= 1, done.err


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_task(tmp_path / "corpus", "one", answers={"s": [BROKEN + "//"], "t": [BROKEN]})
    return tmp_path / "corpus"


COMMANDS = ["--help", "--version", "tasks", "tasks --json", "doctor", "--batch --help", "classify evidence.jsonl"]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_full_disk_behind_standard_output_is_one_line(tmp_path: Path, words: str):
    (tmp_path / "evidence.jsonl").write_text('{"build": {"exit_code": 1}}\n')
    done = shell(f"$beaver {words} > /dev/full", folder=tmp_path)
    is_one_line(done)
    assert done.code == 2
    assert "No space left on device" in done.err


@pytest.mark.parametrize("form", ["plain", "rich", "jsonl"])
def test_a_full_disk_behind_a_batchs_output_stops_it(corpus: Path, tmp_path: Path, form: str):
    words = f"--batch --corpus {corpus} --fixer scripted:s --out run --format {form}"
    done = shell(f"$beaver {words} > /dev/full", folder=tmp_path)
    assert done.code == 130
    assert "Traceback" not in done.err
    assert "No space left on device" in done.err


@pytest.mark.parametrize("words", COMMANDS[:-1])
def test_a_closed_pipe_is_no_error(words: str):
    done = shell(f"(sleep 0.2; $beaver {words}; echo $? >&2) | true")
    assert done.err == "0\n"


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}], ids=["ascii", "C"])
@pytest.mark.parametrize("form", ["plain", "rich", "jsonl"])
def test_signs_that_the_encoding_lacks_end_nothing(corpus: Path, form: str, environment: dict[str, str]):
    run = corpus.parent / "run"
    done = beaver("--batch", "--corpus", corpus, "--fixer", "scripted:s", "--out", run, "--format", form, **environment)
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    if form == "jsonl":
        assert done.objects[-1]["summary"]


def test_json_is_utf8_whatever_the_terminal(tmp_path: Path):
    write_task(tmp_path / "corpus", "größe")
    done = shell(f"$beaver tasks --json --corpus {tmp_path / 'corpus'}", PYTHONIOENCODING="ascii")
    assert json.loads(done.out)[0]["task"] == "größe"


def test_a_closed_standard_input_holds_no_records():
    done = shell("$beaver classify - <&-")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_folder_that_is_gone_is_told(tmp_path: Path):
    done = shell(f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir $PWD && $beaver --batch --fixer scripted:good")
    is_one_line(done)
    assert done.code == 2
    assert "the current folder is gone" in done.err


def test_a_hundred_thousand_brackets_are_one_line(tmp_path: Path):
    (tmp_path / "deep.jsonl").write_text("[" * 100_000 + "\n")
    done = beaver("classify", tmp_path / "deep.jsonl")
    is_one_line(done)
    assert done.code in (1, 2)
    assert done.err


@pytest.mark.parametrize("option", ["--corpus", "--out", "--fixer", "--seed", "--config", "--resume", "--tasks"])
@pytest.mark.parametrize("value", ["$'\\xff'", "x" * 320], ids=["bytes", "long"])
def test_a_value_that_no_file_could_hold_is_one_line(corpus: Path, option: str, value: str):
    words = {"--corpus": str(corpus), "--fixer": "scripted:s"}
    words[option] = value
    if option == "--resume":
        words = {option: value}
    done = shell(f"$beaver --batch {' '.join(f'{name} {word}' for name, word in words.items())}", folder=corpus.parent)
    is_one_line(done)
    assert done.code == 2
    assert sorted(path.name for path in corpus.parent.iterdir()) == ["corpus"]


def test_a_script_named_too_long_for_a_folder_is_refused(corpus: Path):
    done = beaver("--batch", "--corpus", corpus, "--fixer", f"scripted:{'x' * 300}", folder=corpus.parent)
    is_one_line(done)
    assert "too long to name a folder" in done.err


def test_a_task_id_too_long_for_a_folder_is_a_fault_of_the_corpus(tmp_path: Path):
    task = write_task(tmp_path / "corpus", "one")
    spec = json.loads((task.folder / "input.json").read_text())
    (task.folder / "input.json").write_text(json.dumps({**spec, "task_id": "x" * 300}))
    done = beaver("tasks", "--corpus", tmp_path / "corpus", "--check")
    assert done.code == 2
    assert "task_id: xxx" in done.err
    assert "too long to name a folder" in done.err
    assert "0 tasks are sound, 1 is not" in done.out


def test_a_check_prints_every_fault(tmp_path: Path):
    write_task(tmp_path / "corpus", "sound")
    task = write_task(tmp_path / "corpus", "one")
    for name in ("prompt.txt", "error.log"):
        (task.folder / name).unlink()
    done = beaver("tasks", "--corpus", tmp_path / "corpus", "--check")
    assert done.code == 2
    assert [name for name in ("prompt.txt", "error.log") if f"{task.folder / name}: missing" in done.err] == [
        "prompt.txt",
        "error.log",
    ]
    assert "1 task is sound, 1 is not" in done.out


def test_a_fixer_without_answers_names_the_scripts_there_are(corpus: Path):
    done = beaver("--batch", "--corpus", corpus, "--fixer", "scripted:s", "--fixer", "scripted:godo", "--out", "run")
    is_one_line(done)
    assert done.code == 2
    assert "--fixer scripted:godo: has no answer for any of the 1 chosen tasks; their scripts are s, t" in done.err


def test_options_of_a_batch_without_batch_are_understood():
    done = beaver("--fixer", "scripted:good")
    assert done.code == 2
    assert "did you mean beaver-tui --batch --fixer scripted:good?" in done.err


@pytest.mark.parametrize("words", ["tasks --corpus ''", "--batch --corpus '' --fixer scripted:good"])
def test_an_empty_corpus_is_refused(words: str):
    done = shell(f"$beaver {words}")
    is_one_line(done)
    assert (done.code, "--corpus: must not be empty" in done.err) == (2, True)


def test_help_says_that_a_seed_is_any_text():
    text = beaver("--batch", "--help").out
    assert "--seed TEXT" in text
    assert "HEX" not in text


def test_attempts_that_repeated_sampling_raises_are_told(corpus: Path, tmp_path: Path):
    words = ("--corpus", corpus, "--fixer", "scripted:s", "--out", tmp_path / "run", "--sampling", "repeated")
    done = beaver("--batch", *words, "--attempts", 2)
    assert done.code == 0
    assert "--attempts 2: repeated sampling draws at least K attempts; 5 are played" in done.err


def test_a_named_key_that_is_not_set_is_told_for_a_local_service_too(corpus: Path, tmp_path: Path):
    config = tmp_path / "config.yaml"
    config.write_text(
        "fixers: [{name: m, model: m, base_url: 'http://localhost:9/v1', api_key_env: NO_SUCH_KEY, "
        "retries: {attempts: 1}}]\n"
    )
    done = beaver("--batch", "--corpus", corpus, "--config", config, "--out", tmp_path / "run")
    assert done.code == 1
    assert "fixer 'm': NO_SUCH_KEY is not set; localhost:9 is asked without a key" in done.err
