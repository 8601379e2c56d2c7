"""Which schema version a stored thing was written under, and whether this program can read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import RunError
from engine.events import SCHEMA_VERSION

FIRST_VERSION = 1
"""What carries no version was written under the first one."""


def check_schema(where: object, raw: Mapping[str, Any]) -> int:
    """The schema version of ``raw``, a decoded run.json or the opening event of a journal. Raises RunError, which names
    ``where``, for a version that is none and for one that this program does not know yet."""
    version = raw.get("schema_version", FIRST_VERSION)
    if type(version) is not int or version < FIRST_VERSION:
        raise RunError(f"{where}: schema_version is {version!r}, and must be a whole number from {FIRST_VERSION} on")
    if version > SCHEMA_VERSION:
        raise RunError(
            f"{where}: written with schema version {version}, this program knows {SCHEMA_VERSION}; use a newer beaver-tui"
        )
    return version
