"""Rules for CUDA runtime and driver errors, made from the table of codes: by name, by text and by number.

Programs print errors in three ways: the enum's name (cudaErrorIllegalAddress), the text of cudaGetErrorString, or a bare
number. A name or a distinctive text is enough by itself. A number, or a text of plain words ("invalid argument"), counts only
where the line speaks of CUDA: "max error = 2" is a measured value, "CUDA error 2" is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engine.verdict.categories import RUNTIME_PRIORITY, Category
from engine.verdict.cuda_errors import OLD_CODES, CudaError, with_category
from engine.verdict.rule import TEST, Rule, Weight

_SOURCE: Final = "CUDA 13 driver_types.h and cuda.h; cudaGetErrorName, cudaGetErrorString"

_MENTION: Final = (
    r"(?:\bcuda(?:[ _-]?(?:runtime|driver|rt|api|launch|kernel|sync\w*))*[ _-]*(?:error|err|status|failure)(?:_t)?\b"
    r"|\b(?:cuda|cu)[A-Z]\w+(?:\s?\([^()]{0,80}\))?:?\s+(?:failed|returned|error)"
    r"|\b(?:cuda|cu)[A-Z]\w+(?:\([^()]{0,80}\))?(?=\s?(?:->|=>|[=:]\s?\d{3}\b))"
    r"|\bCUresult\b|\bGPU[ _]?assert\b|\bgpuErrchk\b|\b[Ll]aunch(?: of \w+)? (?:failed|error)|\b[Ss]ync\w* (?:failed|error))"
)
"""Words after which a number is an error code."""

_AT_ONCE: Final = r"\s*(?:code|number|no\.?|with|is|->|=>)?\s*(?:error|err|code)?\s*[:=#(]*\s*"
_LATER: Final = r"[^\n]{0,120}?\b(?:code|err(?:or)?(?:[ _]?(?:code|no|num))?|status|returned|failed(?: with)?|result|ret|rc)\s*[:=#(]*\s*"
_END: Final = r"(?![\w%]|\.\d|:\d|\s*(?:of|times|devices?|bytes|blocks|threads|kernels|calls|MB|GB|ms|us|x)\b|\s*/)"
_SPEAKS_OF_CUDA: Final = r"(?:(?i:cuda|gpu|kernel|launch|device|memcpy|memset|malloc)|\bcu[A-Z])"

SLUGS: Final[dict[Category, str]] = {
    Category.ENVIRONMENT_DEPENDENCY: "env",
    Category.INTEGRATION: "contract",
    Category.OUT_OF_MEMORY: "oom",
    Category.ILLEGAL_MEMORY_ACCESS: "fault",
    Category.TIMEOUT: "timeout",
    Category.FUNCTIONAL_CORRECTNESS: "misuse",
}


def _alternatives(words: list[str]) -> str:
    """Longest first, so that no word hides a longer one that starts like it."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _text_pattern(errors: list[CudaError]) -> str:
    # "operation not supported" (801) is also the start of 304's and 717's texts; "device-side assert" is wrapped by libraries.
    return rf"(?P<cuda>(?i:{_alternatives([e.text for e in errors])}))(?! on (?:global|this))"


def _rules_of(category: Category) -> Iterator[Rule]:
    errors = list(with_category(category))
    slug = SLUGS[category]
    names = [f"cudaError{e.runtime}" for e in errors] + [f"CUDA_ERROR_{e.driver}" for e in errors if e.driver]
    yield Rule(
        id=f"cuda.{slug}.name",
        category=category,
        stages=TEST,
        literals=("cudaerror", "cuda_error"),
        pattern=rf"\b(?P<cuda>{_alternatives(names)})\b",
        group="cuda",
        source=_SOURCE,
    )
    distinctive = [e for e in errors if e.text and not e.plain]
    if distinctive:
        yield Rule(
            id=f"cuda.{slug}.text",
            category=category,
            stages=TEST,
            literals=tuple(dict.fromkeys(e.text for e in distinctive)),
            pattern=_text_pattern(distinctive),
            group="cuda",
            # The host's memory is another shortage, with rules of its own.
            unless=r"Killed process|oom[-_ ]kill|Cannot allocate memory" if category == Category.OUT_OF_MEMORY else "",
            source=_SOURCE,
        )
    plain = [e for e in errors if e.plain]
    if plain:
        yield Rule(
            id=f"cuda.{slug}.plain_text",
            category=category,
            stages=TEST,
            literals=tuple(e.text for e in plain),
            pattern=rf"^(?=.*?{_SPEAKS_OF_CUDA}).*?\b{_text_pattern(plain)}",
            group="cuda",
            weight=Weight.GENERIC,
            source=_SOURCE,
        )
    codes = [str(e.code) for e in errors]
    codes += [str(old) for old, new in OLD_CODES.items() if str(new) in codes]
    code = rf"(?P<cuda>{_alternatives(codes)}){_END}"
    yield Rule(
        id=f"cuda.{slug}.number",
        category=category,
        stages=TEST,
        literals=(
            "cuda",
            "returned",
            "failed",
            "gpuassert",
            "gpu assert",
            "gpu_assert",
            "gpuerrchk",
            "launch error",
            "curesult",
        ),
        pattern=rf"(?:(?i:cuda\s*error)|{_MENTION})(?:{_AT_ONCE}|{_LATER}){code}",
        group="cuda",
        source="the usual CUDA_CHECK macros, helper_cuda.h of the CUDA samples",
    )
    # Without a mention of CUDA only numbers that mean little else: a shell's "error code 1", 2, 126 or 127 is an exit status.
    bare = [c for c in codes if (int(c) >= 35 and c not in ("100", "127")) or c == "2"]
    if bare:
        code = rf"(?P<cuda>{_alternatives(bare)}){_END}"
        yield Rule(
            id=f"cuda.{slug}.bare_number",
            category=category,
            stages=TEST,
            literals=("error code", "err=", "err =", "error=", "error ="),
            pattern=rf"\b(?:(?i:error code)\s*[:=#(]?\s*(?=\d\d)|err(?:or)?\s?=\s?){code}",
            group="cuda",
            weight=Weight.GENERIC,
            unless=r"(?i)\b(?:exit\w*|process|command|make|subprocess|max\w*|abs\w*|rel\w*|mean|avg|average|total|rms|l2|tol\w*)\b",
            source="home-made error macros",
        )


CUDA_RULES: Final[tuple[Rule, ...]] = tuple(
    rule for category in RUNTIME_PRIORITY if category in SLUGS for rule in _rules_of(category)
)
