"""The lens over compiled code, with a real compiler: SASS where a disassembler is, PTX everywhere; and the command."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.devices.toolkit import find_toolkit
from engine.errors import ConfigError
from engine.harness.disassembly import compiled_structure
from engine.harness.sandbox import choose_sandbox
from engine.verdict.compiled import Compiled

PAIRS = Path(__file__).parents[1] / "fixtures" / "lens" / "pairs"
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")


def built(name: str, part: str, *, disassemble: bool) -> Compiled:
    code = (PAIRS / name / f"{part}.cu").read_bytes()
    return asyncio.run(
        compiled_structure(
            code, "solution.cu", toolkit=find_toolkit(), sandbox=choose_sandbox(), disassemble=disassemble
        )
    )


def test_ptx_is_counted_where_nothing_disassembles():
    start = built("copies_ahead_dropped", "start", disassemble=False)
    (kernel,) = start.kernels
    assert start.source == "PTX for sm_90"
    assert start.count("async_copies") >= 2
    assert (start.count("barriers"), start.count("wide_stores")) == (1, 1)
    assert (kernel.resources.registers > 0, kernel.resources.shared) == (True, 8192)


@pytest.mark.skipif(find_toolkit().program("nvdisasm") is None, reason="needs a disassembler")
def test_sass_shows_what_a_fix_lost():
    start = built("copies_ahead_dropped", "start", disassemble=True)
    slow = built("copies_ahead_dropped", "degenerate", disassemble=True)
    assert start.language == "SASS"
    assert start.count("async_copies") >= 2
    assert (slow.count("async_copies"), slow.count("shared_loads")) == (0, 0)


def test_a_source_that_does_not_compile_is_told_in_the_compilers_words():
    with pytest.raises(ConfigError, match=r"(?s)does not compile for sm_90: .*wibble"):
        asyncio.run(compiled_structure(b"wibble;", "solution.cu", toolkit=find_toolkit(), sandbox=choose_sandbox()))


def test_python_is_not_compiled():
    with pytest.raises(ConfigError, match="compiled by PyTorch"):
        asyncio.run(compiled_structure(b"", "solution.py", toolkit=find_toolkit(), sandbox=choose_sandbox()))


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "beaver_tui", "lens", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def test_the_command_says_what_was_lost_and_where():
    done = command("softmax_rows", "corpus/softmax_rows/answers/degenerate/1.cu")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "corpus/softmax_rows/answers/degenerate/1.cu against softmax_rows (broken start)"
    assert "lost shared tiling (1 -> 0)  baseline 28 · candidate 6" in lines
    assert lines[-1] == "degeneration score 0.96"


def test_the_command_of_an_honest_fix():
    assert command("softmax_rows", "softmax_rows:reference").stdout.splitlines()[1:] == ["structure kept"]


def test_the_command_as_json():
    record = json.loads(command("softmax_rows", "corpus/softmax_rows/answers/degenerate/1.cu", "--json").stdout)
    assert record["score"] == pytest.approx(0.9572, abs=0.01)
    assert {"kind": "shared_tiling", "before": 1, "after": 0}.items() <= record["findings"][1].items()


MOSTLY = (
    "12 of them gave up structure, median score 0.89: fell back to loops of each thread 8, lost shared tiling 8, "
    "lost loops that threads share 6, lost warp shuffles 5"
)


def test_the_command_over_a_run():
    done = command("tests/fixtures/h200/run")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-3:] == [
        "scripted:good: 12 passed, 0 of them gave up structure",
        f"scripted:degenerate: 12 passed, {MOSTLY}",
        f"24 passed, {MOSTLY}",
    ]
    assert (
        "stencil_star · scripted:degenerate, iteration 1: passes, 0.08x, lost: shared tiling (1 -> 0); fell back to: "
        "launches in host loops (0 -> 4), launches (1 -> 5); score 0.70 against the broken start"
    ) in lines
    row = json.loads(command("tests/fixtures/h200/run", "--json").stdout.splitlines()[0])
    assert (row["task"], row["findings"], row["baseline"]) == ("attention_window", [], "broken start")


@pytest.mark.slow
def test_the_command_with_compiled_code():
    done = command("gemm_wmma", "corpus/gemm_wmma/answers/degenerate/1.cu", "--compiled")
    assert done.returncode == 0, done.stderr
    assert "tensor-core instructions" in done.stdout
    assert "registers" in done.stdout


def test_the_command_names_what_is_not_there():
    done = command("softmax_rows", "nowhere.cu")
    assert done.returncode == 2
    assert done.stderr.startswith("beaver-tui: nowhere.cu: neither a file nor a task of ")
