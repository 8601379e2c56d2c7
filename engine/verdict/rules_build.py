"""Rules for what compilers print: nvcc and its front end, ptxas, NVRTC, the host compiler. Linkers are in ``rules_link``.

Who owns the file decides what a compile error means (protocol, point 9). The task's own files are known to build against its
reference, so an error inside them is about the interface that the candidate offers: integration. Unless the candidate's own
file was already in error, higher up in the same log: then the front end simply went on, and the harness's error follows from it.
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.rule import BUILD, BUILD_AND_TEST, IN_HARNESS, NOT_HARNESS, Cond, Rule, Weight

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_INTEG: Final = Category.INTEGRATION
_BUILD: Final = Category.BUILDABILITY

FILE: Final = (
    r"^(?:[\w.]+(?:Error|Exception): )?(?P<file>[^\s:(][^:(\n]{0,300}?\.\w{1,6}|<[\w -]{1,40}>|default_program)"
)
"""Start of a diagnostic. "default_program" is NVRTC's name for a program without one."""

ERROR: Final = FILE + r"(?:\(\d+(?:,\d+)?\)\s?:\s|:\d+(?::\d+)?:\s)(?:catastrophic |fatal )?error(?:\s#?[\w-]+)?\s?:\s+"
"""EDG: "f.cu(3): error: ...", "f.cu(3): error #20-D: ..."; GCC, Clang: "f.cu:3:5: fatal error: ..."; MSVC: "f.cu(3): error C2065: ..."."""

_LITERALS: Final = ("error:", "error #", "error :", "error c")
_MISSING_HEADER: Final = r"No such file or directory|file not found|could not open source file"
_EDG_GCC: Final = "nvcc's front end (EDG) and the host compiler"
_QUOTE: Final = r"[\"'`‘’]"


def _compile(id_: str, message: str) -> Rule:
    """A compile error outside the harness's files whose message matches ``message``."""
    return Rule(
        id=f"compile.{id_}",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=_LITERALS,
        pattern=rf"{ERROR}(?P<token>(?:{message}).*)",
        when=(NOT_HARNESS,),
        unless=_MISSING_HEADER,
        source=_EDG_GCC,
    )


_HEADER: Final = (
    rf"{ERROR}(?:could not open source file |cannot open (?:source|include) file:? )?"
    r"[\"'`‘]?(?P<header>[\w./+\\-]+\.?\w*)[\"'’]?(?:: No such file or directory| file not found|(?= \(no directories)|\s*$|: No such file)"
)
_MISSING: Final = ("no such file", "could not open source file", "file not found", "cannot open")

