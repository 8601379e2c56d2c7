"""A sealed pass: a line that only the harness's own process in a sandbox can have written.

Before a solution exists, the judge beside it (engine/corpora/kernelbench/workspace/judge.py) prints the SHA-256 of a secret; the
secret itself follows a pass alone. Who can write into standard output still cannot know the one, nor be there before the other.
"""

from __future__ import annotations

import hashlib
import re

_SEALED = re.compile(r"\Asealed ([0-9a-f]{64})$", re.MULTILINE)
_OPENED = re.compile(r"^opened ([0-9a-f]{64})\s*\Z", re.MULTILINE)


def opened(printed: str) -> bool:
    """Whether standard output begins with a seal and ends with what opens it."""
    sealed, secret = _SEALED.search(printed), _OPENED.search(printed)
    if sealed is None or secret is None:
        return False
    return hashlib.sha256(secret[1].encode()).hexdigest() == sealed[1]
