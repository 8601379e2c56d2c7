"""The stored run of an H200 through the whole family: scripts of known behaviour give the figures that they were written for."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.analysis.family import family
from engine.analysis.frame import Frame
from engine.analysis.rates import groups_by, rates_by
from engine.analysis.scan import frame_of
from engine.analysis.scoring import Scoring, score
from engine.analysis.stagnation import sensitivity
from engine.corpora import builtin_folder, load_corpus
from engine.rundir import RunDirectory

STORED = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


@pytest.fixture(scope="module")
def frame() -> Frame:
    tasks = {name: task.spec for name, task in load_corpus(builtin_folder()).tasks.items()}
    return frame_of([RunDirectory(STORED)], tasks)


def by_script(frame: Frame, name: str, gate: float) -> dict[str, float | None]:
    """A metric by script ("good", ...), in percent."""
    groups = groups_by(frame)
    rates = rates_by(family(score(frame, Scoring(gate=gate)))[name], groups)
    return {key[1].partition(":")[2]: rate.percent for key, rate in zip(groups.keys, rates, strict=True)}


def test_slow_but_correct_repairs_pass_without_a_threshold_and_not_with_the_papers(frame: Frame) -> None:
    assert by_script(frame, "pass@k", 0.0) == {"good": 100, "degenerate": 100, "stagnating": 0, "cheat": 0}
    assert by_script(frame, "pass@k", 0.7) == {"good": 100, "degenerate": 0, "stagnating": 0, "cheat": 0}


def test_the_good_script_debugs_what_it_did_not_solve_at_once(frame: Frame) -> None:
    assert by_script(frame, "pass@1", 0.0)["good"] == 50
    assert by_script(frame, "debug_rate@k", 0.0) == {"good": 100, "degenerate": None, "stagnating": 0, "cheat": 0}


def test_the_stagnating_script_stagnates_and_no_other(frame: Frame) -> None:
    found = by_script(frame, "stagnation", 0.0)
    assert found.pop("stagnating") == pytest.approx(100 * 10 / 11) and set(found.values()) == {0}


def test_looser_thresholds_on_a_stopped_run_are_censored_and_say_so(frame: Frame) -> None:
    looser = sensitivity(frame)[-1]
    assert str(looser.thresholds) == "3-of-5, c=4" and looser.censored > 0
    assert looser.stagnation.total().numerator + looser.censored == sensitivity(frame)[1].stagnation.total().numerator


@pytest.mark.parametrize(
    ("column", "some"),
    [("bucket", "timeout"), ("family", "beaver"), ("operation", "attention"), ("generation", "Hopper")],
)
def test_results_are_split_by_family_bucket_operation_and_generation(frame: Frame, column: str, some: str) -> None:
    groups = groups_by(frame, column)
    tally = family(score(frame, Scoring(gate=0.0)))["pass@k"]
    whole, parts = tally.total(), rates_by(tally, groups)
    assert some in {key[2] for key in groups.keys}
    assert sum(rate.numerator for rate in parts) == whole.numerator
    assert sum(rate.denominator for rate in parts) == whole.denominator == 44
