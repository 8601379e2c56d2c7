"""Each faulty program fails on the CPU device with the error that an H200 gives, and the tools name function and line."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.conformance import suite
from tests.conformance.conftest import Prepare, Ready
from tests.conformance.record import sanitizer_command

pytestmark = pytest.mark.slow

PROGRAMS = {program.name: program for program in suite.fault_programs()}
HANG_SECONDS = 12
"""The device is told of less: it must have named what hangs before the program is killed."""


def each(faults: list[suite.Fault]) -> pytest.MarkDecorator:
    group = pytest.mark.xdist_group
    return pytest.mark.parametrize(
        "fault", [pytest.param(fault, id=fault.name, marks=group(f"faults-{fault.program}")) for fault in faults]
    )


@pytest.fixture
def ready(prepare: Prepare, fault: suite.Fault) -> Ready:
    return prepare(PROGRAMS[fault.program])


@pytest.fixture
def recorded(fault: suite.Fault) -> dict[str, Any]:
    return dict(json.loads((suite.RECORDED / "faults.json").read_text())[fault.name])


@each(suite.faults())
def test_the_table_says_what_an_h200_says(recorded: dict[str, Any], fault: suite.Fault):
    assert recorded["error"] == fault.error
    if fault.tool:
        report = "\n".join([*recorded["tool"]["report"], *recorded["complaints"]])
        assert re.search(fault.says, report)
        assert fault.function in report


@each([fault for fault in suite.faults() if fault.error != "hangs"])
def test_a_plain_run_says_what_an_h200_says(ready: Ready, recorded: dict[str, Any], fault: suite.Fault):
    result = suite.run([str(ready.executable), fault.name], ready.environment)
    assert suite.printed_error(result) == fault.here, result
    assert suite.complaints(result) == recorded["complaints"]
    if fault.here == fault.error:
        assert result.output.splitlines() == recorded["printed"]


@each([fault for fault in suite.faults() if fault.tool])
def test_the_tool_names_function_and_line(ready: Ready, fault: suite.Fault):
    command = sanitizer_command(str(ready.sanitizer), fault, ready.executable)
    result = suite.run(command, ready.environment)
    assert re.search(fault.says, result.output), result
    if fault.function:
        assert re.search(rf"\b{fault.function}\b.*{fault.program}\.cu:{fault.line}\b", result.output), result
    assert result.ended == "exit code 99", result


@each([fault for fault in suite.faults() if fault.error == "hangs"])
def test_what_hangs_is_named_without_a_tool(ready: Ready, fault: suite.Fault):
    environment = ready.environment | {"BEAVER_CPU_BUDGET": str(HANG_SECONDS / 2)}
    result = suite.run([str(ready.executable), fault.name], environment, HANG_SECONDS)
    assert result.ended in ("exit code 124", "hangs"), result
    assert fault.function in result.errors
    assert f"{fault.program}.cu:{fault.line}" in result.errors


def test_every_fault_of_the_sources_is_in_the_table():
    for program in PROGRAMS.values():
        marked = re.findall(r"// FAULT (\w+)$", program.sources[0].read_text(), re.MULTILINE)
        cases = re.findall(r"^CASE\((\w+)\)", program.sources[0].read_text(), re.MULTILINE)
        named = [fault for fault in suite.faults() if fault.program == program.name]
        assert cases == [fault.name for fault in named]
        assert marked == [fault.name for fault in named if fault.line]
        assert all(fault.line for fault in named if fault.function)
