"""A CUDA kernel with an access out of bounds, on the CPU device, in a real terminal: what the sanitizers and the timing say of it."""

from __future__ import annotations

import shutil

import pytest

from engine.corpora import builtin_folder
from tests.tui.live import Bench, categories
from tests.tui.terminal import needs_tmux

pytestmark = [needs_tmux, pytest.mark.slow, pytest.mark.xdist_group("CPU device")]

STORE, FAR = "out[c] = expf(", "out[c + (1 << 28)] = expf("


def test_a_kernel_out_of_bounds_is_sanitized_and_timed_from_the_workbench(bench: Bench):
    corpus = bench.folder / "corpus"
    for name in ("softmax_rows", "shared"):
        shutil.copytree(builtin_folder() / name, corpus / name)
    sound = (corpus / "softmax_rows" / "reference.cu").read_text()
    assert sound.count(STORE) == 1
    answer = corpus / "softmax_rows" / "answers" / "far" / "1.cu"
    answer.parent.mkdir()
    answer.write_text(sound.replace(STORE, FAR))
    words = ("softmax_rows", "--corpus", "corpus", "--fixer", "scripted:far", "--device", "cpu", "-k", "1")
    terminal = bench.open(*words, columns=160, rows=50)
    terminal.wait_for("step 1 of 1", "REPLAY", "illegal_memory_access", "ended: max_iterations", seconds=600)
    assert categories(bench.run) == ["illegal_memory_access"]

    terminal.press("S")
    terminal.wait_for("the sanitizers of step 1: running; ^c stops it", seconds=60)
    terminal.press("T")
    terminal.wait_for("the sanitizers first: still running")
    terminal.wait_for("step 1: memcheck: found something", seconds=600)
    terminal.press("3", "Tab", "g")
    terminal.wait_for("Invalid __global__ write of size 4")

    terminal.press("T")
    terminal.wait_for("step 1: unmeasured: ", "its times say nothing about a GPU", seconds=60)
