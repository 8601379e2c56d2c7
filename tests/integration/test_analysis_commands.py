"""plan, rescore, card and report as a user starts them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
import yaml

from engine.config import read_batch_config
from tests.support.program import beaver
from tests.support.tasks import SOLUTION, write_task

CONFIG = """\
corpus: {corpus}
fixers:
- {{name: priced, model: m, base_url: "http://localhost:1/v1", max_tokens: 100, prices: {{input: 1, output: 2}}}}
- {{name: free, model: m, base_url: "http://localhost:1/v1"}}
"""


def test_plan_prints_calls_and_costs_and_writes_configs_that_batch_reads(tmp_path: Path):
    write_task(tmp_path / "corpus", "one", answers={"s": [SOLUTION]})
    config = tmp_path / "base.yaml"
    config.write_text(CONFIG.format(corpus=tmp_path / "corpus"))
    out = tmp_path / "plan"
    done = beaver("plan", "--axis", "A1,A3", "--config", config, "--fixer", "priced", "--out", out)
    assert done.code == 0, done.err
    assert "5 runs, 25 calls at most" in done.out
    assert f"beaver-tui --batch --config {out}/A3-L0.yaml --out {out}/A3-L0" in done.lines
    levels = {path.stem: read_batch_config(path).protocol["feedback"] for path in out.glob("*.yaml")}
    assert levels == {"default": "L3", "A3-L0": "L0", "A3-L1": "L1", "A3-L2": "L2", "A3-L3raw": "L3raw"}
    design = json.loads((out / "plan.json").read_text())
    assert [run["config"] for run in design["runs"]][:2] == ["default.yaml", "A3-L0.yaml"]
    assert out.joinpath("default.yaml").stat().st_mode & 0o077 == 0

    again = beaver("plan", "--axis", "A3", "--config", config, "--out", out)
    assert again.code == 2 and "not empty" in again.err
    unknown = beaver("plan", "--axis", "A3", "--config", config)
    assert "n/a (no prices given)" in unknown.out and "and 5 loads of unknown cost" in unknown.out


def test_a_planned_run_plays(tmp_path: Path):
    write_task(tmp_path / "corpus", "one", answers={"s": [SOLUTION]})
    out = tmp_path / "plan"
    planned = beaver("plan", "--axis", "A2", "--corpus", tmp_path / "corpus", "--fixer", "scripted:s", "--out", out)
    assert planned.code == 0, planned.err
    assert yaml.safe_load((out / "A2-repeated.yaml").read_text())["fixers"] == [
        {"name": "scripted:s", "kind": "scripted", "script": "s"}
    ]
    played = beaver("--batch", "--config", out / "A2-repeated.yaml", "--device", "none", "--out", tmp_path / "run")
    assert played.code == 0, played.err
    assert len((tmp_path / "run" / "plan.jsonl").read_text().splitlines()) == 5
    card = json.loads(beaver("card", tmp_path / "run", "--plan", out / "plan.json").out)
    assert card["coverage"]["planned_runs"] == {"planned": 2, "missing": ["default"]}
    wrong = beaver("card", tmp_path / "run", "--plan", out / "default.yaml")
    assert wrong.code == 2 and "not a plan of beaver-tui plan" in wrong.err


H200 = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


def test_rescore_scores_a_stored_run_at_every_gate_of_the_paper():
    done = beaver("rescore", H200)
    assert done.code == 0, done.err
    header, good, *_ = done.lines
    assert header.split()[:5] == ["setting", "fixer", "trajectories", "p=0", "p=0.1"]
    assert good.split()[1:3] == ["scripted:good", "12"] and good.endswith("0")
    assert "16.7 %" in good


def test_rescore_says_what_it_cannot_know_and_what_changed():
    done = beaver("rescore", H200, "--no-progress", "4", "--classify-again", "--format", "json")
    tables = json.loads(done.out)["tables"]
    stagnating = next(line for line in tables["thresholds"]["rows"] if line[1] == "scripted:stagnating")
    assert stagnating[tables["thresholds"]["columns"].index("censored")] == 4
    assert tables["classified"]["note"] == "0 of 78 iterations are judged differently."


def test_rescore_refuses_what_makes_no_sense(tmp_path: Path):
    for words, reason in (
        (("--gate", "fast"), "--gate fast: must be a number"),
        (("--gate", "-1"), "0 or more"),
        (("--oscillation", "5,3"), "below N"),
        (("--oscillation", "5"), "write it as M,N"),
        (("--no-progress", "1"), "at least 2"),
        ((H200,), "is given twice"),
        ((tmp_path,), "no run here"),
    ):
        done = beaver("rescore", H200, *words)
        assert done.code == 2 and reason in done.err, done.err


def test_report_writes_every_format(tmp_path: Path):
    for ending, begins in (
        ("html", "<!DOCTYPE html>"),
        ("json", "{"),
        ("csv", "table,row,"),
        ("tex", "% Report"),
        ("md", "# Report"),
    ):
        out = tmp_path / f"report.{ending}"
        done = beaver("report", H200, "--compare", "--out", out)
        assert done.code == 0, done.err
        assert done.lines == [str(out)]
        assert out.read_text().startswith(begins)
    piped = beaver("report", H200, "--format", "json")
    assert json.loads(piped.out)["tables"]["scores"]["rows"][0][:3] == ["launches=2", "scripted:good", 12]


def test_a_run_with_hostile_names_is_reported_as_text(tmp_path: Path):
    name = "<script>alert(1)</script>|\\input{x}"
    write_task(tmp_path / "corpus", name, answers={"=s[red]": [SOLUTION.replace("sum = 0.0f;", "sum = 0.0f")]})
    run = tmp_path / "run"
    words = (
        "--batch",
        "--corpus",
        tmp_path / "corpus",
        "--fixer",
        "scripted:=s[red]",
        "--device",
        "none",
        "--out",
        run,
    )
    assert beaver(*words).code == 0
    html, latex, csv_file = (beaver("report", run, "--format", form).out for form in ("html", "latex", "csv"))
    assert "<script" not in html and "&lt;script&gt;alert" in html
    assert "\\input" not in latex
    assert "\r\n=" not in csv_file and ",=" not in csv_file


def test_a_run_without_a_result_is_reported_with_its_reasons(tmp_path: Path):
    write_task(tmp_path / "corpus", "one", answers={"s": [SOLUTION]})
    run = tmp_path / "run"
    words = ("--batch", "--corpus", tmp_path / "corpus", "--fixer", "scripted:s", "--device", "none", "--out", run)
    assert beaver(*words).code == 0
    done = beaver("report", run)
    assert done.code == 0 and "| left out: needs_device | 1 |" in done.out
    assert "No trajectory is counted" in done.out


def test_a_card_of_a_sweep_made_on_the_fly_keeps_to_the_printed_schema(tmp_path: Path):
    write_task(
        tmp_path / "corpus", "one", answers={"s": [SOLUTION.replace("sum = 0.0f;", "sum = 0.0f")], "t": [SOLUTION]}
    )
    words = ("--batch", "--corpus", tmp_path / "corpus", "--fixer", "scripted:s", "--fixer", "scripted:t")
    assert beaver(*words, "--device", "none", "--out", tmp_path / "run").code == 0
    assert beaver(*words, "--device", "none", "--history", "1", "--out", tmp_path / "h1").code == 0
    schema = json.loads(beaver("card", "--schema").out)
    done = beaver("card", tmp_path / "run", tmp_path / "h1")
    assert done.code == 0, done.err
    card = json.loads(done.out)
    jsonschema.validate(card, schema)
    assert [setting["name"] for setting in card["settings"]] == ["default", "history=1"]
    assert (card["coverage"]["planned"], card["coverage"]["counted"], card["coverage"]["needs_device"]) == (4, 2, 2)
    assert {result["fixer"] for result in card["results"]} == {"scripted:s"}
    mixed = beaver("report", tmp_path / "run", H200)
    assert mixed.code == 2 and "runs of different corpora" in mixed.err


def test_a_damaged_journal_is_left_out_and_said(tmp_path: Path):
    shutil.copytree(H200, tmp_path / "run")
    journal = next((tmp_path / "run" / "trajectories" / "gemm_rect").rglob("journal.jsonl"))
    journal.write_text("no journal\n" + journal.read_text())
    done = beaver("report", tmp_path / "run")
    assert done.code == 0 and "left out" in done.err and "journal.jsonl" in done.err
    assert "| left out: damaged | 1 |" in done.out and "| counted | 43 |" in done.out


def test_a_card_is_written_for_people_too_and_counts_verdicts(tmp_path: Path):
    out = tmp_path / "card.md"
    rows = [
        {"type": "row", "task": "softmax_rows", "verdict": "ok"},
        {"type": "row", "task": "elsewhere", "verdict": "flaky"},
    ]
    (tmp_path / "verify.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = beaver("card", H200, "--verify", tmp_path / "verify.jsonl", "--out", out)
    assert done.code == 0, done.err
    assert "verdicts ok 1, not verified 11" in out.read_text()
    wrong = beaver("card", H200, "--verify", out)
    assert wrong.code == 2 and "not the output of beaver-tui verify --json" in wrong.err
    assert beaver("card").code == 2


def test_sources_switch_the_asymmetry_on(tmp_path: Path):
    sources = tmp_path / "sources.yaml"
    sources.write_text("gemm_rect: scripted:good\n")
    card = json.loads(beaver("card", H200, "--sources", sources).out)
    assert card["asymmetry"]["on"] and card["asymmetry"]["trajectories_on_own_starts"] == 1
    sources.write_text("[1, 2]\n")
    assert "must be a mapping" in beaver("card", H200, "--sources", sources).err


@pytest.mark.parametrize("command", ["report", "card"])
def test_a_report_never_lies_in_a_run_and_never_replaces_what_is_no_file(command: str, tmp_path: Path):
    run = tmp_path / "run"
    shutil.copytree(Path(__file__).resolve().parents[1] / "fixtures" / "h200" / "run", run)
    before = (run / "run.json").read_bytes()
    (tmp_path / "folder").mkdir()
    for out, reason in ((run / "run.json", "lies in a run's folder"), (tmp_path / "folder", "is no regular file")):
        done = beaver(command, run, "--out", out)
        assert done.code == 2
        assert reason in done.err
    assert (run / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ("report", H200, "--gate", "nan"),
        ("card", H200, "--gate", "1e400"),
        ("plan", "--axis", "A1", "--attempts", "9" * 20),
    ],
    ids=["nan", "infinite", "attempts"],
)
def test_a_number_that_nothing_can_be_computed_with_is_refused(words: tuple[object, ...]):
    done = beaver(*words)
    assert done.code == 2
    assert "Invalid value" in done.err
