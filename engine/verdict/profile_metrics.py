"""What a profile holds: the metrics of Nsight Compute that are asked for, and the figures that are made of them.

Every name exists in Nsight Compute's lists for sm_70 to sm_90, and none needs the kernel's code to be patched: all are hardware
counters or facts of the launch, so a handful of replays of a kernel is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Over = Literal["sum", "mean", "longest"]
"""How the launches of one kernel become one figure: added up, weighted by their durations, or the longest launch's own."""


@dataclass(frozen=True)
class Metric:
    """One figure. ``name`` ends in its unit; ``scale`` turns what Nsight Compute reports in base units into that unit.

    ``tool`` is the metric of Nsight Compute, ``words`` says it in a prompt, ``unit`` follows the number there.
    """

    name: str
    tool: str
    words: str
    unit: str
    over: Over = "mean"
    scale: float = 1.0


DURATION: Final = Metric("duration_us", "gpu__time_duration.sum", "duration", "us a launch", scale=1e-3)

METRICS: Final = (
    DURATION,
    Metric("sm_throughput_pct", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "SM throughput", "% of peak"),
    Metric(
        "dram_throughput_pct", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput", "% of peak"
    ),
    Metric("dram_read_mb", "dram__bytes_read.sum", "read from DRAM", "MB a launch", scale=1e-6),
    Metric("dram_written_mb", "dram__bytes_write.sum", "written to DRAM", "MB a launch", scale=1e-6),
    Metric("l1_hit_pct", "l1tex__t_sector_hit_rate.pct", "L1 hit rate", "%"),
    Metric("l2_hit_pct", "lts__t_sector_hit_rate.pct", "L2 hit rate", "%"),
    Metric(
        "achieved_occupancy_pct",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "achieved occupancy",
        "% of warps",
    ),
    Metric(
        "theoretical_occupancy_pct",
        "sm__maximum_warps_per_active_cycle_pct",
        "theoretical occupancy",
        "% of warps",
        over="longest",
    ),
    Metric(
        "sectors_per_load",
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
        "global loads",
        "32-byte sectors a request",
    ),
    Metric(
        "sectors_per_store",
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
        "global stores",
        "32-byte sectors a request",
    ),
    Metric(
        "threads_per_instruction",
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        "active threads",
        "of 32 an instruction",
    ),
    Metric(
        "tensor_pipe_pct",
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
        "tensor cores busy",
        "% of cycles",
    ),
    Metric("registers_per_thread", "launch__registers_per_thread", "registers", "a thread", over="longest"),
    Metric(
        "static_shared_bytes",
        "launch__shared_mem_per_block_static",
        "static shared memory",
        "bytes a block",
        over="longest",
    ),
    Metric(
        "dynamic_shared_bytes",
        "launch__shared_mem_per_block_dynamic",
        "dynamic shared memory",
        "bytes a block",
        over="longest",
    ),
    Metric("blocks", "launch__grid_size", "grid", "blocks", over="longest"),
    Metric("threads_per_block", "launch__block_size", "block", "threads", over="longest"),
)
"""What every profile asks for, in the order in which it is told."""

LIMITS: Final = (
    Metric("block_limit_registers", "launch__occupancy_limit_registers", "registers", "blocks", over="longest"),
    Metric("block_limit_shared", "launch__occupancy_limit_shared_mem", "shared memory", "blocks", over="longest"),
    Metric("block_limit_warps", "launch__occupancy_limit_warps", "the block's size", "blocks", over="longest"),
    Metric("block_limit_sm", "launch__occupancy_limit_blocks", "the SM's number of blocks", "blocks", over="longest"),
)
"""How many blocks of a kernel each resource lets an SM hold: the least of them is what limits occupancy."""

_STALL: Final = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"

STALLS: Final = {
    "long_scoreboard": "a load from global or local memory",
    "short_scoreboard": "shared memory or a special function",
    "barrier": "other warps at __syncthreads",
    "lg_throttle": "a full queue of global or local memory instructions",
    "mio_throttle": "a full queue of shared memory instructions",
    "tex_throttle": "a full queue of texture instructions",
    "math_pipe_throttle": "a busy arithmetic pipe",
    "wait": "an instruction of fixed latency",
    "not_selected": "the scheduler, which took another ready warp",
    "dispatch_stall": "the dispatcher",
    "branch_resolving": "the target of a branch",
    "no_instruction": "the instruction cache, or a short kernel's end",
    "imc_miss": "the constant cache",
    "membar": "a memory fence",
    "drain": "stores, after the kernel's end",
    "sleeping": "threads that sleep or are blocked",
    "misc": "something else",
}
"""Why a warp does not issue, and what it waits for then."""

ISSUED: Final = "selected"
"""Not a stall: the warp issues. With it the reasons add up to all the cycles of a warp."""


def tool_metrics() -> tuple[str, ...]:
    """All that Nsight Compute is asked for."""
    return (*(metric.tool for metric in (*METRICS, *LIMITS)), *(_STALL.format(reason) for reason in (*STALLS, ISSUED)))


def stall_metric(reason: str) -> str:
    """Nsight Compute's metric for a reason."""
    return _STALL.format(reason)


def stall_name(reason: str) -> str:
    """The figure for a reason: its share of a warp's cycles."""
    return f"stall_{reason}_pct"
