"""Events in words: the one place that decides what a batch says of an event, and that makes outside text harmless."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from beaver_tui.glyphs import category_sign
from beaver_tui.state.visible import visible_output
from engine import events as ev
from engine.figures import times
from engine.rundir import Cell
from engine.text import plain_text
from engine.trajectory import Trajectory

SHOWN_SIGNATURE = 60
"""Characters of a signature in a line: one row of a terminal must hold the whole line."""


_MANGLED = re.compile(r"\b_Z[\w#$.]{18,}")
"""A mangled symbol that is too long to be read; signatures have # for numbers that differ from build to build."""


@dataclass(frozen=True)
class Line:
    """One line of text, free of control sequences and line ends. ``tone`` says what it is: a category, or header, fault,
    note, solved, unsolved; each view has a colour for it, or none."""

    text: str
    tone: str = ""


def one_line(text: str) -> str:
    """Outside text as one harmless line."""
    lines = plain_text(text).replace("\t", " ").splitlines()  # at every line end, those that are seen nowhere too
    return " ".join(visible_output(line.strip()) for line in lines if line.strip())


def shortened(text: str, width: int) -> str:
    """At most ``width`` characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def readable(text: str) -> str:
    """The text with its mangled symbols cut down to the function's own name: the message beside them must stay visible."""
    return _MANGLED.sub(lambda found: f"_Z…{_own_name(found[0])}…", text)


def _own_name(symbol: str) -> str:
    """The first name in a mangled symbol that is no namespace without a name and no file's."""
    for length in re.finditer(r"[0-9]+(?=[A-Za-z])", symbol):
        name = symbol[length.end() : length.end() + int(length[0])]
        if len(name) == int(length[0]):
            return name
    return ""


def packed(text: str, width: int) -> list[str]:
    """A line of parts with two blanks between them, as lines of at most ``width`` where its parts allow it."""
    lines: list[str] = []
    for part in text.split("  "):
        if lines and len(lines[-1]) + 2 + len(part) <= width:
            lines[-1] += f"  {part}"
        else:
            lines.append(part)
    return lines


def describe(cell: Cell | None, event: ev.Event, state: Trajectory) -> Line | None:
    """What to say of an event, None for nothing. ``state`` is the cell's trajectory after the event."""
    words = _WORDS.get(type(event))
    told = words(event, state) if words is not None else None
    if told is None:
        return None
    text, tone = told
    return Line(one_line(text if cell is None else f"{cell}  {text}"), tone)


def _opened(event: ev.RunOpened, state: Trajectory) -> tuple[str, str]:
    return f"run {event.run}  {event.cells} cells  device: {event.device}  sandbox: {event.sandbox}", "header"


def _closed_iteration(event: ev.IterationClosed, state: Trajectory) -> tuple[str, str]:
    """Category, lines changed, seconds, speedup, signals."""
    iteration = state.iteration(event.iteration)
    verdict, candidate = iteration.verdict, iteration.candidate
    assert verdict is not None and state.opened is not None
    words = [f"{event.iteration}/{state.opened.protocol.iterations}", category_sign(verdict.category), verdict.category]
    if iteration.tested is not None and iteration.tested.step.not_run:
        words.append("[no device]")  # what is missing was said once, before the first line
    elif verdict.signature:
        words.append(f"[{shortened(readable(verdict.signature), SHOWN_SIGNATURE)}]")
    if candidate is not None:
        words.append(f"+{candidate.added} -{candidate.removed}")
    spent = sum(step.step.seconds for step in (iteration.built, iteration.tested) if step is not None)
    words.append(f"{spent:.1f} s")
    if iteration.timed is not None:
        speedup = iteration.timed.speedup
        words.append(f"{times(speedup)} gate {iteration.timed.gate}" if speedup is not None else "speedup unmeasured")
    if iteration.signals:
        words.append("≡ " + ", ".join(iteration.signals))
    return " ".join(words), verdict.category


def _fell_back(event: ev.FeedbackGiven, state: Trajectory) -> tuple[str, str] | None:
    """A level that could not be given, once a trajectory: the reason stays the same."""
    earlier = (iteration.feedback for iteration in state.iterations if iteration.number < event.iteration)
    if not event.note or any(feedback is not None and feedback.note == event.note for feedback in earlier):
        return None
    return f"{event.iteration}: {event.note}", "note"


def _failed(event: ev.InfraFailed, state: Trajectory) -> tuple[str, str]:
    what = "given up" if event.final else "tried again"
    return f"infra_error ({event.kind}, {what}): {event.message}", "fault"


def _controlled(event: ev.Controlled, state: Trajectory) -> tuple[str, str]:
    return f"{event.action} {event.detail}", "note"


def _closed(event: ev.TrajectoryClosed, state: Trajectory) -> tuple[str, str]:
    solved = "solved" if event.passed else "not solved"
    return f"{solved}: {event.stop_reason}", "solved" if event.passed else "unsolved"


_WORDS: dict[type[ev.Event], Callable[[Any, Trajectory], tuple[str, str] | None]] = {
    ev.RunOpened: _opened,
    ev.FeedbackGiven: _fell_back,
    ev.IterationClosed: _closed_iteration,
    ev.InfraFailed: _failed,
    ev.Controlled: _controlled,
    ev.TrajectoryClosed: _closed,
}
"""Events that are told; the others are steps on the way to these."""
