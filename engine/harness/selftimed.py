"""Programs that time themselves, the reference beside the candidate: what they print is all there is, and says so."""

from __future__ import annotations

import math
import statistics
import time

from engine.devices.conditions import Conditions
from engine.events import SizeTime, Timed, TimedLaunch
from engine.harness import interposed
from engine.harness.aside import in_thread
from engine.harness.step import StepRunner
from engine.harness.timing import parse_sizes, source_of, summarize
from engine.harness.workspace import Workspace

UNWATCHED = "the parent's clock saw no batches: the program's own figure stands"


async def alone(
    steps: StepRunner,
    candidate: Workspace,
    command: str,
    parsers: tuple[str, str],
    wall: float,
    launches: int,
    gate: float,
) -> Timed:
    """Launch it ``launches`` times, each ``wall`` seconds at most; ``parsers`` find the candidate's and the reference's milliseconds
    in the same launch, for one size or for several."""
    device, (parser, reference_parser) = steps.stand.device, parsers
    began = time.monotonic()
    tables: list[list[SizeTime]] = []
    states: list[Conditions] = []
    suspect = await in_thread(suspicions, candidate, None)
    note = f"refused: {suspect}" if suspect else ""
    for _ in range(0 if suspect else launches):
        ended = await steps.run(candidate, "time", command, wall)
        states.append(await in_thread(device.conditions))
        said = ended.stdout.text() if ended.exit_code == 0 else ""
        table = parse_sizes(parser, reference_parser, said)
        if table is None:
            note = "the program reported no usable times"
            break
        if tables and [row.size for row in table] != [row.size for row in tables[0]]:
            note = "the program reported other sizes than in its first launch"
            break
        tables.append(table)
    reference_ms = [_geometric_mean([row.reference_ms for row in table]) for table in tables]
    candidate_ms = [_geometric_mean([row.candidate_ms for row in table]) for table in tables]
    rows = [
        launch_record(side, number, ms, state)
        for number, (own, ref, state) in enumerate(zip(candidate_ms, reference_ms, states, strict=False), 1)
        for side, ms in (("reference", ref), ("candidate", own))
    ]
    many = bool(tables) and len(tables[0]) > 1
    return summarize(
        steps.iteration,
        reference_ms,
        candidate_ms,
        gate,
        note,
        time.monotonic() - began,
        source=source_of(parser),
        launches=rows,
        sizes=_mean_sizes(tables) if many and not note else (),
        flags=[UNWATCHED, "roofline: check off (the program times itself)"] if tables else (),
    )


def suspicions(candidate: Workspace, reference: Workspace | None) -> str:
    """What the candidate's programs define or ask for and must not; for lack of a twin, only what no program defines."""
    names = interposed.names_of(candidate.path, candidate.files())
    if reference is None:
        found = interposed.definitions(names)
    else:
        found = interposed.suspicions(names, interposed.names_of(reference.path, reference.files()))
    return "; ".join([*found, *interposed.said_in(candidate.solution.read_bytes())])


def launch_record(side: str, number: int, ms: float, state: Conditions) -> TimedLaunch:
    return TimedLaunch(
        side=side,
        number=number,
        ms=ms,
        sm_mhz=state.sm_mhz,
        memory_mhz=state.memory_mhz,
        celsius=state.celsius,
        watts=state.watts,
        reasons=list(state.reasons),
    )


def _geometric_mean(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def _mean_sizes(tables: list[list[SizeTime]]) -> list[SizeTime]:
    """Each size's mean over the launches."""
    return [
        SizeTime(
            size=rows[0].size,
            reference_ms=statistics.fmean(row.reference_ms for row in rows),
            candidate_ms=statistics.fmean(row.candidate_ms for row in rows),
        )
        for rows in zip(*tables, strict=True)
    ]
