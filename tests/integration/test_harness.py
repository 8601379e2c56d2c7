"""Candidate to evidence, with real builds and real processes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from engine import events as ev
from engine.devices.base import Device
from engine.errors import InfraError
from engine.evidence import Evidence
from engine.harness.capture import HEAD_BYTES
from engine.harness.examine import Harness, Job
from engine.harness.sandbox import NoSandbox
from engine.harness.workspace import remove_abandoned
from engine.verdict import classify
from tests.support.tasks import BROKEN, CRASH, DRIVER, HANG, SOLUTION, WRONG


async def examine(harness: Harness, task, code: str, **job: object) -> tuple[Evidence, list[ev.Event]]:
    events: list[ev.Event] = []
    work = Job(task=task, code=code.encode(), iteration=1, seed=42, **job)  # type: ignore[arg-type]
    examined = await harness.examine(work, events.append, lambda step, text: None)
    return examined.evidence, events


def category(evidence: Evidence) -> str:
    return classify(evidence).category


async def test_a_good_candidate_passes_with_grade_a(harness, make_task):
    evidence, events = await examine(harness, make_task(), SOLUTION)
    assert category(evidence) == "passed"
    tested = next(event for event in events if isinstance(event, ev.Tested))
    assert tested.evidence_grade == "A"
    assert tested.seed == 42
    assert tested.check is not None
    assert tested.check.passed


@pytest.mark.parametrize(
    ("code", "expected"),
    [(BROKEN, "buildability"), (WRONG, "functional_correctness"), (CRASH, "illegal_memory_access")],
    ids=["broken", "wrong", "crash"],
)
async def test_each_failure_gets_its_category(harness, make_task, code, expected):
    evidence, _ = await examine(harness, make_task(), code)
    assert category(evidence) == expected


async def test_a_hang_is_a_timeout_with_its_output_kept(harness, make_task):
    task = make_task(spec={"timeouts": {"cuda": {"build": 60, "test": 1}}})
    evidence, _ = await examine(
        harness,
        task,
        HANG.replace("float sum", 'std::puts("begun"); std::fflush(stdout); float sum').replace(
            "#include", "#include <cstdio>\n#include", 1
        ),
    )
    assert category(evidence) == "timeout"
    assert evidence.test is not None
    assert "begun" in evidence.test.stdout


async def test_without_a_device_programs_are_built_and_the_reason_is_named(harness, make_task):
    harness.device = Device(name="no GPU", missing="needs a GPU: none here")
    evidence, _ = await examine(harness, make_task(), SOLUTION)
    assert evidence.build is not None
    assert evidence.build.ok
    verdict = classify(evidence)
    assert verdict.category == "environment_dependency"
    assert "needs a GPU" in verdict.line


async def test_exit_zero_before_main_is_no_pass(harness, make_task):
    cheat = SOLUTION + "#include <unistd.h>\nstatic int early = (_exit(0), 0);\n"
    evidence, _ = await examine(harness, make_task(), cheat)
    assert category(evidence) == "functional_correctness"


async def test_printing_pass_is_no_pass(harness, make_task):
    cheat = WRONG + '#include <cstdio>\nstatic int said = std::puts("PASS all checks passed, Speedup: 99x");\n'
    evidence, _ = await examine(harness, make_task(), cheat)
    assert category(evidence) == "functional_correctness"


async def test_the_checkers_files_and_seed_are_not_in_the_workspace(harness, make_task):
    spy = SOLUTION.replace(
        "float sum = 0.0f;",
        'float sum = 0.0f; std::system("find / -path \\"*checker/check.py\\" 2>/dev/null | wc -l; env; pwd; ls -la");',
    ).replace("#include", "#include <cstdlib>\n#include", 1)
    patient = {"timeouts": {"cuda": {"build": 60, "test": 300}}}  # it looks through all that it can see
    evidence, _ = await examine(harness, make_task(spec=patient), spy)
    assert evidence.test is not None
    lines = evidence.test.stdout.splitlines()
    assert lines[0] == "0"
    assert "SEED" not in evidence.test.stdout
    assert "/workspace" in lines


async def test_changing_the_inputs_does_not_move_the_oracle(harness, make_task):
    cheat = """\
#include <cstddef>
#include <cstdio>
float total(const float* x, std::size_t n) {
  if (std::FILE* f = std::fopen("in/x.f32", "wb")) std::fclose(f);
  return 0.0f;
}
"""
    evidence, _ = await examine(harness, make_task(), cheat)
    assert category(evidence) == "functional_correctness"


async def test_an_output_link_is_not_followed(harness, make_task):
    cheat = """\
