"""One timing session: reference and candidate in turns on the device that the caller holds."""

from __future__ import annotations

import time

from engine.events import Timed
from engine.evidence import CheckResult
from engine.harness.aside import in_thread
from engine.harness.checker import Checker
from engine.harness.process import Ended
from engine.harness.step import StepRunner
from engine.harness.timing import interleave, parse_time, summarize
from engine.harness.workspace import Workspace


class Measurement:
    """``command`` is the task's timed run, ``parser`` finds its milliseconds, ``wall`` bounds one launch in seconds.

    ``wrong`` is set when a timed run of the candidate left outputs that the checker rejects: a result kept from an earlier
    call, or a clock that ran while nothing was computed, is no result.
    """

    def __init__(self, steps: StepRunner, command: str, parser: str, wall: float) -> None:
        self._steps, self._command, self._parser, self._wall = steps, command, parser, wall
        self.wrong: tuple[Ended, CheckResult] | None = None
        self._accepted: set[tuple[tuple[str, str], ...]] = set()

    async def compare(
        self, reference: Workspace | None, candidate: Workspace, checker: Checker | None, launches: int, gate: float
    ) -> Timed:
        """Both, ``launches`` times each. Without a reference the gate is unmeasured."""
        began = time.monotonic()
        if reference is None:
            return summarize(self._steps.iteration, [], [], gate, "the reference does not build", 0.0)
        if checker is not None:
            await in_thread(reference.folder, "in", candidate.checker / "in")

        async def run_reference() -> str:
            return (await self._launch(reference, checker is not None)).stdout.text()

        async def run_candidate() -> str:
            ended = await self._launch(candidate, checker is not None)
            if checker is None:
                return ended.stdout.text() if ended.exit_code == 0 else ""
            return ended.stdout.text() if await self._right(ended, candidate, checker) else ""

        times = await interleave(self._parser, run_reference, run_candidate, launches)
        note = "a timed run left a wrong result" if self.wrong is not None else times[2]
        return summarize(self._steps.iteration, times[0], times[1], gate, note, time.monotonic() - began)

    async def alone(self, candidate: Workspace, reference_parser: str, launches: int, gate: float) -> Timed:
        """A program that times the reference too: both times come from the same launch, by ``reference_parser`` and the other."""
        began = time.monotonic()
        reference_ms: list[float] = []
        candidate_ms: list[float] = []
        note = ""
        for _ in range(launches):
            ended = await self._launch(candidate, checked=False)
            said = ended.stdout.text() if ended.exit_code == 0 else ""
            times = parse_time(reference_parser, said), parse_time(self._parser, said)
            if times[0] is None or times[1] is None:
                note = "the program reported no usable times"
                break
            reference_ms.append(times[0])
            candidate_ms.append(times[1])
        seconds = time.monotonic() - began
        return summarize(self._steps.iteration, reference_ms, candidate_ms, gate, note, seconds)

    async def _launch(self, place: Workspace, checked: bool) -> Ended:
        if checked:
            place.folder("out")
        return await self._steps.run(place, "time", self._command, self._wall)

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
