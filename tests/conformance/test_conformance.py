"""Each case prints on the CPU device what an H200 printed for it."""

from __future__ import annotations

import pytest

from tests.conformance import suite
from tests.conformance.conftest import Prepare
from tests.conformance.tolerance import differences

pytestmark = pytest.mark.slow

PROGRAMS = {program.name: program for program in suite.programs()}


def of_program(name: str, case: object, label: str) -> object:
    return pytest.param(case, id=label, marks=pytest.mark.xdist_group(f"conformance-{name}"))


@pytest.mark.parametrize("name", [of_program(name, name, name) for name in PROGRAMS])
def test_every_case_was_recorded_on_a_gpu(prepare: Prepare, name: str):
    ready = prepare(PROGRAMS[name])
    in_file = [case.name for case in suite.recorded() if case.program == name]
    assert suite.case_names(ready.executable, ready.environment) == in_file


@pytest.mark.parametrize(
    "case", [of_program(case.program, case, f"{case.program}-{case.name}") for case in suite.recorded()]
)
def test_the_cpu_device_prints_what_an_h200_printed(prepare: Prepare, case: suite.Case):
    ready = prepare(PROGRAMS[case.program])
    got = next(suite.parse(case.program, suite.run_case(ready.executable, case.name, ready.environment)))
    assert got.tolerance == case.tolerance, "recorded with another tolerance: record again"
    assert differences(case.tolerance, case.lines, got.lines) == []
