"""When the interpreter looks for garbage: rarely, and not among what stays for as long as the program does.

A search of all objects takes about 60 ms once Textual is loaded, and with the interpreter's defaults one in nine key presses meets
one: more than a key may take. What a screen throws away is mostly freed without any search.
"""

from __future__ import annotations

import gc

THRESHOLDS = (5_000, 5, 200)
"""Objects more than before until the youngest are searched; searches of them until the middle-aged are, and of those until all."""


def settle(*, keep: bool) -> None:
    """Search seldom from now on. ``keep``: what is there now, modules and screens, is left out of every search, and so never
    freed when it is garbage later: for a program that has started, not for tests of many apps in one process."""
    gc.set_threshold(*THRESHOLDS)
    if keep:
        gc.freeze()