#include <cstddef>
#include <unistd.h>
#include <cstdlib>
float total(const float* x, std::size_t n) {
  symlink("/etc/hostname", "out/y.f32");
  std::_Exit(0);
}
"""
    evidence, _ = await examine(harness, make_task(), cheat)
    assert category(evidence) == "functional_correctness"
    assert evidence.check is not None
    assert "no regular file" in evidence.check.message


async def test_a_build_cannot_change_the_harness(harness, make_task):
    """A make task whose candidate could run code at build time: the driver must still be the task's own."""
    build = "echo evil > driver.cpp; mv driver.cpp d.cpp; g++ -O1 -o driver driver.cpp solution.cpp"
    evidence, _ = await examine(harness, make_task(spec={"build_cmd": build}), SOLUTION)
    assert category(evidence) == "passed"


async def test_tampering_is_noticed_where_mounts_cannot_prevent_it(harness, make_task):
    harness.sandbox = NoSandbox()
    build = "echo '// evil' >> driver.cpp; g++ -O1 -o driver driver.cpp solution.cpp"
    evidence, _ = await examine(harness, make_task(spec={"build_cmd": build}), SOLUTION)
    assert any(finding.startswith("tampered: driver.cpp") for finding in evidence.preflight)
    assert category(evidence) != "passed"


async def test_a_forbidden_name_ends_before_the_build(harness, make_task):
    evidence, _ = await examine(
        harness, make_task(spec={"anti_cheat": ["cublasSgemm"]}), SOLUTION + "int cublasSgemm_v2();"
    )
    assert category(evidence) == "integration"
    assert evidence.build is None


async def test_a_task_for_another_architecture_is_environment_dependency(harness, make_task):
    evidence, _ = await examine(harness, make_task(spec={"arch_exact": "sm_100a"}), SOLUTION)
    assert category(evidence) == "environment_dependency"


async def test_a_task_for_this_architecture_is_built(harness, make_task):
    evidence, _ = await examine(harness, make_task(spec={"arch_exact": "sm_90a"}), SOLUTION)
    assert category(evidence) == "passed"


async def test_pass_evidence_must_be_there(harness, make_task):
    spec = {"check": None, "test_cmd": "./driver", "pass_evidence": "^ALL GOOD$"}
    silent = DRIVER.replace('std::FILE* in = std::fopen("in/x.f32", "rb");', "return 0; std::FILE* in = nullptr;")
    evidence, events = await examine(harness, make_task(driver=silent, spec=spec), SOLUTION)
    assert category(evidence) == "functional_correctness"
    tested = next(event for event in events if isinstance(event, ev.Tested))
    assert tested.evidence_grade == "B"


async def test_a_broken_checker_is_no_candidates_fault(harness, make_task):
    task = make_task()
    (task.folder / "checker" / "check.py").write_text("raise SystemExit(7)")
    with pytest.raises(InfraError, match="checker's generate failed"):
        await examine(harness, task, SOLUTION)


async def test_a_checker_that_contradicts_itself_is_refused(harness, make_task):
    task = make_task()
    path = task.folder / "checker" / "check.py"
    path.write_text(path.read_text().replace("sys.exit(0 if passed else 1)", "sys.exit(0)"))
    with pytest.raises(InfraError, match="result.json says passed=False"):
        await examine(harness, task, WRONG)


async def test_speed_is_measured_against_the_reference_in_turns(harness, make_task):
    spec = {"timing_parser": r"^Kernel time: ([0-9.]+) ms$", "check": {**_check(), "time": "./driver"}}
    _, events = await examine(harness, make_task(spec=spec), SOLUTION, launches=3)
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert timed.reference_ms == timed.candidate_ms == [0.5] * 3
    assert timed.speedup == 1.0
    assert timed.gate == "pass"


async def test_a_time_that_is_no_time_leaves_the_gate_unmeasured(harness, make_task):
    spec = {"timing_parser": r"^Kernel time: (\S+) ms$", "check": {**_check(), "time": "./driver"}}
    task = make_task(spec=spec, driver=DRIVER.replace(", 0.5)", ", 0.0)"))
    _, events = await examine(harness, task, SOLUTION, launches=3)
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert timed.speedup is None
    assert timed.gate == "unmeasured"


