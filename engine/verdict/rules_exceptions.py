"""Rules for programs that give up: statuses of libraries, exceptions, and plain words ("FAILED").

Most are WEAK: they say that a test failed, which is known already, and decide only when nothing else was said.
"""

from __future__ import annotations

from typing import Final

from engine.verdict.rule import Rule, Weight, token
from engine.verdict.rules_verifier import logic

EXCEPTION_RULES: Final[tuple[Rule, ...]] = (
    logic(
        "library.status",
        (
            "_status_",
            "cutlass error",
            "cutlass error",
            "cufft_",
            "curand_",
            "ncclunhandled",
            "ncclinternal",
            "ncclinvalid",
        ),
        r"\b"
        + token(
            r"(?:CUBLAS|CUSOLVER|CUSPARSE|CUDNN|CUTENSOR|CURAND)_STATUS_(?!SUCCESS|ALLOC_FAILED|ARCH_MISMATCH|INSUFFICIENT_RESOURCES)\w+",
            r"CUFFT_(?:INVALID\w*|EXEC_FAILED|INTERNAL_ERROR|UNALIGNED_DATA|INCOMPLETE\w*|NO_WORKSPACE|NOT_\w+|PARSE_ERROR)",
            r"nccl(?:Unhandled|Internal|Invalid)\w+",
            r"[Cc][Uu][Tt][Ll][Aa][Ss][Ss] error: .*",
        ),
        "cuBLAS, cuFFT, cuSOLVER, cuSPARSE, cuRAND, cuDNN, NCCL, CUTLASS",
    ),
    logic(
        "launch.too_large",
        (
            "too much shared memory",
            "exceeds shared memory",
            "shared memory limit",
            "too many threads",
            "out of resource",
        ),
        r"(?i)"
        + token(
            r"too much shared memory",
            r"exceeds (?:the )?(?:available )?shared memory",
            r"shared memory limit exceeded",
            r"too many threads per block",
            r"OutOfResources: out of resource: [\w ]+",
        ),
        "test programs, Triton",
        name="launch configuration",
    ),
    logic(
        "exception.signal",
        ("floating point exception", "illegal instruction", "aborted", "trace/breakpoint trap"),
        token(
            r"Floating point exception",
            r"^(?:.*: )?Illegal instruction",
            r"(?:^|\d\s+|: )Aborted\b",
            r"Trace/breakpoint trap",
        ),
        "the shell on a child that a signal ended",
        weight=Weight.WEAK,
    ),
    logic(
        "exception.what",
        ("what():",),
        r"^\s*what\(\):\s+(?P<token>.*)",
        "libstdc++",
        weight=Weight.WEAK,
    ),
    logic(
        "exception.terminate",
        ("terminate called", "libc++abi"),
        token(
            r"terminate called (?:after throwing an instance of '[^']*'|without an active exception|recursively)",
            r"libc\+\+abi: terminating.*",
        ),
        "libstdc++, libc++",
        weight=Weight.LAST,
    ),
    logic(
        "exception.python",
        ("error: ", "exception: "),
        r"^(?:E\s+)?(?P<token>(?:[A-Za-z_]\w*\.){0,6}[A-Z]\w*(?:Error|Exception)(?:: .*)?)$",
        "CPython",
        weight=Weight.WEAK,
    ),
    logic(
        "verify.failed",
        ("fail", "incorrect", "not ok"),
        token(
            r"\b(?:FAIL(?:ED|URE)?|Failed|Failure)\b.*",
            r"(?i:\b(?:tests?|verification|validation|check|comparison|correctness)\b[^\n]{0,40}?\bfail(?:ed|s|ure)?\b.*)",
            r"^\s*not ok\b.*",
            r"(?i:\bincorrect\b.*)",
        ),
        "test programs, TAP",
        weight=Weight.WEAK,
    ),
)
