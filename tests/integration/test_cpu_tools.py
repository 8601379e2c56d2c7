"""memcheck, racecheck, initcheck and synccheck of the CPU device, and the compute-sanitizer that runs them.

Where a case's comment names an H200, NVIDIA's tool (2025.3) said the same there, word for word.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.devices.toolkit import Toolkit
from engine.evidence import Evidence, SanitizerEvidence, StepEvidence
from engine.verdict.classify import classify
from tests.support.cpu_runtime import build_driver, build_stand_in

Sanitize = Callable[..., subprocess.CompletedProcess[str]]
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, toolkit: Toolkit) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tools")
    return build_stand_in(folder), build_driver(Path(__file__).parent / "cpu/tools_driver.cpp", folder, toolkit)


@pytest.fixture(scope="module")
def sanitize(programs: tuple[Path, Path]) -> Sanitize:
    """compute-sanitizer with options and a case of the driver; or with a shell's text, in which $DRIVER is the driver."""
    stand_in, driver = programs

    def call(*options: str, case: str = "", shell: str = "") -> subprocess.CompletedProcess[str]:
        target = ["/bin/sh", "-c", shell] if shell else [str(driver), case]
        return subprocess.run(
            [str(stand_in), *options, *target],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "DRIVER": str(driver)},
        )

    return call


def reports(output: str) -> list[str]:
    """The reports, without where in the host program they come from, without the tool's first line and its summary."""
    lines = [line.removeprefix("========= ") for line in output.splitlines() if line.startswith("========= ")]
    text = "\n".join(line for line in lines if "Saved host backtrace" not in line)
    return text.removeprefix("COMPUTE-SANITIZER\n").split("\n\n")[:-1]


# ---- memcheck


def test_memcheck_reports_an_overrun_as_the_real_one_does(sanitize: Sanitize) -> None:
    ended = sanitize("--tool", "memcheck", "--error-exitcode", "99", case="overrun")
    assert ended.returncode == 99
    assert ended.stdout == (
        "========= COMPUTE-SANITIZER\n"
        "========= Invalid __global__ write of size 4 bytes\n"
        "=========     at store(int *, int)+0x70 in solution.cu:5\n"
        "=========     by thread (16,0,0) in block (0,0,0)\n"
        "=========     Access to 0x200000000040 is out of bounds\n"
        "=========     and is 1 bytes after the nearest allocation at 0x200000000000 of size 64 bytes\n"
        "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
        "========= \n"
        "========= Invalid __global__ write of size 4 bytes\n"
        "=========     at store(int *, int)+0x70 in solution.cu:5\n"
        "=========     by thread (17,0,0) in block (0,0,0)\n"
        "=========     Access to 0x200000000044 is out of bounds\n"
        "=========     and is 5 bytes after the nearest allocation at 0x200000000000 of size 64 bytes\n"
        "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
        "========= \n"
        "error=719\n"
        "fine=0\n"
        "========= ERROR SUMMARY: 2 errors\n"
    )


def test_memcheck_knows_every_kind_of_bad_access(sanitize: Sanitize) -> None:
    said = sanitize("--tool", "memcheck", case="exact").stdout
    for name, what, why in (
        ("atomic", "Invalid __global__ atomic of size 8 bytes", "1 bytes after the nearest allocation"),
        ("vector", "Invalid __global__ write of size 16 bytes", "is inside the nearest allocation"),
        ("misaligned", "Invalid __global__ write of size 16 bytes", "is misaligned"),
        ("large", "Invalid __global__ read of size 1 bytes", "of size 3145728 bytes"),
        ("null", "Invalid __global__ read of size 4 bytes", "Access to 0x10 is out of bounds"),
        ("freed", "Invalid __global__ write of size 4 bytes", "is inside the freed allocation"),
        ("shared", "Invalid __shared__ write of size 4 bytes", "Access to 0x800 is out of bounds"),
        ("local", "Invalid __local__ write of size 4 bytes", "is out of bounds"),
        ("local_generic", "Invalid __local__ write of size 4 bytes", "is out of bounds"),
    ):
        report = said.split(f"\n{name}=719\n")[0].rsplit("=719\n", 1)[-1]
        assert what in report and why in report, name
    assert "last=0\n" in said


