"""A source file as lines with coloured words: what the code pane and the diff pane show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from time import thread_time
from typing import TYPE_CHECKING, Any

from beaver_tui.state.visible import visible_source

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MOST_LEXED, LONGEST_LEXED = 500_000, 1000
"""Characters of the largest file, and of the longest line, that are coloured; what is larger is shown plain."""

SECONDS, SECONDS_PER_CHARACTER = 0.2, 8e-6
"""CPU time for the colours of a file, three times what ordinary source takes. A lexer made of patterns takes minutes over some
texts, and a candidate may hold any: what is not reached in time is shown plain."""

CUDA_SUFFIXES = (".cu", ".cuh", ".h", ".hpp", ".c", ".cc", ".cpp")

_CUDA_WORD = re.compile(
    r"__(?:global|device|host|shared|constant|managed|restrict|launch_bounds|noinline|forceinline|grid_constant|syncthreads"
    r"|syncwarp|threadfence)\w*__|__(?:syncthreads|syncwarp|threadfence|shfl|ballot|any|all|match|reduce|activemask|ldg|ldcg"
    r"|ldcs|fma|popc|clz|ffs|brev|nanosleep|cvta)\w*|(?:thread|block)Idx|(?:block|grid)Dim|warpSize|atomic[A-Z]\w*"
)
"""Words that CUDA adds to C++ and that say how a kernel runs."""

_LAUNCH = re.compile(r"<<<|>>>(?=\s*\()")
_CALL = re.compile(r"\s*\(")


@dataclass(frozen=True)
class Token:
    """A word of a line: its characters ``[start, end)`` and what it is: keyword, type, function, string, number, comment,
    preprocessor, cuda, operator or name."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class SourceText:
    """Lines as they are shown, and their tokens. Line n of the file is ``lines[n - 1]``, as compilers count."""

    lines: tuple[str, ...]
    tokens: tuple[tuple[Token, ...], ...]


def raw_lines(code: bytes) -> list[bytes]:
    """The lines of a file without their ends. Only a line feed ends a line; a carriage return before it belongs to the end."""
    lines = code.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines]


def source_lines(code: bytes) -> tuple[str, ...]:
    """The lines of a file as they are shown. Bytes that are not UTF-8 show as ``\\xNN``."""
    return tuple(visible_source(line.decode("utf-8", "backslashreplace")) for line in raw_lines(code))


def source_text(code: bytes, file: str = "solution.cu") -> SourceText:
    """A source as lines and tokens; ``file`` names the language. A language that is not known has no tokens."""
    lines = source_lines(code)
    return SourceText(lines, tokens_of(lines, file))


def plain_source(code: bytes) -> SourceText:
    """A source without tokens, for a first sight of a large file."""
    lines = source_lines(code)
    return SourceText(lines, ((),) * len(lines))


def tokens_of(lines: tuple[str, ...], file: str) -> tuple[tuple[Token, ...], ...]:
    """The tokens of each line, in order and apart from each other.

    Blank lines are kept from the lexer: it takes time with the square of their number. So are very long ones.
    """
    tokens: list[tuple[Token, ...]] = [()] * len(lines)
    filled = [number for number, line in enumerate(lines) if line.strip() and len(line) <= LONGEST_LEXED]
    text = "".join(f"{lines[number]}\n" for number in filled)
    lexer = _lexer(file, text) if len(text) <= MOST_LEXED else None
    if lexer is not None:
        for number, row in zip(filled, _rows(lexer, text), strict=False):
            tokens[number] = _corrected(lines[number], row)
    return tuple(tokens)


def _lexer(file: str, text: str) -> Lexer | None:
    from pygments.lexers import CudaLexer, get_lexer_for_filename
    from pygments.util import ClassNotFound

    if PurePath(file).suffix.lower() in CUDA_SUFFIXES:
        return CudaLexer()
    try:
        return get_lexer_for_filename(PurePath(file).name, text)
    except ClassNotFound:
        return None


def _rows(lexer: Lexer, text: str) -> Iterator[list[Token]]:
    """One list of tokens for each line of ``text``, which ends with a line feed; none any more when time is up."""
    stop = thread_time() + SECONDS + SECONDS_PER_CHARACTER * len(text)
    row: list[Token] = []
    at = 0
    for _, kind, value in lexer.get_tokens_unprocessed(text):
        if thread_time() > stop:
            return
        name = _kind(kind, value)
        for number, piece in enumerate(value.split("\n")):
            if number:
                yield row
                row, at = [], 0
            if piece and name:
                row.append(Token(at, at + len(piece), name))
            at += len(piece)


_KINDS = (
    ("Comment.Preproc", "preprocessor"),
    ("Comment", "comment"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Keyword.Type", "type"),
    ("Keyword", "keyword"),
    ("Operator", "operator"),
    ("Punctuation", "operator"),
    ("Name.Function", "function"),
    ("Name", "name"),
    ("Error", "name"),
)
"""What pygments calls a token, the particular before the general, and what it is here."""


def _kind(kind: Any, value: str) -> str:
    if _CUDA_WORD.fullmatch(value):
        return "cuda"
    path = str(kind).removeprefix("Token.")
    return next((ours for theirs, ours in _KINDS if path.startswith(theirs)), "")


def _corrected(line: str, row: list[Token]) -> tuple[Token, ...]:
    """What the lexer does not know: calls, and the marks of a launch."""
    row = [
        Token(token.start, token.end, "function") if token.kind == "name" and _CALL.match(line, token.end) else token
        for token in row
    ]
    for mark in _LAUNCH.finditer(line):
        inside = [token for token in row if mark.start() <= token.start and token.end <= mark.end()]
        if inside and all(token.kind == "operator" for token in inside):
            row = [token for token in row if token not in inside] + [Token(mark.start(), mark.end(), "cuda")]
    return tuple(sorted(row, key=lambda token: token.start))
