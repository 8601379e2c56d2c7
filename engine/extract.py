"""From a reply to the candidate file: the last fenced block that plausibly is the whole file, or the whole reply.

A fix may be a tenth of the start: a library's call in the place of a page of code. So a short block is a file, too, when nothing in the
reply is longer and it stands by itself, with its headers and whole functions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(
    r"^[ ]{0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)\n(.*?)(?:^[ ]{0,3}\1[`~]*(?![\w`~])[^\n]*$|\Z)", re.MULTILINE | re.DOTALL
)

_CODE = {
    ".cu": re.compile(r"__global__|__device__|#include|<<<|\bextern\b|\bvoid\b|\btemplate\b|;\s*$", re.MULTILINE),
    ".py": re.compile(r"^\s*(?:import|from|def|class)\b", re.MULTILINE),
}

_HEADERS = {
    ".cu": re.compile(r"^\s*#\s*include\b", re.MULTILINE),
    ".py": re.compile(r"^(?:import|from)\s+\w", re.MULTILINE),
}
"""What a file has of its own; a snippet of one does not."""

_BODIES = {".cu": re.compile(r"\)[^;{}()]{0,200}\{"), ".py": re.compile(r"^(?:class|def)\s+\w", re.MULTILINE)}

_OMITS = re.compile(r"^[ \t]*(?://|/\*|#)?[ \t]*(?:\.{3}|\u2026)", re.MULTILINE)
"""A line in the place of many: "// ... as before ..."."""

_OTHER_LANGUAGES = {
    "diff",
    "patch",
    "bash",
    "sh",
    "shell",
    "console",
    "text",
    "txt",
    "json",
    "yaml",
    "make",
    "makefile",
    "cmake",
}

_WHOLE_FILE_SHARE = 0.3
"""A block shorter than this share of the broken start is a snippet, unless it defines as many functions."""


@dataclass(frozen=True)
class Extraction:
    """``source`` is None when the reply holds no usable file; then ``problem`` says why."""

    source: str | None
    problem: str | None = None


def extract(reply: str, *, suffix: str, start: str, truncated: bool = False) -> Extraction:
    """The file in a model's reply. ``suffix`` is the solution's (.cu, .h, .py), ``start`` the broken start's text.

    Reasons for having none: no code, only a snippet or a diff, cut off by the token limit inside the last block.
    """
    reply = reply.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    looks = _CODE.get(suffix, _CODE[".cu"])
    blocks = [match for match in _FENCE.finditer(reply) if match[2].strip().lower() not in _OTHER_LANGUAGES]
    if truncated and (not blocks or (blocks[-1].end() == len(reply) and not _closed(blocks[-1]))):
        return Extraction(None, "cut off by the token limit")
    if not blocks:
        if reply.strip() and looks.search(reply) and "```" not in reply and _prose_share(reply) < 0.4:
            return Extraction(_whole(reply))
        return Extraction(None, "no code in the reply" if reply.strip() else "the reply is empty")
    plausible = [_unwrapped(block[3]) for block in blocks if looks.search(block[3])]
    if not plausible:
        return Extraction(None, "no code in the reply")
    whole = [text for text in plausible if _is_whole(text, start)]
    if not whole:  # behind a short file there may be an example of its use
        whole = sorted((text for text in plausible if _stands_alone(text, suffix)), key=len)
    if not whole:
        return Extraction(None, "only a part of the file in the reply")
    return Extraction(_whole(whole[-1]))


def _unwrapped(text: str) -> str:
    """The content of a block that holds nothing but another block: some models fence their fences."""
    inner = _FENCE.fullmatch(text.strip("\n"))
    return inner[3] if inner is not None else text


def _closed(block: re.Match[str]) -> bool:
    return block[0].rstrip().endswith(block[1])


def _whole(text: str) -> str:
    return text.strip("\n") + "\n"


def _is_whole(text: str, start: str) -> bool:
    """Long enough to be the file, or defining at least as many functions as the start does."""
    return len(text) >= _WHOLE_FILE_SHARE * len(start) or text.count("{") >= start.count("{") > 0


def _stands_alone(text: str, suffix: str) -> bool:
    """Headers, functions that end, and nothing left out."""
    kind = suffix if suffix in _HEADERS else ".cu"
    ends = text.count("{") == text.count("}")
    return (
        ends
        and not _OMITS.search(text)
        and _HEADERS[kind].search(text) is not None
        and _BODIES[kind].search(text) is not None
    )


def _prose_share(text: str) -> float:
    """Share of lines that read as sentences rather than code."""
    lines = [line.strip()[:200] for line in text.splitlines() if line.strip()]
    prose = sum(bool(re.match(r"[A-Z][a-z]+ \w+ \w+ \w+", line)) and line[-1] in ".:!?" for line in lines)
    return prose / len(lines) if lines else 0.0
