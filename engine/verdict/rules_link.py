"""Rules for linkers and loaders: nvlink, ld, gold, lld, mold, and the dynamic loader at run time.

An undefined name says nothing before one knows who asks for it (protocol, point 8). When the task's own objects ask, the
candidate does not offer what the contract names: integration. When only the candidate asks, it calls what it never defined:
buildability. When the name is the toolkit's and the task's objects ask, no candidate could help: environment_dependency.
At load time the same words mean that the machine's libraries do not fit (Table 5).
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.rule import BUILD_AND_TEST, TEST, Cond, Rule, Weight, token

_ENV: Final = Category.ENVIRONMENT_DEPENDENCY
_INTEG: Final = Category.INTEGRATION
_BUILD: Final = Category.BUILDABILITY

_LITERALS: Final = ("undefined reference", "undefined symbol: ", "undefined references", "unresolved external")
_UNDEFINED: Final = (
    r"(?:(?:[Uu]ndefined reference|more undefined references) to (?:symbol )?[`'‘\"](?P<symbol>[^'’\"]{1,2000})['’\"]?"
    r"|(?:^|: )error: undefined symbol: (?P<symbol2>[^\n]{1,2000})"
    r"|unresolved external symbol (?P<symbol3>[^\n]{1,2000}?)(?: referenced in| in |\s*$))"
)
_FROM_HARNESS: Final = Cond("referrer", "harness")
_MULTIPLE: Final = r"multiple definition of [`'‘\"](?P<symbol>[^'’\"]{1,2000})['’\"]"


def _undefined(id_: str, category: Category, *when: Cond) -> Rule:
    return Rule(
        id=f"link.{id_}",
        category=category,
        stages=BUILD_AND_TEST,
        literals=_LITERALS,
        pattern=_UNDEFINED,
        group="symbol",
        name="undefined reference",
        when=when,
        source="GNU ld, gold, lld, mold, nvlink, MSVC's link",
    )


_MISSING_OBJECT: Final = (
    r"(?:ld(?:\.\w+)?: cannot find |nvlink fatal\s*: Could not open input file '|ld\.lld: error: cannot open )"
    r"(?P<file>[^\s:'-][^\s:']*)"
)


def _missing_library(id_: str, category: Category, *when: Cond) -> Rule:
    return Rule(
        id=f"link.{id_}",
        category=category,
        stages=BUILD_AND_TEST,
        literals=("cannot find -l", "unable to find library -l", "library not found for -l", "library not found: "),
        pattern=r"(?:cannot find|unable to find library|library not found for|library not found:) -l\s?(?P<library>[\w.+:-]*[\w+])",
        group="library",
        name="missing library",
        when=when,
        source="GNU ld, gold, lld, mold",
    )


LINK_RULES: Final[tuple[Rule, ...]] = (
    _undefined("undefined_main", _INTEG, Cond("symbol", "main")),
    _undefined("undefined_toolkit", _ENV, _FROM_HARNESS, Cond("symbol", "toolkit_symbol")),
    _undefined(
        "undefined_by_harness",
        _INTEG,
        _FROM_HARNESS,
        Cond("symbol", "main", False),
        Cond("symbol", "toolkit_symbol", False),
    ),
    _undefined("undefined", _BUILD, Cond("referrer", "harness", False), Cond("symbol", "main", False)),
    Rule(
        id="link.multiple_main",
        category=_INTEG,
        stages=BUILD_AND_TEST,
        literals=("multiple definition of",),
        pattern=_MULTIPLE,
        group="symbol",
        name="multiple definition",
        when=(Cond("symbol", "main"),),
        source="GNU ld, gold",
    ),
    Rule(
        id="link.multiple_with_harness",
        category=_INTEG,
        stages=BUILD_AND_TEST,
        literals=("multiple definition of",),
        pattern=rf"{_MULTIPLE}(?:;\s*(?P<file>[^;\n]*?):?\s*(?:\(\.[\w.]+\+0x[0-9a-f]+\))?:? first defined here)?",
        group="symbol",
        name="multiple definition",
        # ld names two objects: the one that it was reading, and after the semicolon the one that came first.
        when=(Cond("referrer", "harness"), Cond("symbol", "main", False)),
        source="GNU ld, gold",
    ),
    Rule(
        id="link.multiple",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("multiple definition of", "duplicate symbol", "multiply defined"),
        pattern=rf"(?:{_MULTIPLE}|duplicate symbol: (?P<symbol2>[^\n]+)|Multiple definition of '(?P<symbol3>[^']+)'|Duplicate definition)",
        group="symbol",
        name="multiple definition",
        when=(Cond("referrer", "harness", False), Cond("symbol", "main", False)),
        source="GNU ld, gold, lld, nvlink",
    ),
    _missing_library("missing_library", _ENV, Cond("library", "toolkit_library")),
    # Any other library was asked for by the task's command, unless the candidate writes the commands.
    _missing_library(
        "missing_other_library", _ENV, Cond("library", "toolkit_library", False), Cond("solution", "build_file", False)
    ),
    _missing_library(
        "invented_library", _BUILD, Cond("library", "toolkit_library", False), Cond("solution", "build_file")
    ),
    Rule(
        id="link.missing_object_of_solution",
        category=_INTEG,
        stages=BUILD_AND_TEST,
        literals=("cannot find ", "could not open input file", "no such file or directory"),
        pattern=_MISSING_OBJECT,
        group="file",
        name="object of the solution is absent",
        when=(Cond("file", "solution"),),
        source="GNU ld, lld, nvlink",
    ),
    Rule(
        id="link.missing_object",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("cannot find ", "could not open input file", "cannot open "),
        pattern=_MISSING_OBJECT,
        group="file",
        name="missing object",
        when=(Cond("file", "solution", False),),
        source="GNU ld, lld, nvlink",
    ),
    Rule(
        id="link.nvlink",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("nvlink",),
        pattern=r"^nvlink (?:error|fatal)\s*:\s+(?P<token>(?!Undefined reference|Could not open input file|Multiple definition).*)",
        source="nvlink",
    ),
    Rule(
        id="link.dso_missing",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=(
            "dso missing",
            "recompile with -fpic",
            "relocation truncated",
            "file format not recognized",
            "undefined symbols for architecture",
        ),
        pattern=(
            token(
                r"DSO missing from command line",
                r"recompile with -fPI[CE]",
                r"relocation truncated to fit",
                r"file format not recognized",
                r"Undefined symbols for architecture",
            )
        ),
        weight=Weight.GENERIC,
        source="GNU ld, ld64",
    ),
    Rule(
        id="link.failed",
        category=_BUILD,
        stages=BUILD_AND_TEST,
        literals=("ld returned", "linker command failed"),
        pattern=r"(?P<token>ld returned \d+ exit status|linker command failed with exit code \d+)",
        weight=Weight.SUMMARY,
        source="GCC's collect2, Clang",
    ),
    # --- the dynamic loader -------------------------------------------------------------------------------------------
    Rule(
        id="load.undefined_symbol",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("undefined symbol",),
        pattern=(
            r"(?:symbol lookup error: |\.so[\w.]*: |ImportError: |OSError: |dlopen[^\n]{0,80}: |\.exe?: )"
            r"[^\n]{0,400}?(?P<token>undefined symbol: [\w@.$]+)"
        ),
        unless=r"error: undefined symbol:",
        source="ld.so, Python's import",
    ),
    Rule(
        id="load.dlsym",
        category=_ENV,
        stages=TEST,
        literals=("undefined symbol",),
        pattern=r"(?P<token>undefined symbol: [\w@.$]+)",
        unless=r"error: undefined symbol:",
        weight=Weight.GENERIC,
        source="dlsym's message as programs print it",
    ),
    Rule(
        id="load.missing_library",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=(
            "cannot open shared object file",
            "image not found",
            "could not load dynamic library",
            "could not load library",
            "unable to load",
        ),
        pattern=(
            token(
                r"[\w.+-]+: cannot open shared object file",
                r"(?:Could not|could not|Unable to|unable to) load (?:dynamic )?library '?[\w./+-]+",
                r"Library not loaded",
                r"(?:Unable to|unable to) load any of \{?lib[\w.]+",
            )
        ),
        source="ld.so, cuDNN and TensorFlow loaders",
    ),
    Rule(
        id="load.library_version",
        category=_ENV,
        stages=BUILD_AND_TEST,
        literals=("' not found (required by", "not found (required by"),
        pattern=r"(?P<token>version [`'‘][\w.]+['’] not found) \(required by",
        source="ld.so",
    ),
)
