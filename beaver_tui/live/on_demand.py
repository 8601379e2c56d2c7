"""The engine's examinations on demand, for live and stored trajectories: each costs no iteration, looks at the inputs that the
step was judged on, and leaves one line in a journal that this process may write."""

from __future__ import annotations

from dataclasses import dataclass

from beaver_tui.live.live import LiveRun
from engine import events as ev
from engine.errors import BeaverError
from engine.harness import on_demand
from engine.harness.examine import Harness
from engine.harness.step import Emit, ignore
from engine.loop import derive_seed
from engine.rundir import Cell, RunDirectory
from engine.task import Task


@dataclass(frozen=True)
class Subject:
    """The trajectory whose candidates are asked about. ``live`` is the run that this process plays or has played, None for one
    that is stored or written elsewhere: nothing is noted there."""

    harness: Harness
    task: Task
    run: RunDirectory
    cell: Cell
    live: LiveRun | None = None

    @classmethod
    def of(cls, live: LiveRun) -> Subject:
        return cls(live.harness, live.task, live.run, live.cell, live)

    def seed(self, step: int, judged: ev.Tested | None) -> int:
        """The seed of a step's inputs: the recorded one, else the one that the loop would take for it."""
        if judged is not None and judged.seed is not None:
            return judged.seed
        return derive_seed(self.run.record.seed, self.cell.task, self.cell.attempt, step)

    def note(self, action: str, line: str) -> None:
        """Leave a line in the journal: what a person looked at belongs to the story."""
        if self.live is None:
            return
        try:
            self.live.note(action, line)
        except BeaverError:
            return  # the run was closed meanwhile; the result is shown all the same


async def preview(subject: Subject, code: bytes, emit: Emit = ignore) -> ev.Built:
    """Compile ``code`` only. ``emit`` gets the events, which are no part of the trajectory; so it does below."""
    built = await on_demand.preview(subject.harness, subject.task, code, emit=emit)
    subject.note("preview", on_demand.built_line(built))
    return built


async def sanitize(
    subject: Subject,
    code: bytes,
    step: int,
    judged: ev.Tested | None = None,
    emit: Emit = ignore,
    tools: tuple[str, ...] = on_demand.TOOLS,
) -> list[ev.Sanitized]:
    """``code`` under each tool, on the inputs of iteration ``step``; ``judged`` is its test, where it had one."""
    seed = subject.seed(step, judged)
    reports = await on_demand.sanitize(subject.harness, subject.task, code, seed=seed, tools=tools, emit=emit)
    subject.note("sanitized", f"step {step} · {on_demand.sanitized_line(reports)}")
    return reports


async def profile(
    subject: Subject, code: bytes, step: int, judged: ev.Tested | None = None, emit: Emit = ignore
) -> ev.Profiled:
    """The kernels of ``code`` under the profiler, on the inputs of iteration ``step``."""
    seed = subject.seed(step, judged)
    profiled = await on_demand.profile(subject.harness, subject.task, code, seed=seed, emit=emit)
    subject.note("profiled", f"step {step} · {on_demand.profiled_line(profiled)}")
    return profiled


async def time(
    subject: Subject, code: bytes, step: int, judged: ev.Tested | None = None, emit: Emit = ignore
) -> ev.Timed:
    """``code`` against the reference, as the run's protocol has it, on the inputs of iteration ``step``."""
    protocol, seed = subject.run.record.protocol, subject.seed(step, judged)
    timed = await on_demand.time(subject.harness, subject.task, code, protocol, seed=seed, emit=emit)
    subject.note("timed", f"step {step} · {on_demand.timed_line(timed)}")
    return timed