def test_a_failed_call_is_reported_unless_that_is_switched_off(sanitize: Sanitize) -> None:
    said = sanitize(case="api_error").stdout
    assert (
        '========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.\n'
        "=========     Saved host backtrace up to driver entry point at error\n"
    ) in said
    assert "ERROR SUMMARY: 0 errors" in sanitize("--report-api-errors", "no", case="api_error").stdout
    assert "ERROR SUMMARY: 0 errors" in sanitize("--tool", "initcheck", case="api_error").stdout


def test_leaks_are_listed_when_asked_for(sanitize: Sanitize) -> None:
    said = sanitize("--leak-check", "full", case="leak").stdout
    assert reports(said) == ["Leaked 100 bytes at 0x200000000000", "Leaked 3145728 bytes at 0x200000200000"]
    assert said.endswith(
        "========= LEAK SUMMARY: 3145828 bytes leaked in 2 allocations\n========= ERROR SUMMARY: 2 errors\n"
    )
    assert "Leaked" not in sanitize(case="leak").stdout


# ---- initcheck


def test_initcheck_reports_reads_of_what_nobody_wrote(sanitize: Sanitize) -> None:
    said = sanitize("--tool", "initcheck", case="unwritten").stdout
    found = reports(said)
    assert found[0] == (
        "Uninitialized __global__ memory read of size 4 bytes\n    at store(int *, int)+0xc0 in solution.cu:6\n"
        "    by thread (2,0,0) in block (0,0,0)\n    Address 0x200000000008"
    )
    assert [line for line in said.splitlines() if "=" in line and line[0] != "="] == [
        f"{name}=0" for name in ("store", "load", "atomic", "again", "heap", "marked", "managed", "variable", "outside")
    ]
    assert "ERROR SUMMARY: 5 errors" in said  # two loads, one atomic, the kernel's own heap, and the copy


def test_initcheck_reports_the_copy_of_what_nobody_wrote(sanitize: Sanitize) -> None:
    assert (
        "========= Host API memory access error at host access to 0x200000000000 of size 4096 bytes\n"
        "=========     Uninitialized access to 0x200000000008 on access by cudaMemcpy source\n"
    ) in sanitize("--tool", "initcheck", case="unwritten").stdout


def test_the_record_of_written_bytes_is_exact(sanitize: Sanitize) -> None:
    assert "wrong=0\n" in sanitize("--tool", "initcheck", case="marks").stdout


# ---- racecheck: the kernels of tests/integration/cpu/tools_driver.cpp

WAW = (
    "Error: Race reported between Write access at waw_diff(int *)+0x60 in s.cu:9\n"
    "    and Write access at waw_diff(int *)+0x60 in s.cu:9 [126 hazards]"
)
WARP_RAW = (
    "Race reported between Write access at warp_raw(int *)+0x90 in s.cu:10\n"
    "    and Read access at warp_raw(int *)+0xa0 in s.cu:10 [512 hazards]"
)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("waw_same", []),  # H200
        ("waw_diff", [WAW]),  # H200
        ("warp_raw", ["Warning: " + WARP_RAW]),  # H200
        (
            "warp_war",  # H200
            [
                "Warning: Race reported between Read access at warp_war(int *)+0xb0 in s.cu:11\n"
                "    and Write access at warp_war(int *)+0xc0 in s.cu:11 [512 hazards]"
            ],
        ),
        ("warp_sync", []),  # H200
        ("half_sync", []),
        ("other_half", ["Warning: " + WARP_RAW]),
        ("atomics", []),  # H200
        (
            "block_war",  # H200
            [
                "Error: Race reported between Read access at block_war(int *)+0xe0 in s.cu:18\n"
                "    and Write access at block_war(int *)+0x100 in s.cu:18 [512 hazards]"
            ],
        ),
        (
            "bytes",  # H200
            [
                "Error: Race reported between Write access at bytes(int *)+0x70 in s.cu:21\n"
                "    and Read access at bytes(int *)+0xb0 in s.cu:21 [128 hazards]"
            ],
        ),
        ("mixed_sizes", ["Error: " + WARP_RAW.replace("512", "2")]),
        ("other_pair", ["Error: " + WARP_RAW]),
    ],
)
def test_racecheck_finds_what_no_synchronisation_orders(sanitize: Sanitize, case: str, expected: list[str]) -> None:
    ended = sanitize("--tool", "racecheck", "--error-exitcode", "99", case=case)
    assert reports(ended.stdout) == expected
    errors, warnings = (sum(report.startswith(kind) for report in expected) for kind in ("Error", "Warning"))
    assert ended.stdout.splitlines()[-1] == (
        f"========= RACECHECK SUMMARY: {errors + warnings} hazard{'s' * (errors + warnings != 1)} displayed"
        f" ({errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)})"
    )
    assert ended.returncode == (99 if expected else 0)


