"""What a person was told: it goes from the corner of the screen after seconds, and is kept to be read again."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

KEPT = 500
"""Messages that are kept, the newest."""


def _now() -> datetime:
    return datetime.now().astimezone()


@dataclass(frozen=True)
class Told:
    """One message, of harmless text. ``severity`` is information, warning or error; ``at`` is this machine's local time."""

    text: str
    severity: str = "information"
    at: datetime = field(default_factory=_now)

    @property
    def line(self) -> str:
        mark = "" if self.severity == "information" else f"{self.severity}: "
        return f"{self.at:%H:%M:%S}  {mark}{self.text}"
