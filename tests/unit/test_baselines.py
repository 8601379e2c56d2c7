"""Measured times of references in the layout of a checkout: which are read, and which may be used."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from engine import events as ev
from engine.baselines import device_word, read_baselines, remarks, usable
from engine.devices.base import Gpu
from engine.errors import ConfigError
from engine.harness.examine import Harness, Job
from tests.support.tasks import SOLUTION, SPEC

H200 = "nvidia_h200_sm_90_cuda_12_9"
OTHER = "nvidia_rtx_5090_sm_120_cuda_13_0"
HERE = Gpu(name="NVIDIA H200", sm=90)
FILES = [{"path": "solution.cu", "content": "int a;\n"}]


def write(
    root: Path, task: str, device: str = H200, mean: Any = 2.0, method: str = "region/bench_region", **more: Any
) -> None:
    """One file of the cache, and the spec that it was measured for."""
    spec = {"task_id": task, "reference_solution": {"type": "file", "files": FILES}, "benchmark_command": "./a"}
    payload = json.dumps({"type": "file", "files": FILES}, sort_keys=True).encode()
    entry = {
        "task_id": task,
        "reference_hash": hashlib.sha256(payload).hexdigest(),
        "gpu_signature": device,
        "cuda_version": "12.9",
        "timing": {"method": method, "mean_ms": mean, "raw_samples_ms": []},
        "measured_at": "2026-07-25T10:29:40Z",
        "elapsed_total_s": 1.0,
        "skipped": None,
        **more,
    }
    for path, content in (
        (root / "benchmark/references" / f"{task}.json", spec),
        (root / "benchmark/references_cache" / device / f"{task}.json", entry),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    write(tmp_path, "a")
    write(tmp_path, "b")
    write(tmp_path, "b", OTHER, mean=1.0)
    write(tmp_path, "c", OTHER, mean=1.0)
    return tmp_path


@pytest.mark.parametrize("place", ["", "benchmark/references_cache"])
def test_of_another_gpu_nothing_is_used_unless_it_is_asked_for(checkout: Path, place: str):
    found = read_baselines(checkout / place)
    assert {task: one.mean_ms for task, one in usable(found, HERE, "abcd").items()} == {"a": 2.0, "b": 2.0}
    everything = usable(found, HERE, "abcd", any_device=True)
    assert {task: one.device for task, one in everything.items()} == {"a": H200, "b": H200, "c": OTHER}
    said = list(remarks(found, usable(found, HERE, "abcd"), HERE, "13.0"))
    assert said == [
        f"2 baselines of {OTHER} are not used: this is nvidia_h200_sm_90",
        "baselines were measured with CUDA 12.9, and this is 13.0",
    ]
    assert f"1 baselines of {OTHER} are used on nvidia_h200_sm_90" in "\n".join(
        remarks(found, everything, HERE, "12.9")
    )


def test_one_folder_and_one_file(checkout: Path):
    cache = checkout / "benchmark/references_cache"
    assert [one.task for one in read_baselines(cache / OTHER).entries] == ["b", "c"]
    assert [one.task for one in read_baselines(cache / H200 / "a.json").entries] == ["a"]


def test_a_gpu_whose_name_begins_alike_is_another_gpu():
    assert device_word(HERE) == "nvidia_h200_sm_90"
    found = read_baselines_of("nvidia_h200_nvl_sm_90_cuda_12_9")
    assert usable(found, HERE, ["a"]) == {}


def read_baselines_of(device: str) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), "a", device)
        return read_baselines(Path(folder))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"mean": 0.0}, "without a usable time"),
        ({"mean": float("nan")}, "without a usable time"),
        ({"mean": None}, "without a usable time"),
        ({"method": "cuda_kernels_aggregate"}, "measured as cuda_kernels_aggregate, which is not taken here"),
        ({"method": "kernelbench_eval_result"}, "measured as kernelbench_eval_result, which is not taken here"),
        ({"skipped": "incompatible_arch", "timing": {}}, "skipped: incompatible_arch"),
        ({"reference_hash": "0" * 64}, "measured of another reference"),
    ],
)
def test_what_is_no_baseline_is_counted_with_its_reason(tmp_path: Path, fields: dict[str, Any], reason: str):
    write(tmp_path, "a", **fields)
    found = read_baselines(tmp_path)
    assert found.entries == []
    assert found.left_out == {reason: 1}


@pytest.mark.parametrize("content", ["", "[]", '{"task_id": 3}', "\x00"])
def test_a_file_that_is_no_baseline_is_named(tmp_path: Path, content: str):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(ConfigError, match=r"a.json: not a baseline"):
        read_baselines(tmp_path)


def test_a_folder_without_baselines_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="no baselines; expected a checkout"):
        read_baselines(tmp_path)


async def test_a_candidate_is_timed_alone_beside_its_baseline(make_task, harness: Harness, checkout: Path):
    task = make_task(
        spec={"check": {**SPEC["check"], "time": "./driver"}, "timing_parser": r"^Kernel time: ([0-9.]+) ms$"}
    )
    baseline = read_baselines(checkout).entries[0]
    events: list[ev.Event] = []
    job = Job(task=task, code=SOLUTION.encode(), iteration=1, seed=7, launches=3, baseline=baseline)
    await harness.examine(job, events.append, lambda step, text: None)
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert timed.candidate_ms == [0.5, 0.5, 0.5]
    assert timed.reference_ms == []  # nothing was measured of it
    assert (timed.reference_mean_ms, timed.speedup, timed.gate) == (2.0, 4.0, "pass")
    assert f"baseline: cached ({H200}, 2026-07-25T10:29:40Z)" in timed.flags
    assert {launch.side for launch in timed.launches} == {"candidate"}
