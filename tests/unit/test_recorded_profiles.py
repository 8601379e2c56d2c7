"""Profiles and prompts at L4 that were made on an H200 (tests/gpu/profile.py): they are read today as they were read there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.events import AnyEvent, FeedbackGiven, Profiled, RequestBuilt, Timed
from engine.verdict.profile_metrics import LIMITS, METRICS, STALLS, stall_name
from engine.verdict.profile_report import read_report
from engine.verdict.profile_table import profile_table

FOLDER = Path(__file__).parents[1] / "fixtures" / "h200" / "profile"
TASKS = ("conv1d_causal", "gemm_rect", "spmv_csr")

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="no profile has been recorded yet")


def recorded(task: str, kind: type[Any]) -> list[Any]:
    events = msgspec.json.decode((FOLDER / f"{task}.json").read_bytes(), type=list[AnyEvent])
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("task", TASKS)
def test_the_recorded_log_gives_the_recorded_figures(task: str):
    (profiled,) = recorded(task, Profiled)
    assert read_report((FOLDER / f"{task}-report.csv").read_text()).figures == profiled.figures


@pytest.mark.parametrize("task", TASKS)
def test_every_figure_that_was_asked_for_is_there(task: str):
    """All names are known to the Nsight Compute that recorded this, and a share of a whole is no more than the whole."""
    (profiled,) = recorded(task, Profiled)
    for kernel, figures in profiled.figures.items():
        assert {metric.name for metric in (*METRICS, *LIMITS)} <= figures.keys(), kernel
        assert all(0 <= value <= 100.5 for name, value in figures.items() if name.endswith("_pct")), kernel
        assert 50 < sum(figures.get(stall_name(reason), 0.0) for reason in STALLS) <= 100.5, kernel


@pytest.mark.parametrize("task", TASKS)
def test_the_recorded_prompt_shows_them(task: str):
    (profiled,), (told,) = recorded(task, Profiled), recorded(task, FeedbackGiven)
    prompt = (FOLDER / f"{task}-prompt.txt").read_text()
    assert (told.level, told.note, recorded(task, RequestBuilt)[1].notes) == ("L4", "", [])
    assert told.text in prompt and profile_table(profiled) in told.text
    assert recorded(task, Timed)[0].gate == "fail" and "correct but too slow" in told.text
