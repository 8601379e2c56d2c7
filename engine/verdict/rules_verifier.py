"""Rules for wrong results: what verifiers, test frameworks, asserts and libraries print. All are functional_correctness.

The category needs none of them, since it is the runtime stage's default; they give the signature, the line that the feedback
shows, and the rivals. What only says that a test failed is in ``rules_exceptions``.
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.rule import TEST, Rule, Weight, any_case, token

_LOGIC: Final = Category.FUNCTIONAL_CORRECTNESS


_THING: Final = r"(?:result|answer|value|output|sum|count|data|element|total|checksum|index|order|histogram|prefix|solution|array|tensor)"
_DISAGREES: Final = (
    r"(?:differs?|disagree|(?:do|does|did) ?(?:not|n't) (?:match|agree|equal)"
    r"|(?:are|is|were|was) (?:not (?:equal|correct|sorted|the same)|wrong|incorrect|invalid|different))"
)
_GOT: Final = (
    r"\b(?:got|actual|received|computed|gpu|result|device|sum|total|checksum|value|out\w*)\b[\w\[\], ]{0,30}"
    r"(?:\s?[=:]\s?|\s)[-+(\[]*[\w.+-]+"
)
_WANTED: Final = r"\b(?:expected|want(?:ed)?|reference|ref|cpu|host)\b\s?[=:]?\s?[-+(\[]*(?:\d|nan|inf)"
"""A value beside the one it should be: "gpu 3 cpu 4". Times ("GPU time: 3 ms, CPU time: 40 ms") are no such pair."""


def logic(
    id_: str, literals: tuple[str, ...], pattern: str, source: str, name: str = "", weight: Weight = Weight.EXACT
) -> Rule:
    return Rule(
        id=id_,
        category=_LOGIC,
        stages=TEST,
        literals=literals,
        pattern=pattern,
        source=source,
        name=name,
        weight=weight,
    )


VERIFIER_RULES: Final[tuple[Rule, ...]] = (
    logic(
        "assert.device",
        ("assertion `", "assertion '"),
        r"block: \[[\d,]+\], thread: \[[\d,]+\]:? (?P<token>Assertion:? [`'‘]?.*?['’]? failed)",
        "device-side assert",
        name="device assert",
    ),
    logic(
        "verify.shape",
        ("shape", "size of tensor", "broadcast", "dimension"),
        r"(?i)"
        + token(
            r"shapes? (?:mismatch|mis-match|differs?|do(?:es)? not match|is wrong|error)",
            r"wrong (?:output )?shape",
            r"(?:expected|unexpected|incorrect|invalid) (?:output )?shape",
            r"attribute 'shape' do not match",
            r"size of tensor \w+ \(\d+\) must match",
            r"operands could not be broadcast",
            r"shapes .{0,80}(?:mismatch|cannot be multiplied)",
            r"dimension mismatch",
            r"mismatch(?:ed)? (?:in )?(?:shapes?|dimensions?)",
            r"shape '[^']*' is invalid",
        ),
        "NumPy, PyTorch, verifiers; Table 5",
        name="shape",
    ),
    logic(
        "verify.dtype",
        ("dtype", "scalar type", "data type"),
        r"(?i)"
        + token(
            r"(?:dtype|data ?type)s? (?:mismatch|differs?|do(?:es)? not match)",
            r"attribute 'dtype' do not match",
            r"expected (?:scalar type|dtype) \S+",
            r"wrong dtype",
            r"must have the same dtype",
        ),
        "NumPy, PyTorch, verifiers",
        name="dtype",
    ),
    logic(
        "verify.nan",
        ("nan", "non-finite", "not finite", "inf "),
        token(
            any_case(
                r"\bnan location mismatch",
                r"\b(?:found|contains?|has|detected|produced|got|output is|values? (?:is|are)|returned)(?: an?)? (?:\d+ )?(?:nans?|infs?)\b(?:/infs?)?",
            ),
            r"\bNaNs?(?:/Infs?)? (?:detected|found|in (?:the )?(?:output|result)|at)\b",
            r"(?i:non-finite|not finite)",
        ),
        "verifiers, numpy.testing",
        name="not finite",
    ),
    logic(
        "verify.allclose",
        (
            "not close",
            "not equal to tolerance",
            "mismatched elements",
            "arrays are not",
            "not almost equal",
            "allclose",
            "greatest absolute difference",
            "scalars are not",
        ),
        token(
            r"(?:Tensor-likes|Scalars) are not (?:close|equal)",
            r"Not equal to tolerance",
            r"Mismatched elements: \d+ ?/ ?\d+",
            r"Arrays are not (?:almost )?(?:equal|close)[\w ]*",
            r"not almost equal to \d+ decimals",
            r"(?i:allclose\b.{0,40}(?:failed|false|returned false))",
            r"Greatest absolute difference",
        ),
        "torch.testing, numpy.testing",
    ),
    logic(
        "verify.off_by_one",
        ("off by one", "off-by-one"),
        r"(?i)(?P<token>off[- ]by[- ]one)",
        "verifiers; Table 5",
        name="off by one",
    ),
    logic(
        "framework.gtest",
        ("expected equality of these values", "value of:", "the difference between", "expected: ("),
        token(
            r"Expected equality of these values",
            r"^\s*Value of: .*",
            r"^\s*Expected: \(.*",
            r"The difference between .* exceeds.*",
        ),
        "GoogleTest",
    ),
    logic(
        "verify.mismatch",
        (
            "mismatch",
            "differ",
            "wrong ",
            "incorrect",
            "expected",
            "does not match",
            "do not match",
            "don't match",
            "doesn't match",
            "not equal",
            "not sorted",
            "discrepanc",
            "unequal",
            "error at",
            "!=",
            "not match",
            "bad value",
            "invalid result",
        ),
        token(
            any_case(
                r"\bmis-?match(?:es|ed)?\b(?! the version).*",
                rf"\b{_THING}s?\b[^\n]{{0,60}}?\b{_DISAGREES}\b.*",
                rf"\b(?:wrong|incorrect|bad|invalid) {_THING}s?\b.*",
                r"\bexpected\b[^\n]{0,120}?\b(?:got|but|actual|received|found|was|computed|vs\.?)\b.*",
                rf"{_GOT}[^\n]{{0,60}}?{_WANTED}[^\n]*(?<!ms)(?<!us)",
                r"\berrors? at (?:index|element|position|row|\[|\(|i\b|\d).*",
                r"\bdiffers? (?:at|from|by)\b.*",
                r"\bnot (?:sorted|in order)\b.*",
                r"\bdiscrepanc(?:y|ies)\b.*",
                r"^\W*INCORRECT\b.*",
                r"\b(?:host|cpu|gpu|ref\w*|out\w*|res\w*)\[\w+\]\s?(?:=\s?[\d.+-eE]+\s?)?!=.*",
            ),
            r"\S+ != \S+.*",
        ),
        'verifiers of test programs; Table 5, "outputs differ; wrong result"',
    ),
    logic(
        "verify.tolerance",
        ("tolerance", "epsilon", "threshold", "rtol", "atol"),
        r"(?i)"
        + token(
            r"(?:exceed\w*|above|outside|beyond|greater than|larger than|over|not within|>)\s+(?:\w+ ){0,4}?(?:tolerance|epsilon|threshold)",
            r"(?:tolerance|epsilon|threshold) (?:\w+ ){0,2}?(?:exceeded|failed|violated|not met)",
            r"(?:error|diff\w*)\b.{0,60}(?:(?<![-=<>])>|exceeds)\s*(?:tolerance|epsilon|eps|[ar]?tol|threshold|[\d.eE+-]+)",
        ),
        'verifiers; Table 5, "tolerance/epsilon"',
        name="tolerance",
    ),
    logic(
        "verify.max_error",
        (
            "max error",
            "max_error",
            "maximum error",
            "abs error",
            "abs_err",
            "max_abs",
            "max abs",
            "max diff",
            "max_diff",
            "maxdiff",
            "maxerr",
            "max_err",
            "rel error",
            "rel_err",
            "relative error",
            "absolute error",
            "l2 error",
            "max err",
            "rmse",
            "l2 norm",
            "mean abs",
        ),
        r"(?i)\b"
        + token(
            r"(?:max(?:imum)?|mean|avg|average|total|l2)?[ _]?(?:abs(?:olute)?|rel(?:ative)?|l2|rms|norm)?[ _]?(?:error|err|diff(?:erence)?)",
            r"rmse",
            r"l2 norm",
        )
        + r"s?\s*(?:is|was|of|[:=>(])",
        "verifiers",
        name="error",
        weight=Weight.WEAK,
    ),
    logic(
        "framework.catch",
        ("require(", "check(", "error: require", "error: check"),
        r"(?P<token>^\s*(?:REQUIRE|CHECK)\( .* \)|FAILED:\s*$|ERROR: (?:REQUIRE|CHECK)\(.*\) is NOT correct)",
        "Catch2, doctest",
        weight=Weight.GENERIC,
    ),
    logic(
        "assert.host",
        ("assertion", "assert(", "assert "),
        token(
            r"Assertion [`'‘].*?['’] failed",
            r"Assertion failed: .*",
            r"\bassert\w*(?:\(.*\))? failed\b.*",
            r"^E\s+assert .*",
            r"^(?:E\s+)?AssertionError(?:: .*)?$",
            r"Debug Assertion Failed",
        ),
        "assert(3), CPython",
    ),
)
