"""The evaluation card keeps to its schema, says why what is missing is missing, and is not written without a field."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from engine.analysis.build import IterationRecord, TrajectoryRecord, frame_from
from engine.analysis.card import make_card
from engine.analysis.card_check import faults, required_fields
from engine.analysis.card_schema import CARD
from engine.analysis.card_text import card_document
from engine.analysis.disclosure import deviations
from engine.analysis.formats import TEXTS
from engine.analysis.frame import Coverage, Frame, Gap
from engine.analysis.rates import AnalysisError
from engine.analysis.scan import frame_of
from engine.analysis.scoring import Scoring
from engine.fixers.config import FixerConfig
from engine.fixers.prices import Price
from engine.protocol import GateMode, Protocol
from engine.rundir import Cell, RunDirectory

H200 = Path(__file__).parents[1] / "fixtures" / "h200" / "run"
RUN = RunDirectory(H200)
PASS = IterationRecord("passed", "p", passed=True, speedup=1.2, gate="pass")
FAIL = IterationRecord("timeout", "f", "hang")


def card(frame: Frame, gate: float = 0.7, runs: list[RunDirectory] | None = None, **more: Any) -> dict[str, Any]:
    return make_card(runs or [RUN], frame, Scoring(gate=gate), made="2026-01-01T00:00:00Z", tool_version="1", **more)


WHOLE = card(
    replace(
        frame_of([RUN]),
        coverage=Coverage(45, (Gap("r", Cell("late", "scripted:good"), "infra", "rate limit"),)),
    ),
    verdicts={"ok": 12},
    plan={"default": RUN.record.protocol, "A4-1": msgspec.structs.replace(RUN.record.protocol, history=1)},
    filters="all",
)
"""A card with a gap, and with values where this run of recorded fixers has none."""
WHOLE["fixers"][0]["prices"] = {"input": 1.25, "output": 10.0}
WHOLE["runs"][0] |= {
    "imported": {"format": "x", "sha256": "0f", "recorded": "unknown", "unknown": ["device"], "notes": []},
    "baseline": {"tasks": 1, "devices": ["nvidia_h200_sm_90_cuda_12_9"], "any_device": False, "sha256": "0f"},
}
WHOLE["robustness"]["flips"] = [
    {"axis": "A4", "setting": "1", "ahead_at_base": "a", "ahead_here": "b", "resolved": False}
]


def sound(made: object) -> bool:
    """As the schema's own library says it."""
    return jsonschema.Draft202012Validator(CARD).is_valid(made)


def at(value: Any, path: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a card that hold the field at a schema's path; none where the card has a reason instead."""
    name, *rest = path
    if isinstance(value, list) and name == "0":
        for item in value:
            yield from at(item, tuple(rest))
    elif isinstance(value, dict) and "not_available" not in value:
        for key in list(value) if name == "*" else [name] if name in value else []:
            if rest:
                yield from at(value[key], tuple(rest))
            else:
                yield value, key


FIELDS = [path for path in required_fields() if "not_available" not in path]


def test_the_schema_is_one_and_the_stored_runs_card_keeps_to_it():
    jsonschema.Draft202012Validator.check_schema(CARD)
    assert sound(WHOLE) and faults(WHOLE) == []
    assert sound(json.loads(msgspec.json.encode(WHOLE)))


@pytest.mark.parametrize("path", FIELDS, ids=".".join)
def test_a_card_without_a_required_field_fails(path: tuple[str, ...]):
    broken = copy.deepcopy(WHOLE)
    holder, name = next(at(broken, path))
    del holder[name]
    assert not sound(broken)
    assert any(fault.endswith(f".{name}: is missing") for fault in faults(broken)), faults(broken)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema_version",), 2),
        (("coverage", "missing"), -1),
        (("coverage", "missing"), True),
        (("coverage", "missing"), "none"),
        (("results", "0", "pass_at_1", "value"), 1.5),
        (("results", "0", "pass_at_1", "value"), None),
        (("results", "0", "fixer"), ""),
        (("settings", "0", "gate_mode"), "sometimes"),
        (("settings",), []),
        (("runs", "0", "created"), {"not_available": "lost"}),
    ],
)
def test_a_wrong_value_fails_as_in_the_schemas_own_library(path: tuple[str, ...], value: object):
    broken = copy.deepcopy(WHOLE)
    holder, name = next(at(broken, path))
    holder[name] = value
    assert faults(broken) and not sound(broken)


def test_an_unknown_field_and_an_empty_reason_fail():
    assert faults({**WHOLE, "extra": 1}) == ["card.extra: is no field of a card"]
    assert faults({**WHOLE, "results": {"not_available": ""}}) and not sound(
        {**WHOLE, "results": {"not_available": ""}}
    )
    assert faults([]) == ["card: must be of type object"]


def test_no_number_of_a_card_is_nan():
    broken = copy.deepcopy(WHOLE)
    broken["results"][0]["pass_at_1"]["value"] = float("nan")
    assert any("nan is out of bounds" in fault for fault in faults(broken))


