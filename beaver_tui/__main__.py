"""``python -P -m beaver_tui``: the same as the console script."""

import sys

from beaver_tui.cli import main

sys.exit(main())
