"""Rules for programs that run out of memory, crash or hang. CUDA's own codes are in ``rules_cuda``.

Crashes follow the protocol's point 10: whatever says that an address was wrong or memory was corrupted is
illegal_memory_access, on the host as on the device.
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.rule import BUILD, BUILD_AND_TEST, TEST, Cond, Rule, Weight, any_case, token

_OOM: Final = Category.OUT_OF_MEMORY
_IMA: Final = Category.ILLEGAL_MEMORY_ACCESS
_TIME: Final = Category.TIMEOUT

_NOT_OURS: Final = (Cond("step", "timed_out", False), Cond("step", "memory_killed", False))
"""The harness did not end the process itself: then "Killed" is the system's doing and says something."""

MEMORY_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="memory.device",
        category=_OOM,
        stages=TEST,
        literals=(
            "outofmemoryerror",
            "alloc_failed",
            "insufficient_resources",
            "allocate",
            "allocation failed",
            "tried to allocate",
        ),
        pattern=(
            token(
                r"\b(?:torch\.)?(?:cuda\.)?OutOfMemoryError\b",
                r"\bCU\w+_(?:STATUS_)?ALLOC_FAILED",
                r"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
                r"(?i:(?:fail(?:ed|ure)?s? to|could not|cannot|can't|unable to) allocate\b)",
                r"(?i:(?:memory |device |gpu |cudaMalloc\w* )allocation failed)",
                r"(?i:tried to allocate) [\d.]+ [KMGT]i?B",
            )
        ),
        # A cudaMalloc that reports an earlier fault is not short of memory; the line then names the code.
        unless=r"(?i)illegal|misaligned|launch failure|device-side assert|invalid (?:argument|device)|initiali[sz]ation error|driver version is insufficient",
        source="PyTorch, cuBLAS, cuFFT, cuSOLVER, cuSPARSE, test programs",
    ),
    Rule(
        id="memory.malloc_failed",
        category=_OOM,
        stages=TEST,
        literals=("malloc",),
        pattern=r"(?P<token>\bcuda(?:Malloc|HostAlloc)\w*(?:\([^()]*\))? (?:has )?failed)\W*$",
        source="test programs",
    ),
    Rule(
        id="memory.host",
        category=_OOM,
        stages=TEST,
        literals=(
            "bad_alloc",
            "cannot allocate memory",
            "memoryerror",
            "allocation-size-too-big",
            "oom-kill",
            "killed process",
            "oom kill",
            "out-of-memory",
        ),
        pattern=(
            token(
                r"\bstd::bad_alloc\b",
                r"Cannot allocate memory",
                r"^(?:E\s+)?(?:numpy\S*)?(?:_Array)?MemoryError\b",
                r"AddressSanitizer: (?:out-of-memory|allocation-size-too-big)",
                r"(?i:\boom[- ]kill(?:ed|er)?|out of memory: killed process)",
            )
        ),
        name="host memory",
        unless=r"cudaError(?!MemoryAllocation)\w+",
        source="libstdc++, glibc, CPython, AddressSanitizer, the kernel",
    ),
    Rule(
        id="memory.killed",
        category=_OOM,
        stages=TEST,
        literals=("killed",),
        pattern=token(
            r"^Killed\b",
            r"^(?:[\w./-]+: )?(?:line \d+: )?(?:\w+: )?\s*\d+ Killed\b",
            r"^make(?:\[\d+\])?: \*\*\* \[.*\] Killed",
            r"signal: killed",
        ),
        name="host memory (killed)",
        when=_NOT_OURS,
        weight=Weight.GENERIC,
        yields_to="time.",
        # Nobody but the system's out-of-memory killer ends a process so when the harness's own watches did not.
        source="the shell, make",
    ),
    Rule(
        id="memory.compiler",
        category=_OOM,
        stages=BUILD_AND_TEST,
        literals=(
            "out of memory allocating",
            "virtual memory exhausted",
            "memory allocation failure",
            "llvm error: out of memory",
        ),
        pattern=token(
            r"\bcc1\w*: out of memory",
            r"virtual memory exhausted",
            r"Memory allocation failure",
            r"LLVM ERROR: out of memory",
        ),
        name="host memory (compiler)",
        source="GCC, nvcc, ptxas, LLVM",
    ),
    Rule(
        id="memory.build_host",
        category=_OOM,
        stages=BUILD,
        literals=("cannot allocate memory", "bad_alloc", "memory exhausted", "memoryerror"),
        pattern=token(
            r"^(?!\s).*\bstd::bad_alloc\b",
            r"^(?!\s).*Cannot allocate memory",
            r"final link failed: memory exhausted",
            r"^MemoryError",
        ),
        name="host memory (compiler)",
        source="libstdc++, the system",
    ),
)

