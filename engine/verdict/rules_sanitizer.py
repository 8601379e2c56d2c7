"""Rules for the reports of compute-sanitizer and of its predecessor cuda-memcheck.

A memcheck report of an address is a fault and overrides a wrong result (Appendix E). What racecheck, initcheck and synccheck
find is a hazard: the result stays functional_correctness and the hazard becomes its signature (protocol, points 6 and 10).
Test programs that call the tool themselves print the same lines in the test step. Source: the Compute Sanitizer manual.
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.cuda_errors import with_category
from engine.verdict.rule import TEST_AND_SANITIZER, Rule, Weight, any_case, token

_IMA: Final = Category.ILLEGAL_MEMORY_ACCESS
_LOGIC: Final = Category.FUNCTIONAL_CORRECTNESS
_FIELDS: Final = ("stderr", "stdout", "output")
_START: Final = r"^={5,9} (?:Error: |ERROR: |Warning: |WARN: |WARNING: )?"

_FAULT_NAMES: Final = tuple(
    name
    for error in with_category(Category.ILLEGAL_MEMORY_ACCESS)
    for name in (f"cudaError{error.runtime}", error.driver and f"CUDA_ERROR_{error.driver}")
    if name
)

SANITIZER_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        id="sanitizer.memcheck.access",
        category=_IMA,
        stages=TEST_AND_SANITIZER,
        fields=_FIELDS,
        literals=(
            "= invalid __",
            "= invalid read",
            "= invalid write",
            "= invalid global",
            "= invalid shared",
            ": invalid __",
        ),
        pattern=_START
        + r"(?P<token>Invalid (?:__(?:global|shared|local|generic|managed|constant)__ |global |shared |local )?"
        r"(?:read|write|atomic|reduction|load|store|access)\w*(?: of size \d+)?)",
        source="compute-sanitizer memcheck, cuda-memcheck",
    ),
    Rule(
        id="sanitizer.memcheck.misaligned",
        category=_IMA,
        stages=TEST_AND_SANITIZER,
        fields=_FIELDS,
        literals=("misaligned",),
        pattern=r"^={5,9}\s+(?:.*)"
        + token(
            any_case(
                r"misaligned (?:shared or local )?(?:address|access|read|write)",
                r"is misaligned",
            ),
        ),
        weight=Weight.GENERIC,
        source="compute-sanitizer memcheck",
    ),
    Rule(
        id="sanitizer.memcheck.exception",
        category=_IMA,
        stages=TEST_AND_SANITIZER,
        fields=_FIELDS,
        literals=(
            "stack overflow",
            "out-of-range",
            "invalid pc",
            "illegal instruction",
            "illegal address",
            "invalid address space",
            "hardware exception",
            "user stack",
            "device-side stack",
            "invalid host access",
        ),
        pattern=_START
        + r"\s*(?P<token>(?:Device )?(?:Hardware |User |Device-side )?[Ss]tack [Oo]verflow|Out-of-range .*[Aa]ddress|Invalid PC"
        r"|Illegal [Ii]nstruction|(?:Warp )?Illegal [Aa]ddress"
        r"|Invalid [Aa]ddress [Ss]pace|Hardware [Ee]xception|Invalid host access)",
        source="compute-sanitizer memcheck, cuda-memcheck",
    ),
    Rule(
        id="sanitizer.memcheck.free",
        category=_IMA,
        stages=TEST_AND_SANITIZER,
        fields=_FIELDS,
        literals=("malloc/free error", "double free", "invalid pointer to free"),
        pattern=_START
        + r"\s*(?P<token>Malloc/Free [Ee]rror encountered\s?:\s?[\w ]+|Double free|Invalid pointer to free)",
        source="compute-sanitizer memcheck",
    ),
    Rule(
        id="sanitizer.memcheck.api_fault",
        category=_IMA,
        stages=TEST_AND_SANITIZER,
        fields=_FIELDS,
        literals=("program hit cuda",),
        pattern=(_START + rf"Program hit (?P<cuda>{'|'.join(_FAULT_NAMES)})\b"),
        group="cuda",
        weight=Weight.GENERIC,
        source="compute-sanitizer memcheck",
    ),
    Rule(
        id="sanitizer.memcheck.api_error",
        category=_LOGIC,
        stages=("sanitizer",),
        fields=_FIELDS,
        literals=("program hit ",),
        pattern=_START + r"Program hit (?P<cuda>\w+) (?:\(error \d+\))?",
        group="cuda",
        weight=Weight.WEAK,
        source="compute-sanitizer memcheck",
    ),
    Rule(
        id="sanitizer.memcheck.leak",
        category=_LOGIC,
        stages=("sanitizer",),
        fields=_FIELDS,
        literals=("= leaked ",),
        pattern=_START + r"(?P<token>Leaked [\d,]+ bytes)",
        weight=Weight.WEAK,
        source="compute-sanitizer memcheck --leak-check full",
    ),
    Rule(
        id="sanitizer.racecheck.hazard",
        category=_LOGIC,
        stages=TEST_AND_SANITIZER,
        fields=_FIELDS,
        literals=("race reported between", "hazard detected", "hazards displayed", "hazard displayed"),
        pattern=(
            _START
            + r"(?P<token>(?:Potential )?(?:Race reported between \w+ access|(?:Potential )?(?:RAW|WAR|WAW) hazard detected)"
            r"|RACECHECK SUMMARY: (?=[1-9])\d+ hazards? displayed)"
        ),
        name="race",
        source="compute-sanitizer racecheck, cuda-memcheck --tool racecheck",
    ),
    Rule(
        id="sanitizer.initcheck.read",
        category=_LOGIC,
        stages=TEST_AND_SANITIZER,
        fields=_FIELDS,
        literals=("= uninitialized ", ": uninitialized ", "uninitialized memory access", " uninitialized access "),
        # of a copy the first line says that a call of the host's has read, and an indented one what it was
        pattern=_START
        + r"\s*(?P<token>(?:Host API )?[Uu]ninitialized (?:__\w+__ )?(?:memory )?(?:read|access)\w*(?: of size \d+)?)",
        name="uninitialised read",
        source="compute-sanitizer initcheck",
    ),
    Rule(
        id="sanitizer.initcheck.unused",
        category=_LOGIC,
        stages=("sanitizer",),
        fields=_FIELDS,
        literals=("unused memory",),
        pattern=_START + r"\s*(?P<token>Unused memory in allocation)",
        weight=Weight.WEAK,
        source="compute-sanitizer initcheck --track-unused-memory",
    ),
    Rule(
        id="sanitizer.synccheck.barrier",
        category=_LOGIC,
        stages=TEST_AND_SANITIZER,
        fields=_FIELDS,
        literals=("barrier error", "divergent thread"),
        pattern=_START + r"(?P<token>Barrier error detected\. [\w ()'-]+|Divergent thread\(s\) in (?:block|warp))",
        name="barrier",
        source="compute-sanitizer synccheck, cuda-memcheck --tool synccheck",
    ),
)
