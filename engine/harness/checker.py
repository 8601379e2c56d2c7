"""The separate checker of a task: it makes the inputs and judges the outputs, out of the candidate's reach."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import msgspec

from engine.errors import InfraError
from engine.evidence import CheckResult
from engine.harness.aside import FAST, aside
from engine.harness.backends import environment
from engine.harness.limits import GIB, Limits
from engine.harness.process import Ended, run_step
from engine.harness.sandbox import checker_launch
from engine.harness.step import StepRunner
from engine.harness.workspace import Workspace, tree_size

_LIMITS = Limits(wall=120.0, memory=8 * GIB)

_LIBRARY = Path(__file__).parent / "checklib"
"""Holds beaver_check, which checkers import."""


class Checker:
    """A task's checker for one workspace. ``seed`` never enters the candidate's sandbox."""

    def __init__(self, workspace: Workspace, seed: int, steps: StepRunner) -> None:
        assert workspace.task.spec.check is not None
        self._workspace = workspace
        self._steps = steps
        self._spec = workspace.task.spec.check
        self._seed = seed
        for name, source in workspace.task.checker_files.items():
            target = workspace.checker / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        (workspace.checker / "in").mkdir(exist_ok=True)

    async def generate(self) -> None:
        """Make the inputs and give the candidate a copy. Raises InfraError when the checker itself fails."""
        ended = await self._run("generate", self._spec.generate)
        if ended.exit_code != 0:
            raise self._fault("generate", ended)
        await self.feed(self._workspace)

    async def feed(self, workspace: Workspace) -> None:
        """Give a candidate a copy of the inputs that were made, and no outputs."""
        made = self._workspace.checker / "in"
        await aside(tree_size(made) // FAST, workspace.folder, "in", made)
        workspace.folder("out")

    async def compare(self) -> CheckResult:
        """Judge what the candidate's last run wrote. Raises InfraError when the checker gives no judgement."""
        into = self._workspace.checker / "out"
        path = self._workspace.checker / "result.json"
        # nothing of an earlier comparison may speak for this one
        shutil.rmtree(into, ignore_errors=True)
        path.unlink(missing_ok=True)
        written = tree_size(self._workspace.path / "out")
        left_behind = await aside(written // FAST, self._workspace.collect, "out", into)
        ended = await self._run("compare", self._spec.compare)
        # Python ends with 1 after an exception too: only a checker that wrote its result has judged
        if ended.exit_code not in (0, 1) or not path.is_file():
            raise self._fault("compare", ended)
        result = self._result(path, ended)
        message = "; ".join(text for text in (result.message, *left_behind) if text)
        return msgspec.structs.replace(result, message=message)

    def _result(self, path: Path, ended: Ended) -> CheckResult:
        passed = ended.exit_code == 0
        said = ended.stdout.text().strip()
        try:
            result = msgspec.json.decode(path.read_bytes(), type=CheckResult)
        except msgspec.MsgspecError as error:
            if not passed:  # NaN in a candidate's output makes bad JSON easily; the judgement stands
                return CheckResult(passed=False, message=said)
            raise self._error(f"checker wrote a bad result.json: {error}") from error
        if result.passed != passed:
            raise self._error(f"checker exits with {ended.exit_code} but result.json says passed={result.passed}")
        return msgspec.structs.replace(result, message=result.message or said)

    async def _run(self, step: str, command: str) -> Ended:
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
        ended = await run_step(launch, _LIMITS)
        await self._steps.note(f"checker-{step}", command, ended)
        return ended

    def _fault(self, step: str, ended: Ended) -> InfraError:
        """An exit code is the checker's own word and will not change; a signal or a limit came from the machine."""
        said = (ended.stderr.text().strip() or ended.stdout.text().strip() or "it printed nothing").split("\n")[-1]
        how = f"exit {ended.exit_code}"
        if ended.exit_code is None:
            how = (
                "timed out"
                if ended.timed_out
                else "too much memory"
                if ended.memory_killed
                else f"signal {ended.signal}"
            )
        return self._error(f"checker's {step} failed ({how}): {said}", retryable=ended.exit_code is None)

    def _error(self, text: str, *, retryable: bool = False) -> InfraError:
        return InfraError(f"{self._workspace.task.id}: {text}", kind="checker", retryable=retryable)
