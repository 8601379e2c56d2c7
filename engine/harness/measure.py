"""One timing session: reference and candidate in turns on the device that the caller holds."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from dataclasses import dataclass, field

import msgspec

from engine.baselines import Baseline
from engine.devices.base import Device
from engine.devices.ceilings import Unmeasured
from engine.devices.conditions import Conditions
from engine.events import Timed, TimedLaunch
from engine.evidence import CheckResult
from engine.harness import roofline
from engine.harness.aside import in_thread
from engine.harness.checker import Checker
from engine.harness.parentclock import VARIABLES, Heard, Left, Refused, Rules, Silent, Talk, question
from engine.harness.process import Ended
from engine.harness.selftimed import UNWATCHED, launch_record, suspicions
from engine.harness.step import StepRunner
from engine.harness.timing import parse_time, source_of, summarize
from engine.harness.workspace import Workspace

TIMED_FACTOR = 2.0
"""A timed launch makes several calls: it may take this many times as long as the test, which makes one."""

_WATCH_FROM = 0.02
"""Seconds into the first timed batch at which the GPU's state is read: its clocks are those of the load by then."""


class _Unusable(Exception):
    """A launch gave no time that counts; the text says why."""


@dataclass
class _Side:
    """One of the two, over all of its launches. ``calls`` is a first guess for the next one, by the last."""

    name: str
    place: Workspace
    checker: Checker | None = None
    launches: list[TimedLaunch] = field(default_factory=list)
    spoke: bool | None = None
    calls: int = 1
    excess_ms: float = 0.0
    threads: int = 0
    again: int = 0

    @property
    def times(self) -> list[float]:
        return [launch.ms for launch in self.launches]


