"""Rules for compile errors in somebody's source: nvcc's front end, ptxas, NVRTC, the host compiler, Python's parser.

Who owns the file decides what an error means (protocol, point 9). The task's own files are known to build against its
reference, so an error inside them is about the interface that the candidate offers: integration. Unless the candidate's own
file was already in error, higher up in the same log: then the front end simply went on, and the harness's error follows from it.
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.diagnostics import EDG_GCC, ERROR, ERROR_WORDS, MISSING_HEADER
from engine.verdict.rule import BUILD, BUILD_AND_TEST, IN_HARNESS, NOT_HARNESS, Cond, Rule, Weight, token

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_INTEG: Final = Category.INTEGRATION
_BUILD: Final = Category.BUILDABILITY
_QUOTE: Final = r"[\"'`‘’]"


def _compile(id_: str, *messages: str) -> Rule:
    """A compile error outside the harness's files whose message matches one of ``messages``."""
    return Rule(
        id=f"compile.{id_}",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=ERROR_WORDS,
        pattern=rf"{ERROR}(?P<token>(?:{'|'.join(messages)}).*)",
        when=(NOT_HARNESS,),
        unless=MISSING_HEADER,
        source=EDG_GCC,
    )


COMPILE_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="compile.in_reference",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=ERROR_WORDS,
        pattern=rf"{ERROR}(?P<token>.*)",
        when=(IN_HARNESS, Cond("file", "reference")),
        unless=MISSING_HEADER,
        yields_to="compile.",
        # The task's own reference has nothing to do with the candidate's interface.
        source=EDG_GCC,
    ),
    Rule(
        id="compile.in_harness",
        category=_INTEG,
        stages=BUILD_AND_TEST,
        literals=ERROR_WORDS,
        pattern=rf"{ERROR}(?P<token>(?!expected a \"}}\"|expected .}}. at end|could not open source).*)",
        when=(IN_HARNESS, Cond("file", "reference", False)),
        unless=MISSING_HEADER,
        yields_to="compile.",
        source=EDG_GCC,
    ),
    _compile(
        "undeclared",
        r"identifier \"[^\"]*\" is undefined",
        rf"{_QUOTE}[^\"'’]*{_QUOTE}:? (?:was not declared|is not a member of|does not name a type|has not been declared)",
        rf"{_QUOTE}[^\"'’]*{_QUOTE}:? (?:undeclared|is not a (?:type|template))",
        r"use of undeclared identifier",
        r"unknown type name",
        r"no member named",
        r"(?:class|struct|union|enum|namespace|qualified name).{0,300}?(?:has no (?:member|constructor)|is not a member)",
        r"name must be a",
    ),
    _compile(
        "no_match",
        r"no (?:matching (?:function|member|constructor)|instance of|operator|suitable|viable)",
        r"too (?:few|many) (?:arguments|template)",
        r"more than one (?:instance|operator|conversion|user-defined)",
        r"call (?:to|of) .* is ambiguous",
        r"function .* cannot be (?:referenced|called)",
        r"cannot overload",
    ),
    _compile(
        "host_device",
        r"calling a ",
        r"identifier \".*\" is undefined in device code",
        r".*(?:__host__|__device__|__global__|__shared__|__constant__|__managed__)",
        r"reference to __",
        r".*kernel launch",
        r"taking address of",
        r"dynamic initiali[sz]ation",
        r"memory qualifier",
        r"asm operand",
    ),
    _compile(
        "syntax",
        r"expected ",
        r"(?:syntax error|missing |stray |unterminated |unmatched |extra |unrecognized |unexpected |#error|at end of)",
        r"invalid (?:preprocessing|suffix)",
        r"this declaration has no",
        r"type name is not allowed",
        r"improperly terminated",
        r".*before .* token",
    ),
    _compile(
        "redefinition",
        r".*(?:redefinition|redeclar|already been (?:declared|defined)|conflicting|already defined|is incompatible with)",
    ),
    _compile("template", r".*(?:static[_ ]assert|template|deduc|constexpr|expression must have a constant value)"),
    _compile(
        "type",
        r".*(?:cannot be (?:used to initialize|assigned|converted)|cannot convert|invalid conversion|invalid operands)",
        r".*(?:incompatible|incomplete type|operand types|lvalue|narrowing|const|pointer|is not allowed|type)",
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
        literals=ERROR_WORDS,
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
        pattern=(
            r"^nvcc (?:fatal|error)\s*:\s+(?P<token>(?!.*died|.*core dumped|.*[Mm]emory allocation)"
            r"(?!Unsupported gpu|.*option 'gpu-|Cannot find compiler|Failed to preprocess).*)"
        ),
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
            token(
                r"NVVM_ERROR\w+",
                r"nvvmCompileProgram error:? \d+",
                r"LLVM ERROR: (?!.*out of memory).*",
                r"NVRTC_ERROR_(?!OUT_OF_MEMORY)\w+",
            )
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
            token(
                r"Error building extension '[^']*'",
                r"Error compiling objects for extension",
                r"ninja: build stopped",
                r"CalledProcessError: Command '\['ninja'",
            )
        ),
        weight=Weight.SUMMARY,
        source="torch.utils.cpp_extension, ninja",
    ),
    Rule(
        id="compile.summary",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("detected in the compilation of", "compilation terminated", "ptx assembly aborted"),
        pattern=token(
            r"\d+ (?:catastrophic )?errors? detected in the compilation of \"[^\"]*\"",
            r"^compilation terminated",
            r"Ptx assembly aborted due to errors",
        ),
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
