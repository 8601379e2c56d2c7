"""Verification: does each task of a corpus hold what it promises, measured on this machine?

``Verification`` shows every task's broken start and reference to the harness several times, and once what must not pass;
``judge`` makes a row of what was seen. docs/verify.md tells what the verdicts mean.
"""

from engine.verify.observe import Effort
from engine.verify.rows import SOUND, Row, VerdictName
from engine.verify.state import State, default_state, open_state
from engine.verify.verification import Verification, unreadable

__all__ = [
    "SOUND",
    "Effort",
    "Row",
    "State",
    "VerdictName",
    "Verification",
    "default_state",
    "open_state",
    "unreadable",
]
