"""Whatever a candidate writes or prints is shown as it is, and does nothing to the terminal."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from beaver_tui.state.logtext import LogText
from beaver_tui.state.sourcetext import source_text
from beaver_tui.widgets.codeview import CodeView
from beaver_tui.widgets.diffview import DiffView
from beaver_tui.widgets.logview import LogView
from beaver_tui.widgets.textview import TextView

LONG = "x[i][j] += y; " * 800

LINES = {
    "brackets": "float x[N][M]; y[/b] = [bold red]z[/]; // [link=file:///etc]",
    "clipboard": "a \x1b]52;c;cm0gLXJmIC8=\x07 b",
    "erase": "a \x1b[2J\x1b[H b",
    "title": "a \x1b]0;root@host\x1b\\ b",
    "8-bit controls": "a \x9b2J b",
    "NUL and bell": "a \x00\x07\x08 b",
    "carriage return": "harmless();\rsystem();",
    "tabs": "\ta\tb",
    "emoji and wide": "a \U0001f9ab 日本語 é b",
    "backwards": "a \u202e b \u2066 c",
    "invisible": "a\u200b\ufeff\u2028b",
    "long": LONG,
    "markup of textual": "a $error @click=app.quit() [@click=app.quit]b[/]",
}

SHOWN_IN_SOURCE = {
    "clipboard": "a \\x1b]52;c;cm0gLXJmIC8=\\x07 b",
    "erase": "a \\x1b[2J\\x1b[H b",
    "title": "a \\x1b]0;root@host\\x1b\\ b",
    "8-bit controls": "a \\x9b2J b",
    "NUL and bell": "a \\x00\\x07\\x08 b",
    "carriage return": "harmless();\\rsystem();",
    "tabs": "        a       b",
    "backwards": "a \\u202e b \\u2066 c",
    "invisible": "a\\u200b\\ufeff\\u2028b",
}
"""What is not shown as it stands above: in a source every character counts, so all are written out."""

SHOWN_IN_LOG = {
    "clipboard": "a  b",
    "erase": "a  b",
    "title": "a  b",
    "8-bit controls": "a 2J b",
    "NUL and bell": "a  b",
    "carriage return": "system();",
    "tabs": "        a       b",
    "backwards": "a \\u202e b \\u2066 c",
    "invisible": "a\\u200b\\ufeff\\u2028b",
}
"""A log is what a terminal would have shown; its sequences are dropped."""


class Panes(App[None]):
    CSS = "TextView { height: 1fr; border: round $primary; }"

    def compose(self) -> ComposeResult:
        yield LogView()
        yield CodeView()
        yield DiffView()


def rows(view: TextView) -> list[str]:
    return ["".join(part.text for part in view.render_line(y)).rstrip() for y in range(view.size.height)]


def show(view: TextView, line: str) -> None:
    code = f"{line}\n".encode()
    if isinstance(view, LogView):
        view.show(LogText(f"{line}\n"))
    elif isinstance(view, CodeView):
        view.show(source_text(code), {1: f"mark {line}"[:40]})
    elif isinstance(view, DiffView):
        view.show(b"", code, "[/b]\x1b[2J.cu", f"before {line}"[:40], "[/b]")


async def test_every_pane_shows_what_is_there_and_no_control_character():
    app = Panes()
    async with app.run_test(size=(150, 40)) as pilot:
        for name, line in LINES.items():
            for view in app.query(TextView):
                show(view, line)
            await pilot.pause()
            for view in app.query(TextView):
                shown = (SHOWN_IN_LOG if isinstance(view, LogView) else SHOWN_IN_SOURCE).get(name, line)
                row = next(row for row in rows(view) if shown[:60] in row)
                assert all(row.isprintable() for row in rows(view))
                assert view.status.isprintable()
                assert ("›" in row) == (name == "long"), name


@pytest.mark.parametrize("kind", [LogView, CodeView, DiffView])
async def test_a_search_for_brackets_is_no_markup(kind: type[TextView]):
    app = Panes()
    async with app.run_test(size=(120, 40)) as pilot:
        view = app.query_one(kind)
        show(view, LINES["brackets"])
        view.focus()
        await pilot.press("slash", *"[/b]", "enter")
        assert view.status.endswith("/[/b]")
        assert "y[/b] = [bold red]z[/]" in "\n".join(rows(view))
        await pilot.press("slash", *"[/nowhere]", "enter", "full_stop", "y")
        await pilot.pause()
        assert "y[/b] = [bold red]z[/]" in app.clipboard


async def test_a_line_of_any_length_is_seen_to_its_end():
    app = Panes()
    async with app.run_test(size=(120, 40)) as pilot:
        for view in app.query(TextView):
            show(view, LONG + "日本 the end")
            view.focus()
            await pilot.pause()
            view.scroll_to(x=view.max_scroll_x, animate=False)
            await pilot.pause()
            assert "日本 the end" in "\n".join(rows(view))
            assert "›" not in "\n".join(rows(view))


async def test_nothing_that_is_written_to_the_terminal_comes_from_the_text():
    """Of all sequences that reach the terminal, none is the text's own."""
    app = Panes()
    async with app.run_test(size=(150, 40)) as pilot:
        for line in LINES.values():
            for view in app.query(TextView):
                show(view, line)
            await pilot.pause()
            for strip in app.screen._compositor.render_strips():
                for part in strip:
                    assert part.text.isprintable()