def test_what_is_left_out_has_its_own_line():
    gaps = tuple(
        Gap("r", Cell(f"t{number}", "m"), why)
        for number, why in enumerate(
            ("missing", "unfinished", "infra", "interactive", "no_answer", "needs_device", "damaged")
        )
    )
    records = [TrajectoryRecord("t", "m", [FAIL, PASS], interactive=True, infra=2, fell_back=1)]
    found = card(frame_from(records, coverage=Coverage(8, gaps)))["coverage"]
    counts = {name: value for name, value in found.items() if name not in ("gaps", "planned_runs")}
    assert counts == {
        "planned": 8,
        "counted": 1,
        "missing": 1,
        "unfinished": 1,
        "infra_excluded": 1,
        "interactive_left_out": 1,
        "needs_device": 1,
        "no_answer": 1,
        "damaged": 1,
        "interactive_counted": 1,
        "infra_overcome": 2,
        "feedback_fell_back": 1,
        "truncated_replies": 0,
        "unmeasured_passes": 0,
        "noisy_timings": 0,
    }
    assert [gap["why"] for gap in found["gaps"]] == [gap.why for gap in gaps]
    result = card(frame_from(records, coverage=Coverage(8, gaps)))["results"][0]
    assert result["pass_at_k"] == {"value": 1.0, "numerator": 1.0, "denominator": 1.0}


def test_runs_of_a_plan_that_were_not_made_are_named_whatever_the_posthoc_gate():
    assert WHOLE["coverage"]["planned_runs"] == {"planned": 2, "missing": ["A4-1"]}
    other_gate = {"A1": msgspec.structs.replace(RUN.record.protocol, gate=1.5)}
    assert card(frame_of([RUN]), plan=other_gate)["coverage"]["planned_runs"]["missing"] == []


def test_without_a_counted_trajectory_the_card_is_whole_and_says_so():
    empty = card(frame_from([], coverage=Coverage(1, (Gap("r", Cell("t", "m"), "needs_device"),))))
    assert sound(empty)
    assert empty["results"] == {"not_available": "no trajectory is counted; see coverage"}
    assert "not_available" in empty["robustness"]["swing"]


@pytest.mark.parametrize("rows", [[PASS], [FAIL], [PASS._replace(speedup=float("nan"), gate="unmeasured")]])
def test_all_pass_all_fail_and_no_timings_make_sound_cards(rows: list[IterationRecord]):
    assert sound(card(frame_from([TrajectoryRecord(task, "m", rows) for task in "ab"])))


def test_a_gate_in_the_loop_bounds_the_curve_and_refuses_a_higher_gate():
    played = Protocol(gate_mode=GateMode.INLOOP, gate=0.7)
    frame = frame_from([TrajectoryRecord("t", "m", [PASS], played)])
    assert [point["p"] for point in card(frame)["results"][0]["p_curve"]] == [0.0, 0.1, 0.3, 0.5, 0.7]
    with pytest.raises(AnalysisError, match="in-loop gate"):
        card(frame, gate=0.9)


def test_a_chat_fixer_is_disclosed_without_its_secrets(tmp_path: Path):
    config = FixerConfig(
        name="m",
        model="asked",
        base_url="https://user:pass@api.example.com:8443/v1?key=abc",
        max_tokens=100,
        seed=7,
        prices=Price(input=1.0, output=2.0),
        extra_body={"top_p": 0.9, "api_key": "abc"},
    )
    silent = FixerConfig(name="n", model="asked", temperature="default")
    record = msgspec.structs.replace(
        RUN.record, fixers=[config.describe(), silent.describe()], corpus="/home/somebody/tasks"
    )
    run = RunDirectory.create(record, [Cell("t", "m"), Cell("t", "n")], tmp_path / "run")
    made = card(frame_from([TrajectoryRecord("t", "m", [PASS], model="m-2026-01-01")]), runs=[run])
    first, second = made["fixers"]
    assert (first["models"], first["backend"], first["temperature"]) == (["m-2026-01-01"], "api.example.com:8443", 0.7)
    assert (first["max_tokens"], first["seed"], first["prices"]) == (100, 7, {"input": 1.0, "output": 2.0})
    assert first["extra_body"] == {"top_p": 0.9, "api_key": "***"}
    assert second["temperature"] == "the service's default"
    assert all("not_available" in second[name] for name in ("models", "max_tokens", "seed", "extra_body", "prices"))
    text = msgspec.json.encode(made).decode()
    assert not [secret for secret in ("pass@", "abc", "somebody", RUN.record.seed) if secret in text]


def test_asymmetry_is_off_without_a_source_and_says_so():
    unknown = card(frame_from([TrajectoryRecord("t", "m", [FAIL])]))["asymmetry"]
    assert (unknown["on"], unknown["rule"]) == (False, "asymmetry: off, no source")
    known = card(frame_from([TrajectoryRecord("t", "m", [FAIL], source="m")]))["asymmetry"]
    assert known["on"] and known["trajectories_on_own_starts"] == known["tasks_with_known_source"] == 1


def test_deviations_name_what_was_changed_and_take_a_swept_setting_for_none():
    topics = {each["topic"]: each for each in deviations([RUN])}
    assert topics["protocol: launches"] == {"topic": "protocol: launches", "paper": "10", "here": "2"}
    assert "protocol: history" not in topics
    assert "H200" in topics["hardware"]["here"]


HOSTILE = "\x1b[31m<script>|\\input{x}\n# [bold]"


def test_hostile_names_are_harmless_in_every_form_of_a_card():
    made = card(frame_from([TrajectoryRecord(HOSTILE, HOSTILE, [FAIL, PASS], bucket=HOSTILE, model=HOSTILE)]))
    assert sound(made)
    assert "\\u001b" not in msgspec.json.encode(made).decode()
    texts = {form: write(card_document(made)) for form, write in TEXTS.items()}
    assert "<script" not in texts["md"] and "\\input" not in texts["latex"]
    assert not any("\x1b" in text for text in texts.values())


def test_people_read_every_field():
    text = TEXTS["md"](card_document(WHOLE))
    for words in ("infra excluded | 1", "asymmetry: off, no source", "rate limit", "75.8 to 100.0 %", "ok 12", "n/a ("):
        assert words in text
    for name in WHOLE["denominators"]:
        assert name in text
