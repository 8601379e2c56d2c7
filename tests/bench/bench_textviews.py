"""How long the text panes take: to open a long log, to follow a flood, to compare and show large files.

    python tests/bench/bench_textviews.py

Times are wall-clock seconds, from the call to the frame that shows the result, on a screen of 160 x 50 without a terminal.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from beaver_tui.state.difftext import diff
from beaver_tui.state.logtext import LogText
from beaver_tui.state.sourcetext import source_text
from beaver_tui.widgets.codeview import CodeView
from beaver_tui.widgets.diffview import DiffView
from beaver_tui.widgets.logview import LogView
from beaver_tui.widgets.textview import TextView

LOG = "".join(
    f'solution.cu({n}): warning #177-D: variable \x1b[1m"tile_{n}"\x1b[0m was declared\tbut never referenced\n'
    if n % 5
    else f"ptxas info    : Used {n} registers, 1024 bytes smem\n"
    for n in range(100_000)
)

SOURCE = [
    f"    value[{n}] = fmaf(row[{n} * cols + tid], weight[{n % 17}], value[{n - 1}]);  // step {n}" for n in range(5000)
]
EDITED = [line.replace("tid", "tid + 1") if n % 10 == 3 else line for n, line in enumerate(SOURCE)]


class Pane(App[None]):
    def __init__(self, view: TextView) -> None:
        super().__init__()
        self.view = view

    def compose(self) -> ComposeResult:
        yield self.view


class Times:
    """Seconds by what was done."""

    def __init__(self) -> None:
        self._rows: dict[str, list[float]] = {}

    def add(self, what: str, seconds: float) -> None:
        self._rows.setdefault(what, []).append(seconds)

    def show(self) -> None:
        for what, seconds in self._rows.items():
            print(
                f"{what:58} median {statistics.median(seconds):7.4f} s   max {max(seconds):7.4f} s   ({len(seconds)} times)"
            )


async def pressed(pilot: Pilot[None], times: Times, what: str, key: str, often: int) -> None:
    for _ in range(often):
        began = time.perf_counter()
        await pilot.press(key)
        times.add(what, time.perf_counter() - began)


async def logs(times: Times) -> None:
    view = LogView()
    async with Pane(view).run_test(size=(160, 50)) as pilot:
        for _ in range(3):
            began = time.perf_counter()
            log = LogText(LOG)
            times.add("log of 100,000 lines with sequences: made harmless", time.perf_counter() - began)
            view.show(log)
            await pilot.pause()
            times.add("log of 100,000 lines with sequences: open, first frame", time.perf_counter() - began)
        plain = LOG.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\t", " ")
        began = time.perf_counter()
        view.show(LogText(plain))
        await pilot.pause()
        times.add("log of 100,000 plain lines: open, first frame", time.perf_counter() - began)
        view.focus()
        await pressed(pilot, times, "log of 100,000 lines: a page up", "pageup", 30)
        await pressed(pilot, times, "log of 100,000 lines: a line up", "k", 30)
        began = time.perf_counter()
        view.search("tile_99999")
        await pilot.pause()
        times.add("log of 100,000 lines: a search", time.perf_counter() - began)
        began = time.perf_counter()
        assert len(log.errors) == 0
        times.add("log of 100,000 lines: all errors found", time.perf_counter() - began)
        live = LogText()
        view.search("")
        view.show(live)
        for start in range(0, 400_000, 4000):
            began = time.perf_counter()
            live.append(LOG[start : start + 4000])
            view.refresh_log()
            await pilot.pause()
            times.add("live log: 4,000 characters more, shown", time.perf_counter() - began)


async def long_lines(times: Times) -> None:
    view = LogView()
    async with Pane(view).run_test(size=(160, 50)) as pilot:
        view.show(LogText(("日本語 x[i] " * 1250 + "\n") * 200))
        view.focus()
        await pilot.pause()
        await pressed(pilot, times, "lines of 10,000 wide characters: a page up", "pageup", 20)
        await pressed(pilot, times, "lines of 10,000 wide characters: to the side", "greater_than_sign", 20)


async def diffs(times: Times) -> None:
    before, after = ("\n".join(lines).encode() + b"\n" for lines in (SOURCE, EDITED))
    for _ in range(3):
        began = time.perf_counter()
        found = diff(before, after)
        times.add("diff of 5,000 lines, 500 hunks: compared with words", time.perf_counter() - began)
        assert len(found.hunks) == 500
        began = time.perf_counter()
        source_text(before)
        times.add("source of 5,000 lines: coloured", time.perf_counter() - began)
    view = DiffView()
    async with Pane(view).run_test(size=(160, 50)) as pilot:
        view.focus()
        began = time.perf_counter()
        view.show(before, after)
        while view.busy:
            await pilot.pause()
        times.add("diff of 5,000 lines, 500 hunks: shown without colours", time.perf_counter() - began)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        times.add("diff of 5,000 lines, 500 hunks: shown with colours", time.perf_counter() - began)
        for key, what in (
            ("full_stop", "next hunk"),
            ("s", "split or unified"),
            ("right_curly_bracket", "more context"),
        ):
            await pressed(pilot, times, f"diff of 5,000 lines, 500 hunks: {what}", key, 10 if key == "full_stop" else 4)
        await pressed(pilot, times, "diff of 5,000 lines, 500 hunks: a page down", "pagedown", 20)


async def code(times: Times) -> None:
    view = CodeView()
    async with Pane(view).run_test(size=(160, 50)) as pilot:
        view.show(source_text("\n".join(SOURCE).encode()))
        view.focus()
        await pilot.pause()
        await pressed(pilot, times, "source of 5,000 lines: a page down", "pagedown", 30)


def main() -> None:
    times = Times()
    for part in (logs, long_lines, diffs, code):
        asyncio.run(part(times))
    times.show()
    tracemalloc.start()
    log = LogText(LOG)
    assert log.lines
    print(
        f"log of 100,000 lines ({len(LOG) / 1e6:.1f} MB): {tracemalloc.get_traced_memory()[0] / 1e6:.0f} MB of memory"
    )


if __name__ == "__main__":
    main()
