"""The built-in corpus before ``verify`` on the CPU device: every promise of every task that can be kept there."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from engine.corpora import builtin_folder, load_corpus
from engine.devices.choose import choose_device
from engine.devices.toolkit import Toolkit
from engine.harness.examine import Harness
from engine.harness.sandbox import Sandbox
from engine.verify import Effort, Verification, open_state
from engine.verify.rows import REJECTED

TASKS = {name: task for name, task in load_corpus(builtin_folder()).tasks.items() if task.spec.backend != "kernelbench"}
"""Those that want PyTorch want a GPU too."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TASKS))
async def test_a_built_in_task_is_sound_and_rejects_the_known_wrong_set(
    name: str, toolkit: Toolkit, sandbox: Sandbox, tmp_path: Path
):
    task = TASKS[name]
    harness = Harness(device=choose_device("cpu"), sandbox=sandbox, toolkit=toolkit, keep_builds=True)
    with closing(harness), open_state(tmp_path / "state.jsonl") as state:
        (row,) = await Verification(harness, state, Effort(repeats=2, answers=True)).run([task])
    expected = ("needs", "gpu timing") if task.spec.start_bucket == "perf_broken" else ("ok", "")
    assert (row.verdict, row.reason) == expected, row
    assert row.rejects == dict.fromkeys(REJECTED, True)
    assert [text for text in row.lint if not text.endswith("(nothing is timed here)")] == []
