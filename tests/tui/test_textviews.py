"""The panes for logs, code and diffs, driven by keys as a person does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.theme import BUILTIN_THEMES

from beaver_tui.glyphs import use_ascii
from beaver_tui.state.logtext import LogText, Place
from beaver_tui.state.sourcetext import source_text
from beaver_tui.widgets.codeview import CodeView
from beaver_tui.widgets.diffview import AT_ONCE, DiffView
from beaver_tui.widgets.keyline import KeyLine
from beaver_tui.widgets.lineprompt import LinePrompt
from beaver_tui.widgets.logview import LogView
from beaver_tui.widgets.textview import TextView

LOOP = b"""\
int m;
for (int i = tid; i <= cols; i += n)
    m = max(m, row[i]);
return m;
"""
FIXED = LOOP.replace(b"<=", b"<").replace(b"return", b"__syncthreads();\nreturn")


class Pane(App[None]):
    """One pane on the whole screen, and what it told."""

    def __init__(self, view: TextView) -> None:
        super().__init__()
        self.view = view
        self.places: list[Place] = []
        self.statuses: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_log_view_place_chosen(self, message: LogView.PlaceChosen) -> None:
        self.places.append(message.place)

    def on_text_view_status_changed(self, message: TextView.StatusChanged) -> None:
        self.statuses.append(message.status)


@asynccontextmanager
async def shown(view: TextView, size: tuple[int, int] = (80, 12)) -> AsyncIterator[Pilot[None]]:
    async with Pane(view).run_test(size=size) as pilot:
        view.focus()
        await pilot.pause()
        yield pilot


def rows(view: TextView) -> list[str]:
    """The pane as it stands on the screen, without blanks at the ends."""
    return ["".join(part.text for part in view.render_line(y)).rstrip() for y in range(view.size.height)]


def numbered(count: int, start: int = 0) -> str:
    return "".join(f"line {n}\n" for n in range(start, count))


async def test_a_log_is_followed_from_its_end():
    view, log = LogView(), LogText(numbered(100))
    async with shown(view) as pilot:
        view.show(log)
        await pilot.pause()
        assert rows(view)[-1] == "▸  line 99" and view.following
        log.append("one more\nand half of")
        view.refresh_log()
        assert rows(view)[-2:] == ["   one more", "▸  half of"[:3] + "and half of"]
        log.append(" a line")
        view.refresh_log()
        assert rows(view)[-1] == "▸  and half of a line"


async def test_a_person_who_reads_is_not_pulled_away():
    view, log = LogView(), LogText(numbered(100))
    async with shown(view) as pilot:
        view.show(log)
        await pilot.press("g")
        log.append("one more\n")
        view.refresh_log()
        assert rows(view)[0] == "▸  line 0" and not view.following
        await pilot.press("G")
        assert rows(view)[-1] == "▸  one more" and view.following


async def test_what_is_read_and_not_followed_begins_at_its_start():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText(numbered(100)), from_start=True)
        await pilot.press("j")
        assert rows(view)[1] == "▸  line 1"
        view.show(LogText(numbered(100)))
        assert view.cursor == 1, "the same lines again are no reason to go elsewhere"


async def test_the_mouse_leaves_the_end_and_comes_back_to_it():
    view, log = LogView(), LogText(numbered(100))
    async with shown(view) as pilot:
        view.show(log)
        await pilot.pause()
        view.scroll_to(y=50, animate=False)
        await pilot.pause()
        assert not view.following and 50 <= view.cursor < 62
        view.scroll_end(animate=False)
        await pilot.pause()
        assert view.following


async def test_a_click_puts_the_cursor_where_it_was():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText(numbered(100)))
        await pilot.click(view, offset=(5, 3))
        assert view.cursor == 88 + 3 and rows(view)[3] == "▸  line 91"


async def test_a_filter_leaves_lines_that_match_and_takes_in_new_ones():
    view, log = LogView(), LogText(numbered(100))
    async with shown(view) as pilot:
        view.show(log)
        await pilot.press("f", *"e 9", "enter")
        assert rows(view)[0].strip() == "line 9" and view.row_count == 11
        assert rows(view)[-1].endswith(" filter e 9: 11 of 100")
        log.append("none\nline 900\nline 9")
        view.refresh_log()
        assert view.row_count == 13
        log.append("0\n")
        view.refresh_log()
        assert view.row_count == 13 and rows(view)[-1].startswith("▸  line 90")
        await pilot.press("f", *["backspace"] * 3, "enter")
        assert view.row_count == 103 and rows(view)[-1] == "▸  line 90"


async def test_escape_puts_a_filter_back():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText(numbered(100)))
        await pilot.press("f", "9")
        assert view.row_count == 19
        await pilot.press("escape")
        assert view.row_count == 100 and view.has_focus


async def test_a_search_goes_from_hit_to_hit_and_round():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText(numbered(40)))
        await pilot.press("g", "slash", *"LINE 2".lower())
        assert isinstance(pilot.app.screen, LinePrompt) and view.cursor == 2
        await pilot.press("enter")
        seen = [view.cursor]
        for key in ("full_stop", "full_stop", "comma", "comma", "comma"):
            await pilot.press(key)
            seen.append(view.cursor)
        assert seen == [2, 20, 21, 20, 2, 29]
        assert pilot.app.statuses[-1] == "/line 2"


class Dialogs(Pane):
    """An app that centres and darkens its dialogs and has the keys on its last line, as ours does."""

    CSS = "ModalScreen { align: center middle; background: black; }"

    def compose(self) -> ComposeResult:
        yield self.view
        yield KeyLine()


async def test_the_prompt_lies_over_the_last_line_of_its_pane_and_leaves_the_rest_in_sight():
    view = LogView()
    async with Dialogs(view).run_test(size=(40, 9)) as pilot:
        view.show(LogText(numbered(40)))
        view.focus()
        await pilot.press("slash", "9")
        strips = pilot.app.screen._compositor.render_strips()
        screen = ["".join(part.text for part in strip)[:38].strip() for strip in strips]
        assert screen == [*(f"line {n}" for n in range(32, 39)), "/ 9", "f1 help  ^p all"]


async def test_escape_puts_the_cursor_back_where_the_search_began():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText(numbered(40)))
        await pilot.press("g", "j", "slash", *"line 30")
        assert view.cursor == 30
        await pilot.press("escape")
        assert (view.cursor, view.status) == (1, "")


async def test_hits_are_marked_in_the_line():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText("a tile of a Tile\n"))
        view.search("tile")
        await pilot.pause()
        over = view.style_of("text--hit").bgcolor
        assert [part.text for part in view.render_line(0) if part.style and part.style.bgcolor == over] == [
            "tile",
            "Tile",
        ]


async def test_enter_leads_to_the_place_that_a_line_names():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText("nvcc -O3\nsolution.cu(48): error: expected a ';'\n1 error\n"))
        await pilot.press("k", "enter", "k", "enter")
        await pilot.pause()
        assert pilot.app.places == [Place("solution.cu", 48)]


async def test_a_sign_says_what_a_line_is_without_colours():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText("a.cu(1): error: x\na.cu(2): warning #1: x\nRace reported between Write access\nfine\n"))
        await pilot.pause()
        assert [row[:4] for row in rows(view)[:4]] == [" ✗ a", " ! a", " ≠ R", "▸  f"]


async def test_copying_takes_the_line_as_it_is_shown():
    view = LogView()
    async with shown(view) as pilot:
        view.show(LogText("x[N][M] \x1b[31mred\x1b[0m\n"))
        await pilot.press("y")
        assert pilot.app.clipboard == "x[N][M] red"


async def test_long_lines_are_seen_by_going_to_the_side():
    view = LogView()
    async with shown(view, (40, 6)) as pilot:
        view.show(LogText("0123456789" * 1000 + "\n" + "日本" * 5000 + "\n"))
        await pilot.pause()
        assert rows(view)[0] == "   " + "0123456789" * 3 + "01234›"
        assert rows(view)[1].startswith("▸  日本") and rows(view)[1].endswith("›")
        await pilot.press("greater_than_sign")
        assert rows(view)[0].startswith("   6789012345")
        assert rows(view)[1].startswith("▸  日本")
        await pilot.press(*["greater_than_sign"] * 3, "less_than_sign")
        assert view.scroll_offset.x == 48


async def test_code_has_numbers_colours_and_sentences_beside_its_lines():
    view = CodeView()
    async with shown(view, (60, 6)) as pilot:
        view.show(source_text(LOOP), {2: "reads one past the end"})
        await pilot.pause()
        assert rows(view)[:2] == ["▸  1 int m;", "   2 for (int i = tid; i <= cols;› ‹ reads one past the end"]
        colour = view.style_of("code--keyword").color
        assert [part.text for part in view.render_line(1) if part.style and part.style.color == colour] == ["for"]


@pytest.mark.parametrize("line", [1, 30, 100])
async def test_code_goes_to_a_line(line: int):
    view = CodeView()
    async with shown(view) as pilot:
        view.show(source_text(numbered(100).encode()))
        view.go_to(line)
        await pilot.pause()
        assert view.cursor == line - 1
        assert f"▸{line:>3} line {line - 1}" in rows(view)


async def test_a_line_can_be_asked_for_before_its_source_is_there():
    view = CodeView()
    async with shown(view) as pilot:
        view.go_to(70)
        view.show(source_text(numbered(100).encode()))
        await pilot.pause()
        assert view.cursor == 69 and rows(view)[6] == "▸ 70 line 69"


async def test_a_pane_that_is_not_on_the_screen_yet_opens_at_its_cursor():
    view = CodeView()
    view.display = False
    async with shown(view) as pilot:
        view.show(source_text(numbered(100).encode()))
        view.go_to(50)
        view.display = True
        await pilot.pause()
        assert rows(view)[6] == "▸ 50 line 49"


async def test_a_sentence_beside_a_line_takes_no_more_than_half_of_it():
    view = CodeView()
    async with shown(view, (40, 4)) as pilot:
        view.show(source_text(LOOP), {1: "日本語" * 20, 2: "x" * 100})
        await pilot.pause()
        assert [len(row.split("‹ ")[1]) for row in rows(view)[:2]] == [9, 17]
        assert rows(view)[0].endswith("本…") and rows(view)[1].endswith("x…")


@pytest.mark.parametrize("width", [1, 4, 9, 14, 30])
@pytest.mark.parametrize("kind", [LogView, CodeView, DiffView])
async def test_rows_are_as_wide_as_their_pane(kind: type[TextView], width: int):
    view = kind()
    async with shown(view, (width, 6)) as pilot:
        if isinstance(view, LogView):
            view.show(LogText(LOOP.decode()))
            view.filter("m")
        elif isinstance(view, CodeView):
            view.show(source_text(LOOP), {2: "a mark"})
        elif isinstance(view, DiffView):
            view.show(LOOP, FIXED + b"\n" * 30)
            await pilot.press("s")
        await pilot.pause()
        assert {view.render_line(y).cell_length for y in range(view.size.height)} == {view.row_width}


async def test_a_diff_is_side_by_side_where_there_is_room():
    view = DiffView()
    async with shown(view, (160, 6)) as pilot:
        view.show(LOOP, FIXED)
        await pilot.pause()
        assert [" ".join(row.split()) for row in rows(view)[:5]] == [
            "1 int m; │ 1 int m;",
            "▸ 2 − for (int i = tid; i <= cols; i += n) │ 2 + for (int i = tid; i < cols; i += n)",
            "3 m = max(m, row[i]); │ 3 m = max(m, row[i]);",
            "│ 4 + __syncthreads();",
            "4 return m; │ 5 return m;",
        ]


async def test_a_diff_is_one_below_the_other_where_there_is_not():
    view = DiffView()
    async with shown(view, (80, 8)) as pilot:
        view.show(LOOP, FIXED)
        await pilot.pause()
        assert rows(view)[:6] == [
            "   1   1   int m;",
            "▸  2     − for (int i = tid; i <= cols; i += n)",
            "       2 + for (int i = tid; i < cols; i += n)",
            "   3   3       m = max(m, row[i]);",
            "       4 + __syncthreads();",
            "   4   5   return m;",
        ]
        await pilot.press("s")
        assert view.split and "│" in rows(view)[0]


async def test_changed_words_stand_out_of_a_changed_line_and_keep_their_colours():
    view = DiffView()
    async with shown(view, (160, 6)) as pilot:
        view.show(b"int a = f(x, 1);\n", b"int a = f(x, 2);\n")
        await pilot.pause()
        back, number = view.style_of("diff--added-words").bgcolor, view.style_of("code--number").color
        parts = [part for part in view.render_line(0) if part.style and part.style.bgcolor == back]
        assert [part.text for part in parts] == ["2"]
        assert parts[0].style and parts[0].style.color == number


async def test_without_colours_changed_words_are_reversed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    view = DiffView()
    async with shown(view, (160, 6)) as pilot:
        view.show(b"int a = f(x, 1);\n", b"int a = f(x, 2);\n")
        await pilot.pause()
        assert [part.text for part in view.render_line(0) if part.style and part.style.reverse] == ["1", "2"]


async def test_keys_of_a_diff_hunks_context_white_space_copy():
    view = DiffView()
    before = numbered(60).encode()
    after = before.replace(b"line 10\n", b"line ten\n").replace(b"line 50\n", b"line  50\n")
    async with shown(view, (80, 30)) as pilot:
        view.show(before, after, before_title="step 1", after_title="step 2")
        await pilot.pause()
        assert view.status == "step 1 → step 2  +2 −2"
        assert rows(view)[view.cursor] == "▸ 11     − line 10"
        await pilot.press("full_stop")
        assert rows(view)[view.cursor] == "▸ 51     − line 50"
        await pilot.press("full_stop", "y")
        assert pilot.app.clipboard == "-line 10\n+line ten"
        folds = sum(row.kind == "fold" for row in view.diff.rows)
        await pilot.press(*["right_curly_bracket"] * 3)
        assert (folds, sum(row.kind == "fold" for row in view.diff.rows)) == (3, 0)
        assert rows(view)[view.cursor - view.scroll_offset.y] == "▸ 11     − line 10"
        await pilot.press(*["left_curly_bracket"] * 9, "w")
        assert (len(view.diff.rows), view.status) == (3, "step 1 → step 2  +1 −1  white space ignored")


async def test_the_cursor_stays_at_its_line_when_rows_go_and_come():
    view = DiffView()
    before = numbered(60).encode()
    async with shown(view, (80, 10)) as pilot:
        view.show(before, before.replace(b"line 50\n", b"another\n"))
        await pilot.press(*["right_curly_bracket"] * 3)
        assert rows(view)[view.cursor - view.scroll_offset.y] == "▸ 51     − line 50"
        view.scroll_to(y=44, animate=False)
        await pilot.press(*["left_curly_bracket"] * 5, *["right_curly_bracket"] * 2)
        assert rows(view)[view.cursor - view.scroll_offset.y] == "▸ 51     − line 50"


async def test_equal_versions_are_said_to_be_equal():
    view = DiffView()
    async with shown(view) as pilot:
        view.show(LOOP, LOOP)
        await pilot.press("j", "y", "full_stop", "s")
        assert [row.left for row in view.diff.rows] == LOOP.decode().splitlines()  # nothing to fold them round
        assert view.status.endswith("no differences")


async def test_a_large_comparison_is_done_in_a_thread_and_a_stale_one_is_dropped():
    view = DiffView()
    large = "".join(f"int value_{n} = {n};\n" for n in range(3000)).encode()
    assert len(large) > AT_ONCE
    async with shown(view) as pilot:
        view.show(large, large.replace(b"value_7 ", b"other "))
        assert view.busy
        view.show(large, large.replace(b"value_2000 ", b"other "))
        while view.busy:
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
        assert [row.old for row in view.diff.rows if row.kind == "change"] == [2001]


async def test_a_small_comparison_overtakes_a_large_one():
    view = DiffView()
    large = numbered(5000).encode()
    async with shown(view) as pilot:
        view.show(large, b"")
        view.show(LOOP, FIXED)
        assert (view.busy, view.diff.added) == (False, 2)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        assert view.diff.added == 2


async def test_colours_follow_the_theme():
    view = CodeView()
    async with shown(view) as pilot:
        view.show(source_text(LOOP))
        seen = set()
        for name in ("textual-dark", "textual-light", "nord"):
            assert name in BUILTIN_THEMES
            pilot.app.theme = name
            await pilot.pause()
            seen.add(next(part.style for part in view.render_line(1) if part.text == "for"))
        assert len(seen) == 3


async def test_ascii_signs_are_ascii(tmp_path: Path):
    view = DiffView()
    use_ascii(True)
    try:
        async with shown(view, (160, 8)) as pilot:
            view.show(LOOP + b"\n" * 40, FIXED + b"\n" * 40 + b"x" * 300)
            await pilot.pause()
            assert all(row.isascii() for row in rows(view))
    finally:
        use_ascii(False)


@pytest.mark.parametrize("view", [LogView(), CodeView(), DiffView()], ids=lambda view: type(view).__name__)
async def test_every_key_works_on_a_pane_that_shows_nothing(view: TextView):
    async with shown(view) as pilot:
        for binding in [key for kind in type(view).__mro__ for key in kind.__dict__.get("BINDINGS", [])]:
            await pilot.press(binding.key.split(",")[0])
            if isinstance(pilot.app.screen, LinePrompt):
                await pilot.press("x", "enter")
        assert view.cursor == 0


async def test_a_pane_that_grows_keeps_its_line():
    view = LogView()
    async with shown(view, size=(80, 12)) as pilot:
        view.show(LogText(numbered(40)))
        await pilot.pause()
        view.cursor = 30
        view.scroll_to(y=28, animate=False)
        await pilot.pause()
        await pilot.resize_terminal(80, 30)
        await pilot.pause()
        assert (view.cursor, view.scroll_offset.y) == (30, 10)


async def test_a_line_that_is_gone_to_before_the_pane_is_on_the_screen_is_the_one_under_the_cursor():
    view = CodeView()
    view.display = False
    async with shown(view, size=(80, 30)) as pilot:
        view.show(source_text(b"int x;\n" * 40, "solution.cu"))
        view.go_to(19)
        view.display = True
        await pilot.pause()
        assert view.cursor == 18
