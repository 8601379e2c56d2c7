"""``--baseline`` from the command line to a run's record; the timing itself is in tests/unit/test_baselines.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beaver_tui.cli import main
from engine.rundir import RunDirectory
from engine.sweep.cached_baselines import FILE, baselines_of
from tests.support.tasks import write_task


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A task whose only answer is refused before it is built."""
    spec = {"anti_cheat": ["forbidden_call"]}
    write_task(tmp_path / "corpus", "sum", answers={"cheat": ["int forbidden_call();\n"]}, spec=spec)
    return tmp_path / "corpus"


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    path = tmp_path / "h200.json"
    timing = {"method": "total_elapsed", "mean_ms": 3.5}
    path.write_text(json.dumps({"task_id": "sum", "gpu_signature": "nvidia_h200_sm_90_cuda_12_9", "timing": timing}))
    return path


def play(corpus: Path, out: Path, *more: str) -> int:
    base = ["--batch", "--corpus", str(corpus), "--fixer", "scripted:cheat", "--device", "cpu", "--out", str(out)]
    return main([*base, *more])


def test_on_another_device_it_is_named_and_not_used(corpus: Path, baseline: Path, tmp_path: Path, capsys):
    assert play(corpus, tmp_path / "run", "--baseline", str(baseline)) == 0
    said = capsys.readouterr().err
    assert "1 baselines of nvidia_h200_sm_90_cuda_12_9 are not used: this is beaver_tui_cpu_device_sm_90" in said
    assert "references are measured here" in said
    run = RunDirectory(tmp_path / "run")
    assert run.record.baseline is not None
    assert (run.record.baseline.tasks, baselines_of(run)) == (0, {})


def test_used_on_any_device_it_is_recorded_and_kept_by_the_run(corpus: Path, baseline: Path, tmp_path: Path, capsys):
    out = tmp_path / "run"
    assert play(corpus, out, "--baseline", str(baseline), "--baseline-any-device") == 0
    assert "their speedups compare two GPUs" in capsys.readouterr().err
    baseline.unlink()
    run = RunDirectory(out)
    record = run.record.baseline
    assert record is not None
    assert (record.tasks, record.devices, record.any_device) == (1, ["nvidia_h200_sm_90_cuda_12_9"], True)
    assert baselines_of(run)["sum"].mean_ms == 3.5
    (out / FILE).write_text("{}")
    assert main(["--batch", "--resume", str(out)]) == 2
    assert "not the baselines that the run began with" in capsys.readouterr().err


def test_what_makes_no_sense_is_told_before_anything_is_written(corpus: Path, tmp_path: Path, capsys):
    assert play(corpus, tmp_path / "run", "--baseline", str(tmp_path / "nowhere")) == 2
    assert "no baselines; expected a checkout" in capsys.readouterr().err
    assert play(corpus, tmp_path / "run", "--baseline-any-device") == 2
    assert "--baseline-any-device: goes with --baseline" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
