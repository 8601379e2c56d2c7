"""Two versions of a file as a pane asks for them: compared quickly, coloured when there is time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from beaver_tui.state.difftext import Diff, diff
from beaver_tui.state.sourcetext import SourceText, plain_source, source_text

Sources = tuple[SourceText, SourceText]
"""Before and after."""


@dataclass(frozen=True)
class Versions:
    """What is compared: two versions of a file, and what they are called."""

    before: bytes = b""
    after: bytes = b""
    file: str = "solution.cu"
    before_title: str = ""
    after_title: str = ""


def compared(versions: Versions, ignore_space: bool) -> tuple[Diff, Sources]:
    """All rows of the comparison, and both sources without colours."""
    whole = diff(versions.before, versions.after, context=None, ignore_space=ignore_space)
    return whole, (plain_source(versions.before), plain_source(versions.after))


@lru_cache(maxsize=16)
def coloured(versions: Versions) -> Sources:
    """Both sources with colours: this takes several times as long as the comparison. Steps are gone back and forth
    between: what was coloured last is known."""
    return source_text(versions.before, versions.file), source_text(versions.after, versions.file)
