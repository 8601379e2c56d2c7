"""The structure pane and the facts with a source that is too long to be read between two frames."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static

from beaver_tui.state.facts import Facts
from beaver_tui.state.structures import SMALL, STRUCTURES, Structures
from beaver_tui.widgets.structureview import StructureView, given_up

TILED = b"""__global__ void k(const float* x, float* y, int n) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[255 - threadIdx.x];
}
void go(const float* x, float* y, int n) { k<<<n, 256>>>(x, y, n); }
"""
PLAIN = b"""__global__ void k(const float* x, float* y, int n) {
    y[threadIdx.x] = x[255 - threadIdx.x];
}
void go(const float* x, float* y, int n) { k<<<n, 256>>>(x, y, n); }
"""


def long(code: bytes, what: bytes) -> bytes:
    """The same program with so many comments that it is not read at once; ``what`` makes it another source for each test."""
    return b"// " + what + b"\n" + b"// nothing to see here\n" * (SMALL // 20) + code


class Alone(App[None]):
    def compose(self) -> ComposeResult:
        yield StructureView()


def text_of(view: StructureView) -> str:
    """What the pane shows, line by line, without its colours."""
    static = view.query_one(".structure", Static)
    return "\n".join(strip.text.rstrip() for strip in static.render_lines(static.size.region))


def test_a_small_source_is_known_at_once():
    held = Structures()
    assert held.findings(TILED, PLAIN, ".cu") is not None
    assert [finding.text for finding in held.findings(TILED, PLAIN, ".cu") or ()] == ["lost shared tiling (1 -> 0)"]


def test_a_long_source_is_known_when_it_was_read():
    held, start, this = Structures(), long(TILED, b"a"), long(PLAIN, b"a")
    assert held.findings(start, this, ".cu") is None
    held.read(start, ".cu")
    held.read(this, ".cu")
    assert [finding.kind for finding in held.findings(start, this, ".cu") or ()] == ["shared_tiling"]


def test_what_is_too_long_has_no_findings():
    assert given_up(b" " * 500_000, PLAIN) == ()
    assert given_up(None, PLAIN) == ()


def test_only_so_many_are_kept():
    held = Structures()
    for number in range(100):
        held.read(b"// %d" % number, ".cu")
    assert len(held._held) == 64
    assert held.known(b"// 99", ".cu") is not None


async def test_the_pane_reads_a_long_source_on_a_thread():
    start, this = long(TILED, b"b"), long(PLAIN, b"b")
    app = Alone()
    async with app.run_test(size=(120, 40)) as pilot:
        view = app.query_one(StructureView)
        view.show(this, start, None, None, Facts(category="passed", speedup=0.31))
        assert STRUCTURES.findings(start, this, ".cu") is None
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert given_up(start, this) == ("lost shared tiling (1 -> 0)",)
        shown = text_of(view)
        assert "passes, 0.31x, lost: shared tiling (1 -> 0)" in shown
        assert "degeneration score 0.50" in shown


async def test_the_pane_tells_of_what_was_lost_against_each_version():
    app = Alone()
    async with app.run_test(size=(120, 40)) as pilot:
        view = app.query_one(StructureView)
        view.show(PLAIN, PLAIN, None, TILED, Facts(category="passed"))
        await pilot.pause()
        shown = text_of(view)
        assert "passes, structure kept" in shown
        assert "against the reference, lost: shared tiling (1 -> 0)" in shown
