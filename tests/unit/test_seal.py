"""A sealed pass cannot be written by who did not seal it."""

from __future__ import annotations

import hashlib

import pytest

from engine.harness.seal import opened

SECRET = "5" * 64
SEAL = f"sealed {hashlib.sha256(SECRET.encode()).hexdigest()}"
OTHER = f"sealed {hashlib.sha256(b'6' * 64).hexdigest()}"


def test_what_the_seal_was_made_of_opens_it():
    assert opened(f"{SEAL}\ncompiled=True correctness=True trials=5\nopened {SECRET}\n")


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "compiled=True correctness=True\n",
        f"{SEAL}\ncompiled=True correctness=True\n",
        f"{SEAL}\nopened {'6' * 64}\n",
        f"{SEAL}\n{OTHER}\nopened {'6' * 64}\n",
        f"compiled=True\n{SEAL}\nopened {SECRET}\n",
        f"{SEAL}\nopened {SECRET}\ncompiled=True correctness=True\n",
    ],
    ids=[
        "nothing",
        "no seal",
        "not opened",
        "wrong secret",
        "a second seal",
        "a seal that came late",
        "not at the end",
    ],
)
def test_everything_else_does_not(printed: str):
    assert not opened(printed)
