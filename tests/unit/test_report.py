"""What a report says of frames of known truth: small, extreme and mixed ones, and a stored run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.analysis.axes import axes_of, axis_between, base_of
from engine.analysis.build import IterationRecord, TrajectoryRecord, frame_from
from engine.analysis.document import Document, Table
from engine.analysis.formats import TEXTS
from engine.analysis.frame import Coverage, Frame, Gap, RunFacts
from engine.analysis.page import Look, page
from engine.analysis.rates import AnalysisError
from engine.analysis.report import Wishes, report
from engine.analysis.scan import frame_of
from engine.analysis.scoring import Scoring
from engine.config import read_protocol
from engine.protocol import GateMode, Protocol
from engine.rundir import Cell, RunDirectory

H200 = Path(__file__).parents[1] / "fixtures" / "h200" / "run"
PAPER = Protocol()
COLOURS = dict.fromkeys(("background", "foreground", "surface", "panel", "primary", "quiet"), "#101010")
LOOK = Look({}, COLOURS, COLOURS)

PASS = IterationRecord("passed", "p", passed=True, speedup=1.2, cv=0.01, gate="pass", tokens=100.0, cost=0.5)
FAIL = IterationRecord("functional_correctness", "f", "mismatch", tokens=50.0, cost=0.25)


def trajectory(task: str, fixer: str, *rows: IterationRecord, **fields: Any) -> TrajectoryRecord:
    return TrajectoryRecord(
        task, fixer, rows, **{"stop_reason": "passed" if rows[-1].passed else "max_iterations", **fields}
    )


def told(frame: Frame, **wishes: Any) -> Document:
    return report(frame, {"runs": "r"}, Wishes(**wishes))


def find(document: Document, name: str) -> Table:
    return next(table for table in document.tables if table.name == name)


def rows(table: Table) -> list[dict[str, Any]]:
    return [{name: cell.value for name, cell in zip(table.columns, row, strict=True)} for row in table.rows]


def two_fixers(**fields: Any) -> list[TrajectoryRecord]:
    """One solves both tasks, two the first one, at its second try."""
    return [
        trajectory("a", "one", PASS, **fields),
        trajectory("b", "one", FAIL, PASS, **fields),
        trajectory("a", "two", FAIL, PASS, **fields),
        trajectory("b", "two", FAIL, FAIL, **fields),
    ]


def test_scores_of_a_known_frame():
    one, two = rows(find(told(frame_from(two_fixers())), "scores"))
    assert (one["tasks"], one["pass@k"], one["pass@1"], one["debug_rate@k"]) == (2, 1.0, 0.5, 1.0)
    assert (two["tasks"], two["pass@k"], two["pass@1"], two["debug_rate@k"]) == (2, 0.5, 0.0, 0.5)
    effort = rows(find(told(frame_from(two_fixers())), "effort"))
    assert (effort[1]["iterations"], effort[1]["tokens"], effort[1]["US dollars"]) == (2.0, 150.0, 0.75)


def test_pairs_are_compared_on_request_and_one_fixer_has_no_pair():
    (pair,) = rows(find(told(frame_from(two_fixers()), compare=True), "pairs"))
    assert (pair["one"], pair["two"], pair["difference"], pair["solved by one only"]) == ("one", "two", 0.5, "1 and 0")
    assert not [table for table in told(frame_from(two_fixers())).tables if table.name == "pairs"]
    with pytest.raises(AnalysisError, match="needs two fixers"):
        told(frame_from(two_fixers()[:2]), compare=True)


UNTIMED = PASS._replace(speedup=math.nan, cv=math.nan, gate="unmeasured", tokens=math.nan, cost=math.nan)
GAPS = Coverage(
    3,
    (
        Gap("r", Cell("a", "m"), "missing"),
        Gap("r", Cell("b", "m"), "infra", "no route"),
        Gap("r", Cell("c", "m"), "interactive"),
    ),
)
EXTREMES = {
    "empty": frame_from([], coverage=GAPS),
    "all pass": frame_from([trajectory(task, "m", PASS) for task in "abc"]),
    "all fail": frame_from([trajectory(task, "m", FAIL, FAIL) for task in "abc"]),
    "one task": frame_from([trajectory("a", "m", FAIL, PASS)]),
    "no timings": frame_from([trajectory("a", "m", UNTIMED), trajectory("b", "m", FAIL)]),
    "mixed protocols": frame_from(
        [
            *two_fixers(),
            *two_fixers(protocol=read_protocol("paper-repeated", {"k": 1})),
            *two_fixers(protocol=Protocol(k=3, history=1)),
        ]
    ),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_every_extreme_is_answered_in_every_format_and_no_nan_is_printed(name: str):
    document = told(EXTREMES[name])
    texts = [*(write(document) for write in TEXTS.values()), page(document, LOOK)]
    for text in texts:
        words = text.replace("(", " ").replace(",", " ").split()
        assert not {"nan", "NaN", "inf", "None"} & set(words)
    for cell in (cell for table in document.tables for row in table.rows for cell in row):
        assert cell.value is not None or cell.why
        assert not isinstance(cell.value, float) or math.isfinite(cell.value)


def test_an_empty_run_has_its_coverage_told_and_no_score():
    document = told(EXTREMES["empty"])
    coverage = {row[""]: row["trajectories"] for row in rows(find(document, "coverage"))}
    assert coverage["planned"] == 3 and coverage["counted"] == 0
    assert coverage["left out: missing"] == coverage["left out: infra"] == coverage["left out: interactive"] == 1
    assert [row["detail"] for row in rows(find(document, "gaps"))] == ["", "no route", ""]
    assert document.sections[-1].note.startswith("No trajectory is counted")


def test_a_pass_that_was_never_timed_passes_p_0_only_and_is_counted_as_unmeasured():
    document = told(EXTREMES["no timings"], gate=0.7)
    assert rows(find(document, "scores"))[0]["pass@k"] == 0.0
    assert rows(find(document, "p_curve"))[0]["p=0"] == 0.5
    assert "1 trajectories were correct and never measured: they fail p=0.7." in find(document, "scores").note
    assert rows(find(document, "timings"))[0]["correct, not measured"] == 1.0
    assert rows(find(document, "degeneration"))[0]["unmeasured"] == 1


def test_several_devices_and_starts_of_ones_own_are_said():
    records = [
        trajectory("a", "m", PASS, device="cpu", source="m"),
        trajectory("b", "m", PASS, device="cuda NVIDIA H200 (sm_90)"),
    ]
    note = find(told(frame_from(records)), "scores").note
    assert "Rows of several devices are counted together: cpu, cuda NVIDIA H200 (sm_90)." in note
    assert "Eq. 5 takes the last iteration from 1 trajectories" in note


def test_settings_are_never_mixed():
    found = rows(find(told(EXTREMES["mixed protocols"]), "scores"))
    assert len(found) == 6 and len({row["setting"] for row in found}) == 3
    repeated = next(row for row in found if "repeated" in row["setting"])
    assert repeated["debug_rate@k"] is None


def test_runs_that_ask_for_different_gates_need_one_named():
    runs = [RunFacts("r", gate=0.7), RunFacts("s", gate=0.9)]
    frame = frame_from([*two_fixers(), trajectory("a", "one", PASS, run=1)], runs)
    with pytest.raises(AnalysisError, match=r"different gates \(0\.7, 0\.9\); choose one with --gate"):
        told(frame)
    assert rows(find(told(frame, gate=0.9), "scores"))[0]["pass@k"] == 1.0


def swept() -> Frame:
    """Default and two other settings: at H1 the order of the two fixers is the other way round."""
    flipped = [
        trajectory("a", "one", FAIL, FAIL),
        trajectory("b", "one", FAIL, FAIL),
        trajectory("a", "two", PASS),
        trajectory("b", "two", PASS),
    ]
    other = [replace(record, protocol=Protocol(history=1)) for record in flipped]
    repeated = Protocol(sampling="repeated", k=2)  # type: ignore[arg-type]
    draws = [trajectory("a", "one", row, protocol=repeated, attempt=n) for n, row in enumerate((FAIL, PASS), 1)]
    return frame_from([*two_fixers(), *other, *draws])


def test_an_axis_is_what_one_field_differs_in():
    repeated = msgspec.structs.replace(PAPER, sampling="repeated")
    assert axis_between(PAPER, repeated) == "A2"
    assert axis_between(PAPER, Protocol(history=1)) == "A4"
    assert axis_between(PAPER, Protocol(history=1, k=3)) is None
    assert axis_between(PAPER, Protocol(temperature=0.3)) is None
    assert base_of([Protocol(history=1), PAPER, repeated]) == PAPER


def test_swing_tau_ranks_and_flips_of_a_known_sweep():
    axes = {axis.name: axis for axis in axes_of(swept())}
    assert set(axes) == {"A1", "A4"}  # the repeated run has another K besides
    history = axes["A4"]
    assert (history.base, history.others, history.tasks) == ("4", ["1"], {"one": 2, "two": 2})
    assert {swing.fixer: swing.size for swing in history.swings} == {"one": 1.0, "two": 0.5}
    assert history.taus["1"].tau.value == -1.0
    assert history.taus["best"].tau.value is None  # both are perfect at their best: there is no order
    (flip,) = history.flips("1")
    assert (flip.flip.ahead, flip.flip.behind) == ("one", "two")
    document = told(swept())
    ranks = next(section.ranks for section in document.sections if section.ranks is not None)
    assert [(row["fixer"], row["base"], row["A4 1"]) for row in rows(find(document, "ranks"))] == [
        ("one", 1.0, 2.0),
        ("two", 2.0, 1.0),
    ]
    place = ranks.settings.index("A4 1")
    assert {name: (row[0], row[place]) for name, row in ranks.ranks.items()} == {"one": (1.0, 2.0), "two": (2.0, 1.0)}


def test_settings_stand_in_the_order_of_their_axis_and_the_base_is_what_most_differ_from():
    played = [
        Protocol(history=3),
        read_protocol(None, {"feedback": "L0"}),
        PAPER,
        Protocol(history=1),
        read_protocol("paper-repeated"),
    ]
    frame = frame_from(
        [trajectory("a", fixer, PASS, protocol=protocol) for protocol in played for fixer in ("one", "two")]
    )
    axes = {axis.name: axis for axis in axes_of(frame)}
    assert {name: (axis.base, list(axis.scores)) for name, axis in axes.items() if name != "A1"} == {
        "A2": ("iterative", ["iterative", "repeated"]),
        "A3": ("L3", ["L0", "L3"]),
        "A4": ("4", ["1", "3", "4"]),
    }
    assert axes["A2"].scores["repeated"] == {}  # one attempt is fewer than K
    assert told(frame).sections


def shown(few_shot: str, pool: str = "aa") -> Protocol:
    return Protocol(few_shot=few_shot, few_shot_pool=pool)


def test_few_shot_examples_are_an_axis_in_the_order_of_how_many_are_shown():
    assert axis_between(PAPER, shown("matched:3")) == "A5"
    played = [PAPER, shown("random:3"), shown("matched:1"), shown("matched:3"), shown("matched:3", "bb")]
    frame = frame_from(
        [trajectory("a", fixer, PASS, protocol=protocol) for protocol in played for fixer in ("one", "two")]
    )
    axis = next(axis for axis in axes_of(frame) if axis.name == "A5")
    twice = [f"few_shot=matched:3, few_shot_pool={pool}" for pool in ("aa", "bb")]
    assert (axis.base, list(axis.scores)) == ("none", ["none", "matched:1", *twice, "random:3"])
    assert rows(find(told(frame), "axis_A5"))[0]["tasks"] == 1


def test_gates_in_the_loop_are_answered_by_the_run_whose_gate_is_high_enough():
    low, high = (Protocol(gate_mode=GateMode.INLOOP, gate=gate) for gate in (0.7, 1.5))
    slow = PASS._replace(speedup=0.8)
    records = [
        *(trajectory(task, fixer, slow, protocol=low) for task in "ab" for fixer in ("one", "two")),
        trajectory("a", "one", slow._replace(passed=False), PASS._replace(speedup=1.6), protocol=high, run=1),
        trajectory("b", "one", slow._replace(passed=False), FAIL, protocol=high, run=1),
    ]
    frame = frame_from(records, [RunFacts("low", gate=0.7), RunFacts("high", gate=1.5)])
    gates = next(axis for axis in axes_of(frame, Scoring(gate=0.7)) if axis.name == "A1")
    assert {gate: scores["one"] for gate, scores in gates.scores.items()} == {
        **dict.fromkeys(("0", "0.1", "0.3", "0.5", "0.7"), 1.0),
        **dict.fromkeys(("0.9", "1", "1.5"), 0.5),
    }
    assert "two" not in gates.scores["0.9"] and list(gates.taus) == ["0", "0.1", "0.3", "0.5"]
    assert rows(find(told(frame, gate=0.7), "scores"))
    with pytest.raises(AnalysisError, match="in-loop gate"):
        told(frame, gate=0.9)


def test_an_axis_counts_only_tasks_that_a_fixer_has_at_all_of_its_settings():
    records = [*two_fixers(), trajectory("a", "one", PASS, protocol=Protocol(history=2))]
    (axis,) = (axis for axis in axes_of(frame_from(records)) if axis.name == "A4")
    assert axis.tasks == {"one": 1, "two": 2}
    assert axis.scores["4"] == {"one": 1.0, "two": 0.5} and axis.scores["2"] == {"one": 1.0}


def test_the_stored_run_has_every_part_of_a_report():
    document = told(frame_of([RunDirectory(H200)]), compare=True)
    assert {section.title for section in document.sections} >= {
        *("Coverage", "Scores", "Performance gate", "Where repairs begin", "Stagnation"),
        *("Trajectories", "Transitions", "Difficulty", "The protocol's part", "Pairs of fixers"),
    }
    good = rows(find(document, "p_curve"))[0]
    assert (good["fixer"], good["p=0"], good["p=1.5"]) == ("scripted:good", 1.0, pytest.approx(2 / 12, abs=1e-6))
    text = page(document, LOOK)
    assert text.count("<svg") == 4 and len(text) < 200_000
