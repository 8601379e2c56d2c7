"""Rules for wrong results: what verifiers, test frameworks, asserts and libraries print. All are functional_correctness.

The category needs none of them, since it is the runtime stage's default; they give the signature, the line that the feedback
shows, and the rivals. Rules for plain words ("FAILED") are WEAK: they say that a test failed, which is known already.
"""

from __future__ import annotations

from typing import Final

from engine.verdict.categories import Category
from engine.verdict.rule import TEST, Rule, Weight

_LOGIC: Final = Category.FUNCTIONAL_CORRECTNESS


def _logic(
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
    _logic(
        "assert.device",
        ("assertion `", "assertion '"),
        r"block: \[[\d,]+\], thread: \[[\d,]+\]:? (?P<token>Assertion:? [`'‘]?.*?['’]? failed)",
        "device-side assert",
        name="device assert",
    ),
    _logic(
        "verify.shape",
        ("shape", "size of tensor", "broadcast", "dimension"),
        r"(?i)(?P<token>shapes? (?:mismatch|mis-match|differs?|do(?:es)? not match|is wrong|error)|wrong (?:output )?shape|(?:expected|unexpected|incorrect|invalid) (?:output )?shape"
        r"|attribute 'shape' do not match|size of tensor \w+ \(\d+\) must match|operands could not be broadcast|shapes .{0,80}(?:mismatch|cannot be multiplied)"
        r"|dimension mismatch|mismatch(?:ed)? (?:in )?(?:shapes?|dimensions?)|shape '[^']*' is invalid)",
        "NumPy, PyTorch, verifiers; Table 5",
        name="shape",
    ),
    _logic(
        "verify.dtype",
        ("dtype", "scalar type", "data type"),
        r"(?i)(?P<token>(?:dtype|data ?type)s? (?:mismatch|differs?|do(?:es)? not match)|attribute 'dtype' do not match|expected (?:scalar type|dtype) \S+|wrong dtype"
        r"|must have the same dtype)",
        "NumPy, PyTorch, verifiers",
        name="dtype",
    ),
    _logic(
        "verify.nan",
        ("nan", "non-finite", "not finite", "inf "),
        r"(?P<token>(?i:\bnan location mismatch|\b(?:found|contains?|has|detected|produced|got|output is|values? (?:is|are)|returned)(?: an?)? (?:\d+ )?(?:nans?|infs?)\b(?:/infs?)?)"
        r"|\bNaNs?(?:/Infs?)? (?:detected|found|in (?:the )?(?:output|result)|at)\b|(?i:non-finite|not finite))",
        "verifiers, numpy.testing",
        name="not finite",
    ),
    _logic(
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
        r"(?P<token>(?:Tensor-likes|Scalars) are not (?:close|equal)|Not equal to tolerance|Mismatched elements: \d+ ?/ ?\d+|Arrays are not (?:almost )?(?:equal|close)[\w ]*"
        r"|not almost equal to \d+ decimals|(?i:allclose\b.{0,40}(?:failed|false|returned false))|Greatest absolute difference)",
        "torch.testing, numpy.testing",
    ),
    _logic(
        "verify.off_by_one",
        ("off by one", "off-by-one"),
        r"(?i)(?P<token>off[- ]by[- ]one)",
        "verifiers; Table 5",
        name="off by one",
    ),
    _logic(
        "framework.gtest",
        ("expected equality of these values", "value of:", "the difference between", "expected: ("),
        r"(?P<token>Expected equality of these values|^\s*Value of: .*|^\s*Expected: \(.*|The difference between .* exceeds.*)",
        "GoogleTest",
    ),
    _logic(
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
        r"(?P<token>(?i:\bmis-?match(?:es|ed)?\b(?! the version).*|\b(?:outputs?|results?|values?|arrays?|tensors?|elements?|checksums?|sums?)\b[^\n]{0,60}?\b(?:differ|differs|disagree|(?:do|does|did) ?(?:not|n't) (?:match|agree|equal)|(?:are|is|were|was) (?:not (?:equal|correct|sorted|the same)|wrong|incorrect|invalid|different))\b.*"
        r"|\b(?:wrong|incorrect|bad|invalid) (?:result|answer|value|output|sum|count|data|element|total|checksum|index|order|histogram|prefix|solution)s?\b.*|\bexpected\b[^\n]{0,120}?\b(?:got|but|actual|received|found|was|computed|vs\.?)\b.*"
        r"|\b(?:got|actual|received|computed|gpu|result|device|sum|total|checksum|value|out\w*)\b[\w\[\], ]{0,30}(?:\s?[=:]\s?|\s)[-+(\[]*[\w.+-]+[^\n]{0,60}?\b(?:expected|want(?:ed)?|reference|ref|cpu|host)\b\s?[=:]?\s?[-+(\[]*(?:\d|nan|inf)[^\n]*(?<!ms)(?<!us)|\berrors? at (?:index|element|position|row|\[|\(|i\b|\d).*|\bdiffers? (?:at|from|by)\b.*"
        r"|\bnot (?:sorted|in order)\b.*|\bdiscrepanc(?:y|ies)\b.*|^\W*INCORRECT\b.*|\b(?:host|cpu|gpu|ref\w*|out\w*|res\w*)\[\w+\]\s?(?:=\s?[\d.+-eE]+\s?)?!=.*)"
        r"|\S+ != \S+.*)",
        'verifiers of test programs; Table 5, "outputs differ; wrong result"',
    ),
    _logic(
        "verify.tolerance",
        ("tolerance", "epsilon", "threshold", "rtol", "atol"),
        r"(?i)(?P<token>(?:exceed\w*|above|outside|beyond|greater than|larger than|over|not within|>)\s+(?:\w+ ){0,4}?(?:tolerance|epsilon|threshold)|(?:tolerance|epsilon|threshold) (?:\w+ ){0,2}?(?:exceeded|failed|violated|not met)"
        r"|(?:error|diff\w*)\b.{0,60}(?:(?<![-=<>])>|exceeds)\s*(?:tolerance|epsilon|eps|[ar]?tol|threshold|[\d.eE+-]+))",
        'verifiers; Table 5, "tolerance/epsilon"',
        name="tolerance",
    ),
    _logic(
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
        r"(?i)\b(?P<token>(?:max(?:imum)?|mean|avg|average|total|l2)?[ _]?(?:abs(?:olute)?|rel(?:ative)?|l2|rms|norm)?[ _]?(?:error|err|diff(?:erence)?)|rmse|l2 norm)s?\s*(?:is|was|of|[:=>(])",
        "verifiers",
        name="error",
        weight=Weight.WEAK,
    ),
    _logic(
        "framework.catch",
        ("require(", "check(", "error: require", "error: check"),
        r"(?P<token>^\s*(?:REQUIRE|CHECK)\( .* \)|FAILED:\s*$|ERROR: (?:REQUIRE|CHECK)\(.*\) is NOT correct)",
        "Catch2, doctest",
        weight=Weight.GENERIC,
    ),
    _logic(
        "assert.host",
        ("assertion", "assert(", "assert "),
        r"(?P<token>Assertion [`'‘].*?['’] failed|Assertion failed: .*|\bassert\w*(?:\(.*\))? failed\b.*|^E\s+assert .*|^(?:E\s+)?AssertionError(?:: .*)?$|Debug Assertion Failed)",
        "assert(3), CPython",
    ),
    _logic(
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
        r"\b(?P<token>(?:CUBLAS|CUSOLVER|CUSPARSE|CUDNN|CUTENSOR|CURAND)_STATUS_(?!SUCCESS|ALLOC_FAILED|ARCH_MISMATCH|INSUFFICIENT_RESOURCES)\w+"
        r"|CUFFT_(?:INVALID\w*|EXEC_FAILED|INTERNAL_ERROR|UNALIGNED_DATA|INCOMPLETE\w*|NO_WORKSPACE|NOT_\w+|PARSE_ERROR)|nccl(?:Unhandled|Internal|Invalid)\w+|[Cc][Uu][Tt][Ll][Aa][Ss][Ss] error: .*)",
        "cuBLAS, cuFFT, cuSOLVER, cuSPARSE, cuRAND, cuDNN, NCCL, CUTLASS",
    ),
    _logic(
        "launch.too_large",
        (
            "too much shared memory",
            "exceeds shared memory",
            "shared memory limit",
            "too many threads",
            "out of resource",
        ),
        r"(?i)(?P<token>too much shared memory|exceeds (?:the )?(?:available )?shared memory|shared memory limit exceeded|too many threads per block|OutOfResources: out of resource: [\w ]+)",
        "test programs, Triton",
        name="launch configuration",
    ),
    _logic(
        "exception.signal",
        ("floating point exception", "illegal instruction", "aborted", "trace/breakpoint trap"),
        r"(?P<token>Floating point exception|^(?:.*: )?Illegal instruction|(?:^|\d\s+|: )Aborted\b|Trace/breakpoint trap)",
        "the shell on a child that a signal ended",
        weight=Weight.WEAK,
    ),
    _logic(
        "exception.what",
        ("what():",),
        r"^\s*what\(\):\s+(?P<token>.*)",
        "libstdc++",
        weight=Weight.WEAK,
    ),
    _logic(
        "exception.terminate",
        ("terminate called", "libc++abi"),
        r"(?P<token>terminate called (?:after throwing an instance of '[^']*'|without an active exception|recursively)|libc\+\+abi: terminating.*)",
        "libstdc++, libc++",
        weight=Weight.LAST,
    ),
    _logic(
        "exception.python",
        ("error: ", "exception: "),
        r"^(?:E\s+)?(?P<token>(?:[A-Za-z_]\w*\.){0,6}[A-Z]\w*(?:Error|Exception)(?:: .*)?)$",
        "CPython",
        weight=Weight.WEAK,
    ),
    _logic(
        "verify.failed",
        ("fail", "incorrect", "not ok"),
        r"(?P<token>\b(?:FAIL(?:ED|URE)?|Failed|Failure)\b.*|(?i:\b(?:tests?|verification|validation|check|comparison|correctness)\b[^\n]{0,40}?\bfail(?:ed|s|ure)?\b.*)|^\s*not ok\b.*|(?i:\bincorrect\b.*))",
        "test programs, TAP",
        weight=Weight.WEAK,
    ),
)
