"""Rules for what running programs print: the machine, the contract, memory, crashes and time. CUDA's codes are in ``rules_cuda``.

Crashes follow the protocol's point 10: whatever says that an address was wrong or memory was corrupted is
illegal_memory_access, on the host as on the device.
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.rule import ANY_STEP, BUILD, BUILD_AND_TEST, TEST, Cond, Rule, Weight

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_INTEG: Final = Category.INTEGRATION
_OOM: Final = Category.OUT_OF_MEMORY
_IMA: Final = Category.ILLEGAL_MEMORY_ACCESS
_TIME: Final = Category.TIMEOUT

_NOT_OURS: Final = (Cond("step", "timed_out", False), Cond("step", "memory_killed", False))
"""The harness did not end the process itself: then "Killed" is the system's doing and says something."""

MACHINE_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="machine.needs",
        category=_ENV,
        stages=ANY_STEP,
        literals=(
            "needs a gpu",
            "need a gpu",
            "requires a gpu",
            "no nvidia driver",
            "no cuda gpus",
            "not compiled with cuda",
            "no gpu",
            "gpu found",
        ),
        pattern=(
            r"(?P<token>(?i:[^\n]{0,120}\b(?:needs?|requires?) a GPU\b)|Found no NVIDIA driver on your system|No CUDA GPUs are available"
            r"|Torch not compiled with CUDA enabled|(?i:\bno (?:usable |suitable |NVIDIA |CUDA )?GPUs? (?:is |was |were |are )?(?:found|detected|available)))"
        ),
        source="the CPU device of this project, PyTorch, test programs",
    ),
    Rule(
        id="machine.too_old",
        category=_ENV,
        stages=TEST,
        literals=(
            "compute capability",
            "not compatible with the current",
            "is not supported on this",
        ),
        pattern=(
            r"(?P<token>(?i:(?:requires?|needs?) (?:a )?(?:GPU |device )?(?:with )?(?:CUDA )?compute capability\b)|is not compatible with the current PyTorch installation"
            r"|(?i:compute capability [\d.x]+ (?:is )?(?:not supported|too low|required))|(?i:is not supported on this (?:device|gpu|platform|architecture)))"
        ),
        source="test programs, PyTorch",
    ),
    Rule(
        id="machine.module_missing",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("modulenotfounderror", "no module named"),
        pattern=r"(?P<token>No module named '?(?P<file>[\w.]+)'?)",
        when=(Cond("file", "solution", False),),
        source="CPython",
    ),
    Rule(
        id="machine.command_missing",
        category=_ENV,
        stages=TEST,
        literals=("exec format error", "permission denied", "cannot execute", "bad interpreter"),
        pattern=r"(?P<token>Exec format error|cannot execute(?: binary file)?|(?:sh|bash): (?:line )?[^\n]{0,200}: Permission denied|bad interpreter|PermissionError: .*)",
        source="the shell, execve",
    ),
    Rule(
        id="machine.library_setup",
        category=_ENV,
        stages=TEST,
        literals=(
            "arch_mismatch",
            "cufft_setup_failed",
            "ncclsystemerror",
            "version_mismatch",
            "not_initialized",
            "xid",
        ),
        pattern=(
            r"\b(?P<token>CU\w+_STATUS_ARCH_MISMATCH|CUFFT_SETUP_FAILED|CUDNN_STATUS_(?:RUNTIME_PREREQUISITE_MISSING|VERSION_MISMATCH|\w*VERSION_MISMATCH)"
            r"|ncclSystemError|CUDNN_STATUS_NOT_INITIALIZED|NVRM: Xid [^\n]*?: (?:48|74|79|94|95)\b)"
        ),
        source="cuBLAS, cuFFT, cuDNN, NCCL, the kernel driver",
    ),
    Rule(
        id="machine.killed_by_sandbox",
        category=_ENV,
        stages=TEST,
        literals=("bad system call",),
        pattern=r"(?P<token>Bad system call)",
        source="the shell on SIGSYS",
    ),
)

