"""Kernels on the CPU device: threads as fibers, what they wait for, how they end, and what is said of those that never do.

The expectations of wrong masks, asserts, the heap and faults are what an H200 did.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.devices.toolkit import Toolkit
from tests.support.cpu_runtime import build_driver

SUCCESS, ILLEGAL, ASSERT, ILLEGAL_INSTRUCTION, MISALIGNED = "0", "700", "710", "715", "716"
BAD_PC, LAUNCH_FAILURE = "718", "719"
DEADLOCK, NEEDS_GPU = 124, 125
ALL_LANES = 0xFFFFFFFF
Run = Callable[..., "Said"]


class Said(dict[str, str]):
    """The name=value lines that a case printed; ``stderr`` and ``code`` of the process."""

    stderr: str
    stdout: str
    code: int

    @property
    def out(self) -> list[int]:
        return [int(word) for word in self["out"].split()]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, toolkit: Toolkit) -> Run:
    source = Path(__file__).parent / "cpu/execution_driver.cpp"
    driver = build_driver(source, tmp_path_factory.mktemp("execution"), toolkit)

    def call(case: str, code: int = 0, **settings: object) -> Said:
        environment = {**os.environ, **{f"BEAVER_CPU_{name.upper()}": str(value) for name, value in settings.items()}}
        ended = subprocess.run(
            [str(driver), case], capture_output=True, text=True, timeout=60, check=False, env=environment
        )
        assert ended.returncode == code, ended.stderr
        said = Said(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)
        said.stdout, said.stderr, said.code = ended.stdout, ended.stderr, ended.returncode
        return said

    return call


# ---- warps


def test_a_shuffle_from_a_lane_that_does_not_exist_reads_zero(run: Run) -> None:
    assert run("shuffle_in_a_partial_warp").out == [1011, 1021, 1031, 1041, 1]


def test_lanes_with_disjoint_masks_do_not_wait_for_each_other(run: Run) -> None:
    assert run("disjoint_masks").out == [3 * sum(range(16))] * 16 + [3 * sum(range(16, 32))] * 16


def test_exited_lanes_are_not_waited_for(run: Run) -> None:
    assert run("exited_lanes").out == [0b11110111] * 8 + [0]
    assert run("late_exit").out == [0] + [1] * 31


def test_a_mask_is_of_no_account_when_the_whole_warp_comes_together(run: Run) -> None:
    assert run("mask_of_half").out == [104 + lane for lane in range(28)] + [128, 129, 130, 131]
    assert run("vote_of_half").out == [ALL_LANES, ALL_LANES]


def test_a_lane_that_its_mask_does_not_name_is_a_fault_in_a_branch(run: Run) -> None:
    assert run("mask_of_half_in_a_branch")["error"] == ILLEGAL_INSTRUCTION
    said = run("mask_of_half_in_a_branch", tool="synccheck")
    assert said["error"] == LAUNCH_FAILURE
    assert said.stdout.count("========= Barrier error detected. Invalid arguments.\n") == 8


def test_the_active_mask_is_that_of_the_branch_and_of_all_after_it(run: Run) -> None:
    assert run("active_mask").out == [0x55555555 + 10**9, 0xAAAAAAAA + 10**9] * 2


def test_matches_name_the_lanes_with_the_same_value(run: Run) -> None:
    out = run("match_and_elect").out
    groups = [sum(1 << lane for lane in range(start, min(start + 10, 32))) for start in (0, 10, 20, 30)]
    assert out[:32] == [groups[lane // 10] for lane in range(32)]
    assert out[32] == 40, "no common value, lane 4 is elected, lane 7 is not"
    assert out[33] == 1


# ---- barriers


def test_shared_memory_is_complete_behind_a_barrier(run: Run) -> None:
    assert run("barrier").out == list(range(69, -1, -1))


def test_a_barrier_counts_exited_threads_as_arrived_and_reduces_over_the_others(run: Run) -> None:
    waiting = [thread for thread in range(70) if thread % 3]
    held = sum(thread % 2 for thread in waiting)
    assert run("barrier_without_the_exited").out == [held * 100 + 10 if thread % 3 else 0 for thread in range(70)]


def test_named_barriers_join_some_warps_and_arriving_does_not_wait(run: Run) -> None:
    assert run("named_barriers").out == [600 + 4 * lane for lane in range(32)]


def test_a_counted_barrier_counts_whole_warps(run: Run) -> None:
    assert run("barrier_of_whole_warps").out == [int(thread != 35) for thread in range(40)]


def test_the_barrier_of_a_cluster_is_none_of_the_blocks(run: Run) -> None:
    assert run("cluster_barrier").out == [1] * 64
    told = run("cluster_deadlock", DEADLOCK).stderr
    assert "32 threads wait at barrier.cluster.wait in solution.cu:10" in told
    assert "32 threads wait at bar.sync 0 in solution.cu:20" in told


def test_a_function_may_end_its_thread(run: Run) -> None:
    assert run("exit").out == [2, 1] * 20


# ---- grids


def test_every_thread_of_a_grid_runs_once(run: Run) -> None:
    assert run("loops")["right"] == "64000"
    assert run("loops", tool="memcheck")["right"] == "64000"


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_may_wait_for_blocks_that_begin_later(run: Run, threads: int) -> None:
    assert run("blocks_that_wait_for_later_ones", threads=threads).out == [1] * 24


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_of_a_cooperative_grid_run_though_a_helper_comes_late(run: Run, threads: int) -> None:
    assert run("cooperative_blocks_on_their_own", threads=threads)["right"] == str(200 * 64)


@pytest.mark.parametrize("threads", [1, 3])
def test_16384_threads_meet_at_a_grid_barrier_in_little_memory(run: Run, threads: int) -> None:
    said = run("grid_barrier", threads=threads)
    assert (said["error"], said["torn"], said["last"]) == (SUCCESS, "0", "16")
    assert int(said["peak_mib"]) < 1024


def test_65536_threads_need_no_more_mappings_than_linux_has_room_for(run: Run) -> None:
    said = run("large_grid_barrier")
    assert (said["error"], said["torn"], said["last"]) == (SUCCESS, "0", "64")


def test_what_holds_a_lock_gets_its_turn(run: Run) -> None:
    assert run("lock").out == [0, 256]


def test_blocks_are_resident_by_threads_registers_and_shared_memory(run: Run) -> None:
    lines = run("residency").stdout.split()
    assert lines == [*(f"by_threads={n}" for n in (32, 8, 2, 2)), *["by_registers=2"] * 2, "by_shared=4", "by_shared=1"]


# ---- what never ends


def test_a_deadlock_is_told_at_once_with_who_waits_where(run: Run) -> None:
    said = run("deadlock", DEADLOCK, stall=1000)
    assert said.stderr.splitlines() == [
        "beaver-tui CPU device: deadlock in kernel store(int *, int): no thread of block (0,0,0) can go on",
        "    31 threads wait at bar.sync 0 in solution.cu:10 (first: thread (0,0,0) in block (0,0,0))",
        "    8 threads wait at bar.sync 0 in solution.cu:20 (first: thread (32,0,0) in block (0,0,0))",
        "    1 thread waits at shfl.sync.idx (mask 0x000000ff) in solution.cu:30 (first: thread (3,0,0) in block (0,0,0))",
        "    24 threads have exited",
    ]


def test_synccheck_reports_the_barrier_that_a_part_of_a_warp_is_stuck_at(run: Run) -> None:
    run("divergent_deadlock", DEADLOCK)
    said = run("divergent_deadlock", tool="synccheck")
    assert said["error"] == LAUNCH_FAILURE
    assert said.stdout.count("========= Barrier error detected. Divergent thread(s) in warp.\n") == 16


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_that_only_spin_are_a_deadlock_too(run: Run, threads: int) -> None:
    said = run("livelock", DEADLOCK, stall=0.2, threads=threads)
    first, *groups, outside = said.stderr.splitlines()
    assert "waits here for the host or for another stream waits in vain" in outside
    assert "deadlock in kernel store(int *, int): all threads only spin or wait, nothing has changed for 0.2 s" in first
    assert "189 threads wait at bar.sync 0 in solution.cu:20" in groups[0]
    assert sum(int(group.split()[0]) for group in groups[1:]) == 3 and all("spin" in group for group in groups[1:])


def test_blocks_that_wait_for_blocks_without_room_are_told_how_many_there_are(run: Run) -> None:
    told = run("too_many_blocks", DEADLOCK, stall=0.2).stderr
    assert "76 of 1100 blocks have not begun: this device holds 1024 of them at a time" in told


@pytest.mark.parametrize("case", ["slow_work", "waiting_for_time", "polling_with_progress"])
def test_waiting_long_for_what_comes_is_no_deadlock(run: Run, case: str) -> None:
    assert run(case, stall=0.2, threads=2)["error"] == SUCCESS


def test_a_kernel_that_uses_up_the_budget_is_named_and_goes_on(run: Run) -> None:
    said = run("budget", budget=0.2)
    assert said["error"] == SUCCESS
    assert said.stderr.startswith("beaver-tui CPU device: kernel store(int *, int) still runs after 0.")
    assert "thread (0,0,0) in block (0,0,0) is at store(int *, int)+0x1e in solution.cu:30" in said.stderr


# ---- faults


def test_a_fault_ends_the_grid_in_a_plain_run(run: Run) -> None:
    assert run("fault_ends_the_grid", threads=4)["error"] == MISALIGNED


def test_a_fault_ends_its_thread_alone_under_a_tool(run: Run) -> None:
    said = run("fault_ends_the_thread", tool="memcheck")
    assert (said["error"], said.out) == (ILLEGAL, [1] * 5 + [0] + [1] * 2)


@pytest.mark.parametrize("case", ["guard", "checked_overflow"])
def test_endless_recursion_is_a_fault_of_the_kernel(run: Run, case: str) -> None:
    assert run(case)["error"] == ILLEGAL
    said = run(case, tool="memcheck")
    assert said["error"] == LAUNCH_FAILURE
    assert said.stdout.startswith(
        "========= Stack overflow\n=========     at store(int *, int)+0xa in solution.cu:10\n"
    )


def test_a_call_through_a_wild_pointer_is_a_fault_and_the_next_grid_runs(run: Run) -> None:
    said = run("wild_call")
    assert (said["error"], said["loop_error"], said["after"]) == (BAD_PC, BAD_PC, SUCCESS)
    said = run("wild_call", tool="memcheck", print_limit=1)
    assert said["error"] == BAD_PC
    assert said.stdout.startswith("========= Invalid PC\n")


def test_a_call_of_what_is_no_function_has_the_same_error_and_names_its_place(run: Run) -> None:
    assert run("known_wild_call")["error"] == BAD_PC
    said = run("known_wild_call", tool="memcheck")
    assert said["error"] == BAD_PC
    assert said.stdout.startswith("========= Invalid PC\n=========     at store(int *, int)+0xa in solution.cu:10\n")


def test_host_code_that_dereferences_a_device_pointer_dies_of_it(run: Run) -> None:
    assert run("host_fault")["signal"] == "11"


def test_a_program_keeps_its_own_signal_handler(run: Run) -> None:
    assert "caught" in run("own_handler").stdout


def test_a_trap_is_a_launch_failure(run: Run) -> None:
    assert run("trap")["error"] == LAUNCH_FAILURE
    said = run("trap", tool="memcheck")
    assert said.stdout.startswith(
        "========= Trace/breakpoint trap\n=========     at store(int *, int)+0xa in solution.cu:10\n"
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_under_a_tool_no_block_begins_behind_a_fault_for_which_there_was_no_room(run: Run, threads: int) -> None:
    said = run("trap_everywhere", tool="memcheck", print_limit=0, threads=threads)
    assert said["error"] == LAUNCH_FAILURE
    assert said.stdout.count("Trace/breakpoint trap") == 32 * 32


def test_what_needs_a_gpu_is_named(run: Run) -> None:
    said = run("needs_a_gpu", NEEDS_GPU)
    assert (
        said.stderr == "beaver-tui CPU device: wgmma.mma_async at store(int *, int)+0xa in solution.cu:10 needs a GPU\n"
    )


# ---- device calls


def test_printf_formats_as_a_gpu_does_and_counts_arguments(run: Run) -> None:
    lines = run("printf").stdout.splitlines()
    assert lines == [
        "-5 x 7000000000 2.500 a text   3.14 0xbeef 0x200000000000 250|    3|%|%zu|%.*f",
        "",
        "count 11",
        "plain",
        "a texterror=0",
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_printf_comes_in_the_order_of_blocks(run: Run, threads: int) -> None:
    said = run("printf_order", threads=threads)
    assert said.stdout.split() == [f"{block}.{thread}" for block in range(300) for thread in range(2)] + ["error=0"]


def test_every_thread_that_asserts_says_so_before_the_grid_ends(run: Run) -> None:
    said = run("assert", threads=1)
    assert (said["barrier_error"], said["loop_error"]) == (ASSERT, ASSERT)
    assert said.stderr.splitlines() == [
        f"solution.cu:12: void store(int *, int): block: [{block},0,0], thread: [{thread},0,0] Assertion `x > 0` failed."
        for block, thread in ((0, 30), (0, 31), (0, 3), (0, 4), (1, 3), (1, 4))
    ]


def test_the_heap_of_kernels_has_a_limit_and_takes_back_what_is_freed(run: Run) -> None:
    assert run("heap").out == [6, 1]


def test_freeing_twice_is_a_fault_and_memcheck_names_a_foreign_pointer(run: Run) -> None:
    said = run("bad_free")
    assert (said["foreign"], said["twice"]) == (SUCCESS, LAUNCH_FAILURE)
    said = run("bad_free", tool="memcheck")
    assert (said["foreign"], said["twice"]) == (LAUNCH_FAILURE, LAUNCH_FAILURE)
    assert "========= Malloc/Free Error encountered : Invalid pointer to device-side free\n" in said.stdout
    assert "========= Malloc/Free Error encountered : Device-side double free\n" in said.stdout