def test_every_launch_has_its_own_race_report_before_what_follows_it(sanitize: Sanitize) -> None:
    said = sanitize("--tool", "racecheck", case="twice").stdout
    first, second, summary = said.split("done\n")
    assert WAW.splitlines()[0] in first and WAW.splitlines()[0] in second
    assert "2 hazards displayed (2 errors, 0 warnings)" in summary


def test_an_access_and_all_that_it_races_with_are_one_report(sanitize: Sanitize) -> None:
    found = reports(sanitize("--tool", "racecheck", case="loop3").stdout)
    assert all("loop3(int *)" in report for report in found)
    assert max(report.count("\n    and ") for report in found) > 1


# ---- synccheck


def test_synccheck_reports_a_mask_that_does_not_name_its_lane(sanitize: Sanitize) -> None:
    ended = sanitize("--tool", "synccheck", "--error-exitcode", "99", case="foreign_mask")
    assert "========= Barrier error detected. Invalid arguments.\n" in ended.stdout
    assert ended.returncode == 99


def test_synccheck_lets_a_mask_name_lanes_that_have_exited(sanitize: Sanitize) -> None:
    assert "ERROR SUMMARY: 0 errors" in sanitize("--tool", "synccheck", case="exited_lanes").stdout


def test_synccheck_tells_who_left_before_a_barrier_from_who_went_past_it(sanitize: Sanitize) -> None:
    assert "ERROR SUMMARY: 0 errors" in sanitize("--tool", "synccheck", case="early_exit").stdout  # H200
    assert "ERROR SUMMARY: 32 errors" in sanitize("--tool", "synccheck", case="gone_past").stdout  # H200


def test_synccheck_reports_lanes_of_a_warp_at_different_barriers(sanitize: Sanitize) -> None:
    said = sanitize("--tool", "synccheck", case="two_places").stdout
    assert "========= Barrier error detected. Divergent thread(s) in warp.\n" in said


# ---- the program compute-sanitizer


def test_a_clean_run_ends_with_the_targets_own_code(sanitize: Sanitize) -> None:
    ended = sanitize("--error-exitcode", "99", case="passes")
    assert (ended.returncode, ended.stdout) == (
        0,
        "========= COMPUTE-SANITIZER\nPASSED\n========= ERROR SUMMARY: 0 errors\n",
    )
    ended = sanitize("--error-exitcode", "99", shell="$DRIVER passes; exit 3")
    assert ended.returncode == 3
    assert "========= Target application returned an error\n========= ERROR SUMMARY: 0 errors\n" in ended.stdout


def test_reports_stand_where_they_happened_in_the_programs_output(sanitize: Sanitize) -> None:
    before, report, after = sanitize(case="order").stdout.partition("Invalid __global__ write of size 4 bytes")
    assert "before\n" in before and report and "after\n" in after


def test_the_print_limit_counts_on_in_silence(sanitize: Sanitize) -> None:
    said = sanitize("--print-limit", "1", case="overrun").stdout
    assert said.count("Invalid __global__") == 1
    assert said.endswith(
        "========= ERROR SUMMARY: 2 errors\n"
        "========= ERROR SUMMARY: 1 errors were not printed. Use --print-limit option to adjust the number of printed errors\n"
    )


def test_what_a_killed_program_found_is_kept(sanitize: Sanitize) -> None:
    ended = sanitize("--error-exitcode", "99", case="killed")
    assert ended.returncode == 99
    assert "Error: process didn't terminate successfully\n" in ended.stdout
    assert "ERROR SUMMARY: 1 error\n" in ended.stdout


