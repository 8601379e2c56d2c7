"""The disk of the run fills up: an honest message, exit 1, and a run that goes on when there is room again."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.program import beaver, manifest
from tests.support.tasks import BROKEN, write_task


@pytest.fixture
def small_disk(tmp_path: Path):
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_ends_the_batch_and_the_run_goes_on_elsewhere(small_disk: Path, tmp_path: Path):
    for number in range(4):
        padded = [f"{BROKEN}// {number} {attempt}\n" + "// padding\n" * 500 for attempt in range(3)]
        write_task(tmp_path / "corpus", f"task{number}", answers={"s": padded})
    done = beaver(
        "--batch",
        "--corpus",
        tmp_path / "corpus",
        "--fixer",
        "scripted:s",
        "--out",
        small_disk / "run",
        "--format",
        "plain",
    )
    assert done.code == 1, done.out
    assert "No space left on device" in done.err or "disk is full" in done.err
    assert "Traceback" not in done.err
    saved = tmp_path / "saved"
    shutil.copytree(small_disk / "run", saved)
    resumed = beaver("--batch", "--resume", saved)
    assert resumed.code == 0, resumed.err
    assert len(manifest(saved)) == 12
