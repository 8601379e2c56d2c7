"""The separate checker of a task: it makes the inputs and judges the outputs, out of the candidate's reach."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import msgspec

from engine.errors import InfraError
from engine.evidence import CheckResult
from engine.harness.backends import environment
from engine.harness.limits import GIB, Limits
from engine.harness.process import Ended, run_step
from engine.harness.sandbox import checker_launch
from engine.harness.workspace import Workspace

_LIMITS = Limits(wall=120.0, memory=8 * GIB)

_LIBRARY = Path(__file__).parent / "checklib"
"""Holds beaver_check, which checkers import."""


class Checker:
    """One run of a task's checker on one workspace. ``seed`` never enters the candidate's sandbox."""

    def __init__(self, workspace: Workspace, seed: int) -> None:
        assert workspace.task.spec.check is not None
        self._workspace = workspace
        self._spec = workspace.task.spec.check
        self._seed = seed
        for name, source in workspace.task.checker_files.items():
            target = workspace.checker / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        for name in ("in", "out"):
            (workspace.checker / name).mkdir(exist_ok=True)

    async def generate(self) -> None:
        """Make the inputs and give the candidate a copy. Raises InfraError when the checker itself fails."""
        ended = await self._run(self._spec.generate)
        if ended.exit_code != 0:
            raise self._fault("generate", ended)
        self._workspace.folder("in", self._workspace.checker / "in")
        self._workspace.folder("out")

    async def compare(self) -> CheckResult:
        """Judge what the candidate wrote. Raises InfraError when the checker gives no judgement."""
        into = self._workspace.checker / "out"
        left_behind = self._workspace.collect("out", into)
        ended = await self._run(self._spec.compare)
        if ended.exit_code not in (0, 1):
            raise self._fault("compare", ended)
        passed = ended.exit_code == 0
        said = ended.stdout.text().strip()
        path = self._workspace.checker / "result.json"
        if not path.is_file():
            return CheckResult(passed=passed, message=said)
        try:
            result = msgspec.json.decode(path.read_bytes(), type=CheckResult)
        except msgspec.MsgspecError as error:
            raise InfraError(
                f"{self._workspace.task.id}: checker wrote a bad result.json: {error}", kind="checker"
            ) from error
        if result.passed != passed:
            raise InfraError(
                f"{self._workspace.task.id}: checker exits with {ended.exit_code} but result.json says passed={result.passed}",
                kind="checker",
                retryable=False,
            )
        message = "; ".join(text for text in (result.message or said, *left_behind) if text)
        return msgspec.structs.replace(result, message=message)

    async def _run(self, command: str) -> Ended:
        variables = environment(None) | {
            "BEAVER_SEED": str(self._seed),
            "PYTHONPATH": str(_LIBRARY),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self._workspace.checker),
            "OPENBLAS_NUM_THREADS": "1",
        }
        # the checker's python3 is the one that runs this program: it has numpy
        words = shlex.split(command)
        if words and words[0] in ("python", "python3"):
            words[0] = sys.executable
        launch = checker_launch(words, self._workspace.checker, variables, _LIMITS)
        return await run_step(launch, _LIMITS)

    def _fault(self, step: str, ended: Ended) -> InfraError:
        said = (ended.stderr.text().strip() or ended.stdout.text().strip()).split("\n")[-1]
        how = "timed out" if ended.timed_out else f"exit {ended.exit_code}"
        return InfraError(
            f"{self._workspace.task.id}: checker's {step} failed ({how}): {said}", kind="checker", retryable=False
        )