class Measurement:
    """``command`` is the task's timed run, ``parser`` finds its milliseconds, ``wall`` bounds one launch in seconds.

    ``wrong`` is set when a timed run of the candidate left outputs that the checker rejects: a result kept from an earlier
    call, or a clock that ran while nothing was computed, is no result.
    """

    def __init__(self, steps: StepRunner, command: str, parser: str, wall: float, rules: Rules | None = None) -> None:
        self._steps, self._command, self._parser, self._wall = steps, command, parser, wall
        self._rules = rules or Rules()
        self.wrong: tuple[Ended, CheckResult] | None = None
        self._accepted: set[tuple[tuple[str, str], ...]] = set()

    @property
    def _device(self) -> Device:
        return self._steps.stand.device

    async def compare(
        self, reference: Workspace | None, candidate: Workspace, checker: Checker | None, launches: int, gate: float
    ) -> Timed:
        """Both, ``launches`` times each. Without a reference the gate is unmeasured."""
        began = time.monotonic()
        if reference is None:
            return summarize(self._steps.iteration, [], [], gate, "the reference does not build", 0.0)
        await in_thread(self._device.conditions)  # the first time takes longer than a batch
        suspect = await in_thread(suspicions, candidate, reference)
        if suspect:
            return summarize(self._steps.iteration, [], [], gate, f"refused: {suspect}", time.monotonic() - began)
        if checker is not None:
            await in_thread(reference.folder, "in", candidate.checker / "in")
        first, second = _Side("reference", reference), _Side("candidate", candidate, checker)
        note = ""
        try:
            for _ in range(launches):
                for side in (first, second):
                    side.launches.append(await self._launch(side, checked=checker is not None, other=first))
        except _Unusable as error:
            note = "a timed run left a wrong result" if self.wrong is not None else str(error)
        flags = self._flags(first, second)
        if not note:
            note, unchecked = await self._roofline(second)
            flags += [unchecked] if unchecked else []
        return summarize(
            self._steps.iteration,
            first.times,
            second.times,
            gate,
            note,
            time.monotonic() - began,
            source="events" if second.spoke else source_of(self._parser),
            launches=_in_turns(first, second),
            flags=flags,
        )

    async def against(
        self, baseline: Baseline, candidate: Workspace, checker: Checker | None, launches: int, gate: float
    ) -> Timed:
        """The candidate alone, beside a mean of its reference that was measured earlier: how that one varied is not known, and no
        sample of it is stored."""
        began = time.monotonic()
        await in_thread(self._device.conditions)
        if suspect := await in_thread(suspicions, candidate, None):
            return summarize(self._steps.iteration, [], [], gate, f"refused: {suspect}", time.monotonic() - began)
        side, note = _Side("candidate", candidate, checker), ""
        try:
            for _ in range(launches):
                side.launches.append(await self._launch(side, checked=checker is not None, other=side))
        except _Unusable as error:
            note = "a timed run left a wrong result" if self.wrong is not None else str(error)
        flags = [baseline.flag, *self._flags(side, side)]
        if not note:
            note, unchecked = await self._roofline(side)
            flags += [unchecked] if unchecked else []
        timed = summarize(
            self._steps.iteration,
            [baseline.mean_ms] * len(side.launches),
            side.times,
            gate,
            note,
            time.monotonic() - began,
            source="events" if side.spoke else source_of(self._parser),
            launches=side.launches,
            flags=flags,
        )
        return msgspec.structs.replace(timed, reference_ms=[])

    async def _launch(self, side: _Side, *, checked: bool, other: _Side) -> TimedLaunch:
        """One launch of a side. Raises _Unusable."""
        excess = other.excess_ms if other is not side else None
        heard, ended, state = await self._run(side, excess, checked=checked)
        if ended.timed_out:
            raise _Unusable(f"a timed run of the {side.name} took too long")
        if side.checker is not None and not await self._right(ended, side.place, side.checker):
            raise _Unusable(f"a launch of the {side.name} did not end well")
        if ended.exit_code != 0:
            raise _Unusable(f"a launch of the {side.name} did not end well")
        spoke = heard is not None
        if side.spoke is None:
            side.spoke = spoke
        if other.spoke is not None and spoke != other.spoke:
            raise _Unusable(f"refused: the {side.name} did not let the parent's clock see its batches")
        number = len(side.launches) + 1
        if heard is None:
            ms = parse_time(self._parser, ended.stdout.text())
            if ms is None:
                raise _Unusable(f"the {side.name} reported no usable time")
            if ms > 1000 * ended.seconds:
                raise _Unusable(f"the {side.name} reported a time longer than its launch")
            return launch_record(side.name, number, ms, state)
        side.threads = max(side.threads, heard.threads)
        side.again += heard.again
        side.excess_ms = max(side.excess_ms, heard.excess_ms)
        side.calls = max(1, round(statistics.fmean(batch.calls for batch in heard.batches)))
        record = launch_record(side.name, number, heard.ms, state)
        return _with_batches(record, heard)

    async def _run(self, side: _Side, excess: float | None, *, checked: bool) -> tuple[Heard | None, Ended, Conditions]:
        """A launch, and what the clock heard: None where the program does not know it. Raises _Unusable."""
        if checked:
            side.place.folder("out")
        state = Conditions()
        if not checked:  # nobody's driver: it may want to read its standard input to the end
            ended = await self._steps.run(side.place, "time", self._command, self._wall)
            return None, ended, await in_thread(self._device.conditions)

        async def look() -> None:
            nonlocal state
            await asyncio.sleep(_WATCH_FROM)
            state = await in_thread(self._device.conditions)

        talk = Talk()
        asking = asyncio.ensure_future(question(talk, self._rules, side.calls, look, excess))
        asking.add_done_callback(
            lambda task: task.cancelled() or task.exception()
        )  # a launch may end before it is asked
        try:
            ended = await self._steps.run(side.place, "time", self._command, self._wall, extra=VARIABLES, talk=talk)
            heard = await asking
        except (Silent, Left):  # its outputs, or its exit, say better than its silence what is wrong
            return None, ended, state
        except Refused as error:
            raise _Unusable(f"refused: the {side.name}'s times cannot be believed: {error}") from error
        finally:
            talk.closed()
            asking.cancel()
        return heard, ended, state

    async def _roofline(self, side: _Side) -> tuple[str, str]:
        """Why the candidate's times are not possible, and a flag where that is not checked."""
        spec = side.place.task.spec
        if not roofline.bounded(spec):
            return "", roofline.off(spec, "")
        if source_of(self._parser) == "process":
            return "", roofline.off(spec, "a process is timed, not a call")
        try:
            ceilings = await self._device.ceilings(self._steps.stand.toolkit)
        except (Unmeasured, OSError) as error:
            return "", roofline.off(spec, str(error))
        code = await in_thread(side.place.solution.read_bytes)
        return roofline.refusal(side.times, roofline.bound(spec, ceilings, code)), ""

    def _flags(self, reference: _Side, candidate: _Side) -> list[str]:
        found = []
        if candidate.launches and not candidate.spoke:
            found.append(UNWATCHED)
        if candidate.again:
            found.append(f"{candidate.again} batch(es) taken again: the parent's clock disagreed")
        if candidate.threads > reference.threads:
            found.append(f"{candidate.threads - reference.threads} thread(s) of the candidate's own were left running")
        return found

    async def _right(self, ended: Ended, candidate: Workspace, checker: Checker) -> bool:
        """Whether the outputs of this launch are right. Outputs that were accepted before are not judged again."""
        outputs = tuple(name for name in candidate.files() if name.startswith("out/"))
        content = tuple(sorted((await in_thread(candidate.fingerprint, outputs)).items()))
        if content in self._accepted:
            return ended.exit_code == 0
        result = await checker.compare()
        if not result.passed:
            result.message = f"after the timed calls: {result.message}"
            self.wrong = (ended, result)
            return False
        self._accepted.add(content)
        return ended.exit_code == 0


def _with_batches(record: TimedLaunch, heard: Heard) -> TimedLaunch:
    return msgspec.structs.replace(
        record,
        calls=heard.batches[0].calls,
        batches_ms=[batch.own_ms / batch.calls for batch in heard.batches],
        wall_ms=[batch.wall_ms / batch.calls for batch in heard.batches],
    )


def _in_turns(reference: _Side, candidate: _Side) -> list[TimedLaunch]:
    """The launches of both in the order in which they ran."""
    both = itertools.zip_longest(reference.launches, candidate.launches)
    return [launch for pair in both for launch in pair if launch is not None]