async def test_a_result_kept_from_an_earlier_call_takes_back_the_pass(harness, make_task):
    """A candidate that works once and skips the timed calls: what the timed run left is judged too."""
    driver = DRIVER.replace(
        "float y = total(x.data(), x.size());", "float y = argc > 1 ? 0.0f : total(x.data(), x.size());"
    )
    driver = driver.replace("int main()", "int main(int argc, char**)")
    spec = {"timing_parser": r"^Kernel time: ([0-9.]+) ms$", "check": {**_check(), "time": "./driver time"}}
    evidence, events = await examine(harness, make_task(spec=spec, driver=driver), SOLUTION, launches=2)
    assert category(evidence) == "functional_correctness"
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert timed.gate == "unmeasured"
    assert "wrong result" in timed.note
    assert [event.check.passed for event in events if isinstance(event, ev.Tested) and event.check] == [True, False]


FORGER = """\
#include <cstdio>
#include <cstring>
#include <unistd.h>
static int forge = [] {
  char line[256] = {};
  std::FILE* f = std::fopen("/proc/self/cmdline", "rb");
  std::size_t n = std::fread(line, 1, sizeof line - 1, f);
  for (std::size_t i = 0; i < n; ++i) if (!line[i]) line[i] = ' ';
  if (std::strstr(line, "time")) { std::printf("Kernel time: 0.0010 ms\\n"); std::fflush(stdout); _exit(0); }
  return 0;
}();
"""


async def test_a_forged_time_without_a_computation_takes_back_the_pass(harness, make_task):
    """It printed a time and ended before main; the outputs of the untimed run spoke for it, at 500x."""
    driver = DRIVER.replace("int main()", "int main(int, char**)")
    spec = {"timing_parser": r"^Kernel time: ([0-9.]+) ms$", "check": {**_check(), "time": "./driver time"}}
    evidence, events = await examine(harness, make_task(spec=spec, driver=driver), SOLUTION + FORGER, launches=2)
    assert category(evidence) == "functional_correctness"
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert (timed.gate, timed.speedup) == ("unmeasured", None)


async def test_every_timed_run_is_judged_not_only_the_last(harness, make_task):
    """Wrong in the first timed run, right in the last."""
    driver = DRIVER.replace(
        "float y = total(x.data(), x.size());",
        'float y = total(x.data(), x.size()); if (argc > 1 && access("/tmp/.", F_OK) == 0 && time(nullptr) % 1 == 0) y = 0;',
    ).replace("int main()", "int main(int argc, char**)")
    driver = "#include <ctime>\n#include <unistd.h>\n" + driver
    spec = {"timing_parser": r"^Kernel time: ([0-9.]+) ms$", "check": {**_check(), "time": "./driver time"}}
    _, events = await examine(harness, make_task(spec=spec, driver=driver), SOLUTION, launches=4)
    timed = next(event for event in events if isinstance(event, ev.Timed))
    assert len(timed.candidate_ms) == 0
    assert "wrong result" in timed.note


async def test_an_exception_in_a_checker_is_no_mismatch(harness, make_task):
    """Python ends with 1 after an exception, and 1 is also a checker's word for a mismatch."""
    task = make_task()
    path = task.folder / "checker" / "check.py"
    path.write_text(path.read_text().replace("want = float(", "raise RuntimeError('no oracle'); want = float("))
    with pytest.raises(InfraError, match="RuntimeError: no oracle"):
        await examine(harness, task, SOLUTION)


async def test_a_nan_that_spoils_the_result_file_is_still_a_mismatch(harness, make_task):
    evidence, _ = await examine(
        harness, make_task(), SOLUTION.replace("return sum;", "return sum - sum + 0.0f / (sum - sum);")
    )
    assert category(evidence) == "functional_correctness"
    assert evidence.check is not None
    assert not evidence.check.passed


async def test_tampering_found_late_is_an_event_too(harness, make_task):
    """The finding once slipped into an event that was already written, and a replay did not have it."""
    harness.sandbox = NoSandbox()
    build = "g++ -O1 -o driver driver.cpp solution.cpp; echo '// evil' >> driver.cpp"
    _, events = await examine(harness, make_task(spec={"build_cmd": build}), SOLUTION)
    found = [event.findings for event in events if isinstance(event, ev.PreflightDone)]
    assert found[0] == []
    assert found[-1][0].startswith("tampered: driver.cpp")


