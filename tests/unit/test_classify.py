"""The classifier against the protocol's decisions, point by point. Whole logs of real tools are in test_log_fixtures.py."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.evidence import CheckResult, Evidence, SanitizerEvidence, StepEvidence
from engine.verdict import OUTCOME_BUCKETS, UNCLASSIFIED, Category, Verdict, classify, is_progression, outcome_bucket
from engine.verdict.categories import PRIORITY
from engine.verdict.classify_file import BadLine, Row, classify_lines
from tests.unit.rule_examples import EXAMPLES

HARNESS = ["driver.cu", "task.h"]
OK = StepEvidence(exit_code=0)


def built(stderr: str = "", *, exit_code: int | None = 1, **facts: Any) -> Verdict:
    """The verdict on a build that failed so."""
    step = StepEvidence(exit_code=exit_code, stderr=stderr, **facts)
    return classify(Evidence(build=step, harness_files=HARNESS))


def ran(stderr: str = "", stdout: str = "", *, exit_code: int | None = 1, **facts: Any) -> Verdict:
    """The verdict on a test that failed so."""
    step = StepEvidence(exit_code=exit_code, stderr=stderr, stdout=stdout, **facts)
    return classify(Evidence(build=OK, test=step, harness_files=HARNESS))


# --- categories and buckets (points 1 and 2) ----------------------------------------------------------------------------


def test_there_are_eight_categories_and_bug_spellings_are_read() -> None:
    assert len(Category) == 8
    assert Category.parse("out_of_memory_bug") is Category.OUT_OF_MEMORY
    assert Category.parse(" Functional-Correctness ") is Category.FUNCTIONAL_CORRECTNESS
    with pytest.raises(ValueError, match="buildability"):
        Category.parse("syntax")


def test_buckets_follow_table_4_and_not_its_introduction() -> None:
    assert outcome_bucket(Category.TIMEOUT) == "timeout"
    assert outcome_bucket(Category.FUNCTIONAL_CORRECTNESS) == "logic_error"
    assert {outcome_bucket(c) for c in (Category.OUT_OF_MEMORY, Category.ILLEGAL_MEMORY_ACCESS)} == {"memory_crash"}
    assert set(OUTCOME_BUCKETS) == {*Category, UNCLASSIFIED}


def test_progression_climbs_the_order_of_d3() -> None:
    assert is_progression("buildability", "timeout") and is_progression("timeout", "functional_correctness")
    assert not is_progression("timeout", "out_of_memory") and not is_progression("passed", "buildability")
    assert not is_progression(UNCLASSIFIED, "passed")


# --- passes (point 3) ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stdout",
    [
        "0 out of memory errors",
        "skilled workers: 12",
        "FAIL count: 0, no segmentation fault, timed out: 0",
        "injected cudaErrorIllegalAddress was handled\nPASS",
        "error: none; undefined symbol test ok",
        "max abs error 0.0 within tolerance",
    ],
)
def test_a_pass_may_print_what_it_likes(stdout: str) -> None:
    verdict = ran(stdout=stdout, exit_code=0)
    assert verdict.passed and verdict.signature == "" and verdict.rivals == ()


@pytest.mark.parametrize(
    "stdout", ["0 out of memory errors", "skilled", "no illegal memory access found", "timed out: 0"]
)
def test_the_same_words_do_not_name_a_failure_either(stdout: str) -> None:
    assert ran(stdout=stdout).category == Category.FUNCTIONAL_CORRECTNESS


def test_exit_0_without_the_declared_evidence_is_no_pass() -> None:
    evidence = Evidence(build=OK, test=StepEvidence(exit_code=0, stdout="PASS"), pass_evidence=False)
    assert classify(evidence).rule == "check.no_pass_evidence"
    assert classify(evidence).category == Category.FUNCTIONAL_CORRECTNESS
    evidence.pass_evidence = True
    assert classify(evidence).passed


def test_the_checker_decides_over_exit_0() -> None:
    check = CheckResult(passed=False, output="y", message="y: 812 of 65536 values differ")
    verdict = classify(Evidence(build=OK, test=OK, check=check, pass_evidence=True))
    assert (verdict.category, verdict.rule) == (Category.FUNCTIONAL_CORRECTNESS, "check.mismatch")
    assert verdict.signature == "check: y: # of # values differ"
    check.passed = True
    assert classify(Evidence(build=OK, test=OK, check=check)).passed


def test_a_program_that_reports_a_fault_and_exits_0_is_judged_by_the_fault() -> None:
    test = StepEvidence(exit_code=0, stderr="CUDA error: an illegal memory access was encountered")
    verdict = classify(Evidence(build=OK, test=test, check=CheckResult(passed=False)))
    assert verdict.category == Category.ILLEGAL_MEMORY_ACCESS
    assert verdict.rivals == ("functional_correctness/check.mismatch",)


def test_no_pass_without_a_test() -> None:
    assert classify(Evidence(build=OK)).rule == "fallback.no_test"
    assert classify(Evidence()).category == Category.ENVIRONMENT_DEPENDENCY


# --- priority and rivals (point 4) --------------------------------------------------------------------------------------

BUILD_LINES = {
    Category.ENVIRONMENT_DEPENDENCY: "nvcc fatal   : Unsupported gpu architecture 'compute_20'",
    Category.INTEGRATION: "(.text+0x17): undefined reference to `main'",
    Category.BUILDABILITY: 'solution.cu(3): error: identifier "foo" is undefined',
    Category.OUT_OF_MEMORY: "cc1plus: out of memory allocating 65536 bytes after a total of 1 bytes",
    Category.TIMEOUT: "BUILD TIMEOUT after 120 s",
}
TEST_LINES = {
    Category.ENVIRONMENT_DEPENDENCY: "CUDA error: no kernel image is available for execution on the device",
    Category.INTEGRATION: "ImportError: cannot import name 'ModelNew' from 'solution'",
    Category.BUILDABILITY: 'solution.cu(3): error: identifier "foo" is undefined',
    Category.OUT_OF_MEMORY: "CUDA error: out of memory",
    Category.ILLEGAL_MEMORY_ACCESS: "CUDA error: misaligned address",
    Category.TIMEOUT: "CUDA error: the launch timed out and was terminated",
    Category.FUNCTIONAL_CORRECTNESS: "Mismatch at index 5: got 0.5, expected 1.25",
}


def test_the_tables_name_every_category_of_their_stage() -> None:
    assert tuple(BUILD_LINES) == PRIORITY["build"] and tuple(TEST_LINES) == PRIORITY["test"]


@pytest.mark.parametrize(("first", "second"), permutations(BUILD_LINES, 2))
def test_build_priority_whatever_comes_first_in_the_log(first: Category, second: Category) -> None:
    verdict = built(f"{BUILD_LINES[first]}\n{BUILD_LINES[second]}\n")
    winner, loser = sorted((first, second), key=PRIORITY["build"].index)
    assert verdict.category == winner
    assert [rival.split("/")[0] for rival in verdict.rivals] == [loser]


@pytest.mark.parametrize(("first", "second"), permutations(TEST_LINES, 2))
def test_runtime_priority_whatever_comes_first_in_the_log(first: Category, second: Category) -> None:
    verdict = ran(stdout=f"{TEST_LINES[first]}\n{TEST_LINES[second]}\n")
    winner, loser = sorted((first, second), key=PRIORITY["test"].index)
    assert verdict.category == winner
    assert [rival.split("/")[0] for rival in verdict.rivals] == [loser]


@pytest.mark.parametrize(("first", "second"), permutations(TEST_LINES, 2))
def test_priority_over_both_streams(first: Category, second: Category) -> None:
    winner = min((first, second), key=PRIORITY["test"].index)
    assert ran(TEST_LINES[first], TEST_LINES[second]).category == winner


@pytest.mark.parametrize(("first", "second"), permutations(TEST_LINES, 2))
def test_the_stricter_reading_calls_a_stage_with_two_categories_unclassified(first: Category, second: Category) -> None:
    test = StepEvidence(exit_code=1, stdout=f"{TEST_LINES[first]}\n{TEST_LINES[second]}\n")
    verdict = classify(Evidence(build=OK, test=test), ambiguous_unclassified=True)
    assert verdict.category == verdict.outcome_bucket == UNCLASSIFIED
    assert {rival.split("/")[0] for rival in verdict.rivals} == {first, second}


def test_all_categories_at_once() -> None:
    verdict = ran(stdout="\n".join(reversed(TEST_LINES.values())))
    assert verdict.category == Category.ENVIRONMENT_DEPENDENCY
    assert [rival.split("/")[0] for rival in verdict.rivals] == list(TEST_LINES)[1:]


def test_words_that_only_say_failed_are_no_rivals() -> None:
    verdict = ran("CUDA error: out of memory\nTest FAILED\nmake: *** [run] Error 1")
    assert (verdict.category, verdict.ambiguous) == (Category.OUT_OF_MEMORY, False)


def test_what_every_run_prints_is_no_rival() -> None:
    chatter = "copy result from device to host\nGPU time: 3.0 ms, CPU time: 40.0 ms\nmax error: 0.0\n"
    assert ran("CUDA error: out of memory", chatter).rivals == ()


def test_one_line_is_one_message() -> None:
    verdict = ran("AssertionError: Torch not compiled with CUDA enabled")
    assert (verdict.category, verdict.rivals) == (Category.ENVIRONMENT_DEPENDENCY, ())


def test_the_first_stage_that_fired_decides() -> None:
    step = StepEvidence(exit_code=1, stderr="CUDA error: no kernel image is available for execution on the device")
    build = StepEvidence(exit_code=2, stderr='solution.cu(3): error: expected a ";"')
    verdict = classify(Evidence(build=build, test=step))
    assert (verdict.stage, verdict.category) == ("build", Category.BUILDABILITY)
    verdict = classify(Evidence(preflight=["anti_cheat: cublasSgemm at line 12"], build=build))
    assert (verdict.stage, verdict.category) == ("preflight", Category.INTEGRATION)


# --- structured facts (point 3) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "category", "rule"),
    [
        ({"timed_out": True, "exit_code": None, "signal": 9}, Category.TIMEOUT, "fact.timed_out"),
        ({"exit_code": 124}, Category.TIMEOUT, "fact.exit_124"),
        ({"exit_code": None, "signal": 24}, Category.TIMEOUT, "fact.sigxcpu"),
        ({"exit_code": None, "signal": 11}, Category.ILLEGAL_MEMORY_ACCESS, "fact.sigsegv"),
        ({"exit_code": 139}, Category.ILLEGAL_MEMORY_ACCESS, "fact.sigsegv"),
        ({"exit_code": -11}, Category.ILLEGAL_MEMORY_ACCESS, "fact.sigsegv"),
        ({"exit_code": 3221225477}, Category.ILLEGAL_MEMORY_ACCESS, "fact.sigsegv"),
        ({"exit_code": None, "signal": 7}, Category.ILLEGAL_MEMORY_ACCESS, "fact.sigbus"),
        ({"exit_code": 135}, Category.ILLEGAL_MEMORY_ACCESS, "fact.sigbus"),
        ({"exit_code": None, "memory_killed": True, "signal": 9}, Category.OUT_OF_MEMORY, "fact.memory_killed"),
        ({"exit_code": 137}, Category.OUT_OF_MEMORY, "fact.sigkill"),
        ({"exit_code": 134}, Category.FUNCTIONAL_CORRECTNESS, "fact.sigabrt"),
        ({"exit_code": None, "signal": 8}, Category.FUNCTIONAL_CORRECTNESS, "fact.sigfpe"),
        ({"exit_code": None, "signal": 31}, Category.ENVIRONMENT_DEPENDENCY, "fact.sigsys"),
        ({"exit_code": 126}, Category.ENVIRONMENT_DEPENDENCY, "fact.exit_126"),
        ({"exit_code": 127}, Category.ENVIRONMENT_DEPENDENCY, "fact.exit_127"),
        (
            {"exit_code": None, "not_run": "no libcublas.so on this machine"},
            Category.ENVIRONMENT_DEPENDENCY,
            "fact.not_run",
        ),
        ({"exit_code": 1}, Category.FUNCTIONAL_CORRECTNESS, "fallback.test"),
    ],
)
def test_facts_of_a_test(facts: dict[str, Any], category: Category, rule: str) -> None:
    verdict = ran(**facts)
    assert (verdict.category, verdict.rule, verdict.rivals) == (category, rule, ())
    assert verdict.signature and verdict.line


@pytest.mark.parametrize(
    ("facts", "category"),
    [
        ({"timed_out": True, "exit_code": None, "signal": 9}, Category.TIMEOUT),
        ({"exit_code": None, "signal": 11}, Category.ENVIRONMENT_DEPENDENCY),
        ({"exit_code": 139}, Category.ENVIRONMENT_DEPENDENCY),
        ({"exit_code": None, "signal": 9, "memory_killed": True}, Category.OUT_OF_MEMORY),
        ({"exit_code": 127}, Category.ENVIRONMENT_DEPENDENCY),
        ({"exit_code": None, "not_run": "no nvcc"}, Category.ENVIRONMENT_DEPENDENCY),
        ({"exit_code": 2}, Category.BUILDABILITY),
    ],
)
def test_facts_of_a_build(facts: dict[str, Any], category: Category) -> None:
    assert built(**facts).category == category


def test_a_process_that_the_harness_killed_is_not_said_to_be_killed_by_the_system() -> None:
    assert ran("Killed", exit_code=None, signal=9, timed_out=True).category == Category.TIMEOUT
    compiler = "nvcc error   : 'cicc' died due to signal 9 (Kill signal)"
    assert built(compiler, exit_code=None, signal=9, memory_killed=True).category == Category.OUT_OF_MEMORY
    assert built(compiler, exit_code=255).category == Category.ENVIRONMENT_DEPENDENCY


def test_a_kill_that_timeout_1_sent_is_a_timeout() -> None:
    text = "timeout: sending signal KILL to command ‘./test’\nbash: line 1:  4242 Killed                  ./test"
    assert ran(text, exit_code=137).category == Category.TIMEOUT


def test_the_text_beside_a_signal_gives_the_signature() -> None:
    verdict = ran("free(): invalid pointer", exit_code=None, signal=6)
    assert (verdict.category, verdict.signature) == (Category.ILLEGAL_MEMORY_ACCESS, "free(): invalid pointer")
    verdict = ran(
        "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check",
        exit_code=None,
        signal=6,
    )
    assert verdict.signature == "vector::_M_range_check"
    assert ran("t: d.cu:3: int main(): Assertion `x == y' failed.", exit_code=134).rule == "assert.host"


# --- builds inside the test step (point 5) ------------------------------------------------------------------------------


def test_a_compile_failure_in_the_test_step_is_buildability() -> None:
    text = (
        "RuntimeError: Error building extension 'k': [1/3] nvcc -c cuda.cu\nFAILED: cuda.cuda.o\n"
        'cuda.cu(27): error: identifier "tanhf_fast" is undefined\n  printf("CUDA out of memory");\n'
        "ninja: build stopped: subcommand failed.\n"
    )
    verdict = ran(text)
    assert (verdict.category, verdict.signature) == (Category.BUILDABILITY, 'identifier "tanhf_fast" is undefined')
    assert verdict.rivals == ()


def test_a_build_that_fails_in_the_test_step_for_an_unknown_reason_is_still_one() -> None:
    assert ran("RuntimeError: Error building extension 'k'").category == Category.BUILDABILITY


# --- sanitizer (points 6 and 10) ----------------------------------------------------------------------------------------

ACCESS = "========= Invalid __global__ write of size 4 bytes\n=========     at k(float *)+0x70 in solution.cu:12\n"
RACE = "========= Error: Race reported between Write access at k(int*)+0x50 in solution.cu:10\n"


def sanitized(tool: str, output: str, *, test: StepEvidence) -> Verdict:
    return classify(Evidence(build=OK, test=test, sanitizer=SanitizerEvidence(tool=tool, exit_code=99, output=output)))


WRONG = StepEvidence(exit_code=1, stdout="Mismatch at index 5: got 0.5, expected 1.25")


def test_an_address_fault_overrides_a_wrong_result() -> None:
    verdict = sanitized("memcheck", ACCESS, test=WRONG)
    assert (verdict.category, verdict.stage) == (Category.ILLEGAL_MEMORY_ACCESS, "sanitizer")
    assert verdict.signature == "Invalid __global__ write of size #"


@pytest.mark.parametrize("stdout", ["CUDA error: out of memory", "TEST TIMEOUT", "no kernel image is available"])
def test_it_overrides_nothing_else(stdout: str) -> None:
    verdict = sanitized("memcheck", ACCESS, test=StepEvidence(exit_code=1, stdout=stdout))
    assert verdict.category != Category.ILLEGAL_MEMORY_ACCESS and verdict.stage == "test"
    assert verdict.hazards == ("Invalid __global__ write of size #",)


@pytest.mark.parametrize(
    ("tool", "output", "signature"),
    [
        ("racecheck", RACE, "race"),
        ("initcheck", "========= Uninitialized __global__ memory read of size 4 bytes", "uninitialised read"),
        ("synccheck", "========= Barrier error detected. Divergent thread(s) in block.", "barrier"),
    ],
)
def test_a_hazard_stays_functional_correctness_and_is_its_signature(tool: str, output: str, signature: str) -> None:
    verdict = sanitized(tool, output, test=WRONG)
    assert (verdict.category, verdict.signature) == (Category.FUNCTIONAL_CORRECTNESS, signature)


@pytest.mark.parametrize(
    "output",
    [
        "========= Leaked 1,024 bytes at 0x7f0b7e000000",
        '========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.',
        "========= ERROR SUMMARY: 0 errors",
    ],
)
def test_what_explains_nothing_changes_nothing(output: str) -> None:
    verdict = sanitized("memcheck", output, test=WRONG)
    assert (verdict.rule, verdict.stage) == ("verify.mismatch", "test")


def test_a_pass_with_a_report_is_flagged_and_still_a_pass() -> None:
    verdict = sanitized("memcheck", ACCESS, test=OK)
    assert verdict.passed and verdict.passed_with_hazards
    assert verdict.hazards == ("Invalid __global__ write of size #",)
    assert sanitized("memcheck", "odd", test=OK).hazards == ("memcheck: exit code 99 without a known report",)
    clean = SanitizerEvidence(exit_code=0, output="========= ERROR SUMMARY: 0 errors")
    assert not classify(Evidence(build=OK, test=OK, sanitizer=clean)).passed_with_hazards


# --- whose name, whose file (points 8 and 9) ----------------------------------------------------------------------------

LD = "/usr/bin/ld: /tmp/tmpxft_00001cad_00000000-11_{0}.o: in function `main':\n"
REFERENCE = "tmpxft_00001cad_00000000-6_{0}.cudafe1.cpp:(.text+0x3d): undefined reference to `{1}'\n"


@pytest.mark.parametrize(
    ("referrer", "name", "category"),
    [
        ("driver", "launch(float*, int)", Category.INTEGRATION),
        ("solution", "helper(float*)", Category.BUILDABILITY),
        ("somewhere", "helper(float*)", Category.BUILDABILITY),
        ("solution", "main", Category.INTEGRATION),
        ("solution", "cublasCreate_v2", Category.BUILDABILITY),
        ("driver", "cublasCreate_v2", Category.ENVIRONMENT_DEPENDENCY),
    ],
)
def test_an_undefined_name_is_judged_by_who_refers_to_it(referrer: str, name: str, category: Category) -> None:
    verdict = built(
        LD.format(referrer) + REFERENCE.format(referrer, name) + "collect2: error: ld returned 1 exit status\n"
    )
    assert (verdict.category, verdict.signature) == (category, f"undefined reference: {name}")


def test_the_referrer_may_stand_on_the_line_above_or_below() -> None:
    above = "/usr/bin/ld: driver.o: in function `main':\n(.text+0x17): undefined reference to `launch'\n"
    below = (
        "ld.lld: error: undefined symbol: launch\n>>> referenced by driver.cu:12\n>>>               driver.o:(main)\n"
    )
    system = "/usr/lib/x86_64-linux-gnu/Scrt1.o: in function `_start':\n(.text+0x17): undefined reference to `main'\n"
    assert built(above).category == built(below).category == built(system).category == Category.INTEGRATION


def test_a_name_that_both_refer_to_is_the_contract() -> None:
    both = REFERENCE.format("solution", "launch") + REFERENCE.format("driver", "launch")
    assert built(both).category == Category.INTEGRATION


def test_without_a_list_of_harness_files_only_a_telling_name_is_the_harness() -> None:
    def of(referrer: str) -> str:
        return classify(Evidence(build=StepEvidence(exit_code=1, stderr=REFERENCE.format(referrer, "launch")))).category

    assert of("test_main") == of("driver") == Category.INTEGRATION
    assert of("kernel") == of("main") == Category.BUILDABILITY


@pytest.mark.parametrize(
    ("line", "category"),
    [
        ('driver.cu(28): error: identifier "solve" is undefined', Category.INTEGRATION),
        ("driver.cu(28): error: too few arguments in function call", Category.INTEGRATION),
        ('solution.cu(28): error: identifier "solve" is undefined', Category.BUILDABILITY),
        ('/usr/local/cuda/include/cub/x.cuh(3): error: function "f" cannot be called', Category.BUILDABILITY),
        ("driver.cu:1:10: fatal error: task.h: No such file or directory", Category.ENVIRONMENT_DEPENDENCY),
        ("driver.cu:1:10: fatal error: other.h: No such file or directory", Category.ENVIRONMENT_DEPENDENCY),
        ("solution.cu:1:10: fatal error: task.h: No such file or directory", Category.ENVIRONMENT_DEPENDENCY),
        ("solution.cu:1:10: fatal error: mine.h: No such file or directory", Category.BUILDABILITY),
        ("solution.cu:1:10: fatal error: cufft.h: No such file or directory", Category.ENVIRONMENT_DEPENDENCY),
        ("driver.cu:1:10: fatal error: solution.cu: No such file or directory", Category.INTEGRATION),
        ("/usr/bin/ld: cannot find -lcuda", Category.ENVIRONMENT_DEPENDENCY),
        ("nvcc fatal   : Unsupported gpu architecture 'sm_20'", Category.ENVIRONMENT_DEPENDENCY),
        ("nvcc fatal   : Unknown option '--foo'", Category.BUILDABILITY),
    ],
)
def test_a_compile_error_is_judged_by_whose_file_it_is_in(line: str, category: Category) -> None:
    assert built(line).category == category


def test_an_error_in_the_harness_after_one_in_the_solution_follows_from_it() -> None:
    own = 'solution.cu(3): error: expected a ";"'
    theirs = 'driver.cu(28): error: identifier "solve" is undefined'
    assert built(f"{own}\n{theirs}").category == Category.BUILDABILITY
    assert built(f"{own}\n{theirs}").rivals == ()
    assert built(f"{theirs}\n{own}").category == Category.INTEGRATION


def test_an_unclosed_brace_of_the_candidate_is_not_the_harness_interface() -> None:
    assert built('driver.cu(90): error: expected a "}"').category == Category.BUILDABILITY


def test_an_interface_header_of_the_task_is_not_the_solution_of_the_same_name() -> None:
    evidence = Evidence(
        build=StepEvidence(exit_code=1, stderr='solution.h(3): error: identifier "T" is undefined'),
        harness_files=["solution.h"],
    )
    assert classify(evidence).category == Category.INTEGRATION


def test_two_files_of_one_name_are_told_apart_by_their_folders() -> None:
    def of(path: str) -> str:
        step = StepEvidence(exit_code=1, stderr=f'{path}(3): error: identifier "T" is undefined')
        return classify(Evidence(build=step, solution_file="kernels/scan.cu", harness_files=["tests/scan.cu"])).category

    assert of("tests/scan.cu") == of("/workspace/tests/scan.cu") == Category.INTEGRATION
    assert of("kernels/scan.cu") == of("scan.cu") == Category.BUILDABILITY


def test_names_at_load_time_are_the_machine() -> None:
    assert ran("./test: symbol lookup error: ./test: undefined symbol: f").category == Category.ENVIRONMENT_DEPENDENCY
    missing = (
        "./test: error while loading shared libraries: libcublas.so.12: cannot open shared object file: No such file"
    )
    assert ran(missing, exit_code=127).rule == "load.missing_library"


def test_an_instruction_is_the_machines_only_when_the_harness_chose_the_architecture() -> None:
    line = "ptxas s.ptx, line 26; error   : Instruction 'wgmma.fence' not supported on .target 'sm_90'"
    assert built(line).category == Category.BUILDABILITY
    assert built(line, arch_rewritten=True).category == Category.ENVIRONMENT_DEPENDENCY


# --- what Table 5 does not name (point 10) ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("CUDA error: misaligned address", Category.ILLEGAL_MEMORY_ACCESS),
        ("CUDA error: unspecified launch failure", Category.ILLEGAL_MEMORY_ACCESS),
        ("double free or corruption (out)", Category.ILLEGAL_MEMORY_ACCESS),
        ("CUDA error: hardware stack error", Category.ILLEGAL_MEMORY_ACCESS),
        ("CUDA error: invalid configuration argument", Category.FUNCTIONAL_CORRECTNESS),
        ("CUDA error: too many resources requested for launch", Category.FUNCTIONAL_CORRECTNESS),
        ("CUDA error: the launch timed out and was terminated", Category.TIMEOUT),
        (
            "solution.cu:9: k: block: [0,0,0], thread: [3,0,0] Assertion `i < n` failed.",
            Category.FUNCTIONAL_CORRECTNESS,
        ),
        ("wgmma.mma_async needs a GPU", Category.ENVIRONMENT_DEPENDENCY),
        ("max err=2", Category.FUNCTIONAL_CORRECTNESS),
        ("sync err=2", Category.OUT_OF_MEMORY),
        ("error code 716", Category.ILLEGAL_MEMORY_ACCESS),
        ("cudaMalloc: 2 buffers\nwrong result", Category.FUNCTIONAL_CORRECTNESS),
        ("cudaGetDeviceCount returned 2 devices\nwrong result", Category.FUNCTIONAL_CORRECTNESS),
        ("cudaDeviceSynchronize: 700", Category.ILLEGAL_MEMORY_ACCESS),
        ("50%\rCUDA error 700", Category.ILLEGAL_MEMORY_ACCESS),
        ("./test exited with error code 2", Category.FUNCTIONAL_CORRECTNESS),
    ],
)
def test_points_that_the_paper_leaves_open(text: str, category: Category) -> None:
    assert ran(text).category == category


# --- source text in a log is not what the program said ------------------------------------------------------------------


def test_quoted_source_is_no_message() -> None:
    traceback = (
        "Traceback (most recent call last):\n"
        '  File "t.py", line 3, in <module>\n    raise RuntimeError("CUDA error: out of memory")\n'
        "ValueError: nothing of that kind\n"
    )
    assert ran(traceback).category == Category.FUNCTIONAL_CORRECTNESS
    gcc = '   12 |   printf("no kernel image is available for execution on the device");\n      |          ^~~~\n'
    assert ran(gcc).category == Category.FUNCTIONAL_CORRECTNESS


# --- whatever comes ------------------------------------------------------------------------------------------------------

FRAGMENTS = st.sampled_from(sorted({text for texts in EXAMPLES.values() for text in texts})) | st.text(max_size=40)


@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(FRAGMENTS, max_size=8),
    exit_code=st.none() | st.integers(-40, 300),
    signal=st.none() | st.integers(1, 64),
    stage=st.sampled_from(["build", "test"]),
)
def test_any_evidence_gets_one_of_the_eight_and_always_the_same(
    lines: list[str], exit_code: int | None, signal: int | None, stage: str
) -> None:
    step = StepEvidence(exit_code=exit_code, signal=signal, stdout="\n".join(lines[:4]), stderr="\n".join(lines[4:]))
    evidence = Evidence(build=step) if stage == "build" else Evidence(build=OK, test=step)
    verdict = classify(evidence)
    assert verdict.category in set(Category)
    assert verdict == classify(evidence)
    assert verdict.passed or verdict.signature
    assert all(rival.split("/")[0] != verdict.category for rival in verdict.rivals)


# --- records of evidence, line by line ----------------------------------------------------------------------------------


def rows(*lines: str) -> list[Row | BadLine]:
    return list(classify_lines(line.encode() for line in lines))


def test_a_record_becomes_a_row() -> None:
    (row,) = rows('{"id": "a", "build": {"exit_code": 0}, "test": {"exit_code": 1, "stderr": "CUDA error 700"}}')
    assert isinstance(row, Row)
    assert (row.id, row.category, row.outcome_bucket) == ("a", "illegal_memory_access", "memory_crash")
    assert (row.signature, row.stage, row.line) == ("cudaErrorIllegalAddress (700)", "test", "CUDA error 700")
    fields = list(msgspec.to_builtins(row))
    assert fields[:8] == ["id", "category", "outcome_bucket", "rule", "signature", "stage", "rivals", "line"]


def test_a_bad_line_is_reported_with_its_number_and_the_rest_still_runs() -> None:
    found = rows(
        '{"id": "a", "test": {"exit_code": 0}}', "", "{torn", "[1]", '{"id": "x"}', '{"test": {"exit_code": 0}}'
    )
    assert [(item.number if isinstance(item, BadLine) else item.id) for item in found] == ["a", 3, 4, 5, "line 6"]


@pytest.mark.parametrize(
    "line",
    [
        '{"test": {"exit_code": null, "signal": "SIGSEGV", "stdout": null, "stderr": null}, "build": null, "sanitizer": null}',
        '{"test": {"exit_code": "139", "wall": 3.5}, "harness": {"x": [1]}, "preflight": null}',
        '{"test": {"exit_code": -11, "stderr": ["a", "b"]}}',
        '\ufeff{"test": {"signal": "11"}}',
    ],
)
def test_other_dialects_are_read(line: str) -> None:
    (row,) = rows(line)
    assert isinstance(row, Row) and row.category == Category.ILLEGAL_MEMORY_ACCESS


def test_bytes_that_are_no_text_are_read_as_far_as_they_go() -> None:
    (row,) = classify_lines([b'{"test": {"exit_code": 1, "stderr": "CUDA error 700 \xff\xfe"}}'])
    assert isinstance(row, Row) and row.category == Category.ILLEGAL_MEMORY_ACCESS


def test_a_candidates_own_words_in_a_finding_do_not_blame_the_machine():
    finding = 'anti_cheat: "this needs a GPU, libcublas is not installed" (solution.cu:3), forbidden is cublas'
    assert classify(Evidence(preflight=[finding])).category == "integration"


@pytest.mark.parametrize(
    "words",
    [
        "No space left on device",
        "nvcc fatal   : Unsupported gpu architecture 'compute_42'",
        "libcublas.so.13: cannot open shared object file",
        "g++: fatal error: Killed signal terminated program cc1plus",
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "solution.cu:1:2: error: #error {words}\n    1 | #error {words}\n      |  ^~~~~",
        "solution.cu(1): error: #error directive: {words}",
        'solution.cu(1): error: static assertion failed with "{words}"',
    ],
    ids=["g++", "nvcc", "static_assert"],
)
def test_what_a_compiler_only_quotes_does_not_blame_the_machine(form: str, words: str):
    log = form.format(words=words)
    evidence = Evidence(build=StepEvidence(exit_code=1, stderr=log), solution_file="solution.cu")
    assert classify(evidence).category == "buildability"


def test_a_line_of_a_hundred_thousand_brackets_is_a_bad_line_and_the_rest_still_runs():
    good = b'{"id": "a", "build": {"exit_code": 0}, "test": {"exit_code": 0}}'
    found = list(classify_lines([b"[" * 100_000, good]))
    assert isinstance(found[0], BadLine)
    assert not isinstance(found[1], BadLine)
    assert found[1].category == "passed"


def test_our_own_remark_that_bytes_were_left_out_is_no_evidence() -> None:
    verdict = ran(stdout="computing\n... 21611392 bytes left out ...\n", exit_code=3)
    assert verdict.category == Category.FUNCTIONAL_CORRECTNESS
    assert verdict.line == "computing"