def test_all_processes_of_a_shell_are_watched_and_added_up(sanitize: Sanitize) -> None:
    ended = sanitize("--target-processes", "all", shell="$DRIVER overrun; $DRIVER api_error; $DRIVER passes")
    assert "ERROR SUMMARY: 3 errors" in ended.stdout and ended.stdout.count("COMPUTE-SANITIZER") == 1


def test_application_only_leaves_children_alone(sanitize: Sanitize) -> None:
    ended = sanitize("--target-processes", "application-only", shell="$DRIVER overrun; true")
    assert "Invalid" not in ended.stdout
    ended = sanitize("--target-processes=application-only", shell="exec $DRIVER overrun")
    assert "ERROR SUMMARY: 2 errors" in ended.stdout


def test_a_program_that_calls_no_cuda_is_an_error_of_its_own(sanitize: Sanitize) -> None:
    ended = sanitize("--error-exitcode", "99", shell="echo hi; exit 5")
    assert ended.returncode == 255
    assert ended.stdout.endswith(
        "hi\n========= Error: Target application terminated before first instrumented API call\n"
    )


def test_a_program_that_is_not_there_is_named_so(programs: tuple[Path, Path]) -> None:
    ended = subprocess.run(
        [str(programs[0]), "./not-here"], capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    assert ended.returncode == 1
    assert "Target application doesn't exist or is not a valid executable" in ended.stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--nonsense"], 255),
        (["--tool", "fastcheck"], 255),
        (["--print-limit", "-1"], 255),
        (["--save", "x"], 125),
        (["--racecheck-report", "all"], 125),
    ],
)
def test_unknown_options_are_wrong_and_what_is_not_offered_needs_a_gpu(
    sanitize: Sanitize, options: list[str], code: int
) -> None:
    ended = sanitize(*options, case="passes")
    assert ended.returncode == code
    assert options[0].strip("-") in ended.stderr and "PASSED" not in ended.stdout
    assert ("needs a GPU" in ended.stderr) == (code == 125)


def test_warnings_can_be_left_out(sanitize: Sanitize) -> None:
    ended = sanitize("--tool", "racecheck", "--racecheck-detect-level=error", "--error-exitcode", "9", case="warp_raw")
    assert ended.returncode == 0
    assert "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" in ended.stdout


def test_a_log_file_takes_all_that_the_tool_says(sanitize: Sanitize, tmp_path: Path) -> None:
    log = tmp_path / "log"
    ended = sanitize("--log-file", str(log), case="overrun")
    assert ended.stdout == "error=719\nfine=0\n"
    assert log.read_text().startswith("========= COMPUTE-SANITIZER\n========= Invalid")
    assert log.read_text().endswith("========= ERROR SUMMARY: 2 errors\n")


def test_a_signal_reaches_the_program_that_is_watched(programs: tuple[Path, Path]) -> None:
    stand_in, driver = programs
    with subprocess.Popen([str(stand_in), str(driver), "waits"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "========= COMPUTE-SANITIZER\n"
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == signal.SIGTERM
    assert "Signal 15" in rest


# ---- what the workbench makes of such reports


@pytest.mark.parametrize(
    ("tool", "case", "category", "token"),
    [
        ("memcheck", "overrun", "illegal_memory_access", "Invalid __global__ write of size 4"),
        ("racecheck", "block_war", "functional_correctness", "race"),
        ("initcheck", "unwritten", "functional_correctness", "uninitialised read"),
        ("synccheck", "foreign_mask", "functional_correctness", "barrier"),
    ],
)
def test_the_classifier_reads_the_reports(sanitize: Sanitize, tool: str, case: str, category: str, token: str) -> None:
    ended = sanitize("--tool", tool, "--error-exitcode", "99", case=case)
    test = StepEvidence(exit_code=1, stdout="Mismatch at 5: got 0.0, expected 1.0\nFAILED\n")
    report = SanitizerEvidence(tool=tool, exit_code=ended.returncode, output=ended.stdout)
    verdict = classify(Evidence(test=test, sanitizer=report))
    assert verdict.category == category
    assert token in str(verdict)