CONTRACT_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="contract.python_interface",
        category=_INTEG,
        stages=TEST,
        literals=(
            "cannot import name",
            "has no attribute",
            "positional argument",
            "unexpected keyword",
            "incompatible function arguments",
            "incompatible constructor arguments",
            "modelnew",
        ),
        pattern=(
            r"^(?:E\s+)?(?:[\w.]*(?:Error|Exception): )?(?P<token>cannot import name '[^']*' from '[^']*'|module '[^']*' has no attribute '[^']*'"
            r"|[\w.<>]+\(\) (?:takes|missing|got an unexpected|got multiple)\b.*|[\w.<>]+\(\): incompatible (?:function|constructor) arguments"
            r"|type object '\w+' has no attribute .*|.*\bModelNew\b.*(?:not (?:found|defined)|missing|no class))"
        ),
        source="CPython, pybind11, KernelBench's loader",
    ),
    Rule(
        id="contract.module_of_solution",
        category=_INTEG,
        stages=TEST,
        literals=("no module named",),
        pattern=r"(?P<token>No module named '?(?P<file>[\w.]+)'?)",
        when=(Cond("file", "solution"),),
        source="CPython",
    ),
    Rule(
        id="contract.program_absent",
        category=_INTEG,
        stages=TEST,
        literals=("not found", "no such file or directory"),
        # The build succeeded and yet the program that the test names is not there: the candidate changed what is built.
        pattern=(
            r"^(?:(?:/bin/|/usr/bin/)?(?:ba|da|z)?sh: (?:line )?(?:\d+: )?|make: |timeout: failed to run command [‘'`]|env: [‘'`]?)"
            r"(?P<token>(?P<file>\.{1,2}/[\w./+-]+)['’]?: (?:not found|No such file or directory))"
        ),
        source="the shell, make, timeout",
    ),
    Rule(
        id="contract.violation",
        category=_INTEG,
        stages=TEST,
        literals=(
            "contract",
            "entry point",
            "signature",
            "must define",
            "must export",
            "does not define",
            "does not export",
            "required source",
            "required function",
            "required symbol",
            "required kernel",
            "output file",
            "wrong number of outputs",
            "expected symbol",
            "dlsym",
            "abi mismatch",
            "interface mismatch",
            "missing output",
            "output is missing",
            "outputs are missing",
        ),
        pattern=(
            r"(?i)(?P<token>\b(?:contract|ABI|interface)\b.{0,40}\b(?:violat\w+|mismatch\w*|broken|not met|error)|signature (?:mismatch|does not match|differs)"
            r"|(?:missing|unknown|no) (?:required )?entry point|entry point .{0,80}(?:not found|missing)|\bmust (?:define|export|provide)\b.*"
            r"|does not (?:define|export|provide) .*|required (?:source|function|symbol|kernel|header)\b.*"
            r"|(?:missing|absent|no|expected) output file.*|output file .{0,200}(?:missing|not found|does not exist|was not (?:written|created))"
            r"|wrong number of outputs|(?:missing outputs?\b|outputs? (?:is|are) missing).*|expected symbol .{0,120}not found|dlsym.{0,120}(?:failed|not found))"
        ),
        source='test harnesses; Table 5, "signature/I/O contract violations"',
    ),
)

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
            r"(?P<token>\b(?:torch\.)?(?:cuda\.)?OutOfMemoryError\b|\bCU\w+_(?:STATUS_)?ALLOC_FAILED|CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"
            r"|(?i:(?:fail(?:ed|ure)?s? to|could not|cannot|can't|unable to) allocate\b)|(?i:(?:memory |device |gpu |cudaMalloc\w* )allocation failed)"
            r"|(?i:tried to allocate) [\d.]+ [KMGT]i?B)"
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
            r"(?P<token>\bstd::bad_alloc\b|Cannot allocate memory|^(?:E\s+)?(?:numpy\S*)?(?:_Array)?MemoryError\b|AddressSanitizer: (?:out-of-memory|allocation-size-too-big)"
            r"|(?i:\boom[- ]kill(?:ed|er)?|out of memory: killed process))"
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
        pattern=r"(?P<token>^Killed\b|^(?:[\w./-]+: )?(?:line \d+: )?(?:\w+: )?\s*\d+ Killed\b|^make(?:\[\d+\])?: \*\*\* \[.*\] Killed|signal: killed)",
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
        pattern=r"(?P<token>\bcc1\w*: out of memory|virtual memory exhausted|Memory allocation failure|LLVM ERROR: out of memory)",
        name="host memory (compiler)",
        source="GCC, nvcc, ptxas, LLVM",
    ),
    Rule(
        id="memory.build_host",
        category=_OOM,
        stages=BUILD,
        literals=("cannot allocate memory", "bad_alloc", "memory exhausted", "memoryerror"),
        pattern=r"(?P<token>^(?!\s).*\bstd::bad_alloc\b|^(?!\s).*Cannot allocate memory|final link failed: memory exhausted|^MemoryError)",
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
            r"(?P<token>Segmentation fault|\bSIGSEGV\b|\bSIGBUS\b|(?:^|\s|: )Bus error|\bsegfault\b|Caught signal 11|(?i:access violation))"
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
            r"(?P<token>double free(?: or corruption)?(?: \([!\w]+\))?|(?:free|malloc|realloc|munmap_chunk|calloc)\(\): [\w .+!<>()-]+|malloc_consolidate\(\): [\w ]+"
            r"|corrupted (?:size vs\. prev_size|double-linked list)[\w ]*|sysmalloc: Assertion)"
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
            r"(?P<token>AddressSanitizer: (?!out-of-memory|allocation-size-too-big|CHECK failed)[\w-]+"
            r"|runtime error: (?:(?:load|store|member access|reference binding) (?:of|to|within) (?:misaligned|null|address)|index -?\d+ out of bounds)[\w ]*)"
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
            r"(?P<token>CUDA[_ ]E(?:XCEPTION|xception)[^\n]{0,10}?[,:] ?[^\n]{0,60}|Warp (?:Illegal|Out-of-range|Misaligned) \w+|NVRM: Xid [^\n]*?: (?:13|31)\b)"
        ),
        unless=r"(?i)cuda[_ ]exception[^\n]{0,20}assert",
        source="cuda-gdb, the kernel driver's Xid messages",
    ),
    Rule(
        id="crash.address_words",
        category=_IMA,
        stages=TEST,
        literals=("illegal address", "memory access fault", "invalid memory access", "out-of-bounds", "out of bounds"),
        pattern=r"(?i)(?P<token>\billegal address\b|memory access fault|invalid memory access|out[- ]of[- ]bounds (?:\w+ )?(?:read|write|access|store|load)|(?:read|write|access|store|load) out of bounds)",
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
            r"(?P<token>\b(?i:(?:BUILD|TEST|RUN|COMPILE|KERNEL|EXECUTION|LAUNCH)[ _]TIMEOUT)\b|(?i:\btimed[- ]out\b)|\bTimeout(?:Expired|Error)\b"
            r"|\*\*\*Timeout|\bTimeout\s?(?:!|>|\()|^\W*(?:TIMEOUT|Timeout)\W*$|(?i:\btimeout (?:reached|exceeded|expired|after|occurred|hit)\b|exceeded (?:the )?(?:\w+ ){0,3}(?:timeout|time limit))"
            r"|(?i:time limit (?:exceeded|reached)|DUE TO TIME LIMIT|watchdog\b.{0,60}(?:fired|expired|trigger\w*|kill\w*|timer|timeout|terminat\w*))"
            r"|timeout: sending signal \w+ to command|\bTIMEOUT\b\s*[:(-]|(?i:\bdeadlock(?:ed)?\b(?: detected)?))"
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

RUNTIME_RULES: Final[tuple[Rule, ...]] = MACHINE_RULES + CONTRACT_RULES + MEMORY_RULES + CRASH_RULES + TIME_RULES
