"""Uids for candidates."""

from __future__ import annotations

import itertools
import os

_UIDS = range(61184, 65520)
"""The range that systemd keeps for dynamic users: nobody's files belong to it."""

_next_uid = itertools.count(os.getpid() * 97)


def unprivileged_uid() -> int | None:
    """A uid for one workspace's processes; None when we are not root and candidates simply stay who we are. One for each
    workspace: a process limit counts by uid, and so does the right to read another workspace."""
    return _UIDS[next(_next_uid) % len(_UIDS)] if os.geteuid() == 0 else None
