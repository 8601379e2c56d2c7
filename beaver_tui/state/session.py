"""One trajectory on show, live or replayed: the fold of its events, where one looks, and what has not been read yet."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from beaver_tui.state.changes import EVERYTHING, changed_by
from beaver_tui.state.errors import ErrorRow, error_rows, evidence_row
from beaver_tui.state.facts import Alert, Facts, alert_of, best_step, facts_of
from beaver_tui.state.flowing import Flowing
from beaver_tui.state.pcurve import p_curve
from beaver_tui.state.speedtext import Speed, beside, speed_text
from beaver_tui.state.steplogs import LOGS, log_text
from beaver_tui.state.steps import StepRow, begun_iterations, left_open, step_rows
from beaver_tui.state.texts import Texts, answer
from engine import events as ev
from engine.protocol import Protocol
from engine.rundir import Cell
from engine.store import Store
from engine.task import Task
from engine.text import plain_text
from engine.trajectory import Iteration, Trajectory, fold

__all__ = ["Base", "ErrorRow", "Session"]


class Base(StrEnum):
    """What a step's code is compared with."""

    PREVIOUS = "previous"
    BROKEN = "broken"
    PINNED = "pinned"
    BEST = "best"


class Session:
    """A cell's trajectory as the events that were applied tell it; ``shown_events`` of them are shown (see ``seek``).

    ``task`` gives the broken start and its log; without it they are unknown. ``reference_shown``: whoever looks may see the
    reference, which a person who repairs may not. ``position`` is the step that is looked at; ``following`` means that it is the
    last one and moves on with the trajectory.
    """

    def __init__(self, cell: Cell, store: Store, *, task: Task | None = None, reference_shown: bool = False) -> None:
        self.cell, self.task, self.reference_shown = cell, task, reference_shown
        self.trajectory = Trajectory()
        self.events: list[ev.Event] = []
        self.live = False
        self.shown_events = 0
        self.position, self.following = 0, True
        self.base, self.pinned, self.has_pin = Base.PREVIOUS, 0, False
        self._texts = Texts(store)
        self._flowing = Flowing()
        self._dismissed: set[int] = set()
        self._rows: list[StepRow] | None = None
        self._errors: dict[int, list[ErrorRow]] = {}
        self._results: dict[tuple[int, str], str] = {}
        self._measured: dict[int, ev.Timed] = {}
        self.unread = dict.fromkeys(LOGS, 0)

    # events

    def apply(self, event: ev.Event) -> frozenset[str]:
        """Take one event in; returns what changed on show: steps, facts, source, prompt, reply, alert, log:build, log:test,
        log:sanitizer, log:profile. Nothing does while an earlier moment is shown: the event is kept for later."""
        at_the_end = self.shown_events == len(self.events)
        before = self.last
        flowed = self._flowing.apply(event)
        if event.durable:
            self.events.append(event)
            if at_the_end:
                self.trajectory.apply(event)
                self.shown_events += 1
        if self.live and flowed.log:
            self.unread[flowed.log] += flowed.lines
        if not at_the_end:
            return frozenset()
        self._rows = None
        self._errors.pop(event.iteration if isinstance(event, ev.IterationEvent) else self.last, None)
        if self.last != before and self.following:
            self.position = self.last
        return EVERYTHING if self.last != before else changed_by(event, flowed)

    def seek(self, count: int) -> None:
        """Show the trajectory as it was after the first ``count`` durable events, at its last step then."""
        self.shown_events = max(0, min(count, len(self.events)))
        self.trajectory = fold(self.events[: self.shown_events])
        self._rows, self._errors = None, {}
        self.position, self.following = self.last, True

    @property
    def event_count(self) -> int:
        """Durable events that have been applied so far, shown or not."""
        return len(self.events)

    @property
    def protocol(self) -> Protocol:
        """The trajectory's protocol, the default one before its opening is known."""
        return self.trajectory.opened.protocol if self.trajectory.opened is not None else Protocol()

    # steps

    @property
    def rows(self) -> list[StepRow]:
        """All steps, the broken start first. What flows in just now says more of the last one's phase than its events do."""
        if self._rows is None:
            self._rows = step_rows(self.trajectory, self.task)
            phase = self._flowing.phase if self._shows_flow(self.last) else ""
            if phase and not self._rows[-1].over:
                self._rows[-1] = replace(self._rows[-1], phase=phase)
        return self._rows

    @property
    def shown_rows(self) -> list[StepRow]:
        """All steps as a person should read them: one that nobody goes on with is not said to be testing still."""
        at_the_end = self.shown_events == len(self.events)
        return left_open(self.rows) if at_the_end and not self.live and self.trajectory.closed is None else self.rows

    @property
    def last(self) -> int:
        """The number of the newest step."""
        return len(begun_iterations(self.trajectory))

    def go(self, step: int) -> None:
        """Look at a step; one that is not there is the nearest that is."""
        self.position = max(0, min(step, self.last))
        self.following = self.position == self.last

    def change(self, direction: int) -> bool:
        """Look at the next (1) or previous (-1) step whose category is another than this one's; False when there is none."""
        rows, way = self.rows, 1 if direction > 0 else -1
        step = self.position + way
        while 0 <= step <= self.last:
            if rows[step].category and rows[step].category != rows[self.position].category:
                self.go(step)
                return True
            step += way
        return False

    # code

    def source(self, step: int) -> bytes | None:
        """The exact bytes of a step's file; None when it has none, or when they are not stored."""
        if step == 0:
            return self._broken()
        iteration = self._iteration(step)
        if iteration is None or iteration.candidate is None or iteration.candidate.solution is None:
            return None
        return self._texts.solution(iteration.candidate.solution)

    def pin(self, step: int) -> None:
        """Compare with this step from now on."""
        self.pinned, self.base, self.has_pin = max(0, min(step, self.last)), Base.PINNED, True

    def cycle_base(self) -> Base:
        """The next thing to compare with."""
        order = list(Base)
        self.base = order[(order.index(self.base) + 1) % len(order)]
        return self.base

    def against(self, step: int) -> tuple[str, bytes | None]:
        """What a step's code is compared with, in words, and its bytes."""
        if self.base is Base.BROKEN:
            return "broken start", self.source(0)
        if self.base is Base.PINNED:
            return f"pinned, {_named(self.pinned)}", self.source(self.pinned)
        if self.base is Base.BEST:
            best = best_step(self.rows)
            return (f"best, {_named(best[0])}", self.source(best[0])) if best else ("best: none yet", None)
        for earlier in range(step - 1, 0, -1):
            if (code := self.source(earlier)) is not None:
                return _named(earlier), code
        return "broken start", self.source(0)

    def reference(self) -> bytes | None:
        """The task's reference solution, for those who may see it."""
        if not self.reference_shown or self.task is None or self.task.reference is None:
            return None
        try:
            return self.task.reference.read_bytes()
        except OSError:
            return None

    # logs

    def log(self, step: int, name: str) -> str:
        """The whole of one of a step's logs (build, test, sanitizer, profile); while it runs, what has come so far."""
        iteration = self._iteration(step)
        if iteration is None:
            return plain_text(self.task.error_log) if self.task is not None and name == self._start_log() else ""
        stored = log_text(iteration, name, lambda part: self._texts.log(step, part))
        flowing = self._flowing.log(name) if self._shows_flow(step) else ""
        return "\n".join(filter(None, (stored, flowing, self._results.get((step, name), ""))))

    def add_result(self, step: int, name: str, text: str) -> None:
        """What was asked for beside the loop, at the end of one of a step's logs; the last one stays until the session ends."""
        self._results[step, name] = plain_text(text)
        self._errors.pop(step, None)
        self.unread[name] += text.count("\n") + 1

    def looked(self, name: str) -> None:
        """The log has been read to its end."""
        self.unread[name] = 0

    def error_rows(self, step: int) -> list[ErrorRow]:
        """The errors in all logs of a step. The one that decided its verdict comes first."""
        if step not in self._errors:
            found = [row for name in LOGS for row in error_rows(name, self.log(step, name))]
            decided = self._evidence_row(step)
            self._errors[step] = [*filter(None, [decided]), *(row for row in found if row != decided)]
        return self._errors[step]

    # prompts and replies

    def prompt(self, step: int) -> str:
        """What the fixer was asked in a step; for the broken start, the task's own words."""
        iteration = self._iteration(step)
        if iteration is None:
            return plain_text(self.task.prompt) if self.task is not None else ""
        return self._texts.prompt(iteration.request) if iteration.request is not None else ""

    def reply(self, step: int) -> str:
        """What the fixer answered in a step, its reasoning first and apart; while it streams, what has come so far."""
        iteration = self._iteration(step)
        if iteration is None:
            return ""
        if iteration.reply is not None:
            return self._texts.reply(iteration.reply)
        return answer(self._flowing.reasoning, self._flowing.reply) if self._shows_flow(step) else ""

    # facts

    def facts(self, step: int) -> Facts:
        """The facts of a step that was begun. Raises IndexError for another."""
        return facts_of(self.trajectory, self.rows, step, self.speed(step))

    def timed(self, step: int) -> ev.Timed | None:
        """The last measurement of a step: what was asked for by hand, else the loop's own."""
        iteration = self._iteration(step)
        return self._measured.get(step) or (iteration.timed if iteration is not None else None)

    def add_measurement(self, step: int, timed: ev.Timed) -> None:
        """A measurement that was asked for beside the loop; the last one counts until the session ends."""
        self._measured[step] = timed

    def speed(self, step: int) -> Speed:
        """How fast a step is, and beside the pinned one where another step was pinned."""
        timed = self.timed(step)
        if not self.has_pin or self.pinned == step:
            return Speed(timed)
        return Speed(timed, beside(timed, self.timed(self.pinned), f"{_named(self.pinned)} (pinned)"))

    def speed_text(self, step: int) -> str:
        """The pane of speed: this step, the pinned one, the trajectory at every threshold."""
        speed, played = self.speed(step), begun_iterations(self.trajectory)
        return speed_text(step, speed.timed, speed.beside, p_curve(played, self.protocol))

    @property
    def alert(self) -> Alert | None:
        """The stagnation that the last closed iteration raised, until it is dismissed."""
        alert = alert_of(self.trajectory)
        return None if alert is None or len(self.trajectory.finished) in self._dismissed else alert

    def dismiss_alert(self) -> None:
        self._dismissed.add(len(self.trajectory.finished))

    # inside

    def _iteration(self, step: int) -> Iteration | None:
        return self.trajectory.iterations[step - 1] if 1 <= step <= self.last else None

    def _shows_flow(self, step: int) -> bool:
        """Whether what flows in just now is of this step, and the newest moment is shown."""
        return step == self._flowing.iteration and self.shown_events == len(self.events)

    def _evidence_row(self, step: int) -> ErrorRow | None:
        iteration = self._iteration(step)
        if iteration is None or iteration.verdict is None or not iteration.verdict.line:
            return None
        stage = iteration.verdict.stage
        return evidence_row(plain_text(iteration.verdict.line), stage if stage in LOGS else "build")

    def _start_log(self) -> str:
        assert self.task is not None
        return "build" if self.task.spec.start_bucket == "compile_error" else "test"

    def _broken(self) -> bytes | None:
        opened = self.trajectory.opened
        if self.task is not None and (opened is None or opened.broken == self.task.broken_sha):
            return self.task.broken
        return self._texts.solution(opened.broken) if opened is not None else None


def _named(step: int) -> str:
    return f"step {step}" if step else "broken start"
