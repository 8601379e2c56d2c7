"""Rules for builds that fail before the candidate's code is read: the toolchain, absent files, make.

A known header or library that the machine lacks is the machine's fault wherever it is asked for; an absent file is judged by
whose it is (protocol, point 9); a compiler that a signal ended is the toolchain's fault (point 10).
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.diagnostics import HEADER, HEADER_WORDS
from engine.verdict.rule import BUILD, BUILD_AND_TEST, IN_HARNESS, NOT_HARNESS, Cond, Rule, token

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_INTEG: Final = Category.INTEGRATION
_BUILD: Final = Category.BUILDABILITY

TOOLCHAIN_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="nvcc.unsupported_arch",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("unsupported gpu architecture", "gpu-architecture", "gpu-code"),
        pattern=token(
            r"Unsupported gpu architecture '[^']*'",
            r"Value '[^']*' is not defined for option 'gpu-(?:architecture|code)'",
        ),
        source="nvcc",
    ),
    Rule(
        id="nvcc.host_compiler",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=(
            "unsupported gnu version",
            "unsupported clang version",
            "unsupported microsoft",
            "cannot find compiler",
            "host compiler",
        ),
        pattern=(
            token(
                r"unsupported (?:GNU|clang|Microsoft Visual Studio) version",
                r"Cannot find compiler '[^']*' in PATH",
                r"Failed to preprocess host compiler properties",
                r"Host compiler targets unsupported OS",
            )
        ),
        source="nvcc, crt/host_config.h",
    ),
    Rule(
        id="compile.killed",
        category=_ENV,
        stages=BUILD,
        literals=(
            "died due to signal",
            "terminated program",
            "segmentation fault",
            "killed",
            "core dumped",
            "aborted",
            "bus error",
        ),
        pattern=(
            token(
                r"'[\w+-]+' (?:died due to signal \d+|core dumped)",
                r"(?:Killed|Segmentation fault|Aborted|Bus error)\b[^\n]{0,40}terminated program \w+",
                r"^make(?:\[\d+\])?: \*\*\* \[.*\] (?:Killed|Segmentation fault|Aborted|Bus error)",
            )
            + r"|^(?:.*:\s+|\s*)(?:\d+\s+)?(?P<token2>(?:Killed|Segmentation fault|Bus error|Aborted)\b.*)"
        ),
        when=(Cond("step", "timed_out", False), Cond("step", "memory_killed", False)),
        source="nvcc, the GCC driver, make and the shell on a child that a signal ended",
    ),
    Rule(
        id="compile.killed_inside_test",
        category=_ENV,
        stages=("test",),
        literals=("died due to signal", "terminated program"),
        pattern=r"(?P<token>'[\w+-]+' died due to signal \d+|[^\n]{0,40}terminated program cc1\w*)",
        when=(Cond("step", "timed_out", False), Cond("step", "memory_killed", False)),
        source="nvcc, the GCC driver",
    ),
    Rule(
        id="compile.internal_error",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("internal compiler error", "internal error"),
        pattern=r"(?P<token>[Ii]nternal [Cc]ompiler [Ee]rror(?: \(\w+\))?:.*|[Ii]nternal error: assertion failed.*)",
        # Point 10 names a compiler that a signal killed; one that gives up on itself is the same fault, said politely.
        source="GCC, EDG, ptxas",
    ),
    Rule(
        id="ptxas.target_rewritten",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("not supported on .target", "cannot be compiled for architecture", "requires .target"),
        pattern=r"(?:error|fatal)\s*:\s+(?P<token>.*(?:not supported on \.target|cannot be compiled for architecture|requires \.target).*)",
        when=(Cond("step", "arch_rewritten"),),
        source="ptxas; the harness put another -arch into the task's command",
    ),
    Rule(
        id="header.toolkit",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=HEADER_WORDS,
        pattern=HEADER,
        group="header",
        name="missing header",
        when=(Cond("header", "toolkit_header"),),
        source="EDG, GCC, Clang",
    ),
    Rule(
        id="header.of_harness",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=HEADER_WORDS,
        pattern=HEADER,
        group="header",
        name="missing harness header",
        when=(Cond("header", "harness"), Cond("header", "solution", False)),
        source="EDG, GCC, Clang",
    ),
    Rule(
        id="header.in_harness",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=HEADER_WORDS,
        pattern=HEADER,
        group="header",
        name="missing harness header",
        when=(IN_HARNESS, Cond("header", "solution", False)),
        source="EDG, GCC, Clang",
    ),
    Rule(
        id="toolchain.missing_program",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("command not found", "not found", "no such file or directory"),
        pattern=(
            token(
                r"^make(?:\[\d+\])?: [\w.+-]+: (?:No such file or directory|Command not found)",
                r"^(?:/bin/|/usr/bin/)?(?:ba|da|z|k)?sh: (?:line )?(?:\d+: )?[\w.+-]+: (?:command )?not found",
                r"^(?:ba|z)?sh: (?:line )?(?:\d+: )?command not found: [\w.+-]+",
                r"^/usr/bin/env: [‘'\"]?[\w.+-]+[’'\"]?: No such file or directory",
                r"No such file or directory: '(?:[\w/.-]*/)?(?:nvcc|ninja|g\+\+|gcc|cmake|make|python3?)'",
            )
        ),
        source="make, sh, env, Python's subprocess",
    ),
    Rule(
        id="toolchain.configuration",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=(
            "no cmake_cuda_compiler",
            "could not find cuda",
            "cuda_home",
            "ninja is required",
            "mismatches the version",
            "could not find",
            "no cuda toolset",
            "cuda toolkit not found",
            "no space left on device",
            "read-only file system",
            "cmake_cuda_architectures",
        ),
        pattern=(
            token(
                r"No CMAKE_CUDA_COMPILER could be found",
                r"Could (?:NOT|not) find (?:CUDA|CUDAToolkit|Torch)\b",
                r"CUDA_HOME environment variable is not set",
                r"Ninja is required to load C\+\+ extensions",
                r"detected CUDA version \(.*?\) mismatches the version",
                r"No CUDA toolset found",
                r"CUDA toolkit not found",
                r"No space left on device",
                r"Read-only file system",
                r"CMAKE_CUDA_ARCHITECTURES must be",
            )
        ),
        source="CMake, torch.utils.cpp_extension, the system",
    ),
    Rule(
        id="harness.reference",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("own reference does not build", "reference compilation failed", "reference failed to build"),
        pattern=token(
            r"the harness's own reference does not build",
            r"CUDA reference compilation failed",
            r"general reference failed to build for target sm_\d+",
        ),
        source="the def.py runner of a CUDABeaver checkout",
    ),
    Rule(
        id="source.absent",
        category=_INTEG,
        stages=BUILD_AND_TEST,
        literals=("no such file", "cannot open source file", "no rule to make target"),
        pattern=(
            r"^(?:[\w+./-]+: )?(?:fatal )?error:\s+(?:no such file or directory: ')?(?P<file>[\w./+-]+)(?:'|: No such file)"
            r"|^(?:[\w+./-]+: ){0,2}(?P<file2>[\w./+-]+): No such file"
            r"|No rule to make target [`'‘](?P<file3>[^'’]+)['’]"
            r"|No such file or directory: '(?P<file4>[^']+)'|can't open file '(?P<file5>[^']+)': \[Errno 2\] No such file"
            r"|[Cc]annot open source file:? ['\"](?P<file6>[^'\"]+)['\"]"
        ),
        when=(Cond("file", "solution"),),
        name="solution file is absent",
        source='the host compiler, nvcc, make, Python; Table 5, "solution.cu: No such file"',
    ),
    Rule(
        id="header.solution_absent",
        category=_INTEG,
        stages=BUILD_AND_TEST,
        literals=HEADER_WORDS,
        pattern=HEADER,
        group="header",
        name="missing solution file",
        when=(Cond("header", "solution"),),
        source="EDG, GCC, Clang",
    ),
    Rule(
        id="make.no_rule",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("no rule to make target", "no makefile found"),
        pattern=r"\*\*\* "
        + token(
            r"No rule to make target [`'‘](?P<file>[^'’]+)['’]",
            r"No targets specified and no makefile found",
        ),
        # Everything that a make file names except the solution belongs to the task.
        when=(Cond("file", "solution", False), Cond("solution", "build_file", False)),
        source="GNU make",
    ),
    Rule(
        id="make.no_rule_in_solution",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("no rule to make target",),
        pattern=r"\*\*\* (?P<token>No rule to make target [`'‘](?P<file>[^'’]+)['’])",
        when=(Cond("file", "solution", False), Cond("solution", "build_file")),
        source="GNU make",
    ),
    Rule(
        id="make.broken",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("stop",),
        pattern=r"^(?P<file>[\w./+-]+):\d+: \*\*\* (?P<token>.*?)\.?\s+Stop",
        when=(Cond("file", "solution", False),),
        source="GNU make",
    ),
    Rule(
        id="make.broken_by_solution",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("stop",),
        pattern=r"^(?P<file>[\w./+-]+):\d+: \*\*\* (?P<token>.*?)\.?\s+Stop",
        when=(Cond("file", "solution"),),
        source="GNU make",
    ),
    Rule(
        id="header.unknown",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=HEADER_WORDS,
        pattern=HEADER,
        group="header",
        name="missing header",
        when=(
            NOT_HARNESS,
            Cond("header", "toolkit_header", False),
            Cond("header", "harness", False),
            Cond("header", "solution", False),
        ),
        source="EDG, GCC, Clang",
    ),
)
