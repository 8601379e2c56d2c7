"""From a folder with a failing program to a task, and what is refused on the way."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.authoring.adopt import Refused, adopt
from engine.authoring.collect import collect
from engine.authoring.draft import Wish, editable
from engine.corpora import load_corpus
from engine.devices.base import Device
from engine.errors import ConfigError
from engine.harness.examine import Harness
from engine.verify import Effort, Verification, open_state
from tests.support.program import beaver
from tests.support.programs import BUILD, FLAKY, PARTS, SHAPES, SUM, WRONG, Counting, Program


@pytest.fixture
def keeping(harness: Harness):
    with closing(replace(harness, keep_builds=True)) as made:
        yield made


@pytest.fixture
def made(tmp_path: Path, keeping: Harness):
    """Adopts a program into tmp_path/tasks."""

    async def make(program: Program, harness: Harness | None = None, **words: Any):
        folder = program.write(tmp_path / "program")
        given = {**program.words, **words}
        if "reference" in given:
            given["reference"] = folder / given["reference"]
        wish = Wish(folder, program.file, program.build, program.test, name="mine", **given)
        return await adopt(wish, harness or keeping, tmp_path / "tasks", repeats=2)

    return make


@pytest.mark.parametrize("shape", sorted(SHAPES))
async def test_each_shape_of_program_becomes_a_task_that_verify_calls_ok(made, keeping, tmp_path: Path, shape: str):
    program = SHAPES[shape]
    adopted = await made(program)
    task = load_corpus(tmp_path / "tasks").tasks["mine"]
    assert adopted.category == task.spec.category == program.category
    assert task.broken == program.files[program.file].encode()
    assert task.error_log.strip()
    assert program.build in task.prompt and program.test in task.prompt
    with open_state(tmp_path / "state.jsonl") as state:
        (row,) = await Verification(keeping, state, Effort(repeats=2, launches=2)).run([task])
    assert (row.verdict, row.reason) == ("ok", "")
    assert row.category == program.category
    assert not any(text.startswith("error.log") for text in row.lint)


async def refused(made, program: Program, **words: Any) -> str:
    with pytest.raises((Refused, ConfigError)) as caught:
        await made(program, **words)
    return str(caught.value)


async def test_a_program_that_passes_is_refused_and_told_what_else_there_is(made, tmp_path: Path):
    said = await refused(made, Program({**PARTS, "sum.cpp": SUM}, "sum.cpp", BUILD, "./prog", ""))
    assert "passes already" in said and "--timing-regex" in said and "--pass-regex" in said
    assert not (tmp_path / "tasks").exists()


async def test_a_program_that_fails_differently_is_refused_with_both_outcomes(made, harness: Harness, tmp_path: Path):
    program = Program({**PARTS, "sum.cpp": WRONG}, "sum.cpp", BUILD, FLAKY, "")
    with closing(replace(harness, device=Counting("counting", "counting", sm=90))) as counting:
        said = await refused(made, program, harness=counting)
    assert "not reproducible" in said
    assert "functional_correctness" in said and "illegal_memory_access" in said
    assert not (tmp_path / "tasks").exists()


FAULTY_COMMANDS = {
    "a compiler that is not there": ("no-such-compiler -o prog sum.cpp", "./prog", "--build"),
    "a source that is not there": ("g++ -o prog main.cpp sum.cpp other.cpp", "./prog", "other.cpp"),
    "a make target that is not there": ("make prog", "./prog", "No rule to make target"),
    "a CMake folder without lists": ("cmake -S . -B build", "./prog", "CMakeLists"),
    "a build that fails without a word": (f"{BUILD}; exit 1", "./prog", "exit code 1, and not a word"),
    "a build that prints and then fails": (f"{BUILD}; echo built in $(date +%N) ns; exit 1", "./prog", "built in"),
    "a build that fails in another file": (f"{BUILD} -Dmain=int", "./prog", "main.cpp"),
    "a build that never comes to the file": ("echo checking; false && " + BUILD, "./prog", "checking"),
    "an option that nvcc does not know": ("nvcc --no-such-option -o prog sum.cpp", "./prog", "nvcc fatal"),
    "a test program that is not there": (BUILD, "./other", "--test"),
    "a test script that is not there": (BUILD, "python3 missing.py", "missing.py"),
}


@pytest.mark.parametrize("case", sorted(FAULTY_COMMANDS))
async def test_commands_that_fail_by_themselves_are_refused(made, case: str):
    build, test, word = FAULTY_COMMANDS[case]
    said = await refused(made, Program({**PARTS, "sum.cpp": WRONG}, "sum.cpp", build, test, ""))
    assert "the command itself fails" in said
    assert word in said


async def test_what_the_cpu_device_cannot_do_is_no_failure_to_repair(made):
    said = "beaver-tui CPU device: kernel k asks for clusters of blocks: needs a GPU"
    test = f"echo '{said}' >&2; exit 125"
    told = await refused(made, Program({**PARTS, "sum.cpp": WRONG}, "sum.cpp", BUILD, test, ""))
    assert "cannot be run on this device: kernel k asks for clusters of blocks: needs a GPU" in told


@pytest.mark.parametrize(
    ("option", "pattern", "word"),
    [("pass_regex", "(", "--pass-regex (: is not a regular expression"), ("timing_regex", "ms", "needs a group")],
)
def test_a_bad_pattern_is_named_by_its_option(option: str, pattern: str, word: str, tmp_path: Path):
    (tmp_path / "sum.cpp").write_text(WRONG)
    wish = Wish(tmp_path, "sum.cpp", BUILD, "./prog", **{option: pattern})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=re.escape(word)):
        editable(wish)


async def test_a_missing_header_of_the_editable_file_is_a_failure_to_repair(made):
    source = '#include "no_such_header.h"\n' + WRONG
    adopted = await made(Program({**PARTS, "sum.cpp": source}, "sum.cpp", BUILD, "./prog", ""))
    assert adopted.bucket == "compile_error"


async def test_a_check_in_the_build_that_looks_at_the_file_is_a_failure_to_repair(made):
    build = f"{BUILD} && echo 'the program holds no tensor cores' && exit 1"
    adopted = await made(Program({**PARTS, "sum.cpp": WRONG}, "sum.cpp", build, "./prog", ""))
    assert adopted.evidence_line == "the program holds no tensor cores"


@pytest.mark.parametrize(
    ("file", "content", "word"),
    [("none.cu", None, "no such file"), ("sum.cpp", "  \n", "is empty"), ("../up.cpp", None, "inside"), ("prog.o", "x", "left out")],
)  # fmt: skip
async def test_nothing_to_edit_is_refused(made, file: str, content: str | None, word: str):
    files = {**PARTS, "sum.cpp": WRONG, **({file: content} if content is not None else {})}
    assert word in await refused(made, Program(files, file, BUILD, "./prog", ""))


async def test_a_reference_that_fails_is_refused(made):
    program = Program({**PARTS, "sum.cpp": WRONG, "bad.cpp": WRONG}, "sum.cpp", BUILD, "./prog", "")
    assert "does not pass" in await refused(made, program, reference=Path("bad.cpp"))


async def test_a_slow_program_that_is_fast_enough_is_refused(made):
    program = SHAPES["slow"]
    quick = replace(program, files={**program.files, "main.cpp": program.files["fast.txt"]})
    assert "at 1.00 of the reference's speed" in await refused(made, quick)


async def test_a_program_that_cannot_be_run_here_is_refused(made, harness: Harness):
    nowhere = replace(harness, device=Device(name="none", missing="there is no device"))
    with closing(nowhere):
        said = await refused(
            made, Program({**PARTS, "sum.cpp": WRONG}, "sum.cpp", BUILD, "./prog", ""), harness=nowhere
        )
    assert "there is no device" in said


async def test_a_task_that_is_there_is_never_written_over(made):
    program = Program({**PARTS, "sum.cpp": WRONG}, "sum.cpp", BUILD, "./prog", "")
    await made(program)
    assert "is there already" in await refused(made, program)


async def test_where_the_program_came_from_lies_beside_the_task(made, tmp_path: Path):
    adopted = await made(Program({**PARTS, "sum.cpp": WRONG}, "sum.cpp", BUILD, "./prog", ""))
    origin = json.loads((adopted.folder / "origin.json").read_text())
    assert origin == {"folder": str(tmp_path / "program"), "file": "sum.cpp"}


def test_sources_are_taken_and_what_was_built_is_not(tmp_path: Path):
    for name in (
        "a.cu",
        "lib/b.h",
        "data/x.f32",
        "a.o",
        "build/CMakeCache.txt",
        "build/deep/x.txt",
        ".git/config",
        "out/t.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "prog").write_bytes(b"\x7fELF....")
    (tmp_path / "link").symlink_to("a.cu")
    os.mkfifo(tmp_path / "fifo")
    found = collect(tmp_path, exclude=("*.f32",), without=tmp_path / "out")
    assert sorted(found.files) == ["a.cu", "lib/b.h"]
    assert found.left_out == {
        "built files": 2,
        "folders of built or installed things": 1,
        "hidden folders": 1,
        "links": 1,
        "special files": 1,
        "excluded": 2,
    }
    assert "2 files" in found.describe()


def test_too_much_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "small.txt").write_text("x")
    (tmp_path / "weights.bin").write_bytes(bytes(5000))
    monkeypatch.setattr("engine.authoring.collect.MOST_BYTES", 4096)
    with pytest.raises(ConfigError, match="weights.bin"):
        collect(tmp_path)
    monkeypatch.setattr("engine.authoring.collect.MOST_FILES", 0)
    with pytest.raises(ConfigError, match="more than 0 files"):
        collect(tmp_path)


def test_the_commands_make_check_and_verify_a_task(tmp_path: Path):
    folder = SHAPES["single file"].write(tmp_path / "program")
    words = ["--file", "k.cu", "--build", "nvcc -o prog k.cu", "--test", "./prog", "--out", tmp_path / "tasks"]
    done = beaver("init", folder, *words, "--device", "none", "--repeat", 2)
    assert done.code == 0, done.err
    assert "program-k: buildability" in done.lines[0] and "undeclared" in done.lines[0]
    assert "taken from" in done.err and "run 2: buildability" in done.err
    assert beaver("tasks", "--corpus", tmp_path / "tasks", "--check").code == 0
    verified = beaver(
        *("verify", "--corpus", tmp_path / "tasks", "--device", "none", "--repeat", 2, "--json"),
        *("--out", tmp_path / "state.jsonl"),
    )
    assert verified.code == 0, verified.err
    assert verified.objects[0]["verdict"] == "ok"
    again = beaver("init", folder, *words, "--device", "none")
    assert again.code == 2 and "is there already" in again.err
    assert len(again.err.splitlines()) == 1
