"""Rules for programs that a machine cannot run or that break the task's contract when they run (protocol, points 8 to 11)."""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.rule import ANY_STEP, BUILD_AND_TEST, TEST, Cond, Rule, Weight, token

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_INTEG: Final = Category.INTEGRATION


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
            token(
                r"(?i:[^\n]{0,120}\b(?:needs?|requires?) a GPU\b)",
                r"Found no NVIDIA driver on your system",
                r"No CUDA GPUs are available",
                r"Torch not compiled with CUDA enabled",
                r"(?i:\bno (?:usable |suitable |NVIDIA |CUDA )?GPUs? (?:is |was |were |are )?(?:found|detected|available))",
            )
        ),
        source="the CPU device of this project, PyTorch, test programs",
    ),
    Rule(
        id="machine.cpu_device",
        category=_ENV,
        stages=TEST,
        literals=("beaver-tui cpu device:",),
        # what this device could not do is no fault of the candidate; a deadlock and a slow kernel are
        pattern=r"^beaver-tui CPU device: (?!deadlock in kernel |kernel .* still runs )(?P<token>.+)",
        weight=Weight.GENERIC,
        source="the CPU device of this project",
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
            token(
                r"(?i:(?:requires?|needs?) (?:a )?(?:GPU |device )?(?:with )?(?:CUDA )?compute capability\b)",
                r"is not compatible with the current PyTorch installation",
                r"(?i:compute capability [\d.x]+ (?:is )?(?:not supported|too low|required))",
                r"(?i:is not supported on this (?:device|gpu|platform|architecture))",
            )
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
        pattern=token(
            r"Exec format error",
            r"cannot execute(?: binary file)?",
            r"(?:sh|bash): (?:line )?[^\n]{0,200}: Permission denied",
            r"bad interpreter",
            r"PermissionError: .*",
        ),
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
            r"\b"
            + token(
                r"CU\w+_STATUS_ARCH_MISMATCH",
                r"CUFFT_SETUP_FAILED",
                r"CUDNN_STATUS_(?:RUNTIME_PREREQUISITE_MISSING|VERSION_MISMATCH|\w*VERSION_MISMATCH)",
                r"ncclSystemError",
                r"CUDNN_STATUS_NOT_INITIALIZED",
                r"NVRM: Xid [^\n]*?: (?:48|74|79|94|95)\b",
            )
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
            r"^(?:E\s+)?(?:[\w.]*(?:Error|Exception): )?"
            + token(
                r"cannot import name '[^']*' from '[^']*'",
                r"module '[^']*' has no attribute '[^']*'",
                r"[\w.<>]+\(\) (?:takes|missing|got an unexpected|got multiple)\b.*",
                r"[\w.<>]+\(\): incompatible (?:function|constructor) arguments",
                r"type object '\w+' has no attribute .*",
                r".*\bModelNew\b.*(?:not (?:found|defined)|missing|no class)",
            )
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
            r"(?i)"
            + token(
                r"\b(?:contract|ABI|interface)\b.{0,40}\b(?:violat\w+|mismatch\w*|broken|not met|error)",
                r"signature (?:mismatch|does not match|differs)",
                r"(?:missing|unknown|no) (?:required )?entry point",
                r"entry point .{0,80}(?:not found|missing)",
                r"\bmust (?:define|export|provide)\b.*",
                r"does not (?:define|export|provide) .*",
                r"required (?:source|function|symbol|kernel|header)\b.*",
                r"(?:missing|absent|no|expected) output file.*",
                r"output file .{0,200}(?:missing|not found|does not exist|was not (?:written|created))",
                r"wrong number of outputs",
                r"(?:missing outputs?\b|outputs? (?:is|are) missing).*",
                r"expected symbol .{0,120}not found",
                r"dlsym.{0,120}(?:failed|not found)",
            )
        ),
        source='test harnesses; Table 5, "signature/I/O contract violations"',
    ),
)