BUILD_RULES: Final[tuple[Rule, ...]] = (
    # --- the machine --------------------------------------------------------------------------------------------------
    Rule(
        id="nvcc.unsupported_arch",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("unsupported gpu architecture", "gpu-architecture", "gpu-code"),
        pattern=r"(?P<token>Unsupported gpu architecture '[^']*'|Value '[^']*' is not defined for option 'gpu-(?:architecture|code)')",
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
            r"(?P<token>unsupported (?:GNU|clang|Microsoft Visual Studio) version|Cannot find compiler '[^']*' in PATH"
            r"|Failed to preprocess host compiler properties|Host compiler targets unsupported OS)"
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
            r"(?P<token>'[\w+-]+' (?:died due to signal \d+|core dumped)|(?:Killed|Segmentation fault|Aborted|Bus error)\b[^\n]{0,40}terminated program \w+"
            r"|^make(?:\[\d+\])?: \*\*\* \[.*\] (?:Killed|Segmentation fault|Aborted|Bus error))"
            r"|^(?:.*:\s+|\s*)(?:\d+\s+)?(?P<token2>(?:Killed|Segmentation fault|Bus error|Aborted)\b.*)"
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
        literals=_MISSING,
        pattern=_HEADER,
        group="header",
        name="missing header",
        when=(Cond("header", "toolkit_header"),),
        source="EDG, GCC, Clang",
    ),
    Rule(
        id="header.of_harness",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=_MISSING,
        pattern=_HEADER,
        group="header",
        name="missing harness header",
        when=(Cond("header", "harness"), Cond("header", "solution", False)),
        source="EDG, GCC, Clang",
    ),
    Rule(
        id="header.in_harness",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=_MISSING,
        pattern=_HEADER,
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
            r"(?P<token>^make(?:\[\d+\])?: [\w.+-]+: (?:No such file or directory|Command not found)"
            r"|^(?:/bin/|/usr/bin/)?(?:ba|da|z|k)?sh: (?:line )?(?:\d+: )?[\w.+-]+: (?:command )?not found"
            r"|^(?:ba|z)?sh: (?:line )?(?:\d+: )?command not found: [\w.+-]+|^/usr/bin/env: [‘'\"]?[\w.+-]+[’'\"]?: No such file or directory"
            r"|No such file or directory: '(?:[\w/.-]*/)?(?:nvcc|ninja|g\+\+|gcc|cmake|make|python3?)')"
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
            r"(?P<token>No CMAKE_CUDA_COMPILER could be found|Could (?:NOT|not) find (?:CUDA|CUDAToolkit|Torch)\b|CUDA_HOME environment variable is not set"
            r"|Ninja is required to load C\+\+ extensions|detected CUDA version \(.*?\) mismatches the version|No CUDA toolset found"
            r"|CUDA toolkit not found|No space left on device|Read-only file system|CMAKE_CUDA_ARCHITECTURES must be)"
        ),
        source="CMake, torch.utils.cpp_extension, the system",
    ),
    # --- the contract -------------------------------------------------------------------------------------------------
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
        literals=_MISSING,
        pattern=_HEADER,
        group="header",
        name="missing solution file",
        when=(Cond("header", "solution"),),
        source="EDG, GCC, Clang",
    ),
    Rule(
        id="compile.in_reference",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=_LITERALS,
        pattern=rf"{ERROR}(?P<token>.*)",
        when=(IN_HARNESS, Cond("file", "reference")),
        unless=_MISSING_HEADER,
        yields_to="compile.",
        # The task's own reference has nothing to do with the candidate's interface.
        source=_EDG_GCC,
    ),
    Rule(
        id="compile.in_harness",
        category=_INTEG,
        stages=BUILD_AND_TEST,
        literals=_LITERALS,
        pattern=rf"{ERROR}(?P<token>(?!expected a \"}}\"|expected .}}. at end|could not open source).*)",
        when=(IN_HARNESS, Cond("file", "reference", False)),
        unless=_MISSING_HEADER,
        yields_to="compile.",
        source=_EDG_GCC,
    ),
    Rule(
        id="make.no_rule",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("no rule to make target", "no makefile found"),
        pattern=r"\*\*\* (?P<token>No rule to make target [`'‘](?P<file>[^'’]+)['’]|No targets specified and no makefile found)",
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
    # --- the source ---------------------------------------------------------------------------------------------------
    Rule(
        id="header.unknown",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=_MISSING,
        pattern=_HEADER,
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
    _compile(
        "undeclared",
        rf"identifier \"[^\"]*\" is undefined|{_QUOTE}[^\"'’]*{_QUOTE}:? (?:was not declared|is not a member of|does not name a type|has not been declared"
        rf"|undeclared|is not a (?:type|template))|use of undeclared identifier|unknown type name|no member named"
        r"|(?:class|struct|union|enum|namespace|qualified name).{0,300}?(?:has no (?:member|constructor)|is not a member)|name must be a",
    ),
    _compile(
        "no_match",
        r"no (?:matching (?:function|member|constructor)|instance of|operator|suitable|viable)|too (?:few|many) (?:arguments|template)"
        r"|more than one (?:instance|operator|conversion|user-defined)|call (?:to|of) .* is ambiguous|function .* cannot be referenced|cannot overload",
    ),
    _compile(
        "host_device",
        r"calling a |identifier \".*\" is undefined in device code|.*(?:__host__|__device__|__global__|__shared__|__constant__|__managed__)"
        r"|reference to __|a kernel launch|.*kernel launch|taking address of|dynamic initiali[sz]ation|memory qualifier|asm operand",
    ),
    _compile(
        "syntax",
        r"expected |syntax error|missing |stray |unterminated |unmatched |extra |unrecognized |invalid (?:preprocessing|suffix)|this declaration has no"
        r"|unexpected |#error|type name is not allowed|improperly terminated|.*before .* token|at end of",
    ),
    _compile(
        "redefinition",
        r".*(?:redefinition|redeclar|already been (?:declared|defined)|conflicting|already defined|is incompatible with)",
    ),
    _compile("template", r".*(?:static[_ ]assert|template|deduc|constexpr|expression must have a constant value)"),
    _compile(
        "type",
        r"(?:.*(?:cannot be (?:used to initialize|assigned|converted)|cannot convert|invalid conversion|incompatible|incomplete type|operand types"
        r"|invalid operands|lvalue|narrowing|const|pointer|return (?:type|value)|is not allowed|type))",
    ),
    _compile("other", r""),
    Rule(
        id="compile.at_end_of_source",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("at end of source",),
        pattern=r"^At end of source:? (?:catastrophic )?error(?:\s#?[\w-]+)?\s?:\s+(?P<token>.*)",
        source="EDG",
    ),
    Rule(
        id="compile.harness_left_open",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=_LITERALS,
        pattern=rf"{ERROR}(?P<token>expected (?:a \"}}\"|.}}. at end).*)",
        when=(IN_HARNESS,),
        # A known-good file that ends inside a brace was included after one that never closed it: the candidate's text.
        source="EDG, GCC",
    ),
    Rule(
        id="compile.ptxas",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("ptxas",),
        pattern=r"^ptxas\b[^\n]{0,300}?\b(?:error|fatal)\s*:\s+(?P<token>(?!Ptx assembly aborted|Memory allocation).*)",
        when=(Cond("step", "arch_rewritten", False),),
        source="ptxas",
    ),
    Rule(
        id="compile.ptxas_other",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("ptxas",),
        pattern=(
            r"^ptxas\b[^\n]{0,300}?\b(?:error|fatal)\s*:\s+"
            r"(?P<token>(?!Ptx assembly aborted|Memory allocation|.*(?:on \.target|for architecture|requires \.target)).*)"
        ),
        when=(Cond("step", "arch_rewritten"),),
        source="ptxas",
    ),
    Rule(
        id="compile.refused",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("nvcc fatal", "nvcc error"),
        pattern=r"^nvcc (?:fatal|error)\s*:\s+(?P<token>(?!.*died|.*core dumped|Unsupported gpu|.*option 'gpu-|Cannot find compiler|Failed to preprocess|.*[Mm]emory allocation).*)",
        # Nothing tells whether the task or the candidate wrote the option: the build stage's default.
        weight=Weight.GENERIC,
        source="nvcc",
    ),
    Rule(
        id="compile.nvvm",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("nvvm", "llvm error", "nvrtc_error", "cicc"),
        pattern=(
            r"(?P<token>NVVM_ERROR\w+|nvvmCompileProgram error:? \d+|LLVM ERROR: (?!.*out of memory).*|NVRTC_ERROR_(?!OUT_OF_MEMORY)\w+)"
        ),
        source="libNVVM, NVRTC",
    ),
    Rule(
        id="python.syntax",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("syntaxerror", "indentationerror", "taberror", "nameerror"),
        pattern=r"^(?:E\s+)?(?P<token>(?:SyntaxError|IndentationError|TabError|NameError): .*)",
        source="CPython",
    ),
    Rule(
        id="compile.extension",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("error building extension", "error compiling objects", "ninja: build stopped", "calledprocesserror"),
        pattern=(
            r"(?P<token>Error building extension '[^']*'|Error compiling objects for extension|ninja: build stopped"
            r"|CalledProcessError: Command '\['ninja')"
        ),
        weight=Weight.SUMMARY,
        source="torch.utils.cpp_extension, ninja",
    ),
    Rule(
        id="compile.summary",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("detected in the compilation of", "compilation terminated", "ptx assembly aborted"),
        pattern=r"(?P<token>\d+ (?:catastrophic )?errors? detected in the compilation of \"[^\"]*\"|^compilation terminated|Ptx assembly aborted due to errors)",
        weight=Weight.SUMMARY,
        source="EDG, GCC, ptxas",
    ),
    Rule(
        id="compile.make_failed",
        category=_BUILD,
        stages=BUILD,
        literals=("make", "failed:", "error generated", "errors generated"),
        pattern=r"^(?P<token>(?:g?make|ninja)(?:\[\d+\])?: \*\*\* \[.*\] Error \d+|FAILED: .*|\d+ errors? generated)",
        weight=Weight.WEAK,
        source="GNU make, ninja, Clang",
    ),
)
