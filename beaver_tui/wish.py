"""A live run as a person asks for it, on the command line or in a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["auto", "confirm", "human"]


@dataclass(frozen=True)
class Wish:
    """A live run as a person asks for it; None and empty where the default is meant."""

    task: str
    fixer: str = "scripted:good"
    mode: Mode = "auto"
    corpus: str | None = None
    device: str | None = None
    k: int | None = None
    feedback: str | None = None
    config: str | None = None
