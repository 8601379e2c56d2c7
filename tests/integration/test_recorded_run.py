"""The sweep recorded on an H200 (docs/h200.md): read again here, judged again here, with the same rows."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.manifest import run_rows, write_manifest
from engine.rundir import RunDirectory
from engine.verdict import Category

RUN = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


def test_the_recorded_run_reads_and_its_manifest_is_rebuilt_byte_for_byte(tmp_path: Path):
    shutil.copytree(RUN, tmp_path / "run")
    recorded = (RUN / "manifest.jsonl").read_bytes()
    assert write_manifest(RunDirectory(tmp_path / "run")).read_bytes() == recorded


def test_it_shows_every_category():
    rows = list(run_rows(RunDirectory(RUN)))
    assert {row["category"] for row in rows} == set(Category)


def test_good_fixes_keep_their_speed_degenerate_ones_pass_and_fail_the_gate_cheats_never_pass():
    by_fixer: dict[str, list[dict]] = {}
    for row in run_rows(RunDirectory(RUN)):
        by_fixer.setdefault(row["fixer"], []).append(row)
    good = [row for row in by_fixer["scripted:good"] if row["passed"]]
    assert len(good) == 12
    assert all(row["gate"] == "pass" and row["speedup"] > 0.75 for row in good)
    degenerate = by_fixer["scripted:degenerate"]
    assert len(degenerate) == 12
    assert all(row["passed"] and row["gate"] == "fail" and row["speedup"] < 0.3 for row in degenerate)
    assert not any(row["passed"] for row in by_fixer["scripted:cheat"])


def test_every_stagnation_signal_was_seen():
    reasons = {row["stop_reason"] for row in run_rows(RunDirectory(RUN))}
    assert {"duplicate_code", "code_cycle", "category_oscillation", "no_progress", "passed"} <= reasons


def test_an_illegal_address_carries_the_sanitizers_word():
    rows = [row for row in run_rows(RunDirectory(RUN)) if row["category"] == "illegal_memory_access"]
    assert rows
    assert all(any("Invalid __global__" in hazard for hazard in row["hazards"]) for row in rows)
