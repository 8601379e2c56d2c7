"""The engine's examinations on demand, for a live run: each leaves one line in its journal, and costs no iteration."""

from __future__ import annotations

from beaver_tui.live.live import LiveRun
from engine import events as ev
from engine.errors import BeaverError
from engine.harness import on_demand
from engine.harness.step import Emit, ignore
from engine.loop import derive_seed


async def preview(live: LiveRun, code: bytes, emit: Emit = ignore) -> ev.Built:
    """Compile ``code`` only. ``emit`` gets the events, which are no part of the trajectory; so it does below."""
    built = await on_demand.preview(live.harness, live.task, code, emit=emit)
    _note(live, "preview", on_demand.built_line(built))
    return built


async def sanitize(
    live: LiveRun, code: bytes, step: int, emit: Emit = ignore, tools: tuple[str, ...] = on_demand.TOOLS
) -> list[ev.Sanitized]:
    """``code`` under each tool, on the inputs of iteration ``step``."""
    seed = _seed(live, step)
    reports = await on_demand.sanitize(live.harness, live.task, code, seed=seed, tools=tools, emit=emit)
    _note(live, "sanitized", f"step {step} · {on_demand.sanitized_line(reports)}")
    return reports


async def time(live: LiveRun, code: bytes, step: int, emit: Emit = ignore) -> ev.Timed:
    """``code`` against the reference, as the run's protocol has it, on the inputs of iteration ``step``."""
    protocol = live.run.record.protocol
    timed = await on_demand.time(live.harness, live.task, code, protocol, seed=_seed(live, step), emit=emit)
    _note(live, "timed", f"step {step} · {on_demand.timed_line(timed)}")
    return timed


def _seed(live: LiveRun, step: int) -> int:
    return derive_seed(live.run.record.seed, live.task.id, live.cell.attempt, step)


def _note(live: LiveRun, action: str, line: str) -> None:
    """Leave a line in the journal: what a person looked at belongs to the story."""
    try:
        live.note(action, line)
    except BeaverError:
        return  # the run was closed meanwhile; the result is shown all the same
