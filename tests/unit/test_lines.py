"""What a batch says of an event, and how far it says that a run is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from beaver_tui.batch.output import Output
from beaver_tui.batch.tables import HEADER, filled_columns, summary_lines, summary_rows
from beaver_tui.state.lines import describe, one_line, packed, readable
from beaver_tui.state.progress import Progress, span
from beaver_tui.state.summary import FixerSummary, summarize_run
from engine import events as ev
from engine.journal import read_journal
from engine.rundir import Cell, RunDirectory
from engine.trajectory import Trajectory

RUN = Path(__file__).parents[1] / "fixtures" / "h200" / "run"


def test_every_event_of_a_recorded_run_is_one_harmless_line_or_none():
    run = RunDirectory(RUN)
    told = 0
    for cell in run.plan:
        state = Trajectory()
        for event in read_journal(run.journal(cell)):
            line = describe(cell, event, state.apply(event))
            if line is not None:
                told += 1
                assert line.text.startswith(f"{cell}  ")
                assert line.text.isprintable()
                assert len(line.text) < 200
    assert told > 2 * len(run.plan)


@pytest.mark.parametrize(
    "text",
    ["a\nb", "a\r\n  b", "a\u2028b", "a\x85b", "a\x1b[2J\nb", "\x1b]0;title\x07a\nb\n"],
    ids=["newline", "CRLF and indent", "line separator", "NEL", "erase", "title"],
)
def test_outside_text_is_one_line_without_control_sequences(text: str):
    assert one_line(text) in ("a b", "ab")
    fault = ev.InfraFailed(iteration=1, kind="server", message=text)
    line = describe(Cell("t\x1b[2J\nask", "f"), fault, Trajectory())
    assert line is not None
    assert line.text.isprintable()


def test_a_fault_says_whether_it_is_given_up():
    texts = [
        describe(Cell("t", "f"), ev.InfraFailed(iteration=1, kind="auth", message="no", final=final), Trajectory())
        for final in (True, False)
    ]
    assert [line.text for line in texts if line] == [
        "t · f  infra_error (auth, given up): no",
        "t · f  infra_error (auth, tried again): no",
    ]


def test_the_time_to_go_counts_what_this_session_did():
    run = RunDirectory(RUN)
    now = [100.0]
    progress = Progress(run, lambda: now[0])
    assert (progress.total, progress.over) == (len(run.plan), len(run.plan))
    progress.total += 4
    assert progress.to_go == ""
    now[0] += 30
    progress.apply(run.plan[0], ev.TrajectoryClosed(stop_reason="passed", passed=True, iterations=1))
    assert progress.to_go == "about 1 min 30 s to go"
    assert span(5.4) == "5 s"


def test_the_summarys_columns_stand_under_their_heads():
    lines = summary_lines(summarize_run(RunDirectory(RUN)))
    assert lines[0].split() == HEADER
    at = lines[0].index("solved")
    assert all(line[at - 1] == " " and line[at].isdigit() for line in lines[1:5])


class Pipe:
    """A stream whose reader goes after some writes."""

    encoding = "ascii"

    def __init__(self, writes: int) -> None:
        self.left, self.text = writes, ""

    def write(self, text: str) -> int:
        if not self.left:
            raise BrokenPipeError(32, "Broken pipe")
        self.left -= 1
        self.text += text
        return len(text)

    def flush(self) -> None: ...

    def fileno(self) -> int:
        raise OSError("no descriptor")


def test_output_tells_once_that_its_reader_has_gone_and_drops_the_rest():
    pipe, told = Pipe(1), []
    output = Output(pipe, told.append)  # type: ignore[arg-type]
    for text in ("✓ one", "two", "three"):
        output.write(text)
    assert pipe.text == "? one"
    assert told == ["Broken pipe"]


def test_a_mangled_symbol_leaves_the_message_visible():
    symbol = "_ZN44_GLOBAL__N__#_11_solution_cu_#11conv_kernelEPKfS1_Pf9ConvShape"
    text = readable(f"Entry function '{symbol}' uses too much shared data")
    assert text == "Entry function '_Z…conv_kernel…' uses too much shared data"
    assert readable("undefined reference: _Z3addv") == "undefined reference: _Z3addv"


def test_a_step_that_was_not_run_says_so_in_two_words():
    run = RunDirectory(RUN)
    state, missing = Trajectory(), "needs a GPU, and this machine has none: programs are built and not run"
    cell, line = run.plan[0], None
    for event in read_journal(run.journal(cell)):
        if isinstance(event, ev.Tested):
            event = ev.Tested(iteration=event.iteration, step=ev.StepRecord(not_run=missing))
        if isinstance(event, ev.VerdictReached):
            event = msgspec.structs.replace(event, category="environment_dependency", signature=missing)
        told = describe(cell, event, state.apply(event))
        line = told if isinstance(event, ev.IterationClosed) else line
    assert line is not None
    assert "environment_dependency [no device]" in line.text
    assert "needs a GPU" not in line.text


def test_a_header_is_packed_between_its_parts():
    header = "run runs/20261129T210740Z-scripted-good  12 cells  device: none  sandbox: bubblewrap"
    assert packed(header, 80) == [header.rpartition("  ")[0], "sandbox: bubblewrap"]
    assert "  ".join(packed(header, 30)) == header
    assert packed(header, 200) == [header]


def test_columns_without_any_content_are_left_out():
    rows = summary_rows([FixerSummary("f", cells=2, solved=1, iterations=3)])
    assert [HEADER[index] for index in filled_columns(rows)] == ["fixer", "solved", "iterations"]


def test_trajectories_that_wait_for_a_device_are_no_failures():
    text = "\n".join(summary_lines([FixerSummary("f", cells=12, waiting_for_device=9)]))
    assert "f  9 wait for a device: built, not yet judged" in text


def test_progress_names_what_is_running():
    run = RunDirectory(RUN)
    progress = Progress(run)
    first, second = run.plan[0], next(cell for cell in run.plan if cell.task != run.plan[0].task)
    asked = ev.RequestBuilt(iteration=1, prompt="p", feedback="L3")
    progress.apply(first, asked)
    assert progress.running == first.task
    progress.apply(second, asked)
    assert progress.running == "2 running"
    progress.apply(first, ev.TrajectoryClosed(stop_reason="passed", passed=True, iterations=1))
    assert progress.running == second.task


def test_a_level_that_could_not_be_given_is_told_once_a_trajectory():
    """A profiler that is missing is missing in every iteration: one line is enough, and another reason is another line."""
    state, cell, said = Trajectory(), Cell("t", "f"), []
    for number, note in enumerate(["", "L4 fell back to L3: no ncu", "L4 fell back to L3: no ncu", "other"], 1):
        event = ev.FeedbackGiven(iteration=number, level="L3", text="", note=note)
        line = describe(cell, event, state.apply(event))
        said.append(line.text if line is not None else None)
    assert said == [None, "t · f  2: L4 fell back to L3: no ncu", None, "t · f  4: other"]
