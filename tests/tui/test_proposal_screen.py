"""What is asked about a candidate that waits."""

from __future__ import annotations

from pathlib import Path

from beaver_tui.app import Preferences, Start
from beaver_tui.live.proposal import Proposal
from beaver_tui.screens.proposal import Decide
from engine.fixers.base import Reply
from tests.support.workbench import workbench

WAITS = Proposal(1, Reply(text=""), b"before\n", b"after\n", None, added=1, removed=1)


async def test_the_buttons_name_the_persons_own_keys(tmp_path: Path):
    own = tmp_path / "keymap.yaml"
    own.write_text("proposal.accept: ctrl+y\nproposal.edit: left_square_bracket\n")
    async with workbench(Start(runs=tmp_path), Preferences(keymap=own)) as bench:
        await bench.app.push_screen(Decide(WAITS, "solution.cu"))
        labels = {button.id: str(button.label) for button in bench.screen.query("Button")}
        assert labels == {
            "accept": "Accept (^y)",
            "reject": "Reject with a remark (r)",
            "edit": "Edit it first ([)",
            "later": "Later (esc)",
        }
        await bench.press("ctrl+y")
        assert not isinstance(bench.screen, Decide)
