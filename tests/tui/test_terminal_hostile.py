"""Hostile text in every place where text from outside is shown: nothing but text reaches the terminal."""

from __future__ import annotations

import pytest

from tests.support.openai_server import OpenAIServer
from tests.support.program import beaver
from tests.support.tasks import SOLUTION, WRONG, write_task
from tests.tui.live import Bench, actions
from tests.tui.terminal import Terminal, needs_tmux

pytestmark = needs_tmux

CLIPBOARD = "\x1b]52;c;aG9zdGlsZQ==\x07"
TITLE = "\x1b]0;hostile title\x07\x1b]2;hostile title\x1b\\"
HOSTILE = (
    f"x[N][M] [/b] [bold red]not red[/] {CLIPBOARD}{TITLE}\x1b[2J\x1b[H\x1b[31;5mred\x1b[?1049l\x1bc"
    "\x00nul\ttab \u202eright to left \U0001f9ab beaver \x9b31m \x07 end"
)
LONG = "y" * 10_000


def unharmed(terminal: Terminal, *texts: str) -> None:
    """Shows ``texts``, and none of what the sequences would have done has happened."""
    screen = terminal.wait_for(*texts)
    assert screen.startswith(" beaver") or "beaver" in screen.splitlines()[0]
    assert "hostile" not in terminal.clipboard
    assert "hostile title" not in terminal.title
    styled = terminal.styled
    assert "\x1b[5m" not in styled
    assert "\x00" not in styled
    assert "\u202e" not in screen


@pytest.fixture
def hostile(bench: Bench) -> Bench:
    """The task with hostile text in its prompt, its error log, its sources, and in what its program prints."""
    comment = HOSTILE.replace("\x00", "").replace("\r", "") + LONG
    driver = (
        "#include <cstdio>\n#include <cstddef>\nfloat total(const float*, std::size_t);\n"
        'int main() { std::printf("%s\\n", "' + octal(HOSTILE) + '"); std::fflush(stdout);\n'
        "float x[4] = {1, 1, 1, 1}; return total(x, 4) == 4.0f ? 0 : 1; }\n"
    )
    task = write_task(
        bench.folder / "corpus",
        driver=driver,
        error_log=f"{HOSTILE}\n{LONG}\n",
        answers={"s": [f"// {comment}\n{WRONG}", SOLUTION]},
    )
    (task.folder / "prompt.txt").write_text(f"Sum n floats. {HOSTILE}\n{LONG}\n")
    return bench


def octal(text: str) -> str:
    """The bytes of a text as a C string literal."""
    return "".join(f"\\{byte:03o}" for byte in text.encode("utf-8", "surrogatepass"))


def test_sources_logs_and_prompts_are_text_in_every_tab(hostile: Bench):
    terminal = hostile.start(words=("-k", "1"))
    terminal.wait_for("step 1 of 1", "REPLAY")
    unharmed(terminal, "x[N][M] [/b] [bold red]not red[/]")
    for _ in range(4):
        terminal.press("t")
    for log in "1234":
        terminal.press(log)
    terminal.press("2")
    unharmed(terminal, "[exit ", "x[N][M] [/b]")
    terminal.press("0")
    unharmed(terminal, "step 0 of 1", "broken start")
    terminal.press("e")
    terminal.press("Escape")
    unharmed(terminal, "step 0 of 1")


def test_a_person_reads_the_task_unharmed(hostile: Bench):
    terminal = hostile.start(words=("--mode", "human"))
    unharmed(terminal, "you are the fixer", "x[N][M] [/b]")
    terminal.press("t")
    unharmed(terminal, "Sum n floats. x[N][M] [/b]")


def test_a_reply_a_model_name_and_a_remark_are_text(hostile: Bench):
    answer = f"{HOSTILE}\n```cpp\n// {HOSTILE}\n{SOLUTION}```\n"
    with OpenAIServer(answer, model="m[/b]\x1b[2J") as server:
        terminal = hostile.start(fixer=f"chat:m[/b]@{server.url}", words=("--mode", "confirm", "-k", "1"))
        unharmed(terminal, "a candidate waits for you", "x[N][M] [/b]")
        terminal.press("r")
        terminal.wait_for("What should be done otherwise?")
        terminal.type("[/b] x[N]")
        terminal.press("Enter")
        server.wait_for_requests(2)
        unharmed(terminal, "a candidate waits for you", "x[N][M] [/b]")
        terminal.press("y")
        terminal.wait_for("step 1 of 1", "REPLAY")
        for _ in range(4):
            terminal.press("t")
        unharmed(terminal, "```cpp", "x[N][M] [/b]")
    assert actions(hostile.run) == ["mode", "rejected"]


def test_names_of_fixers_and_runs_are_text(bench: Bench):
    name = "[b] x[N] [bold]"
    write_task(bench.folder / "corpus", answers={name: [SOLUTION]})
    folder = bench.folder / "runs [b]\x1b[2J\u202e"
    done = beaver(
        *("--batch", "--corpus", bench.folder / "corpus", "--fixer", f"scripted:{name}", "--device", "cpu"),
        *("--out", folder / "run [N]"),
    )
    assert done.code == 0, done.err
    terminal = bench.open("--runs", folder)
    unharmed(terminal, "1 trajectories", "[b] x[N]", "[bold]")
    terminal.press("w")
    unharmed(terminal, "1 of 1", "[b] x[N]")
    terminal.press("Down", "Right", "Enter")
    unharmed(terminal, "step 1 of 1", "REPLAY", "[b] x[N]")
