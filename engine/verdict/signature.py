"""The primary error signature: the first matched error token, with what varies between two runs of one bug taken out.

The paper's no_progress compares it over iterations (D.1). Protocol, point 17: line numbers, addresses, indices, measured values
and temporary paths are normalised away; error codes and names never. So 700 and 716 differ, and so do two undefined names,
but the same mismatch at another index with another value is the same bug.
"""

from __future__ import annotations

import re
from typing import Final

from engine.text import plain_text

LONGEST: Final = 200
"""Characters. Two template errors that differ only beyond this are one bug often enough."""

_QUOTES: Final = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "`": "'"})
_PATH: Final = re.compile(r"(?<![\w.<>#])(?:[A-Za-z]:)?(?:[\w.+~@%=-]*[/\\])+([\w.+@%=-]+)")
_NVCC_TEMPORARY: Final = re.compile(r"\btmpxft_[0-9a-f]+_[0-9a-f]+-\d+_")
_GCC_TEMPORARY: Final = re.compile(r"\bcc[A-Za-z0-9]{6}(?=\.(?:o|s|c|ii|ltrans\w*|res|le)\b)")
_PYTHON_TEMPORARY: Final = re.compile(r"\btmp[a-z0-9_]{8}\b")
_ADDRESS: Final = re.compile(r"\b0[xX][0-9a-fA-F]+\b")
_HASH: Final = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,}\b")
_LOCAL_SYMBOL: Final = re.compile(r"(_(?:GLOBAL__N|INTERNAL)__)[0-9a-f]{8}(_\d+_\w+?_)[0-9a-f]{8}")
"""nvcc puts hashes of the file into mangled names with internal linkage: they change with every edit."""
_FILE_LINE: Final = re.compile(r"(?<=\.)(cuh|cu|cpp|cxx|cc|c|hpp|hh|h|ptx|py|inl)(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))")
_CODE: Final = re.compile(
    r"(?:\b(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|error code|signal|errno|xid|cuda\w*[ _]?(?:error|status)?|cu\w*_status|error #|warning #)"
    r"|\(error|\]\serror|\bcode)\s?[:=#(]?\s?$",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"(?<![\w.$#])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?"
    r"(?P<unit>(?:f|u|l|ul|ull|ms|us|µs|ns|s|sec|[kmgt]i?b|b|bytes|%|x)\b|%)?(?![\w])",
    re.IGNORECASE,
)
_NOT_A_NUMBER: Final = re.compile(
    r"(?P<before>[=:,(\[<>]\s*|\b(?:got|actual|expected|found|value|is|was|want|vs\.?)\s+)[-+]?(?:nan|inf(?:inity)?)\b",
    re.IGNORECASE,
)
_LIST: Final = re.compile(r"#(?:\s*[,;x×]\s*#|\s+#)+")
_SPACE: Final = re.compile(r"\s+")


def _path(match: re.Match[str]) -> str:
    whole, base = match[0], match[1]
    rooted = whole[:1] in "/\\." or whole[1:2] == ":"
    # "rows/columns differ" and "1/2" are no paths; "src/k.cu" and "/tmp/x" are.
    return base if rooted or re.search(r"\.[A-Za-z]\w{0,4}$", base) else whole


def _number(match: re.Match[str]) -> str:
    text = match.string
    if match[0].isdigit() and _CODE.search(text, max(0, match.start() - 40), match.start()):
        return match[0]
    return "#" + (match["unit"] or "")


def normalise(token: str) -> str:
    """One line without paths, line numbers, addresses, indices and measured values; names and error codes stay.

    Idempotent: a normalised text normalises to itself.
    """
    text = plain_text(token).translate(_QUOTES)
    text = _PATH.sub(_path, text)
    text = _NVCC_TEMPORARY.sub("", text)
    text = _GCC_TEMPORARY.sub("tmp", text)
    text = _PYTHON_TEMPORARY.sub("tmp", text)
    text = _LOCAL_SYMBOL.sub(r"\1#\2#", text)
    text = _FILE_LINE.sub(r"\1", text)
    text = _ADDRESS.sub("#", text)
    text = _HASH.sub("#", text)
    text = _NOT_A_NUMBER.sub(r"\g<before>#", text)
    text = _NUMBER.sub(_number, text)
    text = _LIST.sub("#", text)
    return _SPACE.sub(" ", text).strip()[:LONGEST].strip()
