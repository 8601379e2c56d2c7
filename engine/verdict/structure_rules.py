"""What makes a CUDA program fast, and what makes it slow, as a table: a feature's words and the syntax that shows it.

The paper calls it repair by degeneration (section 1, figure 1): a fixer passes by giving up the optimised structure. The table
names the parts of that structure. ``structure_sites`` finds the syntax; nothing here decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal[
    "kernel",
    "device_function",
    "launch",
    "launch_shape",
    "guard",
    "shared",
    "constant",
    "type",
    "pointer",
    "call",
    "word",
    "pragma",
    "asm",
    "double",
    "local",
    "copy",
    "host_loop",
    "access",
    "loop",
    "atomic",
    "bound",
    "helper",
]
"""Where a pattern looks.

kernel, device_function: names of functions that are defined. launch: how a kernel is launched ("<<<>>>" or the function's name).
launch_shape: "one thread", "one block", "thread blocks of one", "loop", see structure_sites. guard: the condition under which one
thread works alone. shared, constant: names of variables ("extern" before those sized by the launch). type: a type's name.
pointer: a type behind a pointer or reference. call: a called name with its namespaces, without template arguments. word: any other
word of the code. pragma: what follows #pragma. asm: the text of an asm statement. double: a type of double precision on the device.
local: arrays of a thread. copy: "to host". host_loop: stores to arrays in loops of the host. access, loop, atomic: see
structure_access ("strided"; "shared", "serial"; "block", "global"). bound: loops as long as a number in memory says. helper: a called
name that the source does not define.
"""

Role = Literal["fast", "needed", "slow", "neutral"]
"""What a change of a feature means. fast: the fewer, the more was given up. needed: only its end means something.
slow: a fallback, the more the worse. neutral: shown, never held against anybody."""


@dataclass(frozen=True)
class Feature:
    """One thing to count. ``syntax`` pairs a kind with a pattern: asm and pragma texts are searched, all others match in full."""

    name: str
    words: str
    role: Role
    syntax: tuple[tuple[Kind, str], ...]


WIDE: Final = (
    r"(?:u?int|float|double|u?long|u?longlong)4(?:_(?:16|32)a)?|(?:double|u?long|u?longlong)2|u?int8x16|__int128(?:_t)?"
)
"""CUDA's vector types of 128 bits, and of 256."""
_HALVES: Final = r"__half2?(?:_raw)?|half2?|(?:__)?nv_bfloat162?|__nv_fp8\w*|__half2_raw|bfloat16_t|half_t"
_LIBRARIES: Final = (
    r"(?:cublas(?:Lt|Xt)?|cufft|cusparse|cusolver(?:Dn|Sp)?|curand|cudnn|nccl|cutensor)"
    r"(?!Create|Destroy|Set|Get|Init|Check|Plan|Make|Estimate|Malloc|Free|Workspace)[A-Z]\w*"
)
"""Calls that compute; what only prepares them counts for nothing."""
_WIDE_HELPERS: Final = r"(?:\w+::)*(?:load|store|ld|st)_?(?:128|[fF]loat4|u?[iI]nt4|vec4?)\w*"
"""What names say of functions that a header brings: "load128cs"."""
_SHUFFLES: Final = r"__(?:shfl|ballot|any|all|match|reduce_\w+)\w*"
_COLLECTIVES: Final = r"(?:cg|cooperative_groups)::(?:reduce|\w+clusive_scan)(?:_async)?"

FEATURES: Final[tuple[Feature, ...]] = (
    Feature("kernels", "kernels", "needed", (("kernel", r".*"),)),
    Feature("launches", "launches", "needed", (("launch", r".*"),)),
    Feature("one_thread_launches", "launches of one thread", "slow", (("launch_shape", "one thread"),)),
    Feature("one_block_launches", "launches of one block", "slow", (("launch_shape", "one block"),)),
    Feature(
        "one_thread_blocks", "launches with one thread a block", "slow", (("launch_shape", "thread blocks of one"),)
    ),
    Feature("launches_in_loops", "launches in host loops", "slow", (("launch_shape", "loop"),)),
    Feature("single_thread_loops", "loops run by one thread", "slow", (("guard", r".*"),)),
    Feature(
        "host_waits",
        "waits on the host",
        "slow",
        (
            (
                "call",
                r"cuda(?:Device|Stream|Event|Thread)Synchronize|cu(?:Ctx|Stream|Event)Synchronize|cudaMemcpy(?:2D|3D)?",
            ),
        ),
    ),
    Feature("shared_tiling", "shared tiling", "fast", (("shared", r".*"),)),
    Feature(
        "tensor_cores",
        "tensor-core instructions",
        "fast",
        (
            ("call", r"(?:\w+::)*(?:w?mma_sync|bmma_sync)|__[hi]?w?mma_m\d+\w*_mma_\w+|wgmma\w*|(?:cute::)gemm"),
            ("helper", r"(?:[HIQD]?G?MMA_?\d\w*|mma_?m?\d\w*)"),
            ("asm", r"\bw?mma\.sync|\bwmma\.mma|\bwgmma\.mma|\btcgen05\.mma|\bmma\.sp\b"),
        ),
    ),
    Feature(
        "matrix_loads",
        "matrix loads",
        "fast",
        (
            ("call", r"(?:\w+::)*load_matrix_sync"),
            ("helper", r"(?:ldmatrix|LDMATRIX)\w*"),
            ("asm", r"\bldmatrix\.|\bwmma\.load"),
        ),
    ),
    Feature(
        "async_copies",
        "asynchronous copies",
        "fast",
        (
            ("call", r"(?:\w+::)*memcpy_async(?:_tx)?|__pipeline_memcpy_async|(?:\w+::)*cp_async_bulk\w*"),
            ("helper", r"(?:\w+::)*(?:cp_async|CP_ASYNC)(?!_?(?:\w+_)?(?:commit|wait|COMMIT|WAIT|fence|FENCE))\w*"),
            ("asm", r"\bcp\.(?:reduce\.)?async(?!\.(?:commit|wait|bulk\.(?:commit|wait|prefetch)))"),
        ),
    ),
    Feature(
        "pipelines",
        "copy pipelines",
        "fast",
        (
            ("call", r"(?:\w+::)*make_pipeline|__pipeline_commit|(?:[\w.]+::)*mbarrier\w*|\w+\.producer_commit"),
            ("asm", r"\bcp\.async\.(?:commit_group|bulk\.commit_group|mbarrier)|\bmbarrier\.try_wait"),
        ),
    ),
    Feature(
        "wide_accesses",
        "128-bit loads",
        "fast",
        (
            ("pointer", WIDE),
            ("helper", _WIDE_HELPERS),
            ("asm", r"\b(?:ld|st)\.(?:\w+\.)*(?:\w+::\w+\.)*(?:\w+\.)*v4\b"),
        ),
    ),
    Feature("wide_types", "128-bit values", "fast", (("type", WIDE),)),
    Feature("half_types", "half-precision types", "fast", (("type", _HALVES), ("pointer", _HALVES))),
    Feature(
        "warp_intrinsics",
        "warp intrinsics",
        "fast",
        (
            (
                "call",
                rf"{_SHUFFLES}|{_COLLECTIVES}|\w+\.shfl\w*|\w+\.ballot",
            ),
            ("helper", r"(?:\w+::)*(?:[wW]arp|[bB]lock)_?(?:[rR]educ|[aA]ll_?[rR]educ|[sS]can)\w*"),
            ("asm", r"\bshfl\.(?:sync\.)?|\bvote\.|\bredux\.|\bmatch\.(?:any|all)"),
        ),
    ),
    Feature(
        "unrolled_loops",
        "unrolled loops",
        "fast",
        (("pragma", r"^unroll(?!\s*\(?\s*1\s*\)?\s*$)"), ("word", r"CUTLASS_PRAGMA_UNROLL")),
    ),
    Feature(
        "read_only_loads",
        "read-only loads",
        "fast",
        (("call", r"__ldg|__ldc[gsav]|__ldlu"), ("asm", r"\bld\.global(?:\.\w+)*\.nc\b")),
    ),
    Feature("constant_memory", "constant memory", "fast", (("constant", r".*"),)),
    Feature("restrict", "restrict pointers", "fast", (("word", r"__restrict(?:__)?"),)),
    Feature("launch_bounds", "launch bounds", "fast", (("word", r"__launch_bounds__"),)),
    Feature(
        "clusters",
        "thread-block clusters",
        "fast",
        (
            ("word", r"__cluster_dims__"),
            ("call", r"(?:\w+::)*this_cluster|\w+\.map_shared_rank"),
            ("asm", r"shared::cluster|\bmapa\."),
        ),
    ),
    Feature("cooperative_launches", "cooperative launches", "fast", (("launch", r"\w*Cooperative\w*"),)),
    Feature("streams", "streams of its own", "fast", (("call", r"cudaStreamCreate\w*|cuStreamCreate\w*"),)),
    Feature(
        "stream_order",
        "order by events",
        "fast",
        (("call", r"cudaEventRecord\w*|cudaStreamWaitEvent|cu(?:EventRecord|StreamWaitEvent)"),),
    ),
    Feature(
        "graphs",
        "graphs",
        "fast",
        (("call", r"cudaGraph(?:Launch|Instantiate\w*|Create|Add\w+)|cudaStreamBeginCapture\w*"),),
    ),
    Feature(
        "libraries",
        "library calls",
        "fast",
        (("call", _LIBRARIES + r"|(?:thrust|cub|cutlass|cute)::[\w:]+"), ("type", r"(?:cub)::[\w:]+")),
    ),
    Feature(
        "barriers",
        "block barriers",
        "neutral",
        (
            ("call", r"__syncthreads\w*|\w+\.(?:sync|arrive_and_wait)|(?:cg|cooperative_groups)::sync"),
            ("asm", r"\bbar(?:rier)?\.(?:cta\.)?(?:sync|red|arrive)"),
        ),
    ),
    Feature(
        "atomics",
        "atomic operations",
        "neutral",
        (
            ("call", r"atomic(?:Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor)(?:_\w+)?|\w+\.fetch_\w+"),
            ("asm", r"\b(?:atom|red)\."),
        ),
    ),
    Feature("device_functions", "device functions", "neutral", (("device_function", r".*"),)),
    Feature("allocations", "allocations", "neutral", (("call", r"cudaMalloc\w*|cuMemAlloc\w*"),)),
    Feature("inline_assembly", "inline assembly", "neutral", (("asm", r""),)),
    Feature(
        "block_primitives", "block and warp primitives", "neutral", (("type", r"cub::(?:Block|Warp)\w+(?:::\w+)*"),)
    ),
    Feature("register_tiles", "arrays of a thread", "neutral", (("local", r".*"),)),
    Feature("shared_loops", "loops that threads share", "neutral", (("loop", r"shared"),)),
    Feature("serial_loops", "loops of each thread", "neutral", (("loop", r"serial"),)),
    Feature("strided_accesses", "accesses a row apart", "neutral", (("access", r"strided"),)),
    Feature("data_bounds", "loops as long as their data", "neutral", (("bound", r".*"),)),
    Feature("double_precision", "double precision", "neutral", (("double", r".*"),)),
    Feature("global_atomics", "atomics in global memory", "neutral", (("atomic", r"global"),)),
    Feature("host_stores", "array stores in host loops", "neutral", (("host_loop", r".*"),)),
    Feature("copies_to_host", "copies to the host", "neutral", (("copy", r".*"),)),
    Feature("warp_barriers", "warp barriers", "neutral", (("call", r"__syncwarp"),)),
)
"""In the order in which a reader wants them: what runs, what it fell back to, what made it fast, the rest."""
