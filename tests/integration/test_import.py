"""Results of the CUDABeaver release's harness, imported by the command and read by everything that reads runs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from beaver_tui.cli import main
from engine.analysis.scan import frame_of
from engine.cells import read_cell
from engine.manifest import run_rows
from engine.rundir import Cell, RunDirectory
from tests.support.checkouts import BROKEN, SOLUTION, write_checkout, write_instance
from tests.support.results import api_error, row, write_results

A, B, C = "cuda_1__compile_error__0123abcd", "cuda_2__logic_error__4567abcd", "cuda_3__timeout__89ababcd"

SPEED = {
    "speedup": 0.8,
    "candidate_runtime_ms": 2.5,
    "reference_runtime_ms": 2.0,
    "candidate_cv": 0.01,
    "timing_method": "region/bench_region",
}


def imported(results: Path, out: Path, *more: str) -> RunDirectory:
    assert main(["import", str(results), "--out", str(out), *more]) == 0
    (run,) = out.iterdir()
    return RunDirectory(run)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    rows = [
        row(A, 1, "buildability_bug", reply="Here:\n```cuda\nint a\n```\n"),
        row(A, 2, "functional_correctness_bug"),
        row(A, 3, "passed", stop_reason="passed", performance=SPEED),
        row(B, 1, "illegal_memory_access"),
        row(B, 2, "environment_dependency_bug", five_category="logic_error"),
        row(B, 3, "perf_below_threshold", stop_reason="max_iterations", performance_gate={"speedup": 0.2}),
        api_error(C, 1),
    ]
    return write_results(tmp_path / "20260424_123214", rows, replies=True, tasks=[A, B, C, "cuda_4__timeout__01234567"])


def test_rows_become_iterations_under_our_names(results: Path, tmp_path: Path):
    run = imported(results, tmp_path / "runs")
    rows = {(one["task"], one["iteration"]): one for one in run_rows(run)}
    assert [one["category"] for one in rows.values()] == [
        "buildability",
        "functional_correctness",
        "passed",
        "illegal_memory_access",
        "environment_dependency",
        "passed",
    ]
    last = rows[A, 3]
    assert (last["speedup"], last["reference_mean_ms"], last["gate"], last["stop_reason"]) == (
        0.8,
        2.0,
        "pass",
        "passed",
    )
    slow = rows[B, 3]
    assert (slow["passed"], slow["signature"], slow["stop_reason"]) == (False, "too_slow", "max_iterations")
    assert {one["fixer"] for one in rows.values()} == {"some/model"}
    assert json.loads((run.path / "manifest.jsonl").read_text().splitlines()[0])["task"] == A


def test_what_the_results_do_not_tell_is_unknown(results: Path, tmp_path: Path):
    run = imported(results, tmp_path / "runs")
    record = run.record
    assert record.imported is not None
    assert record.imported.source == str(results)
    assert record.imported.sha256 == hashlib.sha256((results / "index/manifest.jsonl").read_bytes()).hexdigest()
    assert record.imported.recorded == "2026-04-24 12:32:14, time zone unknown"
    assert {"device", "toolkit", "tokens and cost", "seconds", "corpus"} <= set(record.imported.unknown)
    assert (record.device.kind, record.toolkit, record.sandbox, record.corpus) == ("unknown",) * 4
    first = next(run_rows(run))
    assert first["tokens_in"] is first["cost"] is first["prompt"] is None
    assert first["device"] == "unknown"
    assert first["started"] == ""


def test_the_protocol_is_that_of_the_config(results: Path, tmp_path: Path):
    protocol = imported(results, tmp_path / "runs").record.protocol
    assert (protocol.k, protocol.history, protocol.feedback, protocol.temperature) == (3, 2, "L2", 0.7)


def test_a_service_that_did_not_answer_is_no_failure_of_the_model(results: Path, tmp_path: Path):
    run = imported(results, tmp_path / "runs")
    frame = frame_of([run])
    assert frame.coverage.reasons == {"infra": 1, "missing": 1}  # and the task that has no row at all
    assert frame.coverage.planned == 4
    assert len(frame.trajectories) == 2


def test_replies_codes_and_logs_are_kept(results: Path, tmp_path: Path):
    run = imported(results, tmp_path / "runs")
    cell = Cell(A, "some/model")
    trajectory = read_cell(run, cell)
    assert trajectory is not None
    first, second, _ = trajectory.iterations
    assert first.reply is not None and second.reply is not None
    store = run.store(cell)
    assert store.get("responses", first.reply.response).startswith(b"Here:")
    assert not first.reply.whole_file
    assert second.reply.whole_file  # its reply was not kept: the file stands for it
    assert store.get("responses", second.reply.response) == f"// {A} 2 functional_correctness_bug\n".encode()
    assert store.read_log(1, "build") == "solution.cu(3): error: buildability_bug"
    assert store.read_log(2, "test") == "functional_correctness_bug seen"


def test_reports_comparisons_and_the_classifier_of_today_read_it(results: Path, tmp_path: Path, capsys):
    run = imported(results, tmp_path / "runs")
    for words in (
        ["report", str(run.path), "--format", "json"],
        ["card", str(run.path)],
        ["rescore", str(run.path), "--classify-again"],
        ["manifest", str(run.path)],
    ):
        capsys.readouterr()
        code = main(words)
        told = capsys.readouterr()
        assert code in (0, 1) and told.out, (words, told.err)
        assert "Traceback" not in told.err


def test_report_and_card_say_that_it_was_imported(results: Path, tmp_path: Path, capsys):
    run = imported(results, tmp_path / "runs")
    capsys.readouterr()
    assert main(["report", str(run.path), "--format", "md"]) == 0
    assert "imported: some_iter (CUDABeaver release)" in capsys.readouterr().out
    assert main(["card", str(run.path), "--format", "json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["runs"]
    assert told["imported"]["format"] == "CUDABeaver release"
    assert "toolkit" in told["imported"]["unknown"]
    assert str(tmp_path) not in json.dumps(told)


def test_without_a_corpus_what_needs_it_says_how_to_have_it(results: Path, tmp_path: Path, capsys):
    run = imported(results, tmp_path / "runs")
    assert main(["diff", str(run.path), A, "1", "3"]) == 2
    assert "was imported without a corpus; import the results again with --corpus PATH" in capsys.readouterr().err


def test_it_cannot_go_on(results: Path, tmp_path: Path, capsys):
    run = imported(results, tmp_path / "runs")
    assert main(["--batch", "--resume", str(run.path)]) == 2
    assert "was imported from" in capsys.readouterr().err


def test_the_same_results_are_imported_once_and_others_never_over_them(results: Path, tmp_path: Path, capsys):
    out = tmp_path / "runs"
    run = imported(results, out)
    before = (run.path / "run.json").read_bytes()
    imported(results, out)
    assert "was there already" in capsys.readouterr().out
    assert (run.path / "run.json").read_bytes() == before
    with (results / "index/manifest.jsonl").open("a") as manifest:
        manifest.write(json.dumps(row(B, 4, "timeout")["record"]) + "\n")
    assert main(["import", str(results), "--out", str(out)]) == 2
    assert "another run is there" in capsys.readouterr().err


def test_repeated_attempts_are_trajectories_of_their_own(tmp_path: Path):
    rows = [row(A, 1, "timeout"), row(A, 2, "passed"), row(A, 3, "passed", stop_reason="max_iterations")]
    run = imported(write_results(tmp_path / "results", rows, method="repeated"), tmp_path / "runs")
    assert run.plan == [Cell(A, "some/model", attempt) for attempt in (1, 2, 3)]
    assert [(one["attempt"], one["iteration"], one["passed"]) for one in run_rows(run)] == [
        (1, 1, False),
        (2, 1, True),
        (3, 1, True),
    ]
    assert frame_of([run]).coverage.reasons == {}


def test_the_signal_that_ended_a_trajectory_is_told(tmp_path: Path):
    rows = [row(A, 1, "timeout", code="// same"), row(A, 2, "timeout", code="// same", stop_reason="duplicate_code")]
    run = imported(write_results(tmp_path / "results", rows), tmp_path / "runs")
    assert [(one["signals"], one["stop_reason"]) for one in run_rows(run)] == [
        ([], None),
        (["duplicate_code"], "duplicate_code"),
    ]


def test_of_a_task_that_was_begun_again_the_last_try_counts(tmp_path: Path):
    rows = [
        row(A, 1, "timeout", stop_reason="max_iterations"),  # the scan of a first phase
        row(A, 1, "buildability_bug"),
        row(A, 2, "passed", stop_reason="passed"),
    ]
    run = imported(write_results(tmp_path / "results", rows), tmp_path / "runs")
    assert [one["category"] for one in run_rows(run)] == ["buildability", "passed"]
    assert run.record.imported is not None
    assert "1 rows of earlier tries are left out: the last try of a task counts" in run.record.imported.notes


def test_damaged_rows_and_texts_are_named_and_nothing_is_made_up_for_them(tmp_path: Path):
    rows = [
        row(A, 1, "timeout"),
        row(A, 2, "passed", stop_reason="passed", performance={"speedup": float("nan"), "skipped": "too short"}),
        row(B, 1, "timeout"),
        row(B, 3, "passed", stop_reason="passed"),
    ]
    folder = write_results(tmp_path / "results", rows)
    with (folder / "index/manifest.jsonl").open("a") as manifest:
        manifest.write('{"task_id": "torn')
    (folder / rows[0]["record"]["paths"]["error_code"]).write_text("// changed\n")
    run = imported(folder, tmp_path / "runs")
    told = list(run_rows(run))
    assert [(one["task"], one["iteration"]) for one in told] == [(A, 1), (A, 2), (B, 1)]
    assert told[0]["solution"] is None
    assert (told[1]["speedup"], told[1]["gate"]) == (None, "unmeasured")
    assert frame_of([run]).coverage.reasons == {"unfinished": 1}  # how B ended is not known
    assert run.record.imported is not None
    notes = "\n".join(run.record.imported.notes)
    assert "manifest.jsonl:5: not a row" in notes
    assert "is not what its name says" in notes
    assert "an iteration before them is missing" in notes


def test_a_bucket_that_several_categories_share_is_unclassified(tmp_path: Path):
    rows = [row(A, 1, "", five_category="memory_crash"), row(A, 2, "", five_category="timeout")]
    run = imported(write_results(tmp_path / "results", rows), tmp_path / "runs")
    assert [(one["category"], one["outcome_bucket"]) for one in run_rows(run)] == [
        ("unclassified", "memory_crash"),
        ("timeout", "timeout"),
    ]


def test_without_a_config_the_rows_tell_the_protocol_as_far_as_they_do(tmp_path: Path):
    rows = [row(A, 1, "timeout", method="iterative", max_history_rounds=1), row(A, 2, "passed", stop_reason="passed")]
    run = imported(write_results(tmp_path / "results", rows, config=False), tmp_path / "runs", "--fixer", "gemma")
    assert run.record.protocol.history == 1
    assert run.record.imported is not None
    assert {"protocol: feedback", "protocol: k", "protocol: temperature"} <= set(run.record.imported.unknown)
    assert run.plan == [Cell(A, "gemma")]


def test_many_results_below_one_folder(tmp_path: Path):
    for model in ("one", "two"):
        write_results(
            tmp_path / "outputs" / model / "20260424_123214", [row(A, 1, "passed", stop_reason="passed")], name=model
        )
    assert main(["import", str(tmp_path / "outputs"), "--out", str(tmp_path / "runs")]) == 0
    assert sorted(run.name for run in (tmp_path / "runs").iterdir()) == ["20260424_123214-one", "20260424_123214-two"]


def test_a_folder_without_results_is_refused(tmp_path: Path, capsys):
    assert main(["import", str(tmp_path)]) == 2
    assert "no results here" in capsys.readouterr().err


def test_with_the_checkout_its_answers_play_again(tmp_path: Path, capsys):
    """Replayed on this machine, judged by this harness: the same categories."""
    checkout = write_checkout(tmp_path / "checkout", "cuda")
    (instance,) = (checkout / "data").glob("cuda_*")
    rows = [
        row(instance.name, 1, "buildability_bug", code=BROKEN),
        row(instance.name, 2, "passed", code=SOLUTION, stop_reason="passed"),
    ]
    results = write_results(checkout / "outputs" / "iter" / "20260424_123214", rows)
    run = imported(results, tmp_path / "runs")
    assert run.record.corpus == str(checkout)
    told = list(run_rows(run))
    assert told[0]["start_bucket"] == "compile_error"
    capsys.readouterr()
    assert main(["diff", str(run.path), instance.name, "0", "2"]) == 0
    assert "+  int i = blockIdx.x * blockDim.x" in capsys.readouterr().out
    again = tmp_path / "again"
    words = [
        "--batch",
        "--corpus",
        str(checkout),
        "--fixer",
        f"replay:{run.path}",
        "--device",
        "cpu",
        "--out",
        str(again),
    ]
    assert main(words) == 0
    assert [one["category"] for one in run_rows(RunDirectory(again))] == [one["category"] for one in told]


def test_its_repairs_are_examples_for_other_tasks(tmp_path: Path):
    """Without its corpus the first failing candidate is the example's start."""
    from engine.sweep.example_pool import read_pool

    rows = [
        row(A, 1, "buildability_bug"),
        row(A, 2, "timeout"),
        row(A, 3, "passed", stop_reason="passed"),
        row(B, 1, "passed", stop_reason="passed"),
    ]
    run = imported(write_results(tmp_path / "results", rows), tmp_path / "runs")
    pool = read_pool([run.path])
    (one,) = pool.examples
    assert (one.task, one.bucket, one.broken, one.fixed) == (
        A,
        "compile_error",
        f"// {A} 1 buildability_bug\n",
        f"// {A} 3 passed\n",
    )
    assert one.log == "solution.cu(3): error: buildability_bug"
    assert pool.dropped == {"without a failing step before the fix": 1}


def test_the_second_instance_of_a_task_is_no_example_for_the_first(tmp_path: Path):
    from engine.corpora import load_corpus
    from engine.fewshot import choose
    from engine.protocol import Choosing, FewShot
    from engine.sweep.example_pool import read_pool

    checkout = write_checkout(tmp_path / "checkout", "cuda")
    write_instance(checkout, "cuda", bucket="memory_crash", broken=BROKEN + "// twin\n")
    tasks = load_corpus(checkout).tasks
    twin, other = sorted(tasks)
    rows = [row(twin, 1, "timeout"), row(twin, 2, "passed"), row("CUDA/1", 1, "timeout"), row("CUDA/1", 2, "passed")]
    run = imported(write_results(checkout / "outputs" / "results", rows), tmp_path / "runs")
    pool = read_pool([run.path])
    assert len(pool.examples) == 2
    assert choose(pool.examples, tasks[other], FewShot(Choosing.RANDOM, 3), 42) == []