CRASH_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="crash.segfault",
        category=_IMA,
        stages=TEST,
        literals=(
            "segmentation fault",
            "sigsegv",
            "bus error",
            "sigbus",
            "segfault",
            "caught signal 11",
            "access violation",
        ),
        pattern=(
            token(
                r"Segmentation fault",
                r"\bSIGSEGV\b",
                r"\bSIGBUS\b",
                r"(?:^|\s|: )Bus error",
                r"\bsegfault\b",
                r"Caught signal 11",
                r"(?i:access violation)",
            )
        ),
        name="segmentation fault",
        source="the shell, glibc, CPython's faulthandler, test frameworks",
    ),
    Rule(
        id="crash.heap",
        category=_IMA,
        stages=TEST,
        literals=(
            "free()",
            "double free",
            "malloc()",
            "malloc(): ",
            "corrupted",
            "munmap_chunk",
            "realloc()",
            "invalid pointer",
            "sysmalloc",
        ),
        pattern=(
            token(
                r"double free(?: or corruption)?(?: \([!\w]+\))?",
                r"(?:free|malloc|realloc|munmap_chunk|calloc)\(\): [\w .+!<>()-]+",
                r"malloc_consolidate\(\): [\w ]+",
                r"corrupted (?:size vs\. prev_size|double-linked list)[\w ]*",
                r"sysmalloc: Assertion",
            )
        ),
        source="glibc's allocator",
    ),
    Rule(
        id="crash.stack",
        category=_IMA,
        stages=TEST,
        literals=("stack smashing", "stack overflow", "stack-overflow", "buffer overflow detected"),
        pattern=r"(?P<token>stack smashing detected|(?i:stack[ -]overflow)|buffer overflow detected)",
        source="glibc, the CUDA runtime, AddressSanitizer",
    ),
    Rule(
        id="crash.asan",
        category=_IMA,
        stages=TEST,
        literals=("addresssanitizer", "runtime error: "),
        pattern=(
            token(
                r"AddressSanitizer: (?!out-of-memory|allocation-size-too-big|CHECK failed)[\w-]+",
                r"runtime error: (?:(?:load|store|member access|reference binding) (?:of|to|within) (?:misaligned|null|address)|index -?\d+ out of bounds)[\w ]*",
            )
        ),
        source="AddressSanitizer, UndefinedBehaviorSanitizer",
    ),
    Rule(
        id="crash.valgrind",
        category=_IMA,
        stages=TEST,
        literals=("== invalid read", "== invalid write", "== invalid free", "== jump to the invalid"),
        pattern=r"^==\d+== (?P<token>Invalid (?:read|write) of size \d+|Invalid free|Jump to the invalid address)",
        source="Valgrind",
    ),
    Rule(
        id="crash.debugger",
        category=_IMA,
        stages=TEST,
        literals=(
            "cuda_exception",
            "cuda exception",
            "warp illegal",
            "warp out-of-range",
            "warp misaligned",
            "xid",
        ),
        pattern=(
            token(
                r"CUDA[_ ]E(?:XCEPTION|xception)[^\n]{0,10}?[,:] ?[^\n]{0,60}",
                r"Warp (?:Illegal|Out-of-range|Misaligned) \w+",
                r"NVRM: Xid [^\n]*?: (?:13|31)\b",
            )
        ),
        unless=r"(?i)cuda[_ ]exception[^\n]{0,20}assert",
        source="cuda-gdb, the kernel driver's Xid messages",
    ),
    Rule(
        id="crash.address_words",
        category=_IMA,
        stages=TEST,
        literals=("illegal address", "memory access fault", "invalid memory access", "out-of-bounds", "out of bounds"),
        pattern=r"(?i)"
        + token(
            r"\billegal address\b",
            r"memory access fault",
            r"invalid memory access",
            r"out[- ]of[- ]bounds (?:\w+ )?(?:read|write|access|store|load)",
            r"(?:read|write|access|store|load) out of bounds",
        ),
        weight=Weight.GENERIC,
        source="test programs",
    ),
)

TIME_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="time.out",
        category=_TIME,
        stages=BUILD_AND_TEST,
        literals=("timed out", "timed-out", "timeout", "time limit", "watchdog", "deadlock"),
        pattern=(
            token(
                r"\b(?i:(?:BUILD|TEST|RUN|COMPILE|KERNEL|EXECUTION|LAUNCH)[ _]TIMEOUT)\b",
                r"(?i:\btimed[- ]out\b)",
                r"\bTimeout(?:Expired|Error)\b",
                r"\*\*\*Timeout",
                r"\bTimeout\s?(?:!|>|\()",
                r"^\W*(?:TIMEOUT|Timeout)\W*$",
                any_case(
                    r"\btimeout (?:reached|exceeded|expired|after|occurred|hit)\b",
                    r"exceeded (?:the )?(?:\w+ ){0,3}(?:timeout|time limit)",
                ),
                any_case(
                    r"time limit (?:exceeded|reached)",
                    r"DUE TO TIME LIMIT",
                    r"watchdog\b.{0,60}(?:fired|expired|trigger\w*|kill\w*|timer|timeout|terminat\w*)",
                ),
                r"timeout: sending signal \w+ to command",
                r"\bTIMEOUT\b\s*[:(-]",
                r"(?i:\bdeadlock(?:ed)?\b(?: detected)?)",
            )
        ),
        name="timeout",
        source="harnesses, timeout(1), CPython's subprocess, pytest, ctest, Slurm, the CPU device of this project",
    ),
    Rule(
        id="time.cpu_limit",
        category=_TIME,
        stages=BUILD_AND_TEST,
        literals=("cpu time limit exceeded", "sigxcpu", "cputime limit exceeded"),
        pattern=r"(?P<token>C(?:PU|pu) ?time limit exceeded|\bSIGXCPU\b)",
        name="cpu time limit",
        source="the shell on SIGXCPU",
    ),
)