async def test_the_harness_counts_only_its_own_time(harness, make_task):
    job = Job(task=make_task(), code=SOLUTION.encode(), iteration=1, seed=1)
    steps: list[float] = []
    examined = await harness.examine(job, lambda event: None, lambda step, text: steps.append(0.0))
    assert len(steps) == 4  # build, generate, test, compare
    assert 0 < examined.own_seconds < 0.2


def misbehaving(code: str) -> str:
    """A right solution that does something else first."""
    head = "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <string>\n#include <sys/stat.h>\n#include <unistd.h>\n"
    return head + SOLUTION.replace("float sum = 0.0f;", f"float sum = 0.0f; {code}")


async def test_ten_thousand_nested_folders_end_nothing(harness, make_task):
    """Python's own removal recurses; the sweep died of it, and so did every resume."""
    code = misbehaving(
        'chdir("out"); for (int k = 0; k < 6000; ++k) { mkdir("dddddddddd", 0777); chdir("dddddddddd"); }'
    )
    await examine(harness, make_task(), code)
    assert not list(Path("/tmp").glob("beaver-*/ws/out/dddddddddd"))


async def test_names_that_a_candidate_chose_are_few_short_and_plain(harness, make_task):
    code = misbehaving(
        'for (int k = 0; k < 100; ++k) mkdir(("out/\\n\\x1b]0;PWNED\\xff" + std::string(180, 97) + std::to_string(k)).c_str(), 0777);'
    )
    evidence, _ = await examine(harness, make_task(), code)
    assert evidence.check is not None
    message = evidence.check.message
    assert "and 92 more" in message
    assert len(message) < 1000
    assert "\n" not in message
    assert "\x1b" not in message
    message.encode("utf-8")


async def test_too_many_output_files_are_not_copied(harness, make_task):
    code = misbehaving('for (int k = 0; k < 3000; ++k) fclose(fopen(("out/" + std::to_string(k)).c_str(), "w"));')
    evidence, _ = await examine(harness, make_task(), code)
    assert category(evidence) == "functional_correctness"
    assert evidence.check is not None
    assert "more than 256 entries" in evidence.check.message


async def test_a_fork_bomb_does_not_fail_its_neighbours(harness, make_task):
    """One uid for all: the bomb used up the process limit, and the neighbours' sandboxes could not start."""
    bomb = make_task("bomb", spec={"timeouts": {"cuda": {"build": 60, "test": 3}}})
    code = misbehaving("for (int k = 0; k < 3000; ++k) if (fork() == 0) { sleep(2); _exit(0); }")
    good = [make_task(f"good{number}") for number in range(2)]
    results = await asyncio.gather(examine(harness, bomb, code), *(examine(harness, task, SOLUTION) for task in good))
    assert [category(evidence) for evidence, _ in results[1:]] == ["passed", "passed"]


async def test_a_sandbox_that_cannot_start_is_the_machines_fault(harness, make_task):
    """Its message was taken for the compiler's."""
    harness.limits = replace(harness.limits, processes=1)
    with pytest.raises(InfraError, match="the sandbox could not start a step"):
        await examine(harness, make_task(), SOLUTION)


async def test_abandoned_workspaces_are_removed_and_living_ones_are_not(harness, make_task, tmp_path):
    living = harness.stand.workspace(make_task(), b"", tmp_path)
    dead = tmp_path / "beaver-dead"
    dead.mkdir()
    (dead / "lock").touch()
    stranger = tmp_path / "beaver-unlocked"
    stranger.mkdir()
    remove_abandoned(tmp_path)
    assert living.root.is_dir()
    assert not dead.exists()
    assert stranger.is_dir()
    living.close()


async def test_the_workspace_is_gone_afterwards(harness, make_task, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for folder in (scratch, *scratch.parents):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    harness.scratch = scratch
    await examine(harness, make_task(), WRONG)
    assert list(scratch.iterdir()) == []


def _check() -> dict[str, str]:
    return {
        "generate": "python3 check.py generate",
        "run": "./driver",
        "compare": "python3 check.py compare",
    }


async def test_of_a_flood_only_the_beginning_streams_and_the_log_keeps_both_ends(harness: Harness, make_task):
    flood = "head -c 30000000 /dev/zero | tr '\\0' x; echo the end"
    evidence, events = await examine(harness, make_task(spec={"check": None, "test_cmd": flood}), SOLUTION)
    assert evidence.test is not None
    assert evidence.test.stdout.endswith("the end\n")
    streamed = sum(len(event.text) for event in events if isinstance(event, ev.OutputArrived) and event.step == "test")
    assert HEAD_BYTES <= streamed < 2 * HEAD_BYTES
