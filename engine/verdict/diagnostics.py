"""The grammar that compilers share for their diagnostics, and the words by which such lines are found."""

from __future__ import annotations

from typing import Final

FILE: Final = (
    r"^(?:[\w.]+(?:Error|Exception): )?(?P<file>[^\s:(][^:(\n]{0,300}?\.\w{1,6}|<[\w -]{1,40}>|default_program)"
)
"""Start of a diagnostic. "default_program" is NVRTC's name for a program without one."""

ERROR: Final = FILE + r"(?:\(\d+(?:,\d+)?\)\s?:\s|:\d+(?::\d+)?:\s)(?:catastrophic |fatal )?error(?:\s#?[\w-]+)?\s?:\s+"
"""EDG: "f.cu(3): error: ...", "f.cu(3): error #20-D: ..."; GCC, Clang: "f.cu:3:5: fatal error: ..."; MSVC: "f.cu(3): error C2065: ..."."""

ERROR_WORDS: Final = ("error:", "error #", "error :", "error c")

HEADER: Final = (
    rf"{ERROR}(?:could not open source file |cannot open (?:source|include) file:? )?"
    r"[\"'`‘]?(?P<header>[\w./+\\-]+\.?\w*)[\"'’]?"
    r"(?:: No such file or directory| file not found|(?= \(no directories)|\s*$|: No such file)"
)
"""A diagnostic about an include file that is not there."""

HEADER_WORDS: Final = ("no such file", "could not open source file", "file not found", "cannot open")

MISSING_HEADER: Final = r"No such file or directory|file not found|could not open source file"

EDG_GCC: Final = "nvcc's front end (EDG) and the host compiler"
